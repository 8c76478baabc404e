// Drives one session of a poll loop: an event goes through the session's step, and the actions that come out are
// carried out: stored, passed to the application, sent, connected, closed.
//
//   bytes, timers, requests ─► step ─► execute ─► store ─► application
//                                        └─► send gate ─► flush ─► transport
//
// Thread: made on any thread, then the poll thread's. Cost: memory for one connection is allocated here, once; no
// allocation, lock or throw between a message's bytes and its answer's, once the session has logged on. Errors: the
// constructor throws StoreError when the store cannot be opened. What happens to each message is in this header, what
// else a step does and the store in session_driver.cpp, and when it connects in session_driver_connection.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/call_trace.hpp"
#include "engine/connection.hpp"
#include "engine/latency_ledger.hpp"
#include "engine/line_limits.hpp"
#include "engine/loop_context.hpp"
#include "engine/reconnect.hpp"
#include "engine/send_gate.hpp"
#include "engine/session_command.hpp"
#include "engine/session_end.hpp"
#include "engine/session_figures.hpp"
#include "engine/session_meter.hpp"
#include "engine/session_time.hpp"
#include "engine/store_watch.hpp"
#include "engine/submissions.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/engine/session_handle.hpp"
#include "nexusfix/session/actions.hpp"
#include "nexusfix/session/session.hpp"
#include "nexusfix/session/session_message.hpp"
#include "store/session_store.hpp"

namespace nfx {

class Rehearsal;

inline constexpr std::uint32_t no_place = UINT32_MAX;

// The journal's synced position, for the send gate. Without a journal nothing is held back.
struct JournalCommits {
  JournalStore* journal;

  [[nodiscard]] bool holds_back() const noexcept { return journal != nullptr && journal->holds_back(); }
  [[nodiscard]] CommitPosition position() const noexcept { return journal->position(); }
  [[nodiscard]] CommitPosition committed() const noexcept { return journal->durable(); }
  void request_commit() const noexcept { journal->want_sync(); }
};
static_assert(CommitSource<JournalCommits>);
static_assert(no_commit_position == unset_position);

struct SessionDriverOptions {
  SessionSettings settings;
  std::size_t number = 0;  // the application's id of the session
  UtcTime now{};
  bool from_template = false;
};

class SessionDriver final : public SessionHandle, private SessionMessageHook {
 public:
  static constexpr std::size_t admin_reserve = 16 * 1024;  // of each send buffer, reserved for session messages
  static constexpr std::size_t replay_batch = 64 * 1024;   // bytes of resent messages per iteration and session

  // `loop` outlives the session.
  SessionDriver(LoopContext& loop, SessionDriverOptions options);
  ~SessionDriver();
  SessionDriver(const SessionDriver&) = delete;
  SessionDriver& operator=(const SessionDriver&) = delete;

  // SessionHandle.
  [[nodiscard]] const SessionConfig& config() const noexcept override { return session_.config(); }
  [[nodiscard]] std::size_t id() const noexcept override { return number_; }
  [[nodiscard]] bool logged_on() const noexcept override { return session_.logged_on(); }
  [[nodiscard]] SeqNum next_inbound() const noexcept override { return session_.next_inbound(); }
  [[nodiscard]] SeqNum next_outbound() const noexcept override { return session_.next_outbound(); }
  [[nodiscard]] const SessionCounters& counters() const noexcept override { return counts_; }
  [[nodiscard]] Instant now() const noexcept override { return loop_.now(); }
  [[nodiscard]] const JournalStore* journal() const noexcept override { return journal_; }
  [[nodiscard]] std::optional<UtcTime> received_at() const noexcept override { return loop_.network.received_at(); }
  std::expected<SeqNum, SendError> do_send(const Outgoing& message) noexcept override;
  void flush() noexcept override;
  std::expected<SeqNum, SendError> do_reject_business(const MessageView& refused, BusinessRejectReason reason,
                                                      std::string_view text) noexcept override;
  void begin_draft(Draft& draft, std::string_view msg_type, std::string_view header_fields,
                   std::uint64_t version) noexcept override;
  [[nodiscard]] std::expected<SeqNum, SendError> send_draft(Draft& draft) noexcept override;
  void end_draft(Draft& draft) noexcept override;
  void logout(std::string_view text) noexcept override;
  void logon() noexcept override;
  void reset_sequence_numbers() noexcept override;
  void drop_connection() noexcept override;

  // Identity.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const SessionSettings& settings() const noexcept { return settings_; }
  [[nodiscard]] const Connection& connection() const noexcept { return connection_; }
  [[nodiscard]] const Reconnect& reconnect() const noexcept { return reconnect_; }
  [[nodiscard]] UtcTime creation_time() const noexcept { return store_.creation_time(); }
  [[nodiscard]] bool is_acceptor() const noexcept { return settings_.session.role == Role::acceptor; }
  [[nodiscard]] bool is_initiator() const noexcept { return settings_.session.role == Role::initiator; }
  [[nodiscard]] bool from_template() const noexcept { return from_template_; }
  [[nodiscard]] bool enabled() const noexcept { return kept_out_ == KeptOut::no; }
  [[nodiscard]] bool removing() const noexcept { return removing_; }
  [[nodiscard]] bool removed_by_request() const noexcept { return removed_by_request_; }
  [[nodiscard]] bool sending_held() const noexcept { return session_.sending_held(); }
  [[nodiscard]] bool connected() const noexcept { return connection_.exists() && !connection_.connecting; }
  [[nodiscard]] bool may_send_now() const noexcept {
    return logged_on() && !session_.sending_held() && !session_.reset_asked() && !connection_.out.blocked();
  }
  [[nodiscard]] bool may_connect_now() const noexcept;
  [[nodiscard]] SubmitState& submit_state() noexcept { return submit_state_; }
  void fill(SessionStatus& into) const;
  void fill(SessionFigures& into) const;

  // Events of its connection.
  // Takes the memory that a connection needs, or throws. Before attach().
  void prepare_connection();
  // The connection is established, and the session is notified. `peer` is the address of an accepted one.
  void attach(ConnectionId id, std::string_view peer = {});
  void on_connect();  // the connection that it has begun
  void on_writable() noexcept;
  // It has ended, and has no owner any more.
  void on_close(CloseReason reason, std::string_view words);
  // At the time that the loop's deadlines have for it.
  void on_timer();

  // Messages, from the Receiver.
  [[nodiscard]] Inbound& inbound() noexcept { return connection_.in; }
  [[nodiscard]] ConnectionMemory& memory() noexcept { return memory_; }
  [[nodiscard]] bool up() const noexcept { return logged_on_since_.has_value(); }
  [[nodiscard]] bool is_timed() const noexcept { return meter_.on(); }
  // The receive time of the last read.
  void arrived(UtcTime stamp) noexcept { meter_.received(loop_.now().utc - stamp); }
  [[nodiscard]] std::size_t longest_received() const noexcept { return longest_received_; }
  // Received messages may have to wait before they are processed: for the throttle, or for space in the journal. The
  // result is the time until which; a time in the past means now.
  [[nodiscard]] bool may_wait() const noexcept { return delays() || journal_ != nullptr; }
  [[nodiscard]] MonotonicTime may_receive_at(const MessageView& message) noexcept;
  [[nodiscard]] MonotonicTime space_expected_at() noexcept {
    if (journal_ == nullptr || journal_->accepts(journal_room_)) [[likely]]
      return {};
    return when_journal_has_space();
  }
  void on_message(const MessageView& message, std::string_view bytes);
  // One that has waited.
  void on_queued_message(const MessageView& message, std::string_view bytes);
  [[nodiscard]] std::optional<std::string_view> take_queued() noexcept { return session_.take_queued(); }
  void on_held() noexcept { session_.on_held(loop_.now()); }  // something has arrived, and waits
  void on_garbled(WireError error, std::string_view bytes);
  void cut(EndReason reason);  // nothing more of the connection can be read
  void on_too_large(const MessageView& head, std::string_view limit);
  [[nodiscard]] bool may_ignore_check_sum() const noexcept { return !config().verify_checksum && session_.gap_open(); }
  [[nodiscard]] bool ignores_check_sum(const MessageView& message) noexcept;
  [[nodiscard]] bool take_back(SeqNum seq) noexcept { return session_.take_back(seq); }
  void check_unhandled_time();                                           // of a message that is delivered again
  void observe(Direction direction, std::string_view message) noexcept;  // a message from the network, as its bytes
  void rearm() noexcept { loop_.deadlines.set(index_, next_event()); }

  // Sending. Gives the transport the bytes that may leave. Bytes that the kernel does not take wait for on_writable().
  template <class Sender>
  void flush(Sender& sender);
  // It waits for its journal, which has not come far enough; and when it has.
  [[nodiscard]] bool waits_for_journal() const noexcept {
    NFX_ASSERT(commits().holds_back());
    return journal_->condition() != StoreCondition::failed && connection_.out.still_waits(commits());
  }
  template <class Sender>
  void flush_committed(Sender& sender) {
    if (journal_->condition() == StoreCondition::failed) return check_store();
    flush(sender);
  }
  // Messages sent again. False: no more are due.
  [[nodiscard]] bool pump_replay();
  // Whether a resend can continue now, with a peer that reads.
  [[nodiscard]] bool replay_can_go_on() const noexcept {
    return connection_.out.pending() < replay_batch && session_.replay_held_until() <= loop_.now().monotonic;
  }

  // While it is silent, see WarmUp.
  // Prefetches what its next message uses.
  void warm() noexcept;
  [[nodiscard]] UtcTime last_traffic() const noexcept { return std::max(last_in_, last_out_); }
  // `rehearsal` learns from the next message, and outlives that.
  void teach(Rehearsal* rehearsal) noexcept { taught_ = rehearsal; }
  // For a rehearsal: discards everything that it has sent and stored.
  void rewind() noexcept;

  // Its place in the table, once.
  void place_at(std::uint32_t index) noexcept {
    NFX_ASSERT(index_ == no_place);
    index_ = index;
    hours_.open = may_connect_now();
  }
  [[nodiscard]] std::uint32_t index() const noexcept { return index_; }
  // Begins to exist, so that it connects where its time has come. One of a template leaves again after a time, should
  // the Logon that it was made for have gone meanwhile.
  void begin();
  void report_corrections();  // what opening the journal has changed
  void check_store();
  void check_changed_store() {
    if (journal_ == nullptr) return;
    journal_->end_step();
    check_store();
  }
  // Writes how many notices had no line, where that is due, or all.
  void report_omitted(bool all = false) noexcept;
  void report_notice(Notice notice, SeqNum seq, std::string_view text) noexcept;
  // Callbacks that throw; see docs/session.md. A call within a catch block reports the exception. The session is logged
  // out at the end of the event: by abandon(), or immediately if the callback was given a message.
  void callback_threw(std::string_view callback) noexcept;
  void abandon() noexcept;

  // The end of its existence.
  void begin_removal(std::string_view text) noexcept;
  // Since when it has had no connection and may leave memory; nothing: it stays.
  [[nodiscard]] std::optional<MonotonicTime> idle_since() const noexcept;
  void leave(std::uint64_t PollLoopCounters::* why) noexcept;  // memory, which is counted
  void discard_if_new() {
    if (from_template_ && counts_.logons == 0 && journal_ != nullptr) journal_->discard_if_new();
  }

  // Logons.
  [[nodiscard]] bool logon_rate_allows() noexcept { return logon_rate_.ready(loop_.now().monotonic); }
  [[nodiscard]] bool store_is_good();  // whether the journal takes messages; true without one
  void start_over_when_due();
  // A Logon was refused that its own peer has sent.
  void note_refused_logon(std::string_view text) noexcept {
    if (!connection_.exists()) note_end(EndReason::logon_refused, text);
  }
  // A second Logon, on a connection that waits while this session's peer has time to answer a TestRequest.
  [[nodiscard]] bool may_be_challenged() const noexcept;
  // False: the peer gets no TestRequest.
  [[nodiscard]] bool challenge(ConnectionId challenger, std::string_view peer);

  // Operators.
  [[nodiscard]] bool has_numbers(const NextNumbers& expected) const noexcept { return session_.has_numbers(expected); }
  // Whether the journal can record the number of another message; true without one.
  [[nodiscard]] bool can_record_numbers() const noexcept {
    if (journal_ == nullptr) return true;
    const StoreCondition condition = journal_->condition();
    return condition < StoreCondition::full || (condition == StoreCondition::full && journal_->has_reserve());
  }
  OperatorResult set_numbers(const NextNumbers& numbers, std::string_view reason);
  // What the session itself carries out, in a step.
  template <class Request, class... Arguments>
  OperatorResult request(Request what, Arguments... with) {
    return step(0, [&](Actions& out) { return (session_.*what)(with..., loop_.now(), out); });
  }
  OperatorResult hold_sending(bool hold) noexcept { return session_.hold_sending(hold); }
  // False: already logged out.
  [[nodiscard]] bool log_out(std::string_view text);
  [[nodiscard]] bool enable(bool connect_now);
  [[nodiscard]] bool disable();
  void drain(std::string_view text);
  void end_drain() {
    if (kept_out_ == KeptOut::drained) static_cast<void>(enable(true));
  }
  // It was added while the loop drains or stops.
  void stay_out(bool draining) noexcept { keep_out(draining ? KeptOut::drained : KeptOut::decided); }
  [[nodiscard]] std::uint32_t revision() const noexcept { return revision_; }
  // Swaps the settings that may change at any time (config/live_keys.hpp) with `wanted` and `rules`.
  void change(SessionSettings& wanted, SessionConfig& rules);
  // Before it exists.
  void begin_as(AddedSession as) noexcept;

 private:
  static constexpr std::size_t answer_room = 16 * 1024;          // several times what an answer may need
  static constexpr std::size_t longest_replicated = 128 * 1024;  // of a frame
  static constexpr std::size_t header_room = 512;  // the session's own fields, with CompIDs of common length
  static constexpr Duration challenge_check{std::chrono::milliseconds{100}};  // while a TestRequest is unanswered

  // Why it begins and accepts no connection: somebody has decided so, one of its callbacks threw, or the engine drains.
  enum class KeptOut : std::uint8_t { no, decided, failed, drained };

  // ThrottleAction::delay: messages may have to wait, and so may everything after them.
  [[nodiscard]] bool delays() const noexcept {
    return settings_.session.throttle_rate != 0 && settings_.session.throttle_action == ThrottleAction::delay;
  }
  [[nodiscard]] MonotonicTime when_journal_has_space() noexcept;

  // One event of a session: event(Actions&) is its step. `reserve` bytes of the output stay free.
  template <class Event>
  auto step(std::size_t reserve, Event&& event);
  // A step for a message of the peer, which is stored where that is wanted and allowed.
  template <class Event>
  void step_received(const MessageView& message, std::string_view bytes, Event&& event);
  // Where a message is written that a step then sends. Requests space for the largest message as well, so that no send
  // is refused while the free space is in two pieces.
  [[nodiscard]] std::span<char> output_room(std::size_t reserve) noexcept {
    const std::span<char> room = connection_.out.room(admin_reserve * 2 + longest_sent_);
    return room.first(room.size() > reserve ? room.size() - reserve : 0);
  }
  // Carries actions out, in their order.
  void execute(const Actions& actions);
  void teach_from(const MessageView& message) noexcept;
  void deliver(const MessageView& message, SeqNum seq);
  [[nodiscard]] Handled deliver_timed(const MessageView& message, SeqNum seq);
  void not_handled(const MessageView& message, SeqNum seq, Handled result);
  void carry_out(const Action& action);
  template <class Event>
  void step_undelivered(Event&& event);
  void note_incomplete();
  void begin_up();
  void logged_out(const Action& action);
  void disconnect(const Action& action);
  void note(const Action& action);
  void keep_out(KeptOut why) noexcept {
    if (enabled()) kept_out_ = why;
  }
  [[nodiscard]] EndReason end_reason_of(const Action& action, bool was_up) const noexcept;
  void note_end(EndReason reason, std::string_view text) noexcept {
    last_end_ = SessionEnd{loop_.now().utc, reason, text};
    ends_because_ = EndReason::none;
  }

  // Reports.
  template <class Call>
  void notify_observers(std::string_view callback, Call&& call) noexcept {
    try {
      loop_.reports.observe(call);
    } catch (...) {
      callback_threw(callback);
    }
  }
  void callback_threw(const Action& action) noexcept;
  void log_event(std::string_view what, std::string_view detail = {}) noexcept {
    loop_.reports.event(*this, what, detail, loop_.now().utc);
  }

  // Sending.
  void on_sending(SessionMessage& message) noexcept override;
  [[nodiscard]] std::optional<SendError> cannot_send(std::size_t size) noexcept;
  [[nodiscard]] SendError why_no_room() noexcept;
  [[nodiscard]] SendError why_not_stored() noexcept;
  template <class Event>
  std::expected<SeqNum, SendError> send_step(Event&& event) noexcept;
  // The output is about to be used otherwise.
  void discard_draft() noexcept {
    if (open_draft_ == nullptr) [[likely]]
      return;
    open_draft_->fail(SendError::discarded);
    open_draft_ = nullptr;
  }
  [[nodiscard]] JournalCommits commits() const noexcept { return {journal_}; }
  void flush_last_words();
  void watch_slow() noexcept;

  // The connection.
  void close_connection() noexcept;
  void detach() noexcept;  // it has ended, and the session has been notified
  void begin_connect();
  void schedule_reconnect() noexcept;
  // Our Logon has the password of an initiator: a Logon was encoded just now, or has been sent.
  void note_logon() noexcept {
    if (is_initiator()) connection_.logon_end = std::max(connection_.logon_end, connection_.out.end());
  }

  // Timers.
  // The earliest time at which something is due.
  [[nodiscard]] MonotonicTime next_event() const noexcept {
    return std::min({session_.next_deadline(), reconnect_.at(), connection_.connect_deadline, hours_.check_at,
                     connection_.in.parked.until(), cancel_at_, connection_.out.reader_deadline(), store_watch_.at(),
                     leave_at_, connection_.challenge_at});
  }
  void cancel_when_due();
  void cut_when_due();  // a peer that does not read
  void check_challenge();
  void leave_when_idle();
  void apply_schedule();
  // A template's session has no connection any more.
  void gone() noexcept;

  // The store.
  void record_asked_reset() noexcept;

  [[nodiscard]] SessionTimes times() const noexcept;
  // One of a template that has no connection. A logout by the application is remembered as its decision; a callback's
  // failure is not one.
  [[nodiscard]] bool may_leave() const noexcept {
    const bool has_decisions = (!enabled() && kept_out_ != KeptOut::failed) || session_.sending_held();
    return from_template_ && !removing_ && !connection_.exists() && !has_decisions;
  }

  LoopContext& loop_;
  SessionSettings settings_;    // after the start change() alone changes them
  std::uint32_t revision_ = 0;  // of them: how often that was
  const std::size_t number_;
  const std::string name_ = identity(settings_.session);
  std::uint32_t index_ = no_place;  // in the table
  Session session_;
  SessionStore store_;
  JournalStore* const journal_;         // the store's; null when it is memory
  const bool stores_received_;          // as the settings have it
  std::string_view received_;           // then, the message that is processed
  const std::uint64_t version_key_;     // of BeginString; 0: FIXT.1.1, which takes messages of all versions
  const std::size_t longest_sent_;      // that the send buffer is sure to have space for when the peer reads
  const std::size_t longest_received_;  // that is delivered, and stored where that is wanted
  const std::size_t journal_room_;      // bytes of the journal below which a message waits to be received
  SessionCounters counts_;
  Rehearsal* taught_ = nullptr;             // learns from the next message; null: none
  UtcTime last_in_{}, last_out_{};          // the events that carried the last messages; the epoch: none
  std::optional<UtcTime> logged_on_since_;  // on_logon was called, and on_logout not yet
  SessionEnd last_end_;
  EndReason ends_because_ = EndReason::none;  // of the connection that is open, where this side ends it
  LineLimits line_limits_;
  TokenBucket logon_rate_;             // of Logons that were accepted
  std::shared_ptr<SessionBook> book_;  // in the loop's ledger, from the first connection on
  SessionMeter meter_;

  ConnectionMemory memory_;
  Connection connection_{memory_};
  Draft* open_draft_ = nullptr;  // begun in the output's room, and neither sent nor given up

  KeptOut kept_out_ = KeptOut::no;
  bool reset_recorded_ = false;      // that a reset was asked for and is not answered
  bool in_callback_ = false;         // in a callback that lends bytes which acting on the session would move
  bool removing_ = false;            // it goes when its connection has ended
  bool removed_by_request_ = false;  // for its sequence numbers, should it be added again

  SubmitState submit_state_;

  Reconnect reconnect_;
  SessionTime hours_;  // as of apply_schedule()
  MonotonicTime cancel_at_ = MonotonicTime::max();
  StoreWatch store_watch_;
  std::string cancel_reason_;

  // For a session that a template made: it is removed from memory at this time unless it is connected; it lost its last
  // connection at `gone_at_`.
  const bool from_template_;
  MonotonicTime leave_at_ = MonotonicTime::max();
  MonotonicTime gone_at_ = MonotonicTime::max();
};

template <class Event>
inline auto SessionDriver::step(std::size_t reserve, Event&& event) {
  NFX_TRACE();
  NFX_ASSERT(!in_callback_);
  discard_draft();
  Actions actions{output_room(reserve)};
  if constexpr (std::is_void_v<decltype(event(actions))>) {
    event(actions);
    execute(actions);
  } else {
    auto result = event(actions);
    execute(actions);
    return result;
  }
}

// A step for a message of the peer, which is stored where that is wanted and allowed.
template <class Event>
inline void SessionDriver::step_received(const MessageView& message, std::string_view bytes, Event&& event) {
  if (stores_received_ && session_.may_store(message)) [[unlikely]]
    received_ = bytes;
  step(0, event);
  received_ = {};
}

inline void SessionDriver::observe(Direction direction, std::string_view message) noexcept {
  in_callback_ = true;
  try {
    loop_.reports.message(*this, number_, direction, message, loop_.now(), up());
  } catch (...) {
    callback_threw("on_traffic");
  }
  in_callback_ = false;
}

inline void SessionDriver::on_message(const MessageView& message, std::string_view bytes) {
  ++counts_.messages_in;
  last_in_ = loop_.now().utc;
  if (taught_ != nullptr) [[unlikely]]
    teach_from(message);
  observe(Direction::in, bytes);
  step_received(message, bytes, [&](Actions& out) { session_.on_message(message, loop_.now(), out); });
}

inline void SessionDriver::execute(const Actions& actions) {
  NFX_TRACE();
  const std::span<const Action> list = actions.list();
  NFX_ASSERT(actions.output_used() == 0 || connection_.exists());
  if (actions.output_used() != 0) {
    connection_.out.append(actions.output_used());
    loop_.dirty.add(index_);
  }
  // Encoded messages are stored before any callback runs: a callback may send too, and then the bytes may move.
  for (const Action& action : list) {
    if (action.kind == ActionKind::send) {
      ++counts_.messages_out;
      last_out_ = loop_.now().utc;
      if (action.keep) store_.append(action.seq, action.bytes, loop_.now().utc);
      observe(Direction::out, action.bytes);
    } else if (action.kind == ActionKind::reset_store) {
      ++counts_.resets;
      store_.reset(loop_.now().utc);
    }
  }
  store_.set_next_outbound(session_.next_outbound(), loop_.now().utc);
  for (const Action& action : list) {
    if (action.kind == ActionKind::send) continue;
    try {
      if (action.kind == ActionKind::deliver && action.report == nullptr) {
        deliver(*action.message, action.seq);
      } else {
        carry_out(action);
      }
    } catch (...) {
      callback_threw(action);
    }
  }
  store_.set_next_inbound(session_.next_inbound(), loop_.now().utc, received_);
  if (session_.reset_asked() != reset_recorded_) [[unlikely]]
    record_asked_reset();
  NFX_ASSERT(store_.next_inbound() == session_.next_inbound());
  NFX_ASSERT(store_.next_outbound() == session_.next_outbound());
  if (journal_ != nullptr && (journal_->condition() >= StoreCondition::full ||
                              store_watch_.has_refused_more(store_.counts().refused))) [[unlikely]]
    check_store();
  if (session_.next_deadline() < loop_.deadlines.due(index_)) rearm();
}

// Calls on_message, and times it.
inline void SessionDriver::deliver(const MessageView& message, SeqNum seq) {
  const Handled result =
      meter_.on() ? deliver_timed(message, seq) : loop_.callbacks.application->on_message(*this, message);
  if (!result.is_done()) [[unlikely]]
    not_handled(message, seq, result);
}

// Out of line, so that a rehearsal warms the only copy of it.
template <class Sender>
[[gnu::noinline]] void SessionDriver::flush(Sender& sender) {
  NFX_TRACE();
  Connection& connection = connection_;
  if (!connection.exists() || connection.connecting) return;
  discard_draft();
  // The owner is forgotten already where the peer has closed the connection: what is left is not sent.
  NFX_ASSERT(loop_.owners.find(connection.id) == ConnectionOwner{} ||
             loop_.owners.find(connection.id) == (ConnectionOwner{ConnectionOwner::Kind::session, index_}));
  const std::span<const char> bytes = connection.out.may_leave(commits());
  const bool waits = connection.out.waits_for_commit();
  if (waits) loop_.waiting.add(index_);
  if (bytes.empty()) {
    if (waits && meter_.on()) meter_.waits_for_disk(connection.out.pending());
    return;
  }
  const SendResult result = sender.try_send(connection.id, bytes);
  connection.out.sent(result, bytes.size());
  const std::size_t pending = connection.out.pending();
  if (meter_.on() && (pending != 0 || meter_.has_group())) {
    meter_.left(result.sent, pending, connection.out.blocked());
    if (waits) meter_.waits_for_disk(pending);
  }
  if (connection.out.blocked()) watch_slow();
}

}  // namespace nfx
