// Runs the sessions of one poll thread: an event goes through a session's step, and the actions that come out are
// carried out: stored, passed to the application, sent, connected, closed.
//
//   bytes, timers, requests ─► step ─► execute ─► store ─► application
//                                        └─► send gate ─► flush ─► transport
//
// Thread: the poll thread. Cost: no allocation, lock or throw between a message's bytes and its answer's, once a
// session has logged on. What happens once per message is in this header, the rest in session_runner*.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/call_trace.hpp"
#include "engine/connection_owners.hpp"
#include "engine/deadline_heap.hpp"
#include "engine/handed_on.hpp"
#include "engine/index_list.hpp"
#include "engine/journal_status.hpp"
#include "engine/latency_ledger.hpp"
#include "engine/latency_recorder.hpp"
#include "engine/live_session.hpp"
#include "engine/logon_gate.hpp"
#include "engine/loop_commands.hpp"
#include "engine/loop_network.hpp"
#include "engine/loop_reports.hpp"
#include "engine/loop_thread.hpp"
#include "engine/reconnect.hpp"
#include "engine/roster.hpp"
#include "engine/session_command.hpp"
#include "engine/session_figures.hpp"
#include "engine/submissions.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/engine/application.hpp"
#include "nexusfix/session/actions.hpp"
#include "session/logon_check.hpp"

namespace nfx {

struct SessionRunnerOptions {
  const EngineConfig& config;  // this and what follows outlives the runner
  std::uint32_t thread = 0;    // the poll thread whose sessions it runs
  LoopNetwork& network;
  Callbacks callbacks;
  SessionStores& stores;
  Instant now{};
};

class SessionRunner {
 public:
  static constexpr std::size_t admin_reserve = 16 * 1024;  // of each send buffer, reserved for session messages
  static constexpr std::size_t replay_batch = 64 * 1024;   // bytes of resent messages per iteration and session

  static constexpr std::size_t most_removed = 1024;  // names of sessions of templates; then the oldest is forgotten

  static constexpr Duration turn_after_failure{std::chrono::seconds{1}};
  static constexpr Duration challenge_check{std::chrono::milliseconds{100}};  // while a TestRequest is unanswered

  // Throws StoreError when a session's store cannot be opened.
  explicit SessionRunner(const SessionRunnerOptions& options);
  SessionRunner(const SessionRunner&) = delete;
  SessionRunner& operator=(const SessionRunner&) = delete;

  // Opens the listeners and starts the first connects. Throws ConfigError naming the address that failed.
  void start();

  // The time that events happen at.
  [[nodiscard]] const Instant& now() const noexcept { return now_; }
  void set_time(Instant now) noexcept {
    NFX_ASSERT(now.monotonic >= now_.monotonic);
    // One after the other: as a whole it would be read from memory before the stores of its halves are there.
    now_.utc = now.utc;
    now_.monotonic = now.monotonic;
  }
  // Within an iteration the time of day advances with the monotonic clock: one reading instead of two for each event. A
  // change of the system time takes effect in the next iteration.
  void advance_to(MonotonicTime now) noexcept {
    NFX_ASSERT(now >= now_.monotonic);
    now_.utc += now - now_.monotonic;
    now_.monotonic = now;
  }

  [[nodiscard]] LoopThread& loop_thread() noexcept { return loop_thread_; }

  // What is measured.
  [[nodiscard]] LatencyRecorder& recorder() noexcept { return recorder_; }
  [[nodiscard]] const LatencyRecorder& recorder() const noexcept { return recorder_; }
  [[nodiscard]] LatencyLedger& latencies() noexcept { return latencies_; }
  [[nodiscard]] const LatencyLedger& latencies() const noexcept { return latencies_; }
  [[nodiscard]] std::uint32_t thread() const noexcept { return thread_; }
  // The session whose on_message runs, where latencies are measured; null: none.
  [[nodiscard]] const LiveSession* delivering() const noexcept { return delivering_; }

  // One event of a session: event(Actions&) is its step. `reserve` bytes of the output stay free.
  template <class Event>
  auto step(LiveSession& session, std::size_t reserve, Event&& event);
  // Where a message of the application is written that a step then sends.
  [[nodiscard]] std::span<char> output_room(LiveSession& session) noexcept {
    // Requests space for the largest message as well, so that no send is refused while the free space is in two pieces.
    const std::span<char> room = session.connection.out.room(admin_reserve * 2 + session.longest_sent);
    return room.first(room.size() > admin_reserve ? room.size() - admin_reserve : 0);
  }
  template <class Event>
  void step_received(LiveSession& session, const MessageView& message, std::string_view bytes, Event&& event);

  // Gives the transport what may leave. What the kernel does not take waits for on_writable.
  template <class Sender>
  void flush(Sender& sender, LiveSession& session);
  // Of all sessions that have something since the last call: one send each for all that has gathered.
  template <class Sender>
  void flush_all(Sender& sender) {
    NFX_TRACE();
    dirty_.drain([&](std::uint32_t index) { flush(sender, sessions_[index]); });
  }
  // Of those that wait for their journal, and whose journal has come far enough.
  template <class Sender>
  void flush_committed(Sender& sender);
  void mark_dirty(LiveSession& session) { dirty_.add(session.index); }

  // A message from the network, as its bytes.
  void observe(LiveSession& session, Direction direction, std::string_view message) noexcept {
    NFX_TRACE();
    session.in_callback = true;
    try {
      reports_.message(session, session.number, direction, message, now_, session.up);
    } catch (...) {
      callback_threw(session, "on_traffic");
    }
    session.in_callback = false;
  }
  void report_notice(LiveSession& session, Notice notice, SeqNum seq, std::string_view text) noexcept {
    if (notice == Notice::connect_failed) note_end(session, EndReason::not_connected, text);
    try {
      if (!reports_.notice(session, session.line_limits, notice, seq, text, now_)) ++session.counts.notices_omitted;
    } catch (...) {
      callback_threw(session, "on_notice");
    }
  }
  // Writes how many notices had no line, where that is due.
  void report_omitted();

  // Callbacks that throw; see docs/session.md. What is called within a catch block reports the exception. A session's
  // is logged out when the event is over: by end_failed(), or immediately where the callback was given a message.
  void callback_threw(LiveSession& session, std::string_view callback) noexcept;
  void callback_threw(LiveSession& session, const Action& action) noexcept;
  void callback_threw(std::string_view callback) noexcept;  // one without a session
  // Calls the observers, within the rules of a callback of this session.
  template <class Call>
  void notify_observers(LiveSession& session, std::string_view callback, Call&& call) noexcept {
    try {
      reports_.observe(call);
    } catch (...) {
      callback_threw(session, callback);
    }
  }
  [[nodiscard]] bool has_failed() const noexcept { return !failed_.empty(); }
  void end_failed() noexcept;
  // Application::on_turn, which is called again soon when it throws.
  [[nodiscard]] Duration on_turn() noexcept {
    try {
      return callbacks_.application->on_turn(now_);
    } catch (...) {
      callback_threw("on_turn");
      return turn_after_failure;
    }
  }

  // Messages of other threads.
  [[nodiscard]] Submissions& submissions() noexcept { return submissions_; }
  [[nodiscard]] const Submissions& submissions() const noexcept { return submissions_; }
  void send_submitted();
  [[nodiscard]] bool kept_can_go_on() const noexcept;

  // Connections.
  // Takes the memory that a connection of the session needs, or throws. Before attach().
  void prepare_connection(LiveSession& session);
  // The connection is established, and the session is notified. `peer` is the address of an accepted one.
  void attach(LiveSession& session, ConnectionId id, std::string_view peer = {});
  void detach(LiveSession& session) noexcept;  // it has ended, and the session has been notified
  void close_connection(LiveSession& session) noexcept;
  void begin_connect(LiveSession& session);
  void connect_timed_out(LiveSession& session);
  [[nodiscard]] bool may_connect_now(const LiveSession& session) const noexcept;
  void park(LiveSession& session, std::string_view bytes, MonotonicTime until);
  void park_more(LiveSession& session, std::string_view bytes);  // what was received while others are parked
  // The session that the Logon of a pending connection names, made if a template fits, where it may log on now. Null:
  // the connection has to be closed, unless `pending` states that its session is being opened.
  [[nodiscard]] LiveSession* session_for_logon(const MessageView& logon, PendingLogon& pending);
  // States why no session could be made for it. The text is copied, and valid until the next Logon is refused so.
  void note_refusal(PendingLogon& pending, LogonRefusalReason reason, std::string_view text) noexcept;
  // The header that another gateway sends before a Logon that it hands on. False: more of it has to come, or the
  // connection was refused.
  [[nodiscard]] bool take_proxy_header(std::uint32_t index);
  void hand_on_to(HandOnQueue& queue) noexcept { hand_on_ = &queue; }
  // Before start(): called for each session that goes, when what it alone listened on is closed, and before another one
  // can have its name.
  void when_gone(SessionGone gone) { gone_ = std::move(gone); }
  // The time of a connected peer to show that it is there, after a second Logon of its own.
  void check_challenge(LiveSession& session);
  // Connections that have no session yet.
  void accept(ListenerId listener, ConnectionId id, std::string_view peer);
  [[nodiscard]] PeerStanding standing_of(ListenerId listener, std::string_view peer);
  // Closes the connection, with a report. `logon` is its first message, where there is one.
  void refuse_pending(std::uint32_t index, LogonRefusalReason reason, const MessageView* logon = nullptr,
                      std::string_view text = {});
  // A connection that is accepted, and for which there is no memory.
  void refuse_without_memory(ConnectionId id, std::string_view peer);
  void expire_logons();
  void handshake_failed(std::string_view peer, std::string_view why);

  // Timers.
  void rearm(LiveSession& session) noexcept { deadlines_.set(session.index, session.next_event()); }
  void cancel_when_due(LiveSession& session);
  void cut_when_due(LiveSession& session);  // a peer that does not read
  void apply_schedule(LiveSession& session);

  // Stores.
  void check_stores_when_changed();
  void check_stores_soon() noexcept { store_changes_seen_ = ~std::uint64_t{0}; }
  void end_wait_for_space_when_due(LiveSession& session);
  // What was received waits while the journal has no space for an answer: until when. In the past: it does not wait.
  [[nodiscard]] MonotonicTime space_expected_at(LiveSession& session) noexcept;
  // Whether the number of another message can be recorded.
  [[nodiscard]] static bool can_record_numbers(const LiveSession& session) noexcept;

  // Messages sent again.
  void pump_replays();
  // Whether a resend can continue now, with a peer that reads.
  [[nodiscard]] bool replay_can_go_on() const noexcept;

  // Sessions that come and go. add() and knows() from any other thread.
  std::size_t add(SessionSettings settings, AddedSession as = {});
  [[nodiscard]] LoopCommands& commands() noexcept { return commands_; }
  // Carries out a request of another thread. Returns the pending Logon whose session has been opened.
  std::optional<std::uint32_t> execute_command(LoopCommand& command);
  // A template's session leaves memory when it has had no connection for long enough.
  void leave_when_idle(LiveSession& session);
  [[nodiscard]] bool has_leaving() const noexcept { return !leaving_.empty(); }
  void retire();

  // Commands of an operator.
  [[nodiscard]] CommandOutcome command(std::size_t number, const SessionCommand& command);
  // Exchanges the settings that may change at any time (config/live_keys.hpp) with those of `wanted`, and with
  // `rules`, a copy of its session. `what` is for the notice.
  [[nodiscard]] CommandOutcome change(std::size_t number, SessionSettings& wanted, SessionConfig& rules,
                                      std::string_view what);
  // What is known of its journal. Copies texts into what `into` has reserved.
  void journal(std::size_t number, JournalStatus& into) const;
  // The sessions from a place of the roster on; the first page begins at 0.
  [[nodiscard]] SessionPage list(std::size_t from_place, std::span<SessionStatus> into) const;
  // Logs all sessions out and takes no Logon until end_drain(), which enables those that this has disabled.
  void drain(std::string_view text);
  void end_drain();
  [[nodiscard]] bool draining() const noexcept { return draining_; }

  void log_everyone_out();
  [[nodiscard]] bool stopping() const noexcept { return stopping_; }
  // For the metrics page; the first page of sessions begins at place 0.
  [[nodiscard]] SessionPage figures(std::size_t from_place, std::span<SessionFigures> into) const;

  [[nodiscard]] const EngineConfig& config() const noexcept { return config_; }
  [[nodiscard]] Roster& sessions() noexcept { return sessions_; }
  [[nodiscard]] const Roster& sessions() const noexcept { return sessions_; }
  [[nodiscard]] ConnectionOwners& owners() noexcept { return owners_; }
  [[nodiscard]] LogonGate& logons() noexcept { return logons_; }
  [[nodiscard]] const LogonGate& logons() const noexcept { return logons_; }
  [[nodiscard]] DeadlineHeap& deadlines() noexcept { return deadlines_; }
  [[nodiscard]] const DeadlineHeap& deadlines() const noexcept { return deadlines_; }
  [[nodiscard]] LoopReports& reports() noexcept { return reports_; }
  [[nodiscard]] const LoopReports& reports() const noexcept { return reports_; }
  [[nodiscard]] LoopNetwork& network() noexcept { return network_; }
  [[nodiscard]] Authenticator* authenticator() const noexcept { return callbacks_.authenticator; }

 private:
  void deliver(LiveSession& session, const MessageView& message, SeqNum seq);
  [[nodiscard]] Handled deliver_timed(LiveSession& session, const MessageView& message, SeqNum seq);
  void not_handled(LiveSession& session, const MessageView& message, SeqNum seq, Handled result);
  // Carries actions out, in their order.
  void execute(LiveSession& session, const Actions& actions);
  void carry_out(LiveSession& session, const Action& action);
  void logged_out(LiveSession& session, const Action& action);
  [[nodiscard]] static EndReason end_reason_of(const LiveSession& session, const Action& action, bool was_up) noexcept;
  void note_end(LiveSession& session, EndReason reason, std::string_view text) noexcept {
    session.last_end = SessionEnd{now_.utc, reason, text};
    session.ends_because = EndReason::none;
  }
  void disconnect(LiveSession& session, const Action& action);
  void report_refusal(LogonRefusal refusal);
  void report_refusal_counts(bool at_end);
  // Null, with the reason in `pending`.
  LiveSession* refuse_logon(PendingLogon& pending, LogonRefusalReason reason, LiveSession* names = nullptr) noexcept;
  // A Logon of a session that another gateway owns. Null: it is handed on, as `pending` states, or refused.
  LiveSession* not_owned_here(const SessionSettings& settings, PendingLogon& pending);
  void hand_on(const LoopCommand& command);
  static void state_fault(PendingLogon& pending, const LogonFault& fault) noexcept {
    pending.refused = fault.reason;
    pending.refused_text = fault.text;
  }
  void note(LiveSession& session, const Action& action);
  void abandon(LiveSession& session) noexcept;
  void store_alert(const std::string& text) noexcept;
  [[nodiscard]] bool may_log_on(const SessionSettings& settings, const MessageView& logon, PendingLogon& pending,
                                bool is_new) noexcept;
  void submitted(std::span<const char> record);
  void send_kept();
  void keep(LiveSession& session, const Submission& submission, std::span<const char> record);
  void drop_kept(LiveSession& session);
  void settle(LiveSession& session, const Submission& submission, std::size_t record_size,
              std::expected<SeqNum, SendError> result);
  void complete(const Submission& submission, std::expected<SeqNum, SendError> result) noexcept;

  [[nodiscard]] CommandOutcome being_removed(const LiveSession& session) const;
  [[nodiscard]] CommandOutcome carry_out_command(LiveSession& session, const SessionCommand& command);
  [[nodiscard]] CommandOutcome set_numbers(LiveSession& session, const SessionCommand& command);
  [[nodiscard]] CommandOutcome enable(LiveSession& session, bool connect_now);
  [[nodiscard]] static bool can_set_numbers(const LiveSession& session) noexcept;
  void fill_status(const LiveSession& session, SessionStatus& into) const;

  void listen_for_others();
  void ensure_listener(const Endpoint& endpoint, const SocketOptions& options);
  void close_unused_listener(const LiveSession& session) noexcept;
  [[nodiscard]] std::unique_ptr<LiveSession> make_session(SessionSettings settings, std::size_t number, UtcTime now,
                                                          bool from_template = false);
  LiveSession& begin_to_exist(std::unique_ptr<LiveSession> session);
  void begin_session(LiveSession& session);
  void begin_removal(std::size_t number, std::string_view text);
  void keep_removed(const LiveSession& session);
  [[nodiscard]] LiveSession* make_from_template(const MessageView& logon, PendingLogon& pending);
  [[nodiscard]] std::optional<SessionSettings> accepted_by_template(const MessageView& logon, PendingLogon& pending);
  void answer_refused(const SessionSettings& settings, const MessageView& logon, ConnectionId id);
  [[nodiscard]] std::size_t claim_place(const std::string& name);
  [[nodiscard]] bool evict_idle_session();
  void retire(LiveSession& session);
  void gone(LiveSession& session) noexcept;
  void challenge(LiveSession& session, const MessageView& logon, PendingLogon& pending);
  std::optional<std::uint32_t> logon_again(const LoopCommand& command);
  LiveSession* opened(LoopCommand& command);
  std::optional<std::uint32_t> opened_elsewhere(LoopCommand& command);
  void schedule_reconnect(LiveSession& session) noexcept;
  void start_over_when_due(LiveSession& session);
  void watch_slow(LiveSession& session) noexcept;
  void check_store(LiveSession& session);
  void record_asked_reset(LiveSession& session) noexcept;
  void report_corrections(const LiveSession& session);
  void find_store_good(LiveSession& session);
  void flush_last_words(LiveSession& session);
  [[nodiscard]] bool store_is_good(LiveSession& session);
  void pump_replay(LiveSession& session);
  void log_event(const LiveSession& session, std::string_view what, std::string_view detail = {}) noexcept {
    reports_.event(session, what, detail, now_.utc);
  }

  const EngineConfig& config_;
  const std::uint32_t thread_;
  LoopNetwork& network_;
  const Callbacks callbacks_;
  SessionStores& stores_;
  Instant now_;
  LoopThread loop_thread_;
  HandOnQueue* hand_on_ = nullptr;  // null: such connections are refused
  SessionGone gone_;                // empty: not called
  const LiveSession* delivering_ = nullptr;
  LatencyLedger latencies_;
  LatencyRecorder recorder_{latencies_, config_.latency, now_, network_};
  LoopReports reports_;
  LogonGate logons_;
  ConnectionOwners owners_;
  DeadlineHeap deadlines_;
  IndexList dirty_;      // with something to flush
  IndexList replaying_;  // with a resend under way
  IndexList waiting_;    // whose messages wait for their journal's sync
  IndexList leaving_;    // to be removed once their connection has ended
  IndexList failed_;     // of which a callback threw, to be logged out
  IndexList keeping_;    // with submitted messages that wait
  LineLimit callback_lines_;
  Submissions submissions_;
  LoopCommands commands_;
  Roster sessions_;
  std::deque<std::string> removed_;  // names that an operator has removed, and that templates do not make again
  MessageView replayed_message_;
  std::array<char, clock_text_size> fault_text_{};  // of the Logon that is being checked
  std::array<char, 256> refused_text_{};            // of the Logon that is being refused
  Jitter jitter_;
  std::uint64_t store_changes_seen_ = 0;
  bool stopping_ = false;
  bool draining_ = false;
};

template <class Event>
auto SessionRunner::step(LiveSession& session, std::size_t reserve, Event&& event) {
  NFX_TRACE();
  NFX_ASSERT(!session.in_callback);
  session.discard_draft();
  // Requests space for the largest message as well, so that no send is refused while the free space is in two pieces.
  const std::span<char> room = session.connection.out.room(admin_reserve * 2 + session.longest_sent);
  Actions actions{room.first(room.size() > reserve ? room.size() - reserve : 0)};
  if constexpr (std::is_void_v<decltype(event(actions))>) {
    event(actions);
    execute(session, actions);
  } else {
    auto result = event(actions);
    execute(session, actions);
    return result;
  }
}

// A step for a message of the peer, which is stored where that is wanted and allowed.
template <class Event>
void SessionRunner::step_received(LiveSession& session, const MessageView& message, std::string_view bytes,
                                  Event&& event) {
  if (session.stores_received && session.session.may_store(message)) [[unlikely]]
    session.received = bytes;
  step(session, 0, event);
  session.received = {};
}

inline void SessionRunner::execute(LiveSession& session, const Actions& actions) {
  NFX_TRACE();
  const std::span<const Action> list = actions.list();
  NFX_ASSERT(actions.output_used() == 0 || session.connection.exists());
  if (actions.output_used() != 0) {
    session.connection.out.append(actions.output_used());
    mark_dirty(session);
  }
  // What was encoded is stored before any callback runs: a callback may send too, and then the bytes may move.
  for (const Action& action : list) {
    if (action.kind == ActionKind::send) {
      ++session.counts.messages_out;
      session.last_out = now_.utc;
      if (action.keep) session.store.append(action.seq, action.bytes, now_.utc);
      observe(session, Direction::out, action.bytes);
    } else if (action.kind == ActionKind::reset_store) {
      ++session.counts.resets;
      session.store.reset(now_.utc);
    }
  }
  session.store.set_next_outbound(session.session.next_outbound(), now_.utc);
  for (const Action& action : list) {
    if (action.kind == ActionKind::send) continue;
    try {
      if (action.kind == ActionKind::deliver && action.report == nullptr) {
        deliver(session, *action.message, action.seq);
      } else {
        carry_out(session, action);
      }
    } catch (...) {
      callback_threw(session, action);
    }
  }
  session.store.set_next_inbound(session.session.next_inbound(), now_.utc, session.received);
  if (session.session.reset_asked() != session.reset_recorded) [[unlikely]]
    record_asked_reset(session);
  NFX_ASSERT(session.store.next_inbound() == session.session.next_inbound());
  NFX_ASSERT(session.store.next_outbound() == session.session.next_outbound());
  if (session.journal_store != nullptr && (session.journal_store->condition() >= StoreCondition::full ||
                                           session.store.counts().refused != session.records_refused)) [[unlikely]]
    check_store(session);
  if (session.session.next_deadline() < deadlines_.due(session.index)) rearm(session);
}

// Calls on_message, and times it.
inline void SessionRunner::deliver(LiveSession& session, const MessageView& message, SeqNum seq) {
  const Handled result =
      session.meter.on() ? deliver_timed(session, message, seq) : callbacks_.application->on_message(session, message);
  if (!result.is_done()) [[unlikely]]
    not_handled(session, message, seq, result);
}

template <class Sender>
void SessionRunner::flush(Sender& sender, LiveSession& session) {
  NFX_TRACE();
  Connection& connection = session.connection;
  if (!connection.exists() || connection.connecting) return;
  session.discard_draft();
  // The owner is forgotten already where the peer has closed the connection: what is left is not sent.
  NFX_ASSERT(owners_.find(connection.id) == ConnectionOwner{} ||
             owners_.find(connection.id) == (ConnectionOwner{ConnectionOwner::Kind::session, session.index}));
  const std::span<const char> bytes = connection.out.may_leave(session.commits());
  const bool waits = connection.out.waits_for_commit();
  if (waits) waiting_.add(session.index);
  if (bytes.empty()) {
    if (waits && session.meter.on()) session.meter.waits_for_disk(connection.out.pending());
    return;
  }
  const SendResult result = sender.try_send(connection.id, bytes);
  connection.out.sent(result, bytes.size());
  const std::size_t pending = connection.out.pending();
  if (session.meter.on() && (pending != 0 || session.meter.has_group())) {
    session.meter.left(result.sent, pending, connection.out.blocked());
    if (waits) session.meter.waits_for_disk(pending);
  }
  if (connection.out.blocked()) watch_slow(session);
}

template <class Sender>
void SessionRunner::flush_committed(Sender& sender) {
  for (std::size_t i = 0; i < waiting_.size();) {
    LiveSession& session = sessions_[waiting_[i]];
    NFX_ASSERT(session.commits().holds_back());
    const bool failed = session.journal_store->condition() == StoreCondition::failed;
    if (!failed && session.connection.out.still_waits(session.commits())) {
      ++i;
      continue;
    }
    waiting_.erase_at(i);
    if (failed) {
      check_store(session);
    } else {
      flush(sender, session);  // which may put it at the end of the list again
    }
  }
}

}  // namespace nfx
