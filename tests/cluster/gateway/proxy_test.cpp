// Connections that are handed on: which bytes arrive where, which are held back, and how each of them ends.
#include "gateway/proxy.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "transport/loopback.hpp"
#include "transport/proxy_header.hpp"
#include "transport/tcp_testing.hpp"

namespace nfx::gateway {
namespace {

using namespace nfx::testing;

constexpr int small_buffer = 16 * 1024;
constexpr std::string_view logon = "8=FIX.4.4|35=A|";

// The proxy's reports, for the thread of the test.
class Reports {
 public:
  struct Report {
    ProxyReport::Kind kind{};
    std::string peer{};
    std::string reason{};
    std::uint64_t to_owner = 0;
    std::uint64_t to_peer = 0;
  };

  void add(const ProxyReport& report) {
    const std::lock_guard lock{mutex_};
    reports_.push_back(
        {report.kind, report.connection.peer, report.reason, report.bytes_to_owner, report.bytes_to_peer});
    changed_.notify_all();
  }
  // The report of this number, from 0 on; empty when it does not come.
  Report at(std::size_t number) {
    std::unique_lock lock{mutex_};
    if (!changed_.wait_for(lock, 10min, [&] { return reports_.size() > number; })) return {.reason = "no report came"};
    return reports_[number];
  }
  std::size_t count() {
    const std::lock_guard lock{mutex_};
    return reports_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Report> reports_;
};

// A peer's connection that a poll thread gave up, after it had received the Logon.
class PeerSide {
 public:
  PeerSide() {
    front_.sink.when_received = [this](ConnectionId id, std::span<const char>) { front_.transport.hold(id, true); };
    ::setsockopt(client.fd(), SOL_SOCKET, SO_SNDBUF, &small_buffer, sizeof small_buffer);
  }

  HandedOn give_up() {
    client.send(logon);
    EXPECT_TRUE(front_.poll_until([&] { return !front_.sink.received.empty(); }));
    const ConnectionId id = front_.sink.accepted.front();
    HandedOn connection;
    connection.bytes = front_.sink.received[id];
    connection.peer = front_.sink.peer;
    connection.socket = front_.transport.detach(id, connection.bytes).value_or(-1);
    EXPECT_GE(connection.socket, 0);
    return connection;
  }
  // Everything until the connection's end, or `most` bytes.
  std::string read(std::size_t most = SIZE_MAX) const {
    std::string all;
    std::array<char, 4096> piece{};
    while (all.size() < most) {
      const ssize_t size = ::recv(client.fd(), piece.data(), std::min(piece.size(), most - all.size()), 0);
      if (size <= 0) break;
      all.append(piece.data(), static_cast<std::size_t>(size));
    }
    return all;
  }

 private:
  ServerOver<EpollKind> front_;

 public:
  RawClient client{front_.port};
};

class Proxying : public ::testing::Test {
 protected:
  Proxying() { owner_options.receive_buffer = small_buffer; }

  void begin(ProxyOptions options = {}) {
    const auto made = owner.transport.listen({"127.0.0.1", 0}, owner_options);
    ASSERT_TRUE(made.has_value());
    target = {.gateway = "a", .address = *owner.transport.local_endpoint(*made)};
    options.from = "127.0.0.2";
    options.socket_buffer = small_buffer;
    proxy.emplace(options, [this](const ProxyReport& report) { reports.add(report); });
  }
  void join() {
    HandedOn connection = peer.give_up();
    ASSERT_TRUE(proxy->add(connection, target));
    ASSERT_TRUE(owner.poll_until([&] { return received().contains(logon); }));
    EXPECT_EQ(reports.at(0).kind, ProxyReport::Kind::begun);
  }
  std::string received() { return owner.sink.received.empty() ? "" : owner.sink.received.begin()->second; }
  ConnectionId at_owner() { return owner.sink.accepted.front(); }
  // Without the header.
  std::string received_from_peer() { return received().substr(read_proxy_header(received()).size); }

  SocketOptions owner_options;
  ServerOver<EpollKind> owner;
  PeerSide peer;
  ProxyTarget target;
  Reports reports;
  std::optional<Proxy> proxy;  // ends first
};

TEST_F(Proxying, passes_bytes_both_ways_after_a_header_with_the_peers_address) {
  begin();
  join();
  const ProxyHeader header = read_proxy_header(received());
  EXPECT_EQ(header.status, ProxyHeader::Status::complete);
  EXPECT_EQ(header.peer, reports.at(0).peer);
  EXPECT_TRUE(owner.sink.peer.starts_with("127.0.0.2:")) << owner.sink.peer;
  ASSERT_EQ(owner.transport.try_send(at_owner(), bytes_of("answer")).sent, 6U);
  EXPECT_EQ(peer.read(6), "answer");
  peer.client.send("order");
  EXPECT_TRUE(owner.poll_until([&] { return received_from_peer() == std::string{logon} + "order"; }));
}

TEST_F(Proxying, closes_the_connection_of_a_peer_whose_gateway_cannot_be_reached) {
  begin();
  {
    ServerOver<EpollKind> other;
    target.address.port = other.port;
  }
  HandedOn connection = peer.give_up();
  ASSERT_TRUE(proxy->add(connection, target));
  EXPECT_EQ(peer.read(), "");
  EXPECT_EQ(reports.at(0).kind, ProxyReport::Kind::unreachable);
  EXPECT_EQ(reports.at(0).reason, "refused");
}

TEST_F(Proxying, gives_up_a_gateway_that_does_not_accept_in_time) {
  begin({.connect_max = 50ms});
  // A queue that is full answers no further connect.
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = test::loopback();
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener, 0), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  std::array<int, 3> filling{};
  for (int& fd : filling) {
    fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    ::connect(fd, reinterpret_cast<const sockaddr*>(&address), size);
  }
  target.address.port = ntohs(address.sin_port);
  HandedOn connection = peer.give_up();
  ASSERT_TRUE(proxy->add(connection, target));
  EXPECT_EQ(reports.at(0).reason, "no connection in time");
  EXPECT_EQ(peer.read(), "");
  for (const int fd : filling) ::close(fd);
  ::close(listener);
}

TEST_F(Proxying, closes_both_sides_after_the_gateways_last_bytes) {
  begin();
  join();
  ASSERT_EQ(owner.transport.try_send(at_owner(), bytes_of("logout")).sent, 6U);
  owner.transport.close(at_owner());
  EXPECT_EQ(peer.read(), "logout");
  EXPECT_EQ(reports.at(1).kind, ProxyReport::Kind::ended);
  EXPECT_EQ(reports.at(1).reason, "the gateway has closed the connection");
  EXPECT_EQ(reports.at(1).to_peer, 6U);
}

TEST_F(Proxying, closes_both_sides_after_the_last_bytes_of_a_peer_that_ends_its_own) {
  begin();
  join();
  peer.client.send("logout");
  peer.client.end_sending();
  ASSERT_TRUE(owner.poll_until([&] { return !owner.sink.closed.empty(); }));
  EXPECT_EQ(received_from_peer(), std::string{logon} + "logout");
  EXPECT_EQ(reports.at(1).reason, "the peer has closed the connection");
  EXPECT_EQ(peer.read(), "") << "its connection is closed too";
}

TEST_F(Proxying, ends_the_gateways_side_when_the_peer_breaks_its_own) {
  begin();
  join();
  peer.client.reset();
  ASSERT_TRUE(owner.poll_until([&] { return !owner.sink.closed.empty(); }));
  EXPECT_EQ(reports.at(1).reason, "the peer: reset");
}

// Sends until nothing more is taken for a tenth of a second.
std::size_t send_until_full(const RawClient& client, const std::string& bytes) {
  ::fcntl(client.fd(), F_SETFL, ::fcntl(client.fd(), F_GETFL) | O_NONBLOCK);
  std::size_t sent = 0;
  for (auto moved = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() < moved + 100ms;) {
    const ssize_t size = ::send(client.fd(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (size <= 0) continue;
    sent += static_cast<std::size_t>(size);
    moved = std::chrono::steady_clock::now();
  }
  ::fcntl(client.fd(), F_SETFL, ::fcntl(client.fd(), F_GETFL) & ~O_NONBLOCK);
  return sent;
}

TEST_F(Proxying, holds_a_sender_back_whose_reader_is_slow_and_loses_nothing) {
  begin();
  join();
  owner.transport.hold(at_owner(), true);
  const std::string bytes = pattern(4 * 1024 * 1024);
  const std::size_t sent = send_until_full(peer.client, bytes);
  EXPECT_LT(sent, 1024U * 1024U) << "what waits is bounded";
  owner.transport.hold(at_owner(), false);
  const std::string expected = std::string{logon} + bytes.substr(0, sent);
  EXPECT_TRUE(
      owner.poll_until([&] { return received().size() >= expected.size() && received_from_peer() == expected; }));
}

TEST_F(Proxying, ends_a_connection_whose_reader_takes_nothing_for_too_long) {
  begin({.stalled_max = 50ms});
  join();
  owner.transport.hold(at_owner(), true);
  static_cast<void>(send_until_full(peer.client, pattern(4 * 1024 * 1024)));
  EXPECT_EQ(reports.at(1).reason, "the gateway has read nothing for too long");
}

TEST_F(Proxying, takes_no_more_connections_than_its_limit_until_one_has_ended) {
  begin({.connections_max = 1});
  join();
  PeerSide second;
  HandedOn connection = second.give_up();
  EXPECT_FALSE(proxy->add(connection, target));
  EXPECT_GE(connection.socket, 0) << "it is the caller's still";
  peer.client.close();
  ASSERT_EQ(reports.at(1).kind, ProxyReport::Kind::ended);
  const auto deadline = std::chrono::steady_clock::now() + 10min;
  while (!proxy->add(connection, target)) ASSERT_LT(std::chrono::steady_clock::now(), deadline);
  EXPECT_EQ(reports.at(2).kind, ProxyReport::Kind::begun);
}

TEST_F(Proxying, serves_one_connection_after_another) {
  begin({.connections_max = 2});
  for (std::size_t i = 0; i < 50; ++i) {
    PeerSide one;
    HandedOn connection = one.give_up();
    const auto deadline = std::chrono::steady_clock::now() + 10min;
    while (!proxy->add(connection, target)) ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    ASSERT_TRUE(owner.poll_until([&] { return owner.sink.received.size() == i + 1; }));
    one.client.close();
    ASSERT_TRUE(owner.poll_until([&] { return owner.sink.closed.size() == i + 1; }));
  }
}

TEST_F(Proxying, closes_everything_at_its_end) {
  begin();
  join();
  proxy.reset();
  EXPECT_EQ(reports.at(1).reason, "this gateway stops");
  EXPECT_EQ(reports.count(), 2U);
  EXPECT_EQ(peer.read(), "");
  EXPECT_TRUE(owner.poll_until([&] { return !owner.sink.closed.empty(); }));
}

}  // namespace
}  // namespace nfx::gateway
