// One poll thread: a transport, a clock and the sessions that live on them, run to completion.
// Thread: everything here belongs to the thread that calls turn(), but request_stop() and what LoopParts states. Cost:
// no allocation, lock or throw between a message's bytes and its answer's, once a session has logged on. Errors:
// start() throws when a listener cannot be opened; afterwards whatever happens becomes a callback or a counter. The
// bodies are in poll_loop_impl.hpp, which the one file includes that instantiates the loop for its transport.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/clock.hpp"
#include "engine/loop_network.hpp"
#include "engine/loop_parts.hpp"
#include "engine/thread_watch.hpp"
#include "engine/warm_up.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/engine/application.hpp"
#include "transport/transport.hpp"

namespace nfx {

// The parts' view of transport and clock.
template <Transport T, Clock C>
class NetworkOver : public LoopNetwork {
 public:
  NetworkOver(T& transport, C& clock) noexcept : transport_(transport), clock_(clock) {}
  std::expected<ListenerId, TransportError> listen(const Endpoint& endpoint, const SocketOptions& options) override {
    return transport_.listen(endpoint, options);
  }
  void close_listener(ListenerId listener) noexcept override { transport_.close_listener(listener); }
  std::expected<ConnectionId, TransportError> connect(const Endpoint& endpoint, const SocketOptions& options) override {
    return transport_.connect(endpoint, options);
  }
  SendResult try_send(ConnectionId id, std::span<const char> bytes) noexcept override {
    return transport_.try_send(id, bytes);
  }
  void close(ConnectionId id) noexcept override { transport_.close(id); }
  void hold(ConnectionId id, bool held) noexcept override { transport_.hold(id, held); }
  std::expected<int, NotDetached> detach(ConnectionId id, std::string& received) override {
    if constexpr (requires { transport_.detach(id, received); }) return transport_.detach(id, received);
    return LoopNetwork::detach(id, received);
  }
  std::optional<UtcTime> received_at() const noexcept override { return transport_.received_at(); }
  void wake() noexcept override { transport_.wake(); }
  UtcTime time_on_any_thread() const noexcept override { return clock_.any_thread_now().utc; }
  MonotonicTime monotonic() const noexcept override { return clock_.monotonic(); }
  const TlsPeer* tls_peer(ConnectionId id) const noexcept override {
    if constexpr (requires { transport_.tls_peer(id); }) return transport_.tls_peer(id);
    return nullptr;
  }

 protected:
  T& transport_;
  C& clock_;
};

template <Transport T, Clock C>
class PollLoop final : private NetworkOver<T, C>, public LoopParts {
 public:
  // `config`, the objects of `callbacks` and `stores` outlive the loop; it serves the sessions whose poll_thread is
  // `thread`. Throws StoreError when a session's store cannot be opened.
  PollLoop(const EngineConfig& config, std::uint32_t thread, T& transport, C& clock, Callbacks callbacks,
           SessionStores& stores = memory_stores());

  // Opens the listeners and starts the first connects. Throws ConfigError naming the address that failed.
  void start();

  // One iteration: due timers, submissions, the application's on_turn, the network. Waits at most max_wait. Returns how
  // much happened, so that a caller knows whether to idle.
  std::size_t turn(Duration max_wait);

  // Each iteration follows the one before it immediately: the beginning of the next one is the end of what was sent.
  void turns_follow() noexcept { turns_follow_ = true; }
  // This loop busy-polls, and keeps the paths of its messages warm; see WarmUp.
  void warm_up_every(Duration silence) { warm_up_.begin(context, sessions, silence); }
  [[nodiscard]] const WarmUp& warm_up() const noexcept { return warm_up_; }
  // Counts what the last iteration has measured; otherwise the next one does it.
  void count_latency() noexcept { settle(); }

  // Times of the last iteration. The work of on_turn, and the sends it causes, count as work; a busy-polling loop is
  // idle after them.
  [[nodiscard]] const TurnTimes& turn_times() const noexcept { return turn_times_; }

  // Logs every session out; finished() once all are gone and their last bytes delivered.
  void request_stop() noexcept { stop_requested_.store(true, std::memory_order_release); }
  [[nodiscard]] bool finished() const noexcept;

  // How long until something is due; Duration::max() when nothing is.
  [[nodiscard]] Duration until_next_deadline() const noexcept;
  [[nodiscard]] std::optional<Endpoint> local_endpoint(const Endpoint& configured) const;

  // TransportSink.
  void on_accept(ListenerId listener, ConnectionId id, std::string_view peer);
  void on_connect(ConnectionId id);
  void on_receive(ConnectionId id, std::span<const char> bytes);
  void on_writable(ConnectionId id);
  void on_close(ConnectionId id, CloseReason reason);
  // AcceptingSink: whether a connection may begin its handshake.
  [[nodiscard]] PeerStanding on_accepting(ListenerId listener, std::string_view peer);
  // HandshakeSink: an accepted connection failed its handshake.
  void on_handshake_failed(std::string_view peer, std::string_view why);

 private:
  using NetworkOver<T, C>::transport_;
  using NetworkOver<T, C>::clock_;

  // on_receive for these parts: the loop's own, or those of a rehearsal, which warms the same code so.
  [[gnu::noinline]] void receive(LoopParts& parts, ConnectionId id, std::span<const char> bytes);
  void read_clock() noexcept { context.time.advance_to(clock_.monotonic()); }
  // Within on_close: details beyond the reason, where the transport has them.
  [[nodiscard]] std::string_view words_of(ConnectionId id) const noexcept;
  // Stamps pending sends with the current time.
  void settle() noexcept;
  void rehearse() noexcept;

  TurnTimes turn_times_;
  WarmUp warm_up_;
  bool turns_follow_ = false;
  std::atomic<bool> stop_requested_{false};
};

}  // namespace nfx
