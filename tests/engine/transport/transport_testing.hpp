// Shared by the transport tests: a sink that records everything, and pairs of ends over each implementation.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "transport/epoll_transport.hpp"
#include "transport/faulty_transport.hpp"
#include "transport/io_uring_transport.hpp"
#include "transport/loopback_transport.hpp"

namespace nfx::testing {

using namespace std::chrono_literals;

struct RecordingSink {
  std::vector<ConnectionId> accepted;
  std::vector<ConnectionId> connected;
  std::vector<ConnectionId> writable;
  std::map<ConnectionId, std::string> received;
  std::map<ConnectionId, CloseReason> closed;
  std::size_t receive_calls = 0;
  std::string peer;
  std::string log;  // every event in order, without ids

  std::function<void(ConnectionId)> when_accepted;
  std::function<void(ConnectionId, std::span<const char>)> when_received;
  std::function<void(ConnectionId)> when_writable;
  std::function<void(ConnectionId)> when_closed;

  void on_accept(ListenerId, ConnectionId id, std::string_view from) {
    accepted.push_back(id);
    peer = from;
    log += "accept;";
    if (when_accepted) when_accepted(id);
  }
  void on_connect(ConnectionId id) {
    connected.push_back(id);
    log += "connect;";
  }
  void on_receive(ConnectionId id, std::span<const char> bytes) {
    received[id].append(bytes.data(), bytes.size());
    ++receive_calls;
    log += "receive " + std::to_string(slot_of(id)) + " " + std::to_string(bytes.size()) + ";";
    if (when_received) when_received(id, bytes);
  }
  void on_writable(ConnectionId id) {
    writable.push_back(id);
    log += "writable;";
    if (when_writable) when_writable(id);
  }
  void on_close(ConnectionId id, CloseReason reason) {
    EXPECT_FALSE(closed.contains(id)) << "closed twice";
    closed[id] = reason;
    log += "close " + std::string(to_string(reason)) + ";";
    if (when_closed) when_closed(id);
  }
};
static_assert(TransportSink<RecordingSink>);

inline std::span<const char> bytes_of(std::string_view text) { return {text.data(), text.size()}; }

// Bytes whose values depend on their position.
inline std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('A' + (i * 31 + i / 251) % 57);
  return text;
}

// Two ends with a listener on the server's; `Ends` provides server, client and a step of time.
template <class Ends>
class Pair : public Ends {
 public:
  using Ends::Ends;
  RecordingSink server_sink;
  RecordingSink client_sink;

  // One iteration of both ends.
  void turn() {
    this->advance();
    this->client.poll(client_sink, 0ns);
    this->server.poll(server_sink, this->idle_wait);
  }

  // Runs iterations until the condition holds; false after a time far beyond any healthy run.
  template <class Condition>
  [[nodiscard]] bool turn_until(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + 10min;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      turn();
    }
    return true;
  }

  void turns(int count) {
    for (int i = 0; i < count; ++i) turn();
  }

  // Listens, if not yet listening, and connects: the server's and the client's id of a connection.
  struct Ids {
    ConnectionId server = no_connection;
    ConnectionId client = no_connection;
  };
  Ids join() {
    if (!listener) {
      const auto made = this->server.listen({"127.0.0.1", 0}, socket);
      EXPECT_TRUE(made.has_value());
      listener = *made;
    }
    const auto id = this->client.connect(*this->server.local_endpoint(*listener), socket);
    EXPECT_TRUE(id.has_value());
    const std::size_t accepted = server_sink.accepted.size();
    const std::size_t connected = client_sink.connected.size();
    EXPECT_TRUE(
        turn_until([&] { return server_sink.accepted.size() > accepted && client_sink.connected.size() > connected; }));
    return {server_sink.accepted.back(), *id};
  }

  std::optional<ListenerId> listener;
  SocketOptions socket;
};

// The transports over TCP, and io_uring once more without the features that older kernels lack.
struct EpollKind {
  using Transport = EpollTransport;
  using Options = EpollOptions;
  static constexpr const char* name = "epoll";
  static Options adjusted(Options options) { return options; }
  static std::string missing() { return {}; }
};

struct IoUringKind {
  using Transport = IoUringTransport;
  using Options = IoUringOptions;
  static constexpr const char* name = "io_uring";
  static Options adjusted(Options options) { return options; }
  static std::string missing() {
    static const IoUringFeatures features = probe_io_uring();
    return features.available ? std::string() : features.text;
  }
};

struct PlainIoUringKind : IoUringKind {
  static constexpr const char* name = "plain_io_uring";
  static Options adjusted(Options options) {
    options.allow_defer_taskrun = options.allow_coop_taskrun = false;
    options.allow_multishot_accept = options.allow_multishot_receive = false;
    return options;
  }
};

struct KindNames {
  template <class Kind>
  static std::string GetName(int) {
    return Kind::name;
  }
};

template <class Kind>
struct TcpEnds {
  using KindOfTransport = Kind;
  typename Kind::Transport server;
  typename Kind::Transport client;
  Duration idle_wait = 100us;
  explicit TcpEnds(const typename Kind::Options& options = {})
      : server(Kind::adjusted(options)), client(Kind::adjusted(options)) {}
  static std::string missing() { return Kind::missing(); }
  void advance() {}
};

struct LoopbackEnds {
  LoopbackNetwork network;
  LoopbackTransport server{network};
  LoopbackTransport client{network};
  Duration idle_wait = 0ns;
  static std::string missing() { return {}; }
  void advance() {}
};

inline constexpr FaultOptions rough_weather{
    .seed = 7, .split_probability = 0.5, .small_piece = 700, .delay_probability = 0.3, .max_delay = 3ms};

template <class Inner>
struct FaultyEnds {
  explicit FaultyEnds(const FaultOptions& options = rough_weather)
      : server(inner.server, options, [this] { return now; }), client(inner.client, options, [this] { return now; }) {}
  MonotonicTime now{};
  Inner inner;
  FaultyTransport<decltype(Inner::server)> server;
  FaultyTransport<decltype(Inner::client)> client;
  Duration idle_wait = inner.idle_wait;
  static std::string missing() { return Inner::missing(); }
  void advance() { now += 1ms; }
};

template <class Kind>
using PairOver = Pair<TcpEnds<Kind>>;
using TcpPair = PairOver<EpollKind>;
using LoopbackPair = Pair<LoopbackEnds>;
using FaultyTcpPair = Pair<FaultyEnds<TcpEnds<EpollKind>>>;
using FaultyLoopbackPair = Pair<FaultyEnds<LoopbackEnds>>;

}  // namespace nfx::testing
