// Connections of sessions, from the first connect to the next; Logons and timers.
#include <algorithm>
#include <utility>

#include "engine/session_runner.hpp"
#include "engine/session_time.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "session/logon_check.hpp"

namespace nfx {

void SessionRunner::prepare_connection(LiveSession& session) {
  session.memory.prepare();
  if (config_.latency && session.book == nullptr) {
    session.book = latencies_.enter(session.name);
    session.meter.begin(*session.book, recorder_);
    if (session.settings.prefault) session.book->pages.take();
    if (session.journal_store != nullptr)
      session.journal_store->record_lags_in({session.book, &session.book->pages.set()[LatencyStage::durable_lag]});
  }
}

void SessionRunner::attach(LiveSession& session, ConnectionId id, std::string_view peer) {
  NFX_ASSERT(!session.connection.exists() || (session.connection.id == id && session.connection.connecting));
  NFX_ASSERT(session.session.phase() == Phase::disconnected);
  // Nothing of the last connection is left.
  NFX_ASSERT(session.connection.out.empty() && !session.connection.out.blocked());
  NFX_ASSERT(!session.connection.out.waits_for_commit());
  NFX_ASSERT(session.connection.partial.empty() && !session.connection.parked.held());
  owners_.set(id, {ConnectionOwner::Kind::session, session.index});
  session.meter.start_over();
  session.connection = Connection{session.memory};
  session.connection.id = id;
  session.leave_at = session.gone_at = MonotonicTime::max();
  session.connection.peer = PeerName{peer};
  session.ends_because = EndReason::none;
  session.reconnect.connected();
  if (session.settings.session.refresh_on_logon) {
    session.session.restore(session.store.next_inbound(), session.store.next_outbound());
  }
  if (session.journal_store != nullptr) session.journal_store->prepare();
  step(session, 0, [&](Actions& out) { session.session.on_connect(now_, out); });
  if (session.connection.exists()) session.note_logon();
}

void SessionRunner::close_connection(LiveSession& session) noexcept {
  NFX_ASSERT(session.connection.exists());
  network_.close(session.connection.id);
  owners_.clear(session.connection.id);
}

void SessionRunner::detach(LiveSession& session) noexcept {
  NFX_ASSERT(session.connection.exists());
  NFX_ASSERT(owners_.find(session.connection.id).kind == ConnectionOwner::Kind::none);
  NFX_ASSERT(session.session.phase() == Phase::disconnected);
  if (!session.connection.connecting) ++session.counts.disconnects;
  session.connection = Connection{session.memory};
  session.clear_logon();
  if (session.removing) leaving_.add(session.index);
  gone(session);
  if (session.challenger != no_connection) {
    session.challenge_at = MonotonicTime::max();
    commands_.push(
        {.kind = LoopCommand::Kind::logon_again, .connection = std::exchange(session.challenger, no_connection)});
    network_.wake();
  }
  schedule_reconnect(session);
}

void SessionRunner::begin_connect(LiveSession& session) {
  NFX_ASSERT(session.is_initiator());
  NFX_ASSERT(!session.connection.exists());
  session.reconnect.cancel();
  start_over_when_due(session);
  // It is tried again with the next delay.
  if (session.journal_store != nullptr && !store_is_good(session)) return schedule_reconnect(session);
  session.reconnect.attempt_begins(now_.monotonic);
  const auto id = network_.connect(session.settings.connect[session.reconnect.endpoint()], session.settings.socket);
  if (!id) {
    report_notice(session, Notice::connect_failed, SeqNum{}, id.error().text());
    return schedule_reconnect(session);
  }
  session.connection.id = *id;
  session.connection.connecting = true;
  session.connection.connect_deadline = now_.monotonic + session.settings.connect_timeout;
  owners_.set(*id, {ConnectionOwner::Kind::session, session.index});
  rearm(session);
}

void SessionRunner::connect_timed_out(LiveSession& session) {
  NFX_ASSERT(session.connection.connecting);
  report_notice(session, Notice::connect_failed, SeqNum{}, "no connection within connect_timeout_s");
  if (!session.connection.exists()) return;  // the application has dropped it just now
  close_connection(session);
  detach(session);
}

// Which address comes next, and when.
void SessionRunner::schedule_reconnect(LiveSession& session) noexcept {
  if (session.is_initiator()) {
    session.reconnect.next_endpoint(session.settings, now_.monotonic);
    if (session.enabled && !stopping_ && may_connect_now(session))
      session.reconnect.schedule(session.settings, now_.monotonic, jitter_);
  }
  rearm(session);
}

bool SessionRunner::may_connect_now(const LiveSession& session) const noexcept {
  return !session.settings.schedule || session.settings.schedule->logon_allowed(now_.utc);
}

// Throttle, journal and application: a message that came too early waits here, those after it in the network. A disk
// may stay full, and a message unhandled, for long: then the connection is still read, up to most_parked bytes, so that
// its end and the peer's silence are noticed.
void SessionRunner::park(LiveSession& session, std::string_view bytes, MonotonicTime until) {
  Connection& connection = session.connection;
  const bool full = session.journal_store != nullptr && session.journal_store->condition() == StoreCondition::full;
  const bool reads_on = (full || connection.unhandled.held()) && bytes.size() <= ConnectionMemory::most_parked;
  network_.hold(connection.id, !reads_on);
  connection.parked.park(bytes, until);
  // Bytes parked once more were reported when they came.
  if (!reads_on || !connection.resuming) session.session.on_held(now_);
  rearm(session);
}

void SessionRunner::park_more(LiveSession& session, std::string_view bytes) {
  NFX_ASSERT(!bytes.empty());
  Connection& connection = session.connection;
  connection.parked.add(bytes);
  if (connection.parked.size() > ConnectionMemory::most_parked) network_.hold(connection.id, true);
  session.session.on_held(now_);
  rearm(session);
}

// A peer that reads nothing any more is given a time by which it has to.
void SessionRunner::watch_slow(LiveSession& session) noexcept {
  if (session.settings.slow_consumer != SlowConsumer::disconnect) return;
  if (session.connection.out.give_deadline(now_.monotonic + session.settings.slow_consumer_timeout)) rearm(session);
}

void SessionRunner::cut_when_due(LiveSession& session) {
  if (session.connection.out.reader_deadline() > now_.monotonic) return;
  session.connection.out.clear_deadline();
  session.ends_because = EndReason::peer_slow;
  report_notice(session, Notice::slow_consumer, SeqNum{}, "the peer has read nothing for slow_consumer_timeout_ms");
  session.drop_connection();
}

void SessionRunner::cancel_when_due(LiveSession& session) {
  if (session.cancel_at > now_.monotonic) return;
  session.cancel_at = MonotonicTime::max();
  log_event(session, "open orders are to be cancelled", session.cancel_reason);
  notify_observers(session, "on_cancel_due",
                   [&](Observer& each) { each.on_cancel_due(session, session.cancel_reason); });
  try {
    callbacks_.application->on_cancel(session, session.cancel_reason);
  } catch (...) {
    callback_threw(session, "on_cancel");
  }
}

// Logons.

LiveSession* SessionRunner::session_for_logon(const MessageView& logon, PendingLogon& pending) {
  if (logon.msg_type() != msg_type::logon) return refuse_logon(pending, LogonRefusalReason::not_a_logon);
  if (!std::exchange(pending.counted, true) &&
      !logons_.addresses().take_logon(PeerAddress::of_peer(pending.peer), now_.monotonic))
    return refuse_logon(pending, LogonRefusalReason::too_many_logons);
  const auto key = logons_.key_of(logon, pending);
  if (!key) return refuse_logon(pending, LogonRefusalReason::unknown_session);
  LiveSession* session = sessions_.find(*key);
  if (session == nullptr) {
    if (const SessionSettings* settings = logons_.owned_elsewhere(logon, pending))
      return not_owned_here(*settings, pending);
    return make_from_template(logon, pending);
  }
  if (!session->enabled) return refuse_logon(pending, LogonRefusalReason::disabled, session);
  if (session->connection.exists()) {
    challenge(*session, logon, pending);
    if (!pending.challenging) refuse_logon(pending, pending.refused, session);
    return nullptr;
  }
  if (!session->logon_rate.ready(now_.monotonic)) {
    pending.refused_text = "the session logs on more often than max_logon_rate";
    return refuse_logon(pending, LogonRefusalReason::too_many_logons, session);
  }
  if (!may_log_on(session->settings, logon, pending, false)) return refuse_logon(pending, pending.refused, session);
  if (!may_connect_now(*session)) return refuse_logon(pending, LogonRefusalReason::outside_schedule, session);
  if (session->journal_store != nullptr && !store_is_good(*session))
    return refuse_logon(pending, LogonRefusalReason::store, session);
  start_over_when_due(*session);
  return session;
}

// A Logon of a session that is connected. It is refused while that connection is in use. Where nothing has arrived on
// it for a time, and the peer has proved who it is, the connection gets a TestRequest, and the Logon waits for its
// answer; one at a time.
void SessionRunner::challenge(LiveSession& session, const MessageView& logon, PendingLogon& pending) {
  pending.refused = LogonRefusalReason::already_connected;
  const std::chrono::seconds time_to_answer = session.settings.session.takeover_timeout;
  // A message that is parked here may be the answer.
  const bool can_answer = session.session.logged_on() && !session.connection.parked.held();
  if (time_to_answer.count() == 0 || !can_answer || session.challenger != no_connection) return;
  if (now_.monotonic < session.next_challenge) return;
  if (now_.monotonic - session.session.last_received() < time_to_answer) return;
  // One that would be refused for its number afterwards.
  const bool starts_over = session.settings.session.reset_on_logon || logon.get_view(Tag::ResetSeqNumFlag) == "Y";
  const auto seq = logon.get_seq_num(Tag::MsgSeqNum);
  if (!seq || (*seq < session.next_inbound() && !starts_over)) return;
  ValidationReport scratch;
  LogonFault fault = logon_sender_fault(session.settings.session, logon, now_, scratch, fault_text_);
  if (!fault) fault = logon_terms_fault(session.settings.session, logon, fault_text_);
  if (fault) return state_fault(pending, fault);
  if (!may_log_on(session.settings, logon, pending, false)) return;
  session.next_challenge = now_.monotonic + time_to_answer;
  report_notice(session, Notice::second_logon, SeqNum{}, pending.peer);
  step(session, 0, [&](Actions& out) { session.session.probe(time_to_answer, now_, out); });
  if (!session.session.probing()) return;
  pending.challenging = true;
  network_.hold(pending.id, true);
  session.challenger = pending.id;
  session.challenge_at = now_.monotonic + challenge_check;
  rearm(session);
}

void SessionRunner::check_challenge(LiveSession& session) {
  session.challenge_at = MonotonicTime::max();
  if (session.challenger == no_connection) return;
  if (session.session.probing()) {
    session.challenge_at = now_.monotonic + challenge_check;
    return;
  }
  const ConnectionOwner owner = owners_.find(std::exchange(session.challenger, no_connection));
  if (owner.kind != ConnectionOwner::Kind::pending) return;
  logons_[owner.index].names = &session.config();
  refuse_pending(owner.index, LogonRefusalReason::already_connected);
}

// The connection that a Logon has waited for is gone.
std::optional<std::uint32_t> SessionRunner::logon_again(const LoopCommand& command) {
  const ConnectionOwner owner = owners_.find(command.connection);
  if (owner.kind != ConnectionOwner::Kind::pending) return std::nullopt;
  if (stopping_) {
    refuse_pending(owner.index, LogonRefusalReason::stopping);
    return std::nullopt;
  }
  logons_.count_takeover();
  logons_[owner.index].challenging = false;
  network_.hold(command.connection, false);
  return owner.index;
}

// The session's time.

void SessionRunner::start_over_when_due(LiveSession& session) {
  const auto& schedule = session.settings.schedule;
  if (!schedule || session.connection.exists()) return;
  if (!another_session(*schedule, session.store.creation_time(), now_.utc)) return;
  report_notice(session, Notice::schedule, SeqNum{}, "a new session: sequence numbers start at 1");
  step(session, 0, [&](Actions& out) { session.session.start_over(out); });
}

// Brings a session into the state that its schedule requires now, and sets the time of the next check.
void SessionRunner::apply_schedule(LiveSession& session) {
  const auto& schedule = session.settings.schedule;
  if (!schedule) return;
  start_over_when_due(session);
  const SessionTime time = session_time(*schedule, session.store.creation_time(), now_.utc);
  session.in_hours = time.open;
  const Connection& connection = session.connection;
  if (connection.exists() && !connection.connecting) {
    if (time.over && session.session.logged_on()) {
      report_notice(session, Notice::schedule, SeqNum{}, "the session's time is over");
      session.ends_because = EndReason::schedule;
      step(session, 0, [&](Actions& out) { session.session.logout("the session's time is over", now_, out); });
    } else if (!time.over && session.is_initiator() && time.starts_over && session.session.logged_on()) {
      // A reset within the session: the initiator requests it on the open connection.
      step(session, 0, [&](Actions& out) { session.session.reset_sequence_numbers(now_, out); });
      session.note_logon();
    }
  } else if (time.open && session.is_initiator() && session.enabled && !stopping_ && !connection.exists() &&
             session.reconnect.at() == MonotonicTime::max()) {
    session.reconnect.forget_failures();
    begin_connect(session);
  }
  session.schedule_at = next_schedule_check(*schedule, now_);
  NFX_ASSERT(session.schedule_at > now_.monotonic);
  rearm(session);
}

}  // namespace nfx
