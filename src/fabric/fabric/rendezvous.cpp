// Listens or connects, exchanges the two cards, and notices the peer's end; in non-blocking steps.
#include "fabric/rendezvous.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error_text.hpp"
#include "fabric/socket_address.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx::fabric {
namespace {

constexpr std::uint32_t magic = 0x4e46582d;  // detects other programs by their first bytes
constexpr std::uint32_t version = 1;
constexpr Duration retry_after = std::chrono::milliseconds{20};
constexpr Duration patience = std::chrono::seconds{2};  // time limit of one exchange

// Only processes of the same user, or root's, may map this one's memory.
bool is_same_user(int socket) noexcept {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == ::geteuid() || peer.uid == 0 || ::geteuid() == 0;
}

bool is_stale_socket(const SocketAddress& address, const std::string& path) {
  struct stat facts{};
  if (::lstat(path.c_str(), &facts) != 0 || !S_ISSOCK(facts.st_mode)) return false;
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return false;
  const bool refused = ::connect(probe, address.generic(), address.size) != 0 && errno == ECONNREFUSED;
  ::close(probe);
  return refused;
}

}  // namespace

void Rendezvous::PeerCard::clear() noexcept {
  for (const int file : files) {
    if (file >= 0) ::close(file);
  }
  files.clear();
  bytes.clear();
}

int Rendezvous::PeerCard::release_file(std::size_t index) noexcept {
  return index < files.size() ? std::exchange(files[index], -1) : -1;
}

Rendezvous::Rendezvous(CardKind kind, RailAddress address) : kind_(kind), address_(std::move(address)) {}

Rendezvous::~Rendezvous() {
  end();
  if (listener_ < 0) return;
  ::close(listener_);
  if (is_unix()) ::unlink(address_.place.c_str());
}

std::expected<void, std::string> Rendezvous::listen() {
  const auto address = parse_address(address_.place);
  if (!address) return std::unexpected(address.error());
  if (address_.end == RailEnd::connects || listener_ >= 0) return {};
  const int socket = ::socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return std::unexpected("socket for " + address_.place + ": " + system_text(errno));
  const int one = 1;
  static_cast<void>(::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one));
  if (is_unix() && is_stale_socket(*address, address_.place)) ::unlink(address_.place.c_str());
  if (::bind(socket, address->generic(), address->size) != 0 || ::listen(socket, 8) != 0) {
    const int error = errno;
    ::close(socket);
    return std::unexpected(cannot("listen on", address_.place, error) +
                           (error == EADDRINUSE ? "; choose another address" : ""));
  }
  listener_ = socket;
  SocketAddress bound = *address;
  bound.size = sizeof bound.storage;
  if (!is_unix() && ::getsockname(socket, reinterpret_cast<sockaddr*>(&bound.storage), &bound.size) == 0)
    address_.place = place_of(bound);
  return {};
}

void Rendezvous::begin(std::span<const std::byte> card, std::span<const int> files) {
  NFX_REQUIRE(card.size() <= max_card && files.size() <= max_card_files);
  end();
  const Header header{magic, version, std::to_underlying(kind_), static_cast<std::uint32_t>(card.size())};
  own_.resize(sizeof header + card.size());
  std::memcpy(own_.data(), &header, sizeof header);
  std::ranges::copy(card, own_.begin() + sizeof header);
  own_files_.assign(files.begin(), files.end());
  retry_at_ = {};
  step_ = Step::connect;
}

void Rendezvous::end() noexcept {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  peer_.clear();
  step_ = Step::ended;
}

void Rendezvous::drop(std::string_view why, int error) {
  error_ = address_.place + ": " + (error == 0 ? std::string{why} : std::string{why} + ": " + system_text(error));
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  peer_.clear();
  step_ = Step::connect;
}

void Rendezvous::take_socket(int socket, MonotonicTime now) {
  socket_ = socket;
  const int one = 1;
  if (!is_unix()) static_cast<void>(::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one));
  sent_ = header_have_ = card_have_ = 0;
  peer_.clear();
  give_up_at_ = now + patience;
}

void Rendezvous::accept_one(MonotonicTime now) {
  const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket < 0) return;
  take_socket(socket, now);
  step_ = Step::exchange;
  if (is_unix() && !is_same_user(socket)) drop("a process of another user connected and was refused");
}

void Rendezvous::start_connect(MonotonicTime now) {
  if (address_.end == RailEnd::listens) {
    if (listener_ >= 0) accept_one(now);
    return;
  }
  if (now < retry_at_) return;
  retry_at_ = now + retry_after;
  const auto address = parse_address(address_.place);
  if (!address) return drop(address.error());
  const int socket = ::socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return drop("socket", errno);
  take_socket(socket, now);
  if (::connect(socket, address->generic(), address->size) == 0) {
    step_ = Step::exchange;
  } else if (errno == EINPROGRESS) {
    step_ = Step::connecting;
  } else {
    drop("connect", errno);
  }
}

void Rendezvous::finish_connect(MonotonicTime now) {
  pollfd wait{socket_, POLLOUT, 0};
  if (::poll(&wait, 1, 0) == 0) {
    if (now >= give_up_at_) drop("connect", ETIMEDOUT);
    return;
  }
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error != 0) return drop("connect", error);
  step_ = Step::exchange;
}

bool Rendezvous::send_card() {
  if (sent_ == own_.size()) return true;
  iovec part{own_.data() + sent_, own_.size() - sent_};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(max_card_files * sizeof(int))> space{};
  if (sent_ == 0 && !own_files_.empty()) {  // the files are sent with the first byte
    message.msg_control = space.data();
    message.msg_controllen = CMSG_SPACE(own_files_.size() * sizeof(int));
    cmsghdr* const control = CMSG_FIRSTHDR(&message);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(own_files_.size() * sizeof(int));
    std::memcpy(CMSG_DATA(control), own_files_.data(), own_files_.size() * sizeof(int));
  }
  const ssize_t sent = ::sendmsg(socket_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0) {
    if (errno != EAGAIN && errno != EINTR) drop("send", errno);
    return false;
  }
  sent_ += static_cast<std::size_t>(sent);
  return sent_ == own_.size();
}

bool Rendezvous::receive_some(std::span<std::byte> into, std::size_t& have) {
  if (have == into.size()) return true;
  iovec part{into.data() + have, into.size() - have};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(max_card_files * sizeof(int))> space{};
  message.msg_control = space.data();
  message.msg_controllen = space.size();
  const ssize_t got = ::recvmsg(socket_, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got <= 0) {
    if (got == 0) drop("the peer ended the connection");
    if (got < 0 && errno != EAGAIN && errno != EINTR) drop("receive", errno);
    return false;
  }
  for (cmsghdr* control = CMSG_FIRSTHDR(&message); control != nullptr; control = CMSG_NXTHDR(&message, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
    std::vector<int> files((control->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    std::memcpy(files.data(), CMSG_DATA(control), files.size() * sizeof(int));
    peer_.files.insert(peer_.files.end(), files.begin(), files.end());
  }
  have += static_cast<std::size_t>(got);
  return have == into.size();
}

bool Rendezvous::receive_card() {
  if (!receive_some(std::as_writable_bytes(std::span{&header_, 1}), header_have_)) return false;
  if (header_.magic != magic || header_.version != version || header_.kind != std::to_underlying(kind_) ||
      header_.size > max_card) {
    drop(header_.magic != magic       ? "what connected is not a rail of the fabric"
         : header_.version != version ? "the peer is of another version of the fabric"
                                      : "the peer's rail is of another kind");
    return false;
  }
  peer_.bytes.resize(header_.size);
  return receive_some(peer_.bytes, card_have_);
}

void Rendezvous::exchange(MonotonicTime now) {
  const bool sent = send_card();
  if (step_ != Step::exchange) return;
  const bool received = receive_card();
  if (step_ != Step::exchange) return;
  if (sent && received) {
    step_ = Step::complete;
    error_.clear();
  } else if (now >= give_up_at_) {
    drop("no card from the peer within 2 s");
  }
}

void Rendezvous::advance(MonotonicTime now) {
  if (step_ == Step::connect) start_connect(now);
  if (step_ == Step::connecting) finish_connect(now);
  if (step_ == Step::exchange) exchange(now);
}

bool Rendezvous::peer_is_gone() noexcept {
  if (step_ != Step::complete) return step_ == Step::ended;
  std::byte unread{};
  const ssize_t got = ::recv(socket_, &unread, 1, MSG_DONTWAIT | MSG_PEEK);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

}  // namespace nfx::fabric
