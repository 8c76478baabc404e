// Runs scenarios with the engine over loopback TCP, with a plain socket as the peer.
#include "tcp_peer.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>

#include "engine/poll_loop_impl.hpp"
#include "nexusfix/wire/framer.hpp"
#include "session/session_rig.hpp"
#include "session_peer.hpp"
#include "transport/loopback.hpp"

namespace nfx::conformance {
namespace {

// An iteration may wait this long for the kernel to move bytes between the two sockets of one host.
constexpr Duration one_wait = std::chrono::milliseconds{1};
// After this many iterations without an event there will be none: loopback bytes have arrived when send returns.
constexpr int quiet_turns = 3;
// After this many iterations an expected event will not come, however busy the machine is.
constexpr int patient_turns = 5000;

void check(bool right, const char* what) {
  if (!right) throw std::runtime_error(std::string{what} + ": " + std::system_category().message(errno));
}

}  // namespace

TcpPeer::TcpPeer(const Setup& setup) {
  clock_.time = test::test_start();
  SessionSettings settings;
  settings.session = complete(setup);
  settings.next_inbound = setup.next_inbound;
  settings.next_outbound = setup.next_outbound;
  settings.reconnect_delay = settings.reconnect_delay_max = std::chrono::milliseconds{1};
  if (!setup.keep_messages) settings.store.retain_messages = 0;
  if (setup.config.role == Role::initiator) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    sockaddr_in address = test::loopback();
    socklen_t size = sizeof address;
    check(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0 && ::listen(listener_, 4) == 0, "listen");
    check(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0, "getsockname");
    settings.connect = {{"127.0.0.1", ntohs(address.sin_port)}};
  } else {
    settings.listen = {"127.0.0.1", 0};
  }
  config_.sessions = {settings};
  loop_ = std::make_unique<PollLoop<EpollTransport, ManualClock>>(config_, 0, transport_, clock_, *this);
}

TcpPeer::~TcpPeer() {
  for (const int fd : {socket_, listener_}) {
    if (fd >= 0) ::close(fd);
  }
}

void TcpPeer::connect() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  received_.clear();
  if (!std::exchange(started_, true)) loop_->start();
  if (listener_ < 0) {
    const sockaddr_in address = test::loopback(loop_->local_endpoint(config_.sessions[0].listen)->port);
    socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
    check(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, "connect");
    check(::fcntl(socket_, F_SETFL, O_NONBLOCK) == 0, "fcntl");
  } else {
    // The engine's back-off before it reconnects is a millisecond of its own clock.
    clock_.advance(std::chrono::milliseconds{1});
    const bool accepted =
        wait_until([this] { return (socket_ = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK)) >= 0; });
    check(accepted, "the engine does not connect");
  }
  const int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ended_ = false;
  settle();
}

void TcpPeer::cut() {
  if (socket_ < 0) return;
  // A reset, as from a failing network.
  const linger hard{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  ::close(socket_);
  socket_ = -1;
  ended_ = true;
  settle();
}

void TcpPeer::send(std::string_view bytes) {
  while (!bytes.empty() && socket_ >= 0) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      turn(one_wait);
    } else {
      return;  // the session has closed, so the peer's bytes are lost, as in reality
    }
  }
  settle();
}

bool TcpPeer::has_message() const { return next_frame(received_).status != FrameStatus::need_more; }

std::optional<std::string> TcpPeer::next_message() {
  wait_until([this] { return has_message() || ended_; });
  if (!has_message()) return std::nullopt;
  const Frame frame = next_frame(received_);
  std::string message = received_.substr(0, frame.size);
  received_.erase(0, frame.size);
  return message;
}

bool TcpPeer::closed() {
  return wait_until([this] { return ended_; });
}

bool TcpPeer::quiet() {
  settle();
  return received_.empty() && delivered_.empty() && reported_.empty();
}

std::optional<std::string> TcpPeer::delivered() {
  wait_until([this] { return !delivered_.empty(); });
  return take_first(delivered_);
}

std::optional<std::string> TcpPeer::reported() {
  wait_until([this] { return !reported_.empty(); });
  return take_first(reported_);
}

bool TcpPeer::app_send(const Outgoing& message) { return loop_->find(0)->send(message).has_value(); }

bool TcpPeer::app_reject(std::string_view refused, BusinessRejectReason reason, std::string_view text) {
  MessageView view;
  return view.parse(refused) == WireError::none && loop_->find(0)->reject_business(view, reason, text).has_value();
}

void TcpPeer::app_log_out(std::string_view text) { loop_->find(0)->logout(text); }

void TcpPeer::app_reset() { loop_->find(0)->reset_sequence_numbers(); }

// Advances from one deadline to the next, so that no timer fires late.
void TcpPeer::advance(Duration time) {
  settle();
  while (time > Duration::zero()) {
    const Duration until = std::max(loop_->until_next_deadline(), Duration{1});
    const Duration step = std::min(time, until);
    clock_.advance(step);
    time -= step;
    settle();
  }
}

Handled TcpPeer::on_message(SessionHandle&, const MessageView& message) {
  delivered_.emplace_back(message.bytes());
  return Handled::done;
}

void TcpPeer::on_reject(SessionHandle&, const MessageView& reject) { reported_.emplace_back(reject.bytes()); }

void TcpPeer::turn(Duration max_wait) {
  loop_->turn(max_wait);
  if (socket_ < 0) return;
  char buffer[65536];
  for (;;) {
    const ssize_t got = ::recv(socket_, buffer, sizeof buffer, 0);
    if (got > 0) {
      received_.append(buffer, static_cast<std::size_t>(got));
      continue;
    }
    if (got == 0 || errno != EAGAIN) {
      // The engine also waits for our end before it closes the connection.
      ended_ = true;
      ::close(socket_);
      socket_ = -1;
    }
    return;
  }
}

void TcpPeer::settle() {
  for (int calm = 0; calm < quiet_turns; ++calm) {
    const std::size_t before = received_.size() + delivered_.size() + reported_.size();
    if (loop_->turn(one_wait) != 0) calm = -1;
    turn(Duration::zero());
    if (received_.size() + delivered_.size() + reported_.size() != before) calm = -1;
  }
}

template <class Done>
bool TcpPeer::wait_until(Done&& done) {
  for (int i = 0; i < patient_turns; ++i) {
    if (done()) return true;
    turn(one_wait);
  }
  return done();
}

}  // namespace nfx::conformance
