// One poll for all connections.
#include "nats_cluster/relays.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <vector>

#include "transport/loopback.hpp"

namespace nfx::test {
namespace {

constexpr std::size_t wait_max = 1 << 20;  // beyond it nothing more is read
constexpr int turn_ms = 5;                 // until a change of a flow takes effect

void send_at_once(int fd) {
  constexpr int yes = 1;
  static_cast<void>(::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes));
}

}  // namespace

bool Relays::Pair::is_open(std::size_t side) const noexcept {
  const Flow flow = relay->flow.load();
  return flow == Flow::both || (flow == Flow::requests && side == 0);
}

Relays::Relays() : thread_([this] { run(); }) {}

Relays::~Relays() {
  stopping_.store(true);
  thread_.join();
  for (const Relay& relay : relays_) ::close(relay.listener);
  for (const Pair& pair : pairs_)
    for (const int fd : pair.fds) ::close(fd);
}

std::size_t Relays::add(std::uint16_t target) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address = loopback();
  socklen_t size = sizeof address;
  const bool listens = fd >= 0 && ::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                       ::listen(fd, 64) == 0 && ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  if (!listens) throw std::runtime_error("no port on loopback for a relay");
  const std::lock_guard lock{mutex_};
  Relay& relay = relays_.emplace_back();
  relay.listener = fd;
  relay.port = ntohs(address.sin_port);
  relay.target = target;
  return relays_.size() - 1;
}

std::uint16_t Relays::port(std::size_t relay) const {
  const std::lock_guard lock{mutex_};
  return relays_.at(relay).port;
}

void Relays::set(std::size_t relay, Flow flow) {
  const std::lock_guard lock{mutex_};
  relays_.at(relay).flow.store(flow);
}

void Relays::run() {
  std::vector<pollfd> polled;
  while (!stopping_.load()) {
    polled.clear();
    std::size_t listeners = 0;
    {
      const std::lock_guard lock{mutex_};
      for (const Relay& relay : relays_)
        polled.push_back({.fd = relay.flow.load() == Flow::none ? -1 : relay.listener, .events = POLLIN, .revents = 0});
      listeners = polled.size();
    }
    for (const Pair& pair : pairs_) {
      for (std::size_t side = 0; side < 2; ++side) {
        short events = 0;
        if (pair.is_open(side) && pair.wait[1 - side].size() < wait_max) events |= POLLIN;
        if (pair.is_open(1 - side) && !pair.wait[side].empty()) events |= POLLOUT;
        polled.push_back({.fd = events == 0 ? -1 : pair.fds[side], .events = events, .revents = 0});
      }
    }
    if (::poll(polled.data(), polled.size(), turn_ms) <= 0) continue;
    std::size_t at = listeners;
    for (auto pair = pairs_.begin(); pair != pairs_.end();) {
      const bool first = carry(*pair, 0, polled[at].revents), second = carry(*pair, 1, polled[at + 1].revents);
      at += 2;
      if (first && second) {
        ++pair;
        continue;
      }
      for (const int fd : pair->fds) ::close(fd);
      pair = pairs_.erase(pair);
    }
    const std::lock_guard lock{mutex_};
    for (std::size_t i = 0; i < listeners; ++i)
      if ((polled[i].revents & POLLIN) != 0) accept_from(relays_[i]);
  }
}

void Relays::accept_from(const Relay& relay) {
  const int fd = ::accept4(relay.listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  const int to = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(relay.target);
  if (to < 0 || ::connect(to, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(fd);
    if (to >= 0) ::close(to);
    return;
  }
  send_at_once(fd);
  send_at_once(to);
  pairs_.push_back({.relay = &relay, .fds = {fd, to}, .wait = {}});
}

// False if this end has closed.
bool Relays::carry(Pair& pair, std::size_t from, short events) {
  if ((events & POLLIN) != 0) {
    std::array<char, 65536> chunk;
    const ssize_t got = ::recv(pair.fds[from], chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return false;
    if (got > 0) pair.wait[1 - from].append(chunk.data(), static_cast<std::size_t>(got));
  } else if ((events & (POLLERR | POLLHUP | POLLNVAL)) != 0) {
    return false;
  }
  // Bytes from the other side may be written immediately.
  for (const std::size_t to : {from, 1 - from}) {
    std::string& wait = pair.wait[to];
    if (wait.empty() || !pair.is_open(1 - to)) continue;
    const ssize_t put = ::send(pair.fds[to], wait.data(), wait.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (put > 0) wait.erase(0, static_cast<std::size_t>(put));
  }
  return true;
}

}  // namespace nfx::test
