// The network as seen by one process: a faulty loopback that reports every sent message. When its process is killed, it
// stops sending and receiving, even in the middle of an operation. Its memory belongs to the network, not to the
// calling engine.
// Thread: one owner. Cost: reads every sent byte.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "nexusfix/wire/framer.hpp"
#include "simulation/holdings.hpp"
#include "transport/faulty_transport.hpp"
#include "transport/loopback_transport.hpp"

namespace nfx::simulation {

using FaultyLoopback = FaultyTransport<LoopbackTransport>;

// Faults that no network between two TCP stacks has, to prove that the ledger detects them.
enum class BrokenLink : std::uint8_t {
  none,
  repeats_a_message,  // sends the same bytes once more
  alters_a_resend,    // changes one byte of a resent message, with a matching checksum
};

class ProcessTransport {
 public:
  using OnLeft = std::function<void(ConnectionId id, std::string_view message)>;

  ProcessTransport(Side side, LoopbackNetwork& network, const FaultOptions& faults, FaultyLoopback::Clock clock,
                   OnLeft on_left)
      : side_(side),
        inner_(network,
               {.stream_buffer = 16 * 1024, .receive_limit = 8 * 1024, .max_connections = 64, .listen_backlog = 16}),
        faulty_(inner_, faults, std::move(clock)),
        on_left_(std::move(on_left)) {}
  ProcessTransport(const ProcessTransport&) = delete;
  ProcessTransport& operator=(const ProcessTransport&) = delete;

  [[nodiscard]] std::expected<ListenerId, TransportError> listen(const Endpoint& endpoint,
                                                                 const SocketOptions& options = {}) {
    const Holding network{network_of(side_)};
    auto listener = faulty_.listen(endpoint, options);
    if (listener) listener_ = *listener;
    return listener;
  }
  [[nodiscard]] std::optional<Endpoint> local_endpoint(ListenerId id) const { return faulty_.local_endpoint(id); }
  void close_listener(ListenerId id) noexcept { faulty_.close_listener(id); }
  [[nodiscard]] std::expected<ConnectionId, TransportError> connect(const Endpoint& endpoint,
                                                                    const SocketOptions& options = {}) {
    const Holding network{network_of(side_)};
    return faulty_.connect(endpoint, options);
  }

  SendResult try_send(ConnectionId id, std::span<const char> bytes) noexcept {
    if (dead_) return {bytes.size(), false};
    const Holding network{network_of(side_)};
    std::string altered;
    if (broken_ == BrokenLink::alters_a_resend) [[unlikely]] {
      altered.assign(bytes.data(), bytes.size());
      alter_a_resend(altered);
    }
    const SendResult result = faulty_.try_send(id, altered.empty() ? bytes : std::span<const char>{altered});
    if (result.sent != 0) watch(id, {bytes.data(), result.sent});
    return result;
  }
  void close(ConnectionId id) noexcept {
    if (dead_) return;
    const Holding network{network_of(side_)};
    part_of_.erase(id);
    faulty_.close(id);
  }
  void hold(ConnectionId id, bool held) noexcept {
    if (!dead_) faulty_.hold(id, held);
  }
  [[nodiscard]] std::size_t lingering() const noexcept { return dead_ ? 0 : faulty_.lingering(); }
  [[nodiscard]] std::optional<UtcTime> received_at() const noexcept { return std::nullopt; }
  void wake() noexcept {}

  template <TransportSink Sink>
  std::size_t poll(Sink& sink, Duration max_wait) {
    if (dead_) return 0;
    const Holding network{network_of(side_)};
    Watching<Sink> watching{*this, sink};
    return faulty_.poll(watching, max_wait);
  }

  // From here on nothing is sent and nothing received.
  void strike_dead() noexcept { dead_ = true; }
  // A crashed machine does not accept connections either.
  void stop_listening() noexcept {
    if (listener_ != no_listener) inner_.close_listener(std::exchange(listener_, no_listener));
  }

  [[nodiscard]] FaultyLoopback& faulty() noexcept { return faulty_; }
  [[nodiscard]] ConnectionId newest() const noexcept { return newest_; }
  void breaks(BrokenLink link) noexcept { broken_ = link; }

 private:
  // Remembers which connection is in use. Allocations of the engine in callbacks are its own.
  template <class Sink>
  struct Watching {
    ProcessTransport& self;
    Sink& sink;
    void on_accept(ListenerId listener, ConnectionId id, std::string_view peer) {
      self.newest_ = id;
      const Holding engine{engine_of(self.side_)};
      sink.on_accept(listener, id, peer);
    }
    void on_connect(ConnectionId id) {
      self.newest_ = id;
      const Holding engine{engine_of(self.side_)};
      sink.on_connect(id);
    }
    void on_receive(ConnectionId id, std::span<const char> bytes) {
      const Holding engine{engine_of(self.side_)};
      sink.on_receive(id, bytes);
    }
    void on_writable(ConnectionId id) {
      const Holding engine{engine_of(self.side_)};
      sink.on_writable(id);
    }
    void on_close(ConnectionId id, CloseReason reason) {
      self.part_of_.erase(id);
      const Holding engine{engine_of(self.side_)};
      sink.on_close(id, reason);
    }
  };

  void watch(ConnectionId id, std::string_view bytes) {
    std::string& part = part_of_[id];
    part += bytes;
    std::string_view rest = part;
    while (!rest.empty()) {
      const Frame frame = next_frame(rest);
      if (frame.status == FrameStatus::need_more) break;
      on_left_(id, rest.substr(0, frame.size));
      misbehave(id, rest.substr(0, frame.size));
      rest.remove_prefix(frame.size);
    }
    part.erase(0, part.size() - rest.size());
  }
  void misbehave(ConnectionId id, std::string_view message) {
    if (broken_ != BrokenLink::repeats_a_message || !message.contains("\x01"
                                                                      "35=D\x01"))
      return;
    broken_ = BrokenLink::none;
    static_cast<void>(faulty_.try_send(id, message));
  }

  // Increments the first letter of Text(58), and the sum with it.
  void alter_a_resend(std::string& bytes) {
    const std::size_t duplicate = bytes.find(
        "\x01"
        "43=Y\x01");
    const std::size_t text = bytes.find(
        "\x01"
        "58=",
        duplicate == std::string::npos ? bytes.size() : duplicate);
    const std::size_t sum = bytes.find(
        "\x01"
        "10=",
        text == std::string::npos ? bytes.size() : text);
    if (sum == std::string::npos || sum + 8 > bytes.size()) return;
    broken_ = BrokenLink::none;
    ++bytes[text + 4];
    const std::string renewed = std::to_string(1000 + (std::stoi(bytes.substr(sum + 4, 3)) + 1) % 256).substr(1);
    bytes.replace(sum + 4, 3, renewed);
  }

  Side side_;
  LoopbackTransport inner_;
  FaultyLoopback faulty_;
  OnLeft on_left_;
  std::map<ConnectionId, std::string> part_of_;  // the first part of a message whose end was not sent yet
  ListenerId listener_ = no_listener;
  ConnectionId newest_ = no_connection;
  BrokenLink broken_ = BrokenLink::none;
  bool dead_ = false;
};

static_assert(Transport<ProcessTransport>);

}  // namespace nfx::simulation
