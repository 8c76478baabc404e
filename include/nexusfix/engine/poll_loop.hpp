// One poll thread: a transport, a clock and the sessions that live on them, run to completion.
// Thread: everything here belongs to the thread that calls turn(), but request_stop(), submit(), add(), remove() and
// knows(), which any thread may call. Cost: no allocation, lock or throw between a message's bytes and its answer's,
// once a session has logged on. Errors: start() throws when a listener cannot be opened; afterwards whatever happens
// becomes a callback or a counter.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/engine/application.hpp"
#include "nexusfix/engine/clock.hpp"
#include "nexusfix/engine/deadline_heap.hpp"
#include "nexusfix/engine/output_buffer.hpp"
#include "nexusfix/engine/session_index.hpp"
#include "nexusfix/engine/session_stores.hpp"
#include "nexusfix/engine/submit_queue.hpp"
#include "nexusfix/observe/event_log.hpp"
#include "nexusfix/observe/message_log.hpp"
#include "nexusfix/session/session.hpp"
#include "nexusfix/transport/transport.hpp"
#include "nexusfix/wire/batch.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx {

// Where a loop writes what happens.
struct LoopLogs {
  std::optional<MessageLog::Lane> messages;
  std::optional<EventLog::Lane> events;
  // A session that came while the loop runs, and its name; null when it goes.
  std::function<void(std::size_t session, const std::string* name)> name_session;
};

// How a session stands, for those who watch.
struct SessionFigures {
  std::string identity;
  SessionCounters counters;
  bool logged_on = false;
  SeqNum next_inbound{};
  SeqNum next_outbound{};
  std::optional<JournalCounters> journal;
  StoreCondition store_condition = StoreCondition::good;
};

// The random half of a back-off, seeded by the caller.
class Jitter {
 public:
  explicit Jitter(std::uint64_t seed) noexcept : state_(seed) {}
  // Between half of `delay` and all of it.
  [[nodiscard]] Duration spread(Duration delay) noexcept {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    x ^= x >> 31;
    const std::int64_t half = delay.count() / 2;
    return Duration{delay.count() - half +
                    (half == 0 ? 0 : static_cast<std::int64_t>(x % static_cast<std::uint64_t>(half)))};
  }

 private:
  std::uint64_t state_;
};

template <Transport T, Clock C>
class PollLoop {
 public:
  // `config`, `application` and `stores` outlive the loop; it serves the sessions whose poll_thread is `thread`.
  // Throws StoreError when a session's store cannot be opened.
  PollLoop(const EngineConfig& config, std::uint32_t thread, T& transport, C& clock, Application& application,
           SessionStores& stores = memory_stores());
  PollLoop(const PollLoop&) = delete;
  PollLoop& operator=(const PollLoop&) = delete;

  // Before start(): where messages and events go besides the application. The logs outlive the loop.
  void log_to(LoopLogs logs) { logs_ = std::move(logs); }

  // Opens the listeners and starts the first connects. Throws ConfigError naming the address that failed.
  void start();

  // One turn: due timers, submissions, the application's turn, the network. Waits at most max_wait. Returns how much
  // happened, so that a caller knows whether to idle.
  std::size_t turn(Duration max_wait);

  // When the last turn began.
  [[nodiscard]] MonotonicTime turn_began() const noexcept { return now_.monotonic; }

  // Logs every session out; finished() once all are gone and their last bytes delivered.
  void request_stop() noexcept { stop_requested_.store(true, std::memory_order_release); }
  [[nodiscard]] bool finished() const noexcept;

  // How long until something is due; Duration::max() when nothing is.
  [[nodiscard]] Duration until_next_deadline() const noexcept;

  // From any other thread: queues a message for a session. False when the queue is full or the message too long.
  [[nodiscard]] bool submit(std::size_t session, std::string_view msg_type, std::string_view body) noexcept;

  // From any other thread: a session more, checked before (check_session); it is there from the loop's next turn on.
  // Returns its number. Throws ConfigError when max_dynamic_sessions are there or one of the same identity.
  std::size_t add(SessionSettings settings);
  // From any other thread: logs a session out and forgets it, store included. False: no such session.
  bool remove(std::size_t session, std::string text);
  [[nodiscard]] bool knows(const std::string& identity);

  [[nodiscard]] SessionHandle* find(std::size_t session) noexcept;
  // Of all sessions that are there. Allocates where `into` has not held as many before.
  void figures(std::vector<SessionFigures>& into) const;
  [[nodiscard]] std::optional<Endpoint> local_endpoint(const Endpoint& configured) const;
  [[nodiscard]] const PollLoopCounters& counters() const noexcept { return counters_; }

  // TransportSink.
  void on_accept(ListenerId listener, ConnectionId id, std::string_view peer);
  void on_connect(ConnectionId id);
  void on_receive(ConnectionId id, std::span<const char> bytes);
  void on_writable(ConnectionId id);
  void on_close(ConnectionId id, CloseReason reason);
  // HandshakeSink: an accepted connection failed its handshake.
  void on_handshake_failed(std::string_view peer, std::string_view why);

 private:
  class Slot;

  // A connection whose Logon has not come yet.
  struct Pending {
    ConnectionId id = no_connection;
    ListenerId listener = no_listener;
    MonotonicTime deadline{};
    std::size_t size = 0;
    std::unique_ptr<char[]> bytes;
    std::string peer;
    // Its session is being opened elsewhere; 0: no. What did not fit `bytes` waits in `rest`.
    std::size_t opening = 0;
    std::string rest;
  };
  struct Listening {
    ListenerId id;
    Endpoint configured;
    std::string name;  // of configured
  };
  struct Command {  // of another thread
    std::unique_ptr<Slot> added;
    std::size_t removed = 0;  // when nothing was added
    std::string text;
    std::size_t opened = 0;  // asked for by a Logon; with nothing added it could not be, and `text` says why
    std::string name{};
  };
  struct Owner {  // of a connection, by its slot number
    enum class Kind : std::uint8_t { none, pending, session } kind = Kind::none;
    std::uint32_t index = 0;
    ConnectionId id = no_connection;
  };

  static constexpr std::size_t admin_reserve = 16 * 1024;  // of each send buffer, kept from the application
  // Answers to a read this small leave at once, message by message: there is time, and the next answer need not wait
  // for the messages behind it. Larger reads mean load, where one send for all answers is worth more.
  static constexpr std::size_t eager_flush_limit = 2048;
  static constexpr std::size_t replay_batch = 64 * 1024;  // bytes of resent messages per turn and session
  static constexpr std::size_t journal_room = 16 * 1024;  // below which a message waits to be received
  static constexpr Duration journal_check{std::chrono::microseconds{200}};  // while the journal has no room
  // Clocks are set now and then: a boundary further away is looked at again after so long.
  static constexpr Duration schedule_check{std::chrono::minutes{1}};

  // Within a turn the time of day goes on with the monotonic clock: one reading instead of two for each event. Somebody
  // who sets the time is heard at the next turn.
  void look_at_clock() noexcept {
    const MonotonicTime now = clock_.monotonic();
    now_.utc += now - now_.monotonic;
    now_.monotonic = now;
  }

  // Within on_close: more than the reason says, where the transport knows more.
  [[nodiscard]] std::string_view words_of(ConnectionId id) const noexcept;
  [[nodiscard]] Owner owner_of(ConnectionId id) const noexcept;
  void set_owner(ConnectionId id, typename Owner::Kind kind, std::uint32_t index);
  void clear_owner(ConnectionId id) noexcept;

  void receive_pending(std::uint32_t index, std::span<const char> bytes);
  void drop_pending(std::uint32_t index) noexcept;
  void expire_pending() noexcept;
  [[nodiscard]] Slot* slot_for_logon(const MessageView& logon, Pending& pending);
  Slot* opened(Command& command);
  void opened_elsewhere(Command& command);
  [[nodiscard]] bool may_log_on(const SessionSettings& settings, const MessageView& logon, const Pending& pending,
                                bool is_new);
  [[nodiscard]] Slot* make_from_template(const MessageView& logon, Pending& pending);
  [[nodiscard]] bool listens_at(ListenerId listener, const Endpoint& endpoint) const noexcept;

  // Sessions that come and go, and their time.
  [[nodiscard]] std::size_t claim(const std::string& name);
  void disclaim(const std::string& name);
  [[nodiscard]] bool may_exist(std::size_t session) const noexcept;
  Slot& adopt(std::unique_ptr<Slot> slot);
  void begin_session(Slot& slot);
  void ensure_listener(const Endpoint& endpoint, const SocketOptions& options);
  void take_commands();
  void begin_removal(std::size_t session, std::string_view text);
  void retire();
  void apply_schedule(Slot& slot);
  void start_over_when_due(Slot& slot);

  void attach(Slot& slot, ConnectionId id);
  void detach(Slot& slot) noexcept;
  void begin_connect(Slot& slot);
  void connect_timed_out(Slot& slot);
  void park(Slot& slot, std::string_view bytes, MonotonicTime until);
  void resume(Slot& slot);
  void schedule_reconnect(Slot& slot) noexcept;
  void receive(Slot& slot, std::string_view bytes);
  BatchEnd receive_batch(Slot& slot, std::string_view bytes);
  [[nodiscard]] MonotonicTime may_receive_at(const Slot& slot) const noexcept;
  void receive_item(Slot& slot, const BatchItem& item);
  void drain_queue(Slot& slot);
  void fire_timer(Slot& slot);
  void pump_replay(Slot& slot);
  void flush(Slot& slot);
  [[nodiscard]] std::span<const char> releasable(Slot& slot) noexcept;
  void release_gated();
  void forget_output(Slot& slot) noexcept;
  void watch_slow(Slot& slot) noexcept;
  void check_store(Slot& slot);
  void check_stores();
  [[nodiscard]] bool store_is_good(Slot& slot);
  void flush_all();
  void log_everyone_out();
  void submit_pending();

  // Runs one session event with the slot's output space and carries its actions out.
  template <class Event>
  auto step(Slot& slot, std::size_t reserve, Event&& event);
  void execute(Slot& slot, const Actions& actions);
  void execute_one(Slot& slot, const Action& action);
  void observe(Slot& slot, Direction direction, std::string_view message);
  void tell(SessionHandle& session, Notice notice, SeqNum seq, std::string_view text);
  void log_event(const SessionHandle& session, std::string_view what, std::string_view detail = {}) noexcept;
  void rearm(Slot& slot) noexcept;
  void mark_dirty(Slot& slot) noexcept;

  const EngineConfig& config_;
  T& transport_;
  C& clock_;
  Application& application_;
  SessionStores& stores_;
  std::uint64_t store_changes_seen_ = 0;
  LoopLogs logs_;
  Instant now_;
  Jitter jitter_;

  std::uint32_t thread_;
  std::vector<std::unique_ptr<Slot>> slots_;    // null where a session was removed
  std::vector<std::uint32_t> slot_of_session_;  // by position in config; npos when another thread's, or a template
  std::vector<const SessionSettings*> templates_;
  std::vector<std::uint32_t> leaving_;  // slots to be removed once their connection has ended
  SessionIndex index_;                  // acceptors by the names in a Logon, sessions that came later by their numbers
  std::vector<Listening> listening_;
  std::vector<Pending> pending_;
  std::size_t pending_count_ = 0;
  MonotonicTime pending_deadline_ = MonotonicTime::max();
  std::vector<Owner> owners_;
  DeadlineHeap deadlines_;
  std::vector<std::uint32_t> dirty_;      // slots with something to flush, each once
  std::vector<std::uint32_t> replaying_;  // slots with a resend under way, each once
  std::vector<std::uint32_t> waiting_;    // slots whose messages wait for their journal's sync, each once
  FrameReader frames_;
  MessageView message_;
  MessageView queued_message_;
  MessageView replayed_message_;
  std::string resumed_;  // what resume() hands on
  SubmitQueue submissions_;
  Duration wanted_turn_ = Duration::max();
  std::atomic<bool> stop_requested_{false};
  bool stopping_ = false;

  // What other threads ask for. Sessions count against their maximum from when they are claimed.
  std::mutex command_mutex_;
  std::vector<Command> commands_;
  std::set<std::string> identities_;
  std::size_t dynamic_count_ = 0;             // alive
  std::atomic<std::size_t> dynamic_made_{0};  // ever
  std::atomic<bool> has_commands_{false};

  PollLoopCounters counters_;
};

}  // namespace nfx

#include "nexusfix/engine/poll_loop_connections.hpp"
#include "nexusfix/engine/poll_loop_impl.hpp"
#include "nexusfix/engine/poll_loop_output.hpp"
#include "nexusfix/engine/poll_loop_sessions.hpp"
