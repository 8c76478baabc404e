// When a session connects and logs out, and how its connections end: for the network, the schedule, the program, a
// second Logon and operators.
#include <algorithm>
#include <utility>

#include "config/live_keys.hpp"
#include "engine/admission.hpp"
#include "engine/receiver.hpp"

namespace nfx {

void SessionDriver::on_connect() {
  NFX_ASSERT(connection_.connecting);
  const ConnectionId id = connection_.id;
  if (!may_connect_now()) return drop_connection();  // the session's time ended while it was connecting
  try {
    prepare_connection();
  } catch (const std::exception& error) {
    report_notice(Notice::connect_failed, SeqNum{}, error.what());
    if (connection_.id == id) drop_connection();
    return;
  }
  attach(id);
}

void SessionDriver::on_writable() noexcept {
  connection_.out.unblock();
  loop_.dirty.add(index_);
  if (!connection_.in.unhandled.held()) return;
  connection_.in.parked.hurry(loop_.now().monotonic);
  rearm();
}

void SessionDriver::on_close(CloseReason reason, std::string_view words) {
  const ConnectionId id = connection_.id;
  if (connection_.connecting) {
    report_notice(Notice::connect_failed, SeqNum{}, words.empty() ? to_string(reason) : words);
    if (connection_.id == id) detach();
    return;
  }
  // The journal may have space for parked messages now.
  if (connection_.in.parked.held()) loop_.receiver->resume(*this);
  if (connection_.id != id) return;
  // The session's own disconnect action detaches it.
  note_incomplete();
  step(0, [&](Actions& out) { session_.on_disconnect(words, loop_.now(), out); });
}

// The connection.

void SessionDriver::prepare_connection() {
  memory_.prepare();
  if (loop_.config.latency && book_ == nullptr) {
    book_ = loop_.latencies.enter(name_);
    meter_.begin(*book_, loop_.recorder);
    if (settings_.prefault.value_or(false)) book_->pages.take();
    if (journal_ != nullptr) journal_->record_lags_in({book_, &book_->pages.set()[LatencyStage::durable_lag]});
  }
}

void SessionDriver::attach(ConnectionId id, std::string_view peer) {
  NFX_ASSERT(!connection_.exists() || (connection_.id == id && connection_.connecting));
  NFX_ASSERT(session_.phase() == Phase::disconnected);
  // The last connection has left nothing.
  NFX_ASSERT(connection_.out.empty() && !connection_.out.blocked());
  NFX_ASSERT(!connection_.out.waits_for_commit());
  NFX_ASSERT(connection_.in.partial.empty() && !connection_.in.parked.held());
  loop_.owners.set(id, {ConnectionOwner::Kind::session, index_});
  meter_.start_over();
  connection_ = Connection{memory_};
  connection_.id = id;
  leave_at_ = gone_at_ = MonotonicTime::max();
  connection_.peer = PeerName{peer};
  ends_because_ = EndReason::none;
  reconnect_.connected();
  if (settings_.session.refresh_on_logon) {
    session_.restore(store_.next_inbound(), store_.next_outbound());
  }
  if (journal_ != nullptr) journal_->prepare();
  step(0, [&](Actions& out) { session_.on_connect(loop_.now(), out); });
  if (connection_.exists()) note_logon();
}

void SessionDriver::close_connection() noexcept {
  NFX_ASSERT(connection_.exists());
  loop_.network.close(connection_.id);
  loop_.owners.clear(connection_.id);
}

void SessionDriver::detach() noexcept {
  NFX_ASSERT(connection_.exists());
  NFX_ASSERT(loop_.owners.find(connection_.id).kind == ConnectionOwner::Kind::none);
  NFX_ASSERT(session_.phase() == Phase::disconnected);
  const Connection ended = std::exchange(connection_, Connection{memory_});
  if (!ended.connecting) ++counts_.disconnects;
  connection_.out.clear_sent(ended.logon_end);
  if (removing_) loop_.leaving.add(index_);
  gone();
  if (ended.challenger != no_connection) loop_.admission->try_again(ended.challenger);
  schedule_reconnect();
}

void SessionDriver::begin_connect() {
  NFX_ASSERT(is_initiator());
  NFX_ASSERT(!connection_.exists());
  reconnect_.cancel();
  start_over_when_due();
  // It is tried again with the next delay.
  if (!store_is_good()) return schedule_reconnect();
  reconnect_.attempt_begins(loop_.now().monotonic);
  const auto id = loop_.network.connect(settings_.connect[reconnect_.endpoint()], settings_.socket);
  if (!id) {
    report_notice(Notice::connect_failed, SeqNum{}, id.error().text());
    return schedule_reconnect();
  }
  connection_.id = *id;
  connection_.connecting = true;
  connection_.connect_deadline = loop_.now().monotonic + settings_.connect_timeout;
  loop_.owners.set(*id, {ConnectionOwner::Kind::session, index_});
  rearm();
}

// Which address comes next, and when.
void SessionDriver::schedule_reconnect() noexcept {
  if (is_initiator()) {
    reconnect_.next_endpoint(settings_, loop_.now().monotonic);
    if (enabled() && !loop_.stopping && may_connect_now())
      reconnect_.schedule(settings_, loop_.now().monotonic, loop_.jitter);
  }
  rearm();
}

// A peer that reads nothing any more is given a time by which it has to.
void SessionDriver::watch_slow() noexcept {
  if (settings_.slow_consumer != SlowConsumer::disconnect) return;
  if (connection_.out.give_deadline(loop_.now().monotonic + settings_.slow_consumer_timeout)) rearm();
}

void SessionDriver::cut_when_due() {
  if (connection_.out.reader_deadline() > loop_.now().monotonic) return;
  connection_.out.clear_deadline();
  ends_because_ = EndReason::peer_slow;
  report_notice(Notice::slow_consumer, SeqNum{}, "the peer has read nothing for slow_consumer_timeout_ms");
  drop_connection();
}

// Timers.

void SessionDriver::on_timer() {
  const MonotonicTime time = loop_.now().monotonic;
  cancel_when_due();
  if (leave_at_ <= time) [[unlikely]]
    leave_when_idle();
  if (connection_.challenge_at <= time) [[unlikely]]
    check_challenge();
  if (hours_.check_at <= time) apply_schedule();
  if (connection_.in.parked.until() <= time) loop_.receiver->resume(*this);
  if (store_watch_.at() <= time) check_store();
  cut_when_due();
  if (connection_.connect_deadline <= time) {
    report_notice(Notice::connect_failed, SeqNum{}, "no connection within connect_timeout_s");
    drop_connection();
  } else if (reconnect_.at() <= time && !connection_.exists()) {
    begin_connect();
  } else {
    if (session_.peer_times_out(time)) [[unlikely]]
      note_incomplete();
    step(0, [&](Actions& out) { session_.on_timer(loop_.now(), out); });
  }
  // The timer must not be due again in this iteration.
  rearm();
}

void SessionDriver::cancel_when_due() {
  if (cancel_at_ > loop_.now().monotonic) return;
  cancel_at_ = MonotonicTime::max();
  log_event("open orders are to be cancelled", cancel_reason_);
  notify_observers("on_cancel_due", [&](Observer& each) { each.on_cancel_due(*this, cancel_reason_); });
  try {
    loop_.callbacks.application->on_cancel(*this, cancel_reason_);
  } catch (...) {
    callback_threw("on_cancel");
  }
}

bool SessionDriver::may_connect_now() const noexcept {
  return !settings_.schedule || settings_.schedule->logon_allowed(loop_.now().utc);
}

void SessionDriver::start_over_when_due() {
  const auto& schedule = settings_.schedule;
  if (!schedule || connection_.exists()) return;
  if (!another_session(*schedule, store_.creation_time(), loop_.now().utc)) return;
  report_notice(Notice::schedule, SeqNum{}, "a new session: sequence numbers start at 1");
  step(0, [&](Actions& out) { session_.start_over(out); });
}

// Brings a session into the state that its schedule requires now, and sets the time of the next check.
void SessionDriver::apply_schedule() {
  const auto& schedule = settings_.schedule;
  if (!schedule) return;
  start_over_when_due();
  hours_ = session_time(*schedule, store_.creation_time(), loop_.now());
  if (connected()) {
    if (hours_.over && session_.logged_on()) {
      report_notice(Notice::schedule, SeqNum{}, "the session's time is over");
      ends_because_ = EndReason::schedule;
      step(0, [&](Actions& out) { session_.logout("the session's time is over", loop_.now(), out); });
    } else if (!hours_.over && is_initiator() && hours_.starts_over && session_.logged_on()) {
      // A reset within the session: the initiator requests it on the open connection.
      step(0, [&](Actions& out) { session_.reset_sequence_numbers(loop_.now(), out); });
      note_logon();
    }
  } else if (hours_.open && is_initiator() && enabled() && !loop_.stopping && !connection_.exists() &&
             reconnect_.at() == MonotonicTime::max()) {
    reconnect_.forget_failures();
    begin_connect();
  }
  rearm();
}

// Requests of the program.

void SessionDriver::logout(std::string_view text) noexcept {
  NFX_REQUIRE(loop_.loop_thread.is_this());
  if (in_callback_) return;
  keep_out(KeptOut::decided);
  reconnect_.cancel();
  const bool not_recorded = !can_record_numbers();
  if (not_recorded) ends_because_ = EndReason::store;
  if (connection_.connecting || not_recorded) return drop_connection();
  rearm();
  step(0, [&](Actions& out) { session_.logout(text, loop_.now(), out); });
}

void SessionDriver::logon() noexcept {
  NFX_REQUIRE(loop_.loop_thread.is_this());
  // A connection whose Logout is still under way is followed by the next one when it ends.
  if (!in_callback_ && !enabled()) static_cast<void>(enable(true));
}

void SessionDriver::reset_sequence_numbers() noexcept {
  NFX_REQUIRE(loop_.loop_thread.is_this());
  if (in_callback_) return;
  if (!logged_on()) return;
  step(0, [&](Actions& out) {
    // FIX 4.0 has no such reset, which is a notice.
    if (session_.reset_numbers(loop_.now(), out) == OperatorResult::not_possible)
      session_.reset_sequence_numbers(loop_.now(), out);
  });
  note_logon();
}

void SessionDriver::drop_connection() noexcept {
  NFX_REQUIRE(loop_.loop_thread.is_this());
  if (in_callback_ || !connection_.exists()) return;
  if (ends_because_ == EndReason::none) ends_because_ = EndReason::dropped;
  connection_.out = SendGate{memory_.output()};
  close_connection();
  if (connection_.connecting) return detach();  // the session was not given this connection yet
  step(0, [&](Actions& out) { session_.on_disconnect({}, loop_.now(), out); });
}

// A second Logon.

// A message that is parked may be the answer.
bool SessionDriver::may_be_challenged() const noexcept {
  const std::chrono::seconds time_to_answer = settings_.session.takeover_timeout;
  const bool can_answer = session_.logged_on() && !connection_.in.parked.held();
  return time_to_answer.count() != 0 && can_answer && connection_.challenger == no_connection &&
         loop_.now().monotonic >= connection_.next_challenge &&
         loop_.now().monotonic - session_.last_received() >= time_to_answer;
}

bool SessionDriver::challenge(ConnectionId challenger, std::string_view peer) {
  const std::chrono::seconds time_to_answer = settings_.session.takeover_timeout;
  connection_.next_challenge = loop_.now().monotonic + time_to_answer;
  report_notice(Notice::second_logon, SeqNum{}, peer);
  step(0, [&](Actions& out) { session_.probe(time_to_answer, loop_.now(), out); });
  if (!session_.probing()) return false;
  connection_.challenger = challenger;
  connection_.challenge_at = loop_.now().monotonic + challenge_check;
  rearm();
  return true;
}

void SessionDriver::check_challenge() {
  NFX_ASSERT(connection_.challenger != no_connection);
  const bool answered = !session_.probing();
  connection_.challenge_at = answered ? MonotonicTime::max() : loop_.now().monotonic + challenge_check;
  if (answered) loop_.admission->challenge_failed(std::exchange(connection_.challenger, no_connection), config());
}

// The beginning and the end.

void SessionDriver::begin_as(AddedSession as) noexcept {
  if (!as.enabled) keep_out(KeptOut::decided);
  static_cast<void>(session_.hold_sending(as.sending_held));
}

void SessionDriver::begin() {
  if (from_template_) leave_at_ = loop_.now().monotonic + loop_.config.pending_logon_timeout;
  rearm();
  if (settings_.schedule) return apply_schedule();
  if (is_initiator() && enabled()) begin_connect();
}

void SessionDriver::begin_removal(std::string_view text) noexcept {
  if (std::exchange(removing_, true)) return;
  removed_by_request_ = true;
  logout(text);
  if (!connection_.exists()) loop_.leaving.add(index_);
}

void SessionDriver::leave(std::uint64_t PollLoopCounters::* why) noexcept {
  loop_.count(why);
  removing_ = true;
  keep_out(KeptOut::decided);
  loop_.leaving.add(index_);
}

// One whose first Logon failed is removed in this iteration; one with a journal after a time, since nothing is lost
// with it.
void SessionDriver::gone() noexcept {
  if (!from_template_ || removing_) return;
  gone_at_ = loop_.now().monotonic;
  if (counts_.logons == 0) {
    leave(&PollLoopCounters::dynamic_failed);
  } else if (journal_ != nullptr && loop_.config.dynamic_session_idle.count() != 0) {
    leave_at_ = loop_.now().monotonic + loop_.config.dynamic_session_idle;
  }
}

void SessionDriver::leave_when_idle() {
  NFX_ASSERT(from_template_);
  leave_at_ = MonotonicTime::max();
  if (!may_leave()) return;
  if (cancel_at_ != MonotonicTime::max())
    leave_at_ = cancel_at_;
  else
    leave(counts_.logons == 0 ? &PollLoopCounters::dynamic_failed : &PollLoopCounters::dynamic_idle);
}

// One without a journal loses its sequence numbers and may leave only after dynamic_session_idle.
std::optional<MonotonicTime> SessionDriver::idle_since() const noexcept {
  if (!may_leave() || gone_at_ == MonotonicTime::max() || cancel_at_ != MonotonicTime::max()) return std::nullopt;
  if (journal_ == nullptr && loop_.now().monotonic - gone_at_ < loop_.config.dynamic_session_idle) return std::nullopt;
  return gone_at_;
}

// Operators.

// The end of a drain does not undo it.
bool SessionDriver::log_out(std::string_view text) {
  if (!enabled() && kept_out_ != KeptOut::drained && !connection_.exists()) return false;
  kept_out_ = KeptOut::decided;
  logout(text);
  return true;
}

bool SessionDriver::enable(bool connect_now) {
  const bool was_enabled = std::exchange(kept_out_, KeptOut::no) == KeptOut::no;
  const bool connects = is_initiator() && !connection_.exists();
  if (connects && connect_now) {
    if (may_connect_now()) reconnect_.connect_at(loop_.now().monotonic);
    apply_schedule();
  } else if (connects && !was_enabled) {
    schedule_reconnect();
  } else if (was_enabled) {
    return false;
  }
  rearm();
  return true;
}

bool SessionDriver::disable() {
  if (!enabled() && kept_out_ != KeptOut::drained) return false;
  kept_out_ = KeptOut::decided;
  reconnect_.cancel();
  if (connection_.connecting) drop_connection();
  rearm();
  return true;
}

void SessionDriver::drain(std::string_view text) {
  if (!enabled() || removing_) return;
  kept_out_ = KeptOut::drained;
  logout(text);
}

void SessionDriver::change(SessionSettings& wanted, SessionConfig& rules) {
  const bool other_addresses = settings_.connect != wanted.connect;
  swap_live_settings(settings_, wanted);
  ++revision_;
  session_.change(rules);
  if (other_addresses) reconnect_.addresses_changed();
  if (settings_.slow_consumer == SlowConsumer::refuse) connection_.out.clear_deadline();
  rearm();
}

}  // namespace nfx
