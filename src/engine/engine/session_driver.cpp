// From received bytes to steps, the actions of a step, what the application sends, and the store.
#include "engine/session_driver.hpp"

#include <array>

#include "engine/admission.hpp"
#include "engine/callback_failure.hpp"
#include "engine/length_text.hpp"
#include "engine/receiver.hpp"
#include "engine/warm_up.hpp"
#include "store/prefetch.hpp"

namespace nfx {
namespace {

// A message is received when the journal has space for it and for its answer; a frame of a replica has less.
[[nodiscard]] std::size_t longest_received_of(const SessionSettings& settings, bool stored,
                                              std::size_t max_message_size) noexcept {
  if (!stored) return max_message_size;
  constexpr std::size_t of_frame = 128 * 1024, around = 64 * 1024;
  const std::size_t of_ring =
      (std::min<std::size_t>(settings.journal.ring_size, settings.journal.segment_size) - around) / 4;
  return std::min({max_message_size, of_ring, settings.is_replicated() ? of_frame : max_message_size});
}

}  // namespace

SessionDriver::SessionDriver(LoopContext& loop, SessionDriverOptions options)
    : loop_(loop),
      settings_(std::move(options.settings)),
      number_(options.number),
      session_(settings_.session),
      store_(loop.stores.open(settings_, options.now)),
      journal_(store_.journal()),
      stores_received_(settings_.store_received && journal_ != nullptr),
      version_key_(settings_.session.begin_string == "FIXT.1.1" ? 0
                                                                : Draft::version_key(settings_.session.begin_string)),
      longest_sent_(std::min(loop.config.max_message_size, settings_.send_buffer_size / 2)),
      longest_received_(longest_received_of(settings_, stores_received_, loop.config.max_message_size)),
      journal_room_(answer_room + (stores_received_ ? longest_received_ : 0)),
      logon_rate_(settings_.max_logon_rate, std::uint64_t{10} * settings_.max_logon_rate),
      memory_({.send_buffer_size = settings_.send_buffer_size, .max_message_size = loop.config.max_message_size}),
      from_template_(options.from_template) {
  session_.restore(store_.next_inbound(), store_.next_outbound());
  reset_recorded_ = store_.reset_asked();
  if (reset_recorded_) session_.restore_asked_reset();
  session_.set_hook(this);
}

SessionDriver::~SessionDriver() {
  loop_.recorder.count(loop_.recorder.reading());
  loop_.latencies.leave(book_);
  discard_draft();
  loop_.stores.close(name_, std::move(store_));
}

// Messages.

// When the message just read may be handed to the session: a time in the past means now.
MonotonicTime SessionDriver::may_receive_at(const MessageView& message) noexcept {
  const MonotonicTime space_at = space_expected_at();
  if (space_at != MonotonicTime{}) [[unlikely]]
    return space_at;
  return delays() ? session_.held_until(message) : MonotonicTime{};
}

// Until when a message waits for space in the journal: several times the space that an answer may need.
[[gnu::cold, gnu::noinline]] MonotonicTime SessionDriver::when_journal_has_space() noexcept {
  constexpr Duration ring_check = std::chrono::microseconds{200};
  constexpr Duration disk_check = std::chrono::milliseconds{100};
  switch (journal_->condition()) {
    case StoreCondition::good:
    case StoreCondition::failed: return {};  // the session ends
    case StoreCondition::busy: return loop_.now().monotonic + ring_check;
    case StoreCondition::full:
      if (!store_watch_.in_trouble()) loop_.check_stores_soon();
      // A Logout has been sent: its answer is not answered.
      return session_.phase() == Phase::logout_sent ? MonotonicTime{} : loop_.now().monotonic + disk_check;
  }
  return {};
}

void SessionDriver::on_queued_message(const MessageView& message, std::string_view bytes) {
  step_received(message, bytes, [&](Actions& out) { session_.on_queued_message(message, loop_.now(), out); });
}

// A step for a message that is not delivered although its number may count as received.
template <class Event>
void SessionDriver::step_undelivered(Event&& event) {
  const SeqNum expected = session_.next_inbound();
  step(0, event);
  const bool ends = settings_.too_large_message == TooLargeMessage::logout && session_.logged_on();
  if (ends && session_.next_inbound() != expected) logout("message too large");
}

void SessionDriver::on_garbled(WireError error, std::string_view bytes) {
  ++counts_.garbled;
  LengthText text;
  const std::string_view length = text.of(error, bytes, {.bytes = loop_.config.max_message_size});
  step_undelivered([&](Actions& out) { session_.on_garbled(error, bytes, length, loop_.now(), out); });
}

// Before a connection ends: a message that is not whole, because its length is wrong or beyond the limit.
[[gnu::cold, gnu::noinline]] void SessionDriver::note_incomplete() {
  const OversizedMessage& oversized = inbound().oversized;
  const std::string_view bytes = oversized.under_way() ? oversized.head() : std::string_view{inbound().partial.bytes()};
  // One within the limit may have been cut off by the network. Its length is wrong where it holds another message.
  const bool holds_another = bytes.find(
                                 "\x01"
                                 "8=FIX") != std::string_view::npos;
  if (!oversized.under_way() && !holds_another) return;
  LengthText text;
  const std::string_view length =
      text.of(WireError::body_length_mismatch, bytes, {.bytes = loop_.config.max_message_size});
  step_undelivered([&](Actions& out) { session_.on_incomplete(bytes, length, loop_.now(), out); });
}

void SessionDriver::cut(EndReason reason) {
  ends_because_ = reason;
  drop_connection();
}

void SessionDriver::on_too_large(const MessageView& head, std::string_view limit) {
  ++counts_.messages_in;
  step_undelivered([&](Actions& out) { session_.on_too_large(head, limit, loop_.now(), out); });
}

bool SessionDriver::ignores_check_sum(const MessageView& message) noexcept {
  if (!session_.accepts_wrong_check_sum(message)) return false;
  ++counts_.check_sum_ignored;
  return true;
}

// While it is silent.

void SessionDriver::warm() noexcept {
  load_lines(this, sizeof *this);
  loop_.warm(index_, connection_.id);
  const std::span<char> room = connection_.out.room(0);
  prefetch_next(room.data(), room.size());
  store_.warm();
  session_.warm(loop_.now().utc);
}

[[gnu::cold, gnu::noinline]] void SessionDriver::teach_from(const MessageView& message) noexcept {
  std::exchange(taught_, nullptr)->learn(message);
}

void SessionDriver::rewind() noexcept {
  connection_.out = SendGate{memory_.output()};
  meter_.start_over();
  if (journal_ != nullptr) journal_->rewind();
}

// Actions.

Handled SessionDriver::deliver_timed(const MessageView& message, SeqNum seq) {
  struct Timed {
    LoopContext& loop;
    SessionDriver& session;
    const void* const outer;
    const SeqNum seq;
    const MonotonicTime read, called;
    ~Timed() {
      loop.delivering = outer;
      session.meter_.delivered(read, called, loop.recorder.reading(), seq);
    }
  };
  const Timed timed{
      loop_, *this, std::exchange(loop_.delivering, this), seq, loop_.now().monotonic, loop_.recorder.reading()};
  loop_.recorder.left_by(timed.called);  // what was sent between two messages of one read
  return loop_.callbacks.application->on_message(*this, message);
}

// The session's number, and so its store's, is the one before the message until it is handled: if the connection or
// this process ends meanwhile, the peer is asked for it again.
[[gnu::cold]] void SessionDriver::not_handled(const MessageView& message, SeqNum seq, Handled result) {
  if (!result.is_not_now()) {
    constexpr std::string_view what = "the answer: ";
    std::array<char, 64> text;
    const std::string_view why = to_string(result.error());
    char* end = std::ranges::copy(what, text.begin()).out;
    end = std::ranges::copy(why.substr(0, text.size() - what.size()), end).out;
    return report_notice(Notice::not_sent, seq, {text.data(), end});
  }
  ++counts_.not_handled;
  received_ = {};  // it is stored when it is handled
  loop_.receiver->not_handled(*this, message, seq);
}

void SessionDriver::check_unhandled_time() {
  const std::chrono::seconds longest = settings_.unhandled_timeout;
  const MonotonicTime since = connection_.in.unhandled.since().monotonic;
  if (longest.count() != 0 && loop_.now().monotonic - since >= longest && session_.logged_on())
    step(0, [&](Actions& out) { session_.logout("a message was not handled in time", loop_.now(), out); });
}

// Actions other than sending a message or delivering one unchanged.
void SessionDriver::carry_out(const Action& action) {
  switch (action.kind) {
    case ActionKind::send:
    case ActionKind::reset_store: return;  // done before any callback
    case ActionKind::deliver:
      NFX_ASSERT(action.message != nullptr && action.report != nullptr);
      ++counts_.reported;
      notify_observers("on_violations",
                       [&](Observer& each) { each.on_violations(*this, *action.message, *action.report); });
      return deliver(*action.message, action.seq);
    case ActionKind::session_message:
      return notify_observers("on_session_message",
                              [&](Observer& each) { each.on_session_message(*this, *action.message); });
    case ActionKind::deliver_reject:
      loop_.reports.peer_reject(*this, line_limits_, action.message->get_view(Tag::Text), loop_.now());
      return loop_.callbacks.application->on_reject(*this, *action.message);
    case ActionKind::logged_on: return begin_up();
    case ActionKind::logged_out: return logged_out(action);
    case ActionKind::replay:
      if (loop_.replaying.contains(index_)) return;
      if (pump_replay()) loop_.replaying.add(index_);
      return;
    case ActionKind::disconnect: return disconnect(action);
    case ActionKind::notice: return note(action);
  }
}

void SessionDriver::begin_up() {
  NFX_ASSERT(connected());
  reconnect_.logged_on();
  connection_.out.clear_sent(std::exchange(connection_.logon_end, 0));
  logged_on_since_ = loop_.now().utc;
  submit_state_.logged_on.store(true, std::memory_order_release);
  cancel_at_ = MonotonicTime::max();
  ++counts_.logons;
  static_cast<void>(logon_rate_.take(loop_.now().monotonic));
  if (is_acceptor()) loop_.admission->addresses().remember(PeerAddress::of_peer(connection_.peer.view()));
  log_event("logged on");
  notify_observers("on_session_up", [&](Observer& each) { each.on_session_up(*this); });
  loop_.callbacks.application->on_logon(*this);
}

void SessionDriver::logged_out(const Action& action) {
  const bool was_up = std::exchange(logged_on_since_, std::nullopt).has_value();
  note_end(end_reason_of(action, was_up), action.text);
  submit_state_.logged_on.store(false, std::memory_order_release);
  log_event("logged out", action.text);
  notify_observers("on_session_down", [&](Observer& each) { each.on_session_down(*this, action.text); });
  try {
    loop_.callbacks.application->on_logout(*this, action.text);
  } catch (...) {
    callback_threw("on_logout");
  }
  const bool wanted = by_logout(action.ending) ? settings_.cancel_on_logout : settings_.cancel_on_disconnect;
  // Called from the timers, so that no step of the session is under way when a handler sends or connects.
  if (!was_up || !wanted) return;
  cancel_reason_ = action.text;
  cancel_at_ = loop_.now().monotonic + settings_.cancel_delay;
  rearm();
}

// An end that this side began is known to the caller; otherwise this tells how the connection ended.
EndReason SessionDriver::end_reason_of(const Action& action, bool was_up) const noexcept {
  if (ends_because_ != EndReason::none) return ends_because_;
  if (action.refusal != LogonRefusalReason::none && is_acceptor() && !was_up) return EndReason::logon_refused;
  switch (action.ending) {
    case Ending::logout: return EndReason::logged_out;
    case Ending::peer_logout: return EndReason::peer_logged_out;
    case Ending::lost: return was_up ? EndReason::connection_lost : EndReason::refused_by_peer;
    case Ending::silent: return EndReason::peer_silent;
    case Ending::no_answer: return EndReason::no_answer;
    case Ending::refused: return EndReason::refused_by_peer;
    case Ending::failed: return EndReason::protocol_error;
  }
  return EndReason::protocol_error;
}

void SessionDriver::disconnect(const Action& action) {
  Connection& connection = connection_;
  if (!connection.exists()) return;
  if (action.refusal != LogonRefusalReason::none && is_acceptor()) {
    loop_.admission->report_refusal({.reason = action.refusal,
                                     .peer = connection.peer.view(),
                                     .begin_string = config().begin_string,
                                     .sender_comp_id = config().target_comp_id,
                                     .target_comp_id = config().sender_comp_id,
                                     .text = action.text,
                                     .session = &config()});
    if (!connection.exists()) return;  // the application has dropped it just now
    if (!up()) note_end(EndReason::logon_refused, action.text);
  }
  flush_last_words();
  close_connection();
  detach();
}

// The last words of a session are few, and wait for the disk here: there is no later.
void SessionDriver::flush_last_words() {
  if (commits().holds_back() && !connection_.out.empty())
    static_cast<void>(journal_->wait_durable(journal_->position()));
  flush(loop_.network);
}

void SessionDriver::note(const Action& action) {
  if (action.notice == Notice::message_rejected) ++counts_.rejected;
  if (action.notice == Notice::gap_detected || action.notice == Notice::gap_request_repeated) ++counts_.resend_requests;
  if (action.notice == Notice::gap_filled) counts_.gap_filled += action.count;
  if (action.notice == Notice::queue_full) ++counts_.queue_drops;
  if (action.notice == Notice::too_large || action.notice == Notice::unreadable) ++counts_.too_large;
  if (action.notice == Notice::throttled) ++counts_.throttled;
  if (action.notice == Notice::sequence_reset) note_logon();  // ours was the answer
  if (action.notice == Notice::too_many_invalid) {
    ++counts_.invalid_disconnects;
    if (is_acceptor())
      loop_.admission->addresses().hold_off(PeerAddress::of_peer(connection_.peer.view()), loop_.now().monotonic);
  }
  report_notice(action.notice, action.seq, action.text);
}

void SessionDriver::report_notice(Notice notice, SeqNum seq, std::string_view text) noexcept {
  if (notice == Notice::connect_failed) note_end(EndReason::not_connected, text);
  try {
    if (!loop_.reports.notice(*this, line_limits_, notice, seq, text, loop_.now())) ++counts_.notices_omitted;
  } catch (...) {
    callback_threw("on_notice");
  }
}

void SessionDriver::report_omitted(bool all) noexcept {
  try {
    loop_.reports.omitted(*this, line_limits_, loop_.now(), all);
  } catch (...) {
    callback_threw("on_notice");
  }
}

// Callbacks that throw: a line with the exception's text, and the end of the session. The peer reads "internal error"
// in the Logout; the exception's text stays here. The message whose callback threw is consumed. Messages after it are
// not, so the peer sends them again after the next Logon.

[[gnu::cold, gnu::noinline]] void SessionDriver::callback_threw(std::string_view callback) noexcept {
  const CallbackFailure failure{callback};
  ++counts_.callback_exceptions;
  keep_out(KeptOut::failed);
  ends_because_ = EndReason::callback_threw;
  reconnect_.cancel();
  loop_.failed.add(index_);
  if (callback == "on_notice") {  // which gets no notice of its own failure
    log_event(to_string(Notice::callback_threw), failure.text());
    loop_.reports.callback_threw(failure);
  } else {
    report_notice(Notice::callback_threw, SeqNum{}, failure.text());
  }
}

[[gnu::cold, gnu::noinline]] void SessionDriver::callback_threw(const Action& action) noexcept {
  callback_threw(action.kind == ActionKind::deliver          ? "on_message"
                 : action.kind == ActionKind::deliver_reject ? "on_reject"
                 : action.kind == ActionKind::logged_on      ? "on_logon"
                                                             : "callback");  // each of the others catches its own
  abandon();
}

void SessionDriver::abandon() noexcept {
  NFX_ASSERT(!in_callback_ && !enabled());
  loop_.failed.erase(index_);
  if (!connection_.exists()) return;
  if (connection_.connecting || !can_record_numbers()) return drop_connection();
  step(0, [&](Actions& out) { session_.abandon("internal error", loop_.now(), out); });
}

// Sending.

// One step that sends, with its times.
template <class Event>
std::expected<SeqNum, SendError> SessionDriver::send_step(Event&& event) noexcept {
  const bool timed = meter_.on() && meter_.times_next_send();
  const MonotonicTime began = timed ? meter_.reading() : MonotonicTime{};
  auto sent = step(admin_reserve, event);
  if (sent && meter_.on()) {
    const bool in_message = loop_.delivering == this;
    const bool needs_time = timed || (!in_message && meter_.group_is_empty());
    const MonotonicTime ended = needs_time ? meter_.reading() : MonotonicTime{};
    if (timed) meter_.send_timed(began, ended);
    in_message ? meter_.sent_in_callback() : meter_.sent(ended);
  }
  if (sent && journal_ != nullptr && journal_->durability() == Durability::message) [[unlikely]] {
    if (!journal_->wait_durable(journal_->position())) return std::unexpected(SendError::store_failed);
  }
  return sent;
}

// Why a message of that size cannot be sent now, before its session is asked.
std::optional<SendError> SessionDriver::cannot_send(std::size_t size) noexcept {
  if (!loop_.loop_thread.is_this()) [[unlikely]]
    return SendError::wrong_thread;
  if (in_callback_) return SendError::not_here;
  if (journal_ == nullptr) return std::nullopt;
  if (!journal_->accepts(size)) [[unlikely]]
    return why_not_stored();
  if (size > longest_replicated && settings_.is_replicated()) [[unlikely]]
    return SendError::too_long;
  return std::nullopt;
}

// The output has no space for the message: never, when nothing else is in it.
[[gnu::cold, gnu::noinline]] SendError SessionDriver::why_no_room() noexcept {
  if (connection_.out.empty()) return SendError::too_long;
  ++counts_.send_refused;
  return SendError::would_block;
}

// The journal does not accept a message now.
[[gnu::cold, gnu::noinline]] SendError SessionDriver::why_not_stored() noexcept {
  ++counts_.send_refused;
  switch (journal_->condition()) {
    case StoreCondition::good:
    case StoreCondition::busy: return SendError::would_block;
    case StoreCondition::full:
      if (!store_watch_.in_trouble()) loop_.check_stores_soon();
      return SendError::store_full;
    case StoreCondition::failed: return SendError::store_failed;
  }
  return SendError::would_block;
}

std::expected<SeqNum, SendError> SessionDriver::do_send(const Outgoing& message) noexcept {
  const std::size_t size = message.body.size() + message.header_fields.size() + header_room;
  if (const auto error = cannot_send(size)) [[unlikely]]
    return std::unexpected(*error);
  const auto sent = send_step([&](Actions& out) { return session_.send(message, loop_.now(), out); });
  if (!sent && sent.error() == SendError::would_block) [[unlikely]]
    return std::unexpected(why_no_room());
  return sent;
}

void SessionDriver::begin_draft(Draft& draft, std::string_view msg_type, std::string_view header_fields,
                                std::uint64_t version) noexcept {
  if (const auto error = cannot_send(header_room)) [[unlikely]]
    return draft.fail(*error);
  if (version != 0 && version != version_key_ && version_key_ != 0) [[unlikely]]
    return draft.fail(SendError::other_version);
  discard_draft();
  const std::span<char> room = output_room(admin_reserve);
  const auto begun = session_.begin(msg_type, header_fields, loop_.now(), room, draft.encoder_);
  if (!begun) [[unlikely]]
    return draft.fail(begun.error());
  draft.body_begin_ = static_cast<std::uint32_t>(draft.encoder_.fields().size());
  open_draft_ = &draft;
}

std::expected<SeqNum, SendError> SessionDriver::send_draft(Draft& draft) noexcept {
  NFX_ASSERT(open_draft_ == &draft);
  open_draft_ = nullptr;  // the step below does not discard it
  Encoder& encoder = draft.encoder_;
  const auto result = [&]() -> std::expected<SeqNum, SendError> {
    if (!encoder.fields().ok()) [[unlikely]] {
      if (encoder.fields().fault().error != WriteError::no_space) return std::unexpected(SendError::bad_message);
      return std::unexpected(why_no_room());
    }
    if (const auto error = cannot_send(encoder.fields().size() + header_room)) [[unlikely]]
      return std::unexpected(*error);
    return send_step([&](Actions& out) { return session_.finish(encoder, loop_.now(), out); });
  }();
  draft.fail(result ? SendError::discarded : result.error());
  return result;
}

void SessionDriver::end_draft(Draft& draft) noexcept {
  NFX_ASSERT(open_draft_ == &draft);
  open_draft_ = nullptr;
}

void SessionDriver::flush() noexcept {
  NFX_REQUIRE(loop_.loop_thread.is_this());
  discard_draft();
  if (!in_callback_) flush(loop_.network);
}

std::expected<SeqNum, SendError> SessionDriver::do_reject_business(const MessageView& refused,
                                                                   BusinessRejectReason reason,
                                                                   std::string_view text) noexcept {
  if (const auto error = cannot_send(text.size() + 2 * header_room)) [[unlikely]]
    return std::unexpected(*error);
  return step(0, [&](Actions& out) { return session_.reject_business(refused, reason, text, loop_.now(), out); });
}

void SessionDriver::on_sending(SessionMessage& message) noexcept {
  Authenticator* const authenticator = loop_.callbacks.authenticator;
  if (authenticator == nullptr) return;
  in_callback_ = true;
  try {
    authenticator->on_session_message_sending(*this, message);
  } catch (...) {
    message.cancel("internal error");  // a Logon without what the program computes is not sent
    callback_threw("on_session_message_sending");
  }
  in_callback_ = false;
}

// Messages sent again.

bool SessionDriver::pump_replay() {
  if (session_.replay_held_until() > loop_.now().monotonic) return session_.replaying();
  MessageView& replayed = loop_.replayed;
  const std::uint64_t stored = store_.stored_bytes();
  std::uint64_t not_kept = 0;
  const auto read = [&](SeqNum seq) -> std::optional<std::string_view> {
    const auto kept = store_.read(seq);
    if (!kept) {
      // Session messages are never stored, so nothing is lost; an evicted message may have been an order.
      if (seq < store_.oldest_kept() && store_.counts().evicted != 0) ++not_kept;
      return std::nullopt;
    }
    if (replayed.parse(*kept) != WireError::none) return std::nullopt;
    in_callback_ = true;
    bool wanted = true;
    try {
      wanted = loop_.callbacks.application->on_resend(*this, replayed);
    } catch (...) {
      callback_threw("on_resend");
    }
    in_callback_ = false;
    return wanted ? kept : std::nullopt;
  };
  // Resent messages wait while many bytes are pending, so that live ones have space.
  std::size_t sent = 0;
  while (session_.replaying() && connection_.out.pending() < replay_batch && sent < replay_batch) {
    const std::size_t before = connection_.out.pending();
    const bool done = step(admin_reserve, [&](Actions& out) {
      session_.continue_replay(read, replayed, stored, loop_.now(), out);
      counts_.resent += static_cast<std::uint64_t>(std::ranges::count(out.list(), true, &Action::resent));
      return out.list().empty();
    });
    const std::size_t after = connection_.out.pending();
    sent += after > before ? after - before : 0;
    if (done) break;
  }
  if (session_.replay_held_until() != MonotonicTime{}) ++counts_.resends_slowed;
  if (not_kept != 0) {
    counts_.resend_not_kept += not_kept;
    report_notice(Notice::resend_not_kept, store_.oldest_kept(), "raise retain_messages or retain_bytes");
  }
  return session_.replaying();
}

// The store.

// Before a connection: whether the journal takes messages.
bool SessionDriver::store_is_good() {
  if (journal_ != nullptr) check_store();
  return !store_watch_.in_trouble();
}

void SessionDriver::check_store() {
  NFX_ASSERT(journal_ != nullptr);
  const bool was_in_trouble = store_watch_.in_trouble();
  const StoreVerdict verdict = store_watch_.check(
      {.condition = journal_->condition(), .has_reserve = journal_->has_reserve(), .refused = store_.counts().refused},
      loop_.now().monotonic, settings_.journal.full_timeout);
  if (was_in_trouble != store_watch_.in_trouble()) {
    rearm();
    if (was_in_trouble) return report_notice(Notice::store_recovered, SeqNum{}, {});
    report_notice(Notice::store_trouble, SeqNum{}, journal_->condition_text());
  }
  if (verdict == StoreVerdict::goes_on) return;
  ends_because_ = EndReason::store;
  if (verdict == StoreVerdict::drops) return drop_connection();
  if (session_.logged_on())
    step(0, [&](Actions& out) { session_.logout("the message store takes no more", loop_.now(), out); });
  // The answer to a Logout may follow many messages, and the number of each is recorded.
  if (journal_->has_reserve() || !connection_.exists()) return;
  flush_last_words();
  drop_connection();
}

// The next process requests the reset again, until a record follows the answer.
void SessionDriver::record_asked_reset() noexcept {
  reset_recorded_ = session_.reset_asked();
  if (reset_recorded_) store_.record_asked_reset(loop_.now().utc);
}

// Changes that opening the journal made.
void SessionDriver::report_corrections() {
  if (journal_ == nullptr) return;
  for (const std::string& line : journal_->recovery().corrected) {
    log_event("message store", line);
    loop_.store_alert(name_ + ": " + line);
  }
}

// The records state that a person has set the sequence numbers, and who; execute() finds them recorded.
OperatorResult SessionDriver::set_numbers(const NextNumbers& numbers, std::string_view reason) {
  return step(0, [&](Actions& out) {
    const OperatorResult result = session_.set_numbers(numbers, loop_.now(), out);
    if (result != OperatorResult::done) return result;
    const auto record = [&](bool inbound, SeqNum seq) {
      static_cast<void>(store_.set_number({inbound, seq, RecordFlag::by_operator, reason}, loop_.now().utc));
    };
    // A ResendRequest for what is expected again has its own number, which execute() records.
    if (numbers.in) record(true, *numbers.in);
    if (numbers.out) record(false, *numbers.out);
    return result;
  });
}

// Information for other threads.

SessionTimes SessionDriver::times() const noexcept {
  const auto when = [](UtcTime time) { return time == UtcTime{} ? std::nullopt : std::optional{time}; };
  return {.logged_on_since = logged_on_since_,
          .last_in = when(last_in_),
          .last_out = when(last_out_),
          .unhandled_since = when(connection_.in.unhandled.held() ? connection_.in.unhandled.since().utc : UtcTime{}),
          .in_hours = hours_.open};
}

void SessionDriver::fill(SessionStatus& into) const {
  into.number = number_;
  into.name = name_;
  into.role = config().role;
  into.phase = session_.phase();
  into.enabled = enabled();
  into.sending_held = session_.sending_held();
  into.connected = connected();
  into.from_template = from_template_;
  into.removing = removing_;
  into.peer = connection_.peer.view();
  into.revision = revision_;
  into.next_in = next_inbound();
  into.next_out = next_outbound();
  into.gap_open = session_.gap_open();
  into.queued = session_.queued();
  into.resending = session_.replaying();
  into.pending_bytes = connection_.out.pending();
  into.heartbeat_s = static_cast<std::uint32_t>(session_.heartbeat_interval().count());
  into.times = times();
  into.last_end = last_end_;
  into.counters = counts_;
  into.has_journal = journal_ != nullptr;
  into.store = journal_ != nullptr ? journal_->condition() : StoreCondition::good;
}

void SessionDriver::fill(SessionFigures& into) const {
  into.identity = name_;
  into.counters = counts_;
  into.logged_on = logged_on();
  into.times = times();
  into.ended = last_end_.at();
  into.end_reason = last_end_.reason();
  into.next_inbound = next_inbound();
  into.next_outbound = next_outbound();
  into.journal.reset();
  if (journal_ == nullptr) return;
  into.journal = journal_->counters();
  into.store_condition = journal_->condition();
}

}  // namespace nfx
