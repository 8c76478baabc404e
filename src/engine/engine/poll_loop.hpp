// One poll thread: a transport, a clock and the sessions that live on them, run to completion.
// Thread: everything here belongs to the thread that calls turn(), but request_stop(), submit(), add(), remove(),
// push() and knows(), which any thread may call. Cost: no allocation, lock or throw between a message's bytes and its
// answer's, once a session has logged on. Errors: start() throws when a listener cannot be opened; afterwards whatever
// happens becomes a callback or a counter. The bodies are in poll_loop_impl.hpp, which the one file includes that
// instantiates the loop for its transport.
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
#include "engine/session_runner.hpp"
#include "engine/thread_watch.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/engine/application.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "transport/transport.hpp"
#include "wire/batch.hpp"

namespace nfx {

template <Transport T, Clock C>
class PollLoop {
 public:
  // `config`, the objects of `callbacks` and `stores` outlive the loop; it serves the sessions whose poll_thread is
  // `thread`. Throws StoreError when a session's store cannot be opened.
  PollLoop(const EngineConfig& config, std::uint32_t thread, T& transport, C& clock, Callbacks callbacks,
           SessionStores& stores = memory_stores());
  PollLoop(const PollLoop&) = delete;
  PollLoop& operator=(const PollLoop&) = delete;

  // Before start(): where messages and events go besides the application. The logs outlive the loop.
  void log_to(LoopLogs logs);
  // Before start(): where connections go whose session another gateway owns. It outlives this.
  void hand_on_to(HandOnQueue& queue) noexcept { runner_.hand_on_to(queue); }
  // Before start(): see SessionRunner.
  void when_gone(SessionGone gone) { runner_.when_gone(std::move(gone)); }

  // Opens the listeners and starts the first connects. Throws ConfigError naming the address that failed.
  void start();

  // One iteration: due timers, submissions, the application's on_turn, the network. Waits at most max_wait. Returns how
  // much happened, so that a caller knows whether to idle.
  std::size_t turn(Duration max_wait);

  // Each iteration follows the one before it immediately: the beginning of the next one is the end of what was sent.
  void turns_follow() noexcept { turns_follow_ = true; }
  // Counts what the last iteration has measured; otherwise the next one does it.
  void count_latency() noexcept { settle(); }

  // Of the last iteration. What on_turn does and sends is work: a busy-polling loop is idle from then on.
  [[nodiscard]] const TurnTimes& turn_times() const noexcept { return turn_times_; }

  // The calling thread, which turned the loop, does so no longer.
  void leave_thread() noexcept { runner_.loop_thread().leave(); }

  // Logs every session out; finished() once all are gone and their last bytes delivered.
  void request_stop() noexcept { stop_requested_.store(true, std::memory_order_release); }
  [[nodiscard]] bool finished() const noexcept;

  // How long until something is due; Duration::max() when nothing is.
  [[nodiscard]] Duration until_next_deadline() const noexcept;

  // From any other thread: queues a message for a session.
  [[nodiscard]] SubmitResult submit(std::size_t session, const Outgoing& message, SubmitOptions options = {}) noexcept;
  [[nodiscard]] std::optional<std::size_t> find(const SessionId& id) { return runner_.submissions().find(id); }
  [[nodiscard]] std::size_t submitted_bytes() const noexcept { return runner_.submissions().queued_bytes(); }

  // From any other thread: adds a session that check_session() has accepted; it exists from the loop's next iteration
  // on. Returns its number. Throws ConfigError when max_dynamic_sessions are there or one of the same identity.
  std::size_t add(SessionSettings settings, AddedSession as = {});
  // From any other thread: logs a session out and forgets it, store included. False: no such session.
  bool remove(std::size_t session, std::string text);
  [[nodiscard]] bool knows(const std::string& identity);
  [[nodiscard]] std::optional<std::string> why_not_added(std::size_t session);
  // From any other thread: what the loop carries out in its next iteration. False: too many wait.
  [[nodiscard]] bool push(std::shared_ptr<LoopCall> call);

  [[nodiscard]] SessionHandle* find(std::size_t session) noexcept;
  // The statistics of all sessions. Allocates when `into` is too small.
  void figures(std::vector<SessionFigures>& into) const;
  [[nodiscard]] std::optional<Endpoint> local_endpoint(const Endpoint& configured) const;
  [[nodiscard]] PollLoopCounters counters() const noexcept;  // from any thread
  [[nodiscard]] const LoopLatency& latency() const noexcept { return runner_.recorder().loop(); }
  [[nodiscard]] SlowRing& slow() const noexcept { return runner_.latencies().slow(); }
  [[nodiscard]] TraceRing* traces() const noexcept { return runner_.latencies().traces(); }
  void add_latency(LatencyReport& into) const { runner_.latencies().report(into, runner_.thread(), latency()); }

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
  // What the runner needs of transport and clock.
  class Network final : public LoopNetwork {
   public:
    Network(T& transport, C& clock) noexcept : transport_(transport), clock_(clock) {}
    std::expected<ListenerId, TransportError> listen(const Endpoint& endpoint, const SocketOptions& options) override {
      return transport_.listen(endpoint, options);
    }
    void close_listener(ListenerId listener) noexcept override { transport_.close_listener(listener); }
    std::expected<ConnectionId, TransportError> connect(const Endpoint& endpoint,
                                                        const SocketOptions& options) override {
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

   private:
    T& transport_;
    C& clock_;
  };

  // Answers to a read this small are sent immediately, message by message, so that an answer does not wait for the
  // messages after it. Larger reads mean load, where one send for all answers costs less.
  static constexpr std::size_t eager_flush_limit = 2048;

  void read_clock() noexcept { runner_.advance_to(clock_.monotonic()); }
  // Within on_close: details beyond the reason, where the transport has them.
  [[nodiscard]] std::string_view words_of(ConnectionId id) const noexcept;
  // What has been sent was sent by now.
  void settle() noexcept;
  void take_commands();
  void fire_timer(LiveSession& session);
  void deliver_again(LiveSession& session);
  void resume(LiveSession& session);
  void receive_pending(std::uint32_t index, std::span<const char> bytes);
  void receive(LiveSession& session, std::string_view bytes);
  BatchEnd receive_batch(LiveSession& session, std::string_view bytes);
  [[nodiscard]] MonotonicTime may_receive_at(LiveSession& session) noexcept;
  [[nodiscard]] MonotonicTime space_expected_at(LiveSession& session) noexcept;
  void receive_item(LiveSession& session, const BatchItem& item);
  [[nodiscard]] LiveSession* find_session(PendingLogon& pending);
  [[nodiscard]] bool receive_beyond_limits(LiveSession& session, const BatchItem& item);
  void begin_oversized(LiveSession& session, std::size_t size);
  void take_oversized(LiveSession& session, std::string_view& bytes);
  void receive_too_large(LiveSession& session, std::string_view head, std::string_view limit);
  void receive_message(LiveSession& session, std::string_view bytes);
  [[nodiscard]] bool receive_despite_check_sum(LiveSession& session, std::string_view bytes);
  void drain_queue(LiveSession& session);

  T& transport_;
  C& clock_;
  Network network_;
  SessionRunner runner_;
  TurnTimes turn_times_;
  bool turns_follow_ = false;
  FrameReader frames_;
  MessageView message_;
  MessageView queued_message_;
  std::string resumed_;   // what resume() passes to the session
  std::string repaired_;  // a message with the CheckSum that it should have
  std::atomic<bool> stop_requested_{false};
};

}  // namespace nfx
