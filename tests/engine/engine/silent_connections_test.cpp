// Silent connections over real TCP, reopened immediately after each close, while a peer at another address logs on.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <ostream>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/fake_network.hpp"
#include "nexusfix/engine/engine.hpp"
#include "transport/io_uring_transport.hpp"
#include "transport/tls_certificates.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;

class Silent final : public Application {
 public:
  Handled on_message(SessionHandle&, const MessageView&) override { return Handled::done; }
};

// A blocking socket on this host, whose address is 127.0.`network`.`host`.
class Client {
 public:
  Client(std::uint16_t port, unsigned network, unsigned host) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience{.tv_sec = 600, .tv_usec = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const int reuse = 1;
    ::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl((127U << 24) | (network << 8) | host);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~Client() {
    if (fd_ >= 0) ::close(fd_);
  }
  Client(Client&& other) noexcept : fd_(std::exchange(other.fd_, -1)), connected_(other.connected_) {}
  Client& operator=(Client&& other) noexcept {
    std::swap(fd_, other.fd_);
    connected_ = other.connected_;
    return *this;
  }

  [[nodiscard]] bool closed_by_peer() const {
    char byte = 0;
    const ssize_t got = ::recv(fd_, &byte, 1, MSG_DONTWAIT);
    return !connected_ || got == 0 || (got < 0 && errno != EAGAIN);
  }
  // Whether anything came back.
  [[nodiscard]] bool answers(const std::string& bytes) const {
    std::array<char, 512> answer;
    return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == std::ssize(bytes) && receive(answer) > 0;
  }
  void end() const {
    std::array<char, 512> rest;
    ::shutdown(fd_, SHUT_WR);
    while (receive(rest) > 0) {
    }
  }

 private:
  // A ring that this thread has begun interrupts its calls.
  [[nodiscard]] ssize_t receive(std::span<char> bytes) const {
    ssize_t got = 0;
    do {
      got = ::recv(fd_, bytes.data(), bytes.size(), 0);
    } while (got < 0 && errno == EINTR);
    return got;
  }

  int fd_;
  bool connected_ = false;
};

// Holds 128 silent connections from as many networks, until it ends.
class Attackers {
 public:
  Attackers(std::uint16_t port, unsigned networks) : thread_([this, port, networks] { attack(port, networks); }) {
    for (unsigned seen = rounds_; seen < 2; seen = rounds_) rounds_.wait(seen);
  }
  ~Attackers() {
    over_ = true;
    thread_.join();
  }

 private:
  void attack(std::uint16_t port, unsigned networks) {
    std::vector<Client> silent;
    for (unsigned i = 0; !over_; ++i) {
      if (silent.size() < 128) {
        silent.emplace_back(port, 1 + i % networks, 1 + i % 100);
      } else if (silent[i % 128].closed_by_peer()) {
        silent[i % 128] = Client{port, 1 + i % networks, 1 + i % 100};
      }
      if (i % 128 == 127) {
        ++rounds_;
        rounds_.notify_all();
      }
    }
  }

  std::atomic<bool> over_{false};
  std::atomic<unsigned> rounds_{0};
  std::thread thread_;
};

SessionSettings acceptor() {
  SessionSettings settings;
  settings.session.role = Role::acceptor;
  settings.session.sender_comp_id = "VENUE";
  settings.session.target_comp_id = "DESK";
  settings.session.reset_on_logon = true;
  settings.listen = {"127.0.0.1", 0};
  return settings;
}

struct Attack {
  TransportKind transport;
  unsigned networks;         // that the silent connections come from
  bool remembers_addresses;  // the peer has a reserved place from its second Logon on
};

void PrintTo(const Attack& attack, std::ostream* out) {
  *out << (attack.transport == TransportKind::epoll ? "epoll" : "io_uring") << " from " << attack.networks
       << " networks" << (attack.remembers_addresses ? " with remembered addresses" : "");
}

class SilentConnectionsOverTcp : public ::testing::TestWithParam<Attack> {};

// They may be silent for a day: who is answered did not wait for the end of one of them.
TEST_P(SilentConnectionsOverTcp, delay_no_logon_until_their_time_is_over) {
  const Attack attack = GetParam();
  if (attack.transport == TransportKind::io_uring && !probe_io_uring({}).available) GTEST_SKIP() << "no io_uring";
  Silent application;
  EngineConfig config;
  config.transport = attack.transport;
  config.pending_logon_timeout = 24h;
  if (!attack.remembers_addresses) config.max_known_addresses = 0;
  config.sessions = {acceptor()};
  Engine engine{config, application};
  engine.start();
  const std::uint16_t port = engine.local_endpoint(0)->port;
  std::jthread serving{[&] { engine.run(); }};
  {
    const Attackers attackers{port, attack.networks};
    for (int i = 0; i < 20; ++i) {
      const Client peer{port, 0, 1};
      const auto now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
      EXPECT_TRUE(peer.answers(test::logon_bytes("DESK", "VENUE", now))) << "Logon " << i;
      peer.end();
    }
  }
  engine.stop();
  serving.join();
  EXPECT_GT(engine.counters().evicted, 0U);
}

// Drops each connection immediately after its Logon.
class Returning final : public Application {
 public:
  Handled on_message(SessionHandle&, const MessageView&) override { return Handled::done; }
  void on_logon(SessionHandle& session) override {
    ++logons;
    logons.notify_all();
    session.drop_connection();
  }

  std::atomic<int> logons{0};
};

TEST(SilentConnectionsOverTls, that_never_begin_their_handshake_delay_no_logon_until_it_is_given_up) {
  const test::TemporaryFolder folder;
  testing::Authority authority{folder};
  const auto files = authority.issue({});
  Silent application;
  EngineConfig config;
  config.max_known_addresses = 0;
  config.pending_logon_timeout = 24h;
  config.sessions = {acceptor()};
  config.sessions[0].tls_enabled = true;
  config.sessions[0].tls.certificate = files.certificate;
  config.sessions[0].tls.key = files.key;
  Engine venue{config, application};
  venue.start();
  const std::uint16_t port = venue.local_endpoint(0)->port;
  std::jthread serving{[&] { venue.run(); }};
  {
    const Attackers attackers{port, 4};
    Returning returning;
    SessionSettings desk;
    desk.session.role = Role::initiator;
    desk.session.sender_comp_id = "DESK";
    desk.session.target_comp_id = "VENUE";
    desk.session.reset_on_logon = true;
    desk.connect = {{"127.0.0.1", port}};
    desk.reconnect_delay = desk.reconnect_delay_max = 10ms;
    desk.tls_enabled = true;
    desk.tls.ca = authority.file();
    EngineConfig desk_config;
    desk_config.sessions = {desk};
    Engine trader{desk_config, returning};
    auto begin = std::chrono::steady_clock::now();
    auto shortest = std::chrono::steady_clock::duration::max();
    std::jthread trading{[&] { trader.run(); }};
    for (int seen = 0; seen < 10; seen = returning.logons) {
      returning.logons.wait(seen);
      const auto end = std::chrono::steady_clock::now();
      shortest = std::min(shortest, end - begin);
      begin = end;
    }
    EXPECT_LT(shortest, 8s) << "a handshake is given up after ten seconds";
    trader.stop();
  }
  venue.stop();
  serving.join();
}

INSTANTIATE_TEST_SUITE_P(Transports, SilentConnectionsOverTcp,
                         ::testing::Values(Attack{TransportKind::epoll, 1, true},
                                           Attack{TransportKind::epoll, 1, false},
                                           Attack{TransportKind::epoll, 100, true},
                                           Attack{TransportKind::epoll, 100, false},
                                           Attack{TransportKind::io_uring, 4, true}));

}  // namespace
}  // namespace nfx
