// The transport past the kernel against the kernel's TCP: bytes under loss, duplication and reordering, every way in
// which a connection ends, and the bounds. What every transport has to do is in every_transport_test.cpp.
#ifdef NFX_WITH_AF_XDP

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <set>

#include "transport/tls_testing.hpp"
#include "transport/xdp_socket.hpp"
#include "transport/xdp_testing.hpp"

namespace nfx {
namespace {

using namespace testing;

TEST(XdpAddress, has_an_interface_a_queue_an_address_and_a_gateway) {
  const auto parsed = detail::XdpAddress::parse("eth1:3 10.9.0.3/24 via 10.9.0.1");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->interface, "eth1");
  EXPECT_EQ(parsed->queue, 3U);
  EXPECT_EQ(parsed->address, (detail::Ipv4{10, 9, 0, 3}));
  EXPECT_EQ(parsed->prefix, 24);
  EXPECT_EQ(parsed->gateway, (detail::Ipv4{10, 9, 0, 1}));
  EXPECT_EQ(detail::XdpAddress::parse("eth1 10.9.0.3/24")->queue, 0U);
}

TEST(XdpAddress, refuses_what_it_cannot_read) {
  for (const char* text :
       {"", "eth1", "10.9.0.3/24", "eth1 10.9.0.3", "eth1 10.9.0.3/33", "eth1:x 10.9.0.3/24", "eth1 ::1/64",
        "eth1 10.9.0.3/24 10.9.0.1", "eth1 10.9.0.3/24 via gateway", "an_interface_name_of_20 10.9.0.3/24"})
    EXPECT_FALSE(detail::XdpAddress::parse(text).has_value()) << text;
}

TEST(XdpFrame, only_whole_packets_from_another_host_are_for_lwip) {
  using detail::FrameKind;
  std::string frame(54, '\0');
  const auto set = [&](std::size_t at, std::string_view bytes) { frame.replace(at, bytes.size(), bytes); };
  set(12, {"\x08\0\x45", 3});
  set(23, "\x06");
  set(26, {"\x0a\x63\0\x01\x0a\x63\0\x02", 8});
  set(47, "\x02");
  const detail::Ipv4 own{10, 99, 0, 2};
  const auto kind = [&](std::size_t size = 54) { return detail::kind_of(std::span{frame}.first(size), own); };
  const auto with = [&](std::size_t at, std::string_view bytes) {
    const std::string before = frame;
    set(at, bytes);
    const FrameKind result = kind();
    frame = before;
    return result;
  };
  EXPECT_EQ(kind(), FrameKind::first_of_connection);
  EXPECT_EQ(with(47, "\x12"), FrameKind::usable);
  EXPECT_EQ(with(23, "\x01"), FrameKind::usable) << "ICMP";
  EXPECT_EQ(with(13, "\x06"), FrameKind::usable) << "ARP";
  EXPECT_EQ(kind(53), FrameKind::other) << "half a header";
  EXPECT_EQ(with(13, "\xdd"), FrameKind::other) << "another EtherType";
  EXPECT_EQ(with(14, "\x46"), FrameKind::other) << "IP options";
  EXPECT_EQ(with(20, "\x20"), FrameKind::other) << "a first fragment";
  EXPECT_EQ(with(21, "\x01"), FrameKind::other) << "a later fragment";
  EXPECT_EQ(with(23, "\x11"), FrameKind::other) << "UDP";
  EXPECT_EQ(with(26, {"\x0a\x63\0\x02", 4}), FrameKind::other) << "from itself";
  EXPECT_EQ(with(26, "\xe0"), FrameKind::other) << "from a group";
  EXPECT_EQ(with(30, {"\x0a\x63\0\x03", 4}), FrameKind::other) << "to another host";
}

// The TCP flags of a frame; 0 for others.
unsigned tcp_flags(std::span<const char> frame) {
  if (frame.size() < 54 || frame[12] != 8 || frame[13] != 0 || frame[23] != IPPROTO_TCP) return 0;
  return static_cast<unsigned char>(frame[47]);
}
constexpr unsigned syn = 2, rst = 4, ack = 16;

class XdpTransportTest : public ::testing::TestWithParam<Weather> {
 protected:
  void SetUp() override {
    if (const std::string missing = XdpWorld::missing(); !missing.empty()) GTEST_SKIP() << missing;
    world_ = std::make_unique<XdpWorld>();
    world_->wire.weather = weather();
    world_->wire.lose = [this](bool from_xdp, std::span<const char> frame) {
      const unsigned flags = tcp_flags(frame);
      resets_of_xdp_ += from_xdp && (flags & rst) != 0;
      resets_of_kernel_ += !from_xdp && (flags & rst) != 0;
      return lose_ && lose_(from_xdp, flags, frame);
    };
    start({.address = xdp_address});
  }
  void TearDown() override {
    for (const int fd : fds_) ::close(fd);
    transport_.reset();
  }
  [[nodiscard]] virtual Weather weather() const { return {}; }

  void start(const XdpOptions& options) {
    transport_.reset();
    transport_.emplace(options);
  }
  XdpTransport& transport() { return *transport_; }
  Wire& wire() { return world_->wire; }

  void turn() {
    wire().pump();
    transport_->poll(sink_, 0ns);
  }
  template <class Condition>
  [[nodiscard]] bool turn_until(Condition condition, std::chrono::seconds limit = std::chrono::seconds{60}) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      turn();
    }
    return true;
  }
  void turn_for(std::chrono::milliseconds time) {
    const auto until = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < until) turn();
  }

  // Sockets of the kernel.
  int kernel_socket() {
    const int fd =
        world_->in_kernel([] { return ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP); });
    const int yes = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    fds_.insert(fd);
    return fd;
  }
  void kernel_close(int fd) {
    fds_.erase(fd);
    ::close(fd);
  }
  void kernel_reset(int fd) {
    const linger now{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    kernel_close(fd);
  }
  static sockaddr_in address(const char* host, std::uint16_t port) {
    sockaddr_in made{};
    made.sin_family = AF_INET;
    made.sin_port = htons(port);
    ::inet_pton(AF_INET, host, &made.sin_addr);
    return made;
  }
  static void begin_connect(int fd, std::uint16_t port) {
    const sockaddr_in to = address(xdp_host, port);
    EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to), -1);
    EXPECT_EQ(errno, EINPROGRESS);
  }
  int kernel_listener(std::uint16_t port) {
    const int fd = kernel_socket();
    const int yes = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    const sockaddr_in at = address(kernel_host, port);
    EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
    EXPECT_EQ(::listen(fd, 16), 0);
    return fd;
  }

  // A connection that the kernel has accepted, or that the transport has.
  struct Joined {
    ConnectionId id = no_connection;
    int fd = -1;
  };
  Joined connect_to_kernel(const SocketOptions& options = {}) {
    static std::uint16_t port = 5000;
    const int listener = kernel_listener(++port);
    const auto id = transport_->connect({kernel_host, port}, options);
    EXPECT_TRUE(id.has_value());
    Joined joined{*id, -1};
    EXPECT_TRUE(turn_until([&] {
      if (joined.fd < 0) joined.fd = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      return joined.fd >= 0 && std::ranges::find(sink_.connected, *id) != sink_.connected.end();
    }));
    const int yes = 1;
    ::setsockopt(joined.fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    fds_.insert(joined.fd);
    kernel_close(listener);
    return joined;
  }
  Joined connect_from_kernel() {
    if (!listener_) listener_ = transport_->listen({xdp_host, 0}).value();
    const std::size_t before = sink_.accepted.size();
    Joined joined{no_connection, kernel_socket()};
    begin_connect(joined.fd, transport_->local_endpoint(*listener_)->port);
    EXPECT_TRUE(turn_until([&] { return sink_.accepted.size() > before; }));
    joined.id = sink_.accepted.back();
    return joined;
  }

  // Reads what is there into `into`; false at the end or an error, which `error` has.
  static bool kernel_read(int fd, std::string& into, int* error = nullptr) {
    std::array<char, 65536> buffer;
    const ssize_t size = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (size > 0) into.append(buffer.data(), static_cast<std::size_t>(size));
    if (error != nullptr) *error = size < 0 ? errno : 0;
    return size > 0 || (size < 0 && errno == EAGAIN);
  }
  // Reads to the end of the stream. Returns the error, 0 for an orderly end.
  int kernel_read_all(int fd, std::string& into) {
    int error = 0;
    EXPECT_TRUE(turn_until([&] { return !kernel_read(fd, into, &error); }));
    return error;
  }
  bool closed_with(ConnectionId id, CloseReason reason, std::chrono::seconds limit = std::chrono::seconds{60}) {
    return turn_until([&] { return sink_.closed.contains(id); }, limit) && sink_.closed[id] == reason;
  }
  bool all_delivered() {
    return turn_until([&] { return transport_->lingering() == 0; });
  }

  std::unique_ptr<XdpWorld> world_;
  std::optional<XdpTransport> transport_;
  RecordingSink sink_;
  std::optional<ListenerId> listener_;
  std::set<int> fds_;
  std::function<bool(bool from_xdp, unsigned flags, std::span<const char> frame)> lose_;
  std::size_t resets_of_xdp_ = 0;
  std::size_t resets_of_kernel_ = 0;
};

class XdpWeather : public XdpTransportTest {
  Weather weather() const override { return GetParam(); }
};
std::string weather_name(const ::testing::TestParamInfo<Weather>& info) {
  const char* names[] = {"clear", "loss", "duplication", "reordering", "all"};
  return names[info.index];
}
INSTANTIATE_TEST_SUITE_P(Weather, XdpWeather,
                         ::testing::Values(Weather{}, Weather{.loss = 50}, Weather{.duplicate = 10},
                                           Weather{.reorder = 10}, Weather{.loss = 50, .duplicate = 20, .reorder = 20}),
                         weather_name);

TEST_P(XdpWeather, the_kernel_echoes_two_megabytes_unchanged) {
  const Joined joined = connect_to_kernel();
  const std::string sent = pattern(2'000'000);
  std::size_t at = 0;
  std::string backlog;
  std::size_t short_sends = 0;
  ASSERT_TRUE(turn_until(
      [&] {
        if (at < sent.size()) {
          const SendResult result = transport().try_send(joined.id, bytes_of(sent).subspan(at));
          EXPECT_FALSE(result.closed);
          at += result.sent;
          short_sends += at < sent.size();
        }
        EXPECT_TRUE(kernel_read(joined.fd, backlog));
        const ssize_t echoed = ::send(joined.fd, backlog.data(), backlog.size(), MSG_NOSIGNAL);
        if (echoed > 0) backlog.erase(0, static_cast<std::size_t>(echoed));
        return sink_.received[joined.id].size() >= sent.size() || !sink_.closed.empty();
      },
      std::chrono::seconds{300}));
  EXPECT_TRUE(sink_.closed.empty());
  EXPECT_TRUE(sink_.received[joined.id] == sent);
  EXPECT_GT(short_sends, 0U);
  const Weather& asked = GetParam();
  EXPECT_EQ(wire().lost > 0, asked.loss > 0);
  EXPECT_EQ(wire().duplicated > 0, asked.duplicate > 0);
  EXPECT_EQ(wire().reordered > 0, asked.reorder > 0);
  transport().close(joined.id);
  std::string rest;
  EXPECT_EQ(kernel_read_all(joined.fd, rest), 0);
  kernel_close(joined.fd);
  EXPECT_TRUE(all_delivered());
}

TEST_P(XdpWeather, two_hundred_requests_are_answered_in_order) {
  const Joined joined = connect_from_kernel();
  sink_.when_received = [&](ConnectionId id, std::span<const char> bytes) {
    EXPECT_EQ(transport().try_send(id, bytes).sent, bytes.size());
  };
  for (int i = 0; i < 200; ++i) {
    const std::string request = pattern(177 + static_cast<std::size_t>(i));
    ASSERT_EQ(::send(joined.fd, request.data(), request.size(), MSG_NOSIGNAL), std::ssize(request));
    std::string answer;
    ASSERT_TRUE(turn_until([&] { return !kernel_read(joined.fd, answer) || answer.size() >= request.size(); }));
    ASSERT_TRUE(answer == request) << i;
  }
}

// Ends of connections, in each weather.

TEST_P(XdpWeather, the_peer_closes_first) {
  const Joined joined = connect_to_kernel();
  ASSERT_EQ(::send(joined.fd, "last words", 10, MSG_NOSIGNAL), 10);
  ::shutdown(joined.fd, SHUT_WR);
  ASSERT_TRUE(closed_with(joined.id, CloseReason::peer_closed));
  EXPECT_EQ(sink_.received[joined.id], "last words");
  std::string rest;
  EXPECT_EQ(kernel_read_all(joined.fd, rest), 0);
  EXPECT_TRUE(all_delivered());
  EXPECT_EQ(resets_of_xdp_, 0U);
}

TEST_P(XdpWeather, the_transport_closes_first) {
  const Joined joined = connect_to_kernel();
  const std::string last = pattern(30'000);
  ASSERT_EQ(transport().try_send(joined.id, bytes_of(last)).sent, last.size());
  transport().close(joined.id);
  std::string received;
  EXPECT_EQ(kernel_read_all(joined.fd, received), 0);
  EXPECT_TRUE(received == last);
  kernel_close(joined.fd);
  EXPECT_TRUE(all_delivered());
  EXPECT_TRUE(sink_.closed.empty());
}

TEST_P(XdpWeather, both_close_at_once) {
  const Joined joined = connect_from_kernel();
  turn_for(std::chrono::milliseconds{20});
  wire().paused = true;
  ::shutdown(joined.fd, SHUT_WR);
  transport().close(joined.id);
  wire().paused = false;
  std::string rest;
  EXPECT_EQ(kernel_read_all(joined.fd, rest), 0);
  EXPECT_TRUE(all_delivered());
  EXPECT_TRUE(sink_.closed.empty());
}

TEST_P(XdpWeather, the_peer_resets) {
  const Joined joined = connect_to_kernel();
  kernel_reset(joined.fd);
  const std::string probe(100, 'x');  // a lost reset is repeated as the answer to this
  ASSERT_TRUE(turn_until([&] {
    transport().try_send(joined.id, bytes_of(probe));
    return sink_.closed.contains(joined.id);
  }));
  EXPECT_EQ(sink_.closed[joined.id], CloseReason::reset);
  EXPECT_TRUE(transport().try_send(joined.id, bytes_of(probe)).closed);
}

TEST_P(XdpWeather, the_transport_resets_a_peer_that_sends_on_after_the_end) {
  start({.address = xdp_address, .linger_time = std::chrono::seconds{30}, .linger_bytes = 1000});
  const Joined joined = connect_to_kernel();
  transport().close(joined.id);
  const std::string more = pattern(5000);
  std::string rest;
  int error = 0;
  ASSERT_TRUE(turn_until([&] {
    if (::send(joined.fd, more.data(), more.size(), MSG_NOSIGNAL) < 0 && errno != EAGAIN) error = errno;
    return error != 0;
  }));
  EXPECT_TRUE(error == ECONNRESET || error == EPIPE) << error;
  EXPECT_EQ(transport().lingering(), 0U);
  EXPECT_EQ(transport().counters().linger_flooded, 1U);
}

TEST_P(XdpWeather, a_peer_that_ended_its_stream_still_receives_all_pending_bytes) {
  start({.address = xdp_address, .linger_time = std::chrono::seconds{60}});
  const Joined joined = connect_from_kernel();
  const std::string pending = pattern(60'000);
  ASSERT_EQ(transport().try_send(joined.id, bytes_of(pending)).sent, pending.size());
  ::shutdown(joined.fd, SHUT_WR);
  ASSERT_TRUE(closed_with(joined.id, CloseReason::peer_closed));
  std::string received;
  EXPECT_EQ(kernel_read_all(joined.fd, received), 0);
  EXPECT_TRUE(received == pending);
  EXPECT_TRUE(all_delivered());
}

TEST_P(XdpWeather, a_peer_that_vanishes_is_given_up_after_the_user_timeout) {
  const Joined joined = connect_to_kernel({.user_timeout_s = 1});
  turn_for(std::chrono::milliseconds{1500});  // an idle connection does not time out
  ASSERT_TRUE(sink_.closed.empty());
  wire().cut = true;
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(transport().try_send(joined.id, bytes_of("into the void")).sent, 13U);
  ASSERT_TRUE(closed_with(joined.id, CloseReason::timed_out));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds{900});
  EXPECT_LE(std::chrono::steady_clock::now() - begin, std::chrono::seconds{5});
}

// Ends that do not depend on the weather.

TEST_F(XdpTransportTest, a_peer_that_vanishes_while_the_transport_lingers_is_given_up) {
  const Joined joined = connect_to_kernel();
  wire().cut = true;
  ASSERT_EQ(transport().try_send(joined.id, bytes_of("into the void")).sent, 13U);
  transport().close(joined.id);
  ASSERT_EQ(transport().lingering(), 1U);
  EXPECT_TRUE(all_delivered());
  EXPECT_EQ(transport().counters().linger_cut_short, 1U);
}

TEST_F(XdpTransportTest, the_retransmission_limit_ends_a_connection_without_a_user_timeout) {
  if (std::getenv("NFX_LONG_TESTS") == nullptr) GTEST_SKIP() << "takes five minutes: NFX_LONG_TESTS=1";
  const Joined joined = connect_to_kernel();
  wire().cut = true;
  ASSERT_EQ(transport().try_send(joined.id, bytes_of("into the void")).sent, 13U);
  ASSERT_TRUE(closed_with(joined.id, CloseReason::timed_out, std::chrono::seconds{400}));
}

TEST_F(XdpTransportTest, a_connect_without_an_answer_times_out) {
  wire().cut = true;
  const auto id = transport().connect({kernel_host, 4999});
  ASSERT_TRUE(id.has_value());
  EXPECT_TRUE(closed_with(*id, CloseReason::timed_out));
}

TEST_F(XdpTransportTest, a_connect_beyond_the_network_without_a_gateway_is_unreachable) {
  const auto id = transport().connect({"192.0.2.1", 4999});
  ASSERT_TRUE(id.has_value());
  EXPECT_TRUE(closed_with(*id, CloseReason::unreachable));
}

TEST_F(XdpTransportTest, a_transport_that_ends_resets_its_connections) {
  const Joined joined = connect_to_kernel();
  transport_.reset();
  std::string rest;
  int error = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{60};
  while (kernel_read(joined.fd, rest, &error)) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    wire().pump();
  }
  EXPECT_EQ(error, ECONNRESET);
}

// Bounds.

TEST_F(XdpTransportTest, resets_and_counts_connections_beyond_the_limit) {
  start({.address = xdp_address, .max_connections = 2});
  connect_from_kernel();
  connect_from_kernel();
  const int third = kernel_socket();
  begin_connect(third, transport().local_endpoint(*listener_)->port);
  std::string rest;
  int error = 0;
  ASSERT_TRUE(turn_until([&] { return !kernel_read(third, rest, &error) && error != ENOTCONN; }));
  EXPECT_EQ(error, ECONNRESET);
  EXPECT_EQ(transport().counters().refused_full, 1U);
  EXPECT_EQ(sink_.accepted.size(), 2U);
  EXPECT_FALSE(transport().connect({kernel_host, 4999}).has_value());
}

TEST_F(XdpTransportTest, answers_no_more_handshakes_at_once_than_max_half_open) {
  start({.address = xdp_address, .max_half_open = 3});
  const ListenerId listener = transport().listen({xdp_host, 0}).value();
  std::set<std::string> answered;  // ports of the kernel's
  lose_ = [&](bool from_xdp, unsigned flags, std::span<const char> frame) {
    if (!from_xdp || (flags & (syn | ack)) != (syn | ack)) return false;
    answered.insert(std::string{frame.data() + 36, 2});
    return true;
  };
  for (int i = 0; i < 10; ++i) begin_connect(kernel_socket(), transport().local_endpoint(listener)->port);
  turn_for(std::chrono::milliseconds{500});
  EXPECT_EQ(answered.size(), 3U);
  lose_ = nullptr;
  EXPECT_TRUE(turn_until([&] { return sink_.accepted.size() == 10; }));
}

TEST_F(XdpTransportTest, receives_all_bytes_although_frames_found_no_buffer) {
  start({.address = xdp_address, .frames = 128});
  const Joined joined = connect_from_kernel();
  const std::string sent = pattern(1'000'000);
  std::size_t at = 0;
  ASSERT_TRUE(turn_until([&] {
    if (const ssize_t size = ::send(joined.fd, sent.data() + at, sent.size() - at, MSG_NOSIGNAL); size > 0)
      at += static_cast<std::size_t>(size);
    for (int i = 0; i < 20; ++i) wire().pump();  // the transport polls too seldom
    return sink_.received[joined.id].size() >= sent.size();
  }));
  EXPECT_TRUE(sink_.received[joined.id] == sent);
}

TEST_F(XdpTransportTest, sends_all_bytes_after_its_ring_was_full) {
  start({.address = xdp_address, .frames = 128});
  std::vector<Joined> all;
  for (int i = 0; i < 40; ++i) all.push_back(connect_to_kernel());
  ASSERT_TRUE(run_command("ip link set xdp0 down"));
  const std::string sent = pattern(6000);
  for (const Joined& each : all) ASSERT_EQ(transport().try_send(each.id, bytes_of(sent)).sent, sent.size());
  turn_for(std::chrono::milliseconds{50});
  ASSERT_TRUE(run_command("ip link set xdp0 up"));
  std::map<int, std::string> received;
  ASSERT_TRUE(turn_until([&] {
    return std::ranges::all_of(all, [&](const Joined& each) {
      EXPECT_TRUE(kernel_read(each.fd, received[each.fd]));
      return received[each.fd].size() >= sent.size();
    });
  }));
  for (const auto& [fd, bytes] : received) EXPECT_TRUE(bytes == sent);
}

TEST_F(XdpTransportTest, a_held_connection_slows_its_peer_and_loses_nothing) {
  const Joined joined = connect_from_kernel();
  const std::string sent = pattern(1'000'000);
  std::size_t at = 0;
  const auto push = [&] {
    const ssize_t size = ::send(joined.fd, sent.data() + at, sent.size() - at, MSG_NOSIGNAL);
    if (size > 0) at += static_cast<std::size_t>(size);
  };
  const int small = 4096;
  ::setsockopt(joined.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
  transport().hold(joined.id, true);
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds{300};
  while (std::chrono::steady_clock::now() < until) {
    push();
    turn();
  }
  EXPECT_LT(at, 300'000U);
  EXPECT_TRUE(sink_.received.empty());
  transport().hold(joined.id, false);
  ASSERT_TRUE(turn_until([&] {
    push();
    return sink_.received[joined.id].size() >= sent.size();
  }));
  EXPECT_TRUE(sink_.received[joined.id] == sent);
}

TEST_F(XdpTransportTest, drops_segments_out_of_order_rather_than_all_its_buffers) {
  start({.address = xdp_address, .frames = 128});
  const Joined joined = connect_from_kernel();
  const Joined other = connect_from_kernel();
  // The first segment never arrives, so that all later ones wait for it.
  bool lose_first = true;
  const std::string first(100, 'f');
  lose_ = [&](bool from_xdp, unsigned, std::span<const char> frame) {
    return lose_first && !from_xdp && std::string_view{frame.data(), frame.size()}.contains(first);
  };
  ASSERT_EQ(::send(joined.fd, first.data(), first.size(), MSG_NOSIGNAL), 100);
  std::string sent = first;
  for (int i = 0; i < 400; ++i) {
    const std::string piece = "piece " + std::to_string(i) + ";";
    if (::send(joined.fd, piece.data(), piece.size(), MSG_NOSIGNAL) > 0) sent += piece;
    turn();
  }
  ASSERT_EQ(::send(other.fd, "still here", 10, MSG_NOSIGNAL), 10);
  EXPECT_TRUE(turn_until([&] { return sink_.received[other.id] == "still here"; }));
  EXPECT_FALSE(sink_.received.contains(joined.id));
  lose_first = false;
  EXPECT_TRUE(turn_until([&] { return sink_.received[joined.id] == sent; }));
}

// After a change of a TCP segment.
void repair_check_sum(std::string& frame) {
  frame[50] = frame[51] = 0;
  std::uint32_t sum = IPPROTO_TCP + static_cast<std::uint32_t>(frame.size()) - 34;
  for (std::size_t at = 26; at < frame.size(); ++at)
    sum += static_cast<std::uint32_t>(static_cast<unsigned char>(frame[at])) << (at % 2 == 0 ? 8 : 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  frame[50] = static_cast<char>(~sum >> 8);
  frame[51] = static_cast<char>(~sum);
}

TEST_F(XdpTransportTest, ignores_a_segment_that_lwip_would_end_the_process_for) {
  const Joined joined = connect_to_kernel();
  int changed = 0;
  wire().change = [&](bool from_xdp, std::string& frame) {
    if (from_xdp || tcp_flags(frame) == 0 || changed++ > 0) return;
    frame[38] = static_cast<char>(frame[38] ^ 0x80);  // half of the number space away
    repair_check_sum(frame);
  };
  ASSERT_EQ(::send(joined.fd, "x", 1, MSG_NOSIGNAL), 1);
  EXPECT_TRUE(turn_until([&] { return sink_.received[joined.id] == "x"; }));
  EXPECT_GE(changed, 1);
}

// Changed copies of each segment arrive before it, with right checksums.
TEST_F(XdpTransportTest, survives_segments_that_no_tcp_would_send) {
  std::uint32_t seed = 42;
  const auto random = [&] {
    seed ^= seed << 13;
    seed ^= seed >> 17;
    return seed ^= seed << 5;
  };
  wire().change = [&](bool from_xdp, std::string& frame) {
    if (from_xdp || tcp_flags(frame) == 0) return;
    for (std::uint32_t changes = 1 + random() % 3; changes > 0; --changes)
      frame[38 + random() % (frame.size() - 38)] = static_cast<char>(random());
    repair_check_sum(frame);
  };
  for (int i = 0; i < 100; ++i) {
    const int fd = kernel_socket();
    if (!listener_) listener_ = transport().listen({xdp_host, 0}).value();
    begin_connect(fd, transport().local_endpoint(*listener_)->port);
    turn_for(std::chrono::milliseconds{10});
    for (int piece = 0; piece < 5; ++piece) {
      ::send(fd, "some bytes of a stream", 22, MSG_NOSIGNAL);
      turn();
    }
    for (const ConnectionId id : sink_.accepted) transport().try_send(id, bytes_of("an answer"));
    turn_for(std::chrono::milliseconds{5});
    if (i % 2 == 0) kernel_close(fd);
  }
  wire().change = nullptr;
  for (const ConnectionId id : sink_.accepted) transport().close(id);
  const Joined joined = connect_to_kernel();
  ASSERT_EQ(::send(joined.fd, "still here", 10, MSG_NOSIGNAL), 10);
  EXPECT_TRUE(turn_until([&] { return sink_.received[joined.id] == "still here"; }));
}

TEST_F(XdpTransportTest, a_second_one_in_the_process_is_refused_with_the_reason) {
  try {
    const XdpTransport second{XdpOptions{.address = xdp_address}};
    FAIL() << "there are two";
  } catch (const std::system_error& error) {
    EXPECT_TRUE(std::string_view{error.what()}.contains("one stack per process")) << error.what();
  }
}

TEST_F(XdpTransportTest, an_address_of_the_kernel_is_refused) {
  ASSERT_TRUE(run_command("ip addr add 10.99.0.3/24 dev xdp0"));
  transport_.reset();
  try {
    const XdpTransport wrong{XdpOptions{.address = "xdp0 10.99.0.3/24"}};
    FAIL() << "it was taken";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), EADDRINUSE);
  }
}

TEST_F(XdpTransportTest, leaves_other_addresses_of_its_interface_to_the_kernel) {
  ASSERT_TRUE(run_command("ip addr add 10.99.0.3/24 dev xdp0"));
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  fds_.insert(listener);
  const sockaddr_in at = address("10.99.0.3", 4100);
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  ASSERT_EQ(::listen(listener, 4), 0);
  const int fd = kernel_socket();
  EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at), -1);
  int accepted = -1;
  ASSERT_TRUE(turn_until([&] { return (accepted = ::accept(listener, nullptr, nullptr)) >= 0; }));
  fds_.insert(accepted);
  EXPECT_TRUE(sink_.accepted.empty());
}

TEST_F(XdpTransportTest, a_waiting_poll_is_ended_by_a_frame_and_by_wake) {
  const Joined joined = connect_from_kernel();
  turn_for(std::chrono::milliseconds{50});
  ASSERT_EQ(::send(joined.fd, "x", 1, MSG_NOSIGNAL), 1);
  wire().pump();
  const auto begin = std::chrono::steady_clock::now();
  transport().poll(sink_, std::chrono::seconds{10});
  EXPECT_EQ(sink_.received[joined.id], "x");
  transport().wake();
  transport().poll(sink_, std::chrono::seconds{10});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{1});
}

TEST_F(XdpTransportTest, lists_socket_options_that_lwip_does_not_have) {
  SocketOptions options;
  options.quickack = true;
  connect_to_kernel(options);
  ASSERT_EQ(transport().warnings().size(), 1U);
  EXPECT_EQ(transport().warnings()[0].text, "quickack: has no effect with the transport af_xdp");
}

}  // namespace
}  // namespace nfx

#endif  // NFX_WITH_AF_XDP
