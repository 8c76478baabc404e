// Actions, timed callbacks, stores and messages sent again.
#include "engine/session_runner.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace nfx {
namespace {

[[nodiscard]] std::size_t most_sessions(const EngineConfig& config) noexcept {
  return config.sessions.size() + most_added_sessions(config);
}

}  // namespace

SessionRunner::SessionRunner(const SessionRunnerOptions& options)
    : config_(options.config),
      thread_(options.thread),
      network_(options.network),
      callbacks_(options.callbacks),
      stores_(options.stores),
      now_(options.now),
      reports_(callbacks_.observers),
      logons_(options.config, options.thread, callbacks_.authenticator),
      owners_(most_sessions(options.config) + options.config.max_pending_logons +
              options.config.max_pending_known_logons + 1),
      deadlines_(most_sessions(options.config)),
      dirty_(most_sessions(options.config)),
      replaying_(most_sessions(options.config)),
      waiting_(most_sessions(options.config)),
      leaving_(most_sessions(options.config)),
      failed_(most_sessions(options.config)),
      keeping_(most_sessions(options.config)),
      submissions_({.queue_bytes = options.config.submit_queue_bytes,
                    .keep_bytes = options.config.submit_keep_bytes,
                    .max_message_size = options.config.max_message_size}),
      commands_(options.config, options.thread),
      sessions_(options.config.sessions.size(), most_sessions(options.config)),
      replayed_message_(options.config.max_fields),
      jitter_(static_cast<std::uint64_t>(now_.utc.time_since_epoch().count()) + options.thread) {
  if (config_.latency && config_.log.trace_every != 0)
    recorder_.traces().begin(latencies_.make_traces(), config_.log.trace_every);
  for (std::size_t number = 0; number < config_.sessions.size(); ++number) {
    const SessionSettings& settings = config_.sessions[number];
    if (settings.poll_thread != thread_ || settings.is_template || settings.is_replicated()) continue;
    commands_.configured(identity(settings.session));
    LiveSession& session = sessions_.add(make_session(settings, number, now_.utc));
    submissions_.add(number, session.config(), session.submit_state);
    logons_.expect(settings);
  }
}

// What follows the call also does where it throws.
Handled SessionRunner::deliver_timed(LiveSession& session, const MessageView& message, SeqNum seq) {
  struct Timed {
    SessionRunner& runner;
    LiveSession& session;
    const LiveSession* const outer;
    const SeqNum seq;
    const MonotonicTime read, called;
    ~Timed() {
      runner.delivering_ = outer;
      session.meter.delivered(read, called, runner.recorder_.reading(), seq);
    }
  };
  const Timed timed{*this, session, std::exchange(delivering_, &session), seq, now_.monotonic, recorder_.reading()};
  recorder_.left_by(timed.called);  // what was sent between two messages of one read
  return callbacks_.application->on_message(session, message);
}

// The session's number, and so its store's, is the one before the message until it is handled: if the connection or
// this process ends meanwhile, the peer is asked for it again.
[[gnu::cold]] void SessionRunner::not_handled(LiveSession& session, const MessageView& message, SeqNum seq,
                                              Handled result) {
  if (!result.is_not_now()) {
    constexpr std::string_view what = "the answer: ";
    std::array<char, 64> text;
    const std::string_view why = to_string(result.error());
    char* end = std::ranges::copy(what, text.begin()).out;
    end = std::ranges::copy(why.substr(0, text.size() - what.size()), end).out;
    return report_notice(session, Notice::not_sent, seq, {text.data(), end});
  }
  ++session.counts.not_handled;
  session.received = {};  // it is stored when it is handled
  UnhandledMessage& unhandled = session.connection.unhandled;
  if (!session.session.take_back(seq)) return unhandled.clear();
  const Duration wait = unhandled.keep(message.bytes(), seq, now_);
  const std::chrono::seconds longest = session.settings.unhandled_timeout;
  if (longest.count() != 0 && now_.monotonic - unhandled.since().monotonic >= longest && session.session.logged_on())
    step(session, 0, [&](Actions& out) { session.session.logout("a message was not handled in time", now_, out); });
  if (session.connection.exists()) park(session, {}, now_.monotonic + wait);
}

// Actions other than a message to send or to deliver as it is.
void SessionRunner::carry_out(LiveSession& session, const Action& action) {
  switch (action.kind) {
    case ActionKind::send:
    case ActionKind::reset_store: return;  // done before any callback
    case ActionKind::deliver:
      NFX_ASSERT(action.message != nullptr && action.report != nullptr);
      ++session.counts.reported;
      notify_observers(session, "on_violations",
                       [&](Observer& each) { each.on_violations(session, *action.message, *action.report); });
      return deliver(session, *action.message, action.seq);
    case ActionKind::session_message:
      return notify_observers(session, "on_session_message",
                              [&](Observer& each) { each.on_session_message(session, *action.message); });
    case ActionKind::deliver_reject:
      reports_.peer_reject(session, session.line_limits, action.message->get_view(Tag::Text), now_);
      return callbacks_.application->on_reject(session, *action.message);
    case ActionKind::logged_on:
      NFX_ASSERT(session.connection.exists() && !session.connection.connecting);
      session.reconnect.logged_on();
      session.up = true;
      session.clear_logon();
      session.logged_on_since = now_.utc;
      session.submit_state.logged_on.store(true, std::memory_order_release);
      session.cancel_at = MonotonicTime::max();
      ++session.counts.logons;
      static_cast<void>(session.logon_rate.take(now_.monotonic));
      if (session.is_acceptor()) logons_.addresses().remember(PeerAddress::of_peer(session.connection.peer.view()));
      log_event(session, "logged on");
      notify_observers(session, "on_session_up", [&](Observer& each) { each.on_session_up(session); });
      return callbacks_.application->on_logon(session);
    case ActionKind::logged_out: return logged_out(session, action);
    case ActionKind::replay:
      if (replaying_.contains(session.index)) return;
      pump_replay(session);
      if (session.session.replaying()) replaying_.add(session.index);
      return;
    case ActionKind::disconnect: return disconnect(session, action);
    case ActionKind::notice: return note(session, action);
  }
}

void SessionRunner::logged_out(LiveSession& session, const Action& action) {
  const bool was_up = std::exchange(session.up, false);
  session.logged_on_since = UtcTime{};
  note_end(session, end_reason_of(session, action, was_up), action.text);
  session.submit_state.logged_on.store(false, std::memory_order_release);
  log_event(session, "logged out", action.text);
  notify_observers(session, "on_session_down", [&](Observer& each) { each.on_session_down(session, action.text); });
  try {
    callbacks_.application->on_logout(session, action.text);
  } catch (...) {
    callback_threw(session, "on_logout");
  }
  const bool wanted =
      by_logout(action.ending) ? session.settings.cancel_on_logout : session.settings.cancel_on_disconnect;
  // Called from the timers, so that no step of the session is under way when a handler sends or connects.
  if (!was_up || !wanted) return;
  session.cancel_reason = action.text;
  session.cancel_at = now_.monotonic + session.settings.cancel_delay;
  rearm(session);
}

// What this side began is known to who began it; the rest is how the connection ended.
EndReason SessionRunner::end_reason_of(const LiveSession& session, const Action& action, bool was_up) noexcept {
  if (session.ends_because != EndReason::none) return session.ends_because;
  if (action.refusal != LogonRefusalReason::none && session.is_acceptor() && !was_up) return EndReason::logon_refused;
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

void SessionRunner::disconnect(LiveSession& session, const Action& action) {
  Connection& connection = session.connection;
  if (!connection.exists()) return;
  if (action.refusal != LogonRefusalReason::none && session.is_acceptor()) {
    report_refusal({.reason = action.refusal,
                    .peer = connection.peer.view(),
                    .begin_string = session.config().begin_string,
                    .sender_comp_id = session.config().target_comp_id,
                    .target_comp_id = session.config().sender_comp_id,
                    .text = action.text,
                    .session = &session.config()});
    if (!connection.exists()) return;  // the application has dropped it just now
    if (!session.up) note_end(session, EndReason::logon_refused, action.text);
  }
  flush_last_words(session);
  close_connection(session);
  detach(session);
}

// The last words of a session are few, and wait for the disk here: there is no later.
void SessionRunner::flush_last_words(LiveSession& session) {
  if (session.commits().holds_back() && !session.connection.out.empty())
    static_cast<void>(session.journal_store->wait_durable(session.journal_store->position()));
  flush(network_, session);
}

void SessionRunner::note(LiveSession& session, const Action& action) {
  if (action.notice == Notice::message_rejected) ++session.counts.rejected;
  if (action.notice == Notice::gap_detected || action.notice == Notice::gap_request_repeated)
    ++session.counts.resend_requests;
  if (action.notice == Notice::gap_filled) session.counts.gap_filled += action.count;
  if (action.notice == Notice::queue_full) ++session.counts.queue_drops;
  if (action.notice == Notice::too_large) ++session.counts.too_large;
  if (action.notice == Notice::throttled) ++session.counts.throttled;
  if (action.notice == Notice::sequence_reset) session.note_logon();  // ours was the answer
  if (action.notice == Notice::too_many_invalid) {
    ++session.counts.invalid_disconnects;
    if (session.is_acceptor())
      logons_.addresses().hold_off(PeerAddress::of_peer(session.connection.peer.view()), now_.monotonic);
  }
  report_notice(session, action.notice, action.seq, action.text);
}

void SessionRunner::report_omitted() {
  reports_.begin_omitted();
  sessions_.for_each([this](LiveSession& session) {
    try {
      reports_.omitted(session, session.line_limits, now_);
    } catch (...) {
      callback_threw(session, "on_notice");
    }
  });
}

// Stores.

// Idle sessions too: one whose store accepts nothing more must not stay unnoticed until its next heartbeat.
void SessionRunner::check_stores_when_changed() {
  if (stores_.changes() == store_changes_seen_) return;
  store_changes_seen_ = stores_.changes();
  sessions_.for_each([this](LiveSession& session) {
    if (session.journal_store == nullptr) return;
    session.journal_store->end_step();
    check_store(session);
  });
}

// Before a connection: whether the journal takes messages.
bool SessionRunner::store_is_good(LiveSession& session) {
  check_store(session);
  return !session.store_trouble;
}

// A full disk stops a session's messages: none is sent, and none is read that would have to be answered. Its connection
// stays for full_timeout while heartbeats can still be recorded; then it logs out. What was encoded and
// could not be recorded ends the connection before it leaves: its number would be used again.
void SessionRunner::check_store(LiveSession& session) {
  NFX_ASSERT(session.journal_store != nullptr);
  const JournalStore& journal = *session.journal_store;
  const StoreCondition condition = journal.condition();
  const std::uint64_t refused = session.store.counts().refused;
  NFX_ASSERT(refused >= session.records_refused);
  const bool lost = refused != std::exchange(session.records_refused, refused);
  if (condition < StoreCondition::full && !lost) return find_store_good(session);
  const bool failed = condition == StoreCondition::failed;  // for good, so there is nothing to wait for
  const bool begins = !std::exchange(session.store_trouble, true);
  if (begins || failed) {
    session.full_until = failed ? MonotonicTime::max() : now_.monotonic + session.settings.journal.full_timeout;
    rearm(session);
  }
  if (begins) report_notice(session, Notice::store_trouble, SeqNum{}, journal.condition_text());
  if (lost || failed || session.full_until <= now_.monotonic || session.full_too_long || !journal.has_reserve())
    session.ends_because = EndReason::store;
  if (lost || failed) return session.drop_connection();
  if (session.full_until <= now_.monotonic) {
    session.full_until = MonotonicTime::max();
    session.full_too_long = true;
  }
  if ((session.full_too_long || !journal.has_reserve()) && session.session.logged_on())
    step(session, 0, [&](Actions& out) { session.session.logout("the message store takes no more", now_, out); });
  // The answer to a Logout may follow many messages, and the number of each is recorded.
  if (journal.has_reserve() || !session.connection.exists()) return;
  flush_last_words(session);
  session.drop_connection();
}

// The next process goes on asking. What is recorded after the answer ends that.
void SessionRunner::record_asked_reset(LiveSession& session) noexcept {
  session.reset_recorded = session.session.reset_asked();
  if (session.reset_recorded) session.store.record_asked_reset(now_.utc);
}

void SessionRunner::find_store_good(LiveSession& session) {
  if (!std::exchange(session.store_trouble, false)) return;
  session.full_too_long = false;
  session.full_until = MonotonicTime::max();
  rearm(session);
  report_notice(session, Notice::store_recovered, SeqNum{}, {});
}

void SessionRunner::end_wait_for_space_when_due(LiveSession& session) {
  if (session.full_until <= now_.monotonic) check_store(session);
}

[[gnu::cold, gnu::noinline]] MonotonicTime SessionRunner::space_expected_at(LiveSession& session) noexcept {
  constexpr Duration ring_check = std::chrono::microseconds{200};
  constexpr Duration disk_check = std::chrono::milliseconds{100};
  switch (session.journal_store->condition()) {
    case StoreCondition::good:
    case StoreCondition::failed: return {};  // the session ends
    case StoreCondition::busy: return now_.monotonic + ring_check;
    case StoreCondition::full:
      if (!session.store_trouble) check_stores_soon();
      // A Logout has been sent: its answer is not answered.
      return session.session.phase() == Phase::logout_sent ? MonotonicTime{} : now_.monotonic + disk_check;
  }
  return {};
}

bool SessionRunner::can_record_numbers(const LiveSession& session) noexcept {
  switch (session.journal_store->condition()) {
    case StoreCondition::good:
    case StoreCondition::busy: return true;
    case StoreCondition::full: return session.journal_store->has_reserve();
    case StoreCondition::failed: return false;
  }
  return false;
}

// What opening the journal has changed.
void SessionRunner::report_corrections(const LiveSession& session) {
  if (session.journal_store == nullptr) return;
  for (const std::string& line : session.journal_store->recovery().corrected) {
    log_event(session, "message store", line);
    store_alert(session.name + ": " + line);
  }
}

// Messages sent again.

void SessionRunner::pump_replays() {
  for (std::size_t i = 0; i < replaying_.size();) {
    LiveSession& session = sessions_[replaying_[i]];
    pump_replay(session);
    if (session.session.replaying()) {
      ++i;
    } else {
      NFX_ASSERT(replaying_[i] == session.index);
      replaying_.erase_at(i);
    }
  }
}

bool SessionRunner::replay_can_go_on() const noexcept {
  return std::ranges::any_of(replaying_.items(), [this](std::uint32_t index) {
    const LiveSession& session = sessions_[index];
    return session.connection.out.pending() < replay_batch && session.session.replay_held_until() <= now_.monotonic;
  });
}

void SessionRunner::pump_replay(LiveSession& session) {
  if (session.session.replay_held_until() > now_.monotonic) return;
  const std::uint64_t stored = session.store.stored_bytes();
  std::uint64_t not_kept = 0;
  const auto read = [&](SeqNum seq) -> std::optional<std::string_view> {
    const auto kept = session.store.read(seq);
    if (!kept) {
      // Session messages are never stored, so nothing is lost; an evicted message may have been an order.
      if (seq < session.store.oldest_kept() && session.store.counts().evicted != 0) ++not_kept;
      return std::nullopt;
    }
    if (replayed_message_.parse(*kept) != WireError::none) return std::nullopt;
    session.in_callback = true;
    bool wanted = true;
    try {
      wanted = callbacks_.application->on_resend(session, replayed_message_);
    } catch (...) {
      callback_threw(session, "on_resend");
    }
    session.in_callback = false;
    return wanted ? kept : std::nullopt;
  };
  // Resent messages wait while many bytes are pending, so that live ones have space.
  std::size_t sent = 0;
  while (session.session.replaying() && session.connection.out.pending() < replay_batch && sent < replay_batch) {
    const std::size_t before = session.connection.out.pending();
    const bool done = step(session, admin_reserve, [&](Actions& out) {
      session.session.continue_replay(read, replayed_message_, stored, now_, out);
      session.counts.resent += static_cast<std::uint64_t>(std::ranges::count(out.list(), true, &Action::resent));
      return out.list().empty();
    });
    const std::size_t after = session.connection.out.pending();
    sent += after > before ? after - before : 0;
    if (done) break;
  }
  if (session.session.replay_held_until() != MonotonicTime{}) ++session.counts.resends_slowed;
  if (not_kept == 0) return;
  session.counts.resend_not_kept += not_kept;
  report_notice(session, Notice::resend_not_kept, session.store.oldest_kept(), "raise retain_messages or retain_bytes");
}

SessionPage SessionRunner::figures(std::size_t from_place, std::span<SessionFigures> into) const {
  return sessions_.page(from_place, into, [](const LiveSession& session, SessionFigures& of) {
    of.identity = session.name;
    of.counters = session.counts;
    of.logged_on = session.logged_on();
    of.times = session.times();
    of.ended = session.last_end.at();
    of.end_reason = session.last_end.reason();
    of.next_inbound = session.next_inbound();
    of.next_outbound = session.next_outbound();
    of.journal.reset();
    if (session.journal_store != nullptr) {
      of.journal = session.journal_store->counters();
      of.store_condition = session.journal_store->condition();
    }
    return true;
  });
}

}  // namespace nfx
