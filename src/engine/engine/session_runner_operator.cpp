// Commands of an operator, carried out between two events of the poll thread.
#include <string>
#include <utility>

#include "config/live_keys.hpp"
#include "engine/session_command.hpp"
#include "engine/session_runner.hpp"

namespace nfx {
namespace {

void append_number(std::string& text, std::string_view name, std::optional<SeqNum> number) {
  if (number) text.append(name).append(std::to_string(value(*number)));
}

// "set next in 7, next out 12, by alice"
std::string line_of(const SessionCommand& command) {
  std::string text{row_of(command.kind).name};
  append_number(text, " next in ", command.numbers.in);
  append_number(text, " next out ", command.numbers.out);
  if (command.from != SeqNum{}) append_number(text, " from ", command.from);
  if (!command.text.empty()) text.append(": ").append(command.text);
  if (!command.who.empty()) text.append(", by ").append(command.who);
  return text;
}

[[nodiscard]] CommandOutcome outcome_of(OperatorResult result) noexcept {
  switch (result) {
    case OperatorResult::done: return {.status = CommandStatus::done};
    case OperatorResult::nothing_to_do: return {.status = CommandStatus::nothing_to_do};
    case OperatorResult::numbers_differ:
    case OperatorResult::bad_number:
    case OperatorResult::would_end_session:
    case OperatorResult::not_logged_on:
    case OperatorResult::not_now:
    case OperatorResult::settings_differ:
    case OperatorResult::not_possible: break;
  }
  return {.status = CommandStatus::refused, .refusal = result};
}

}  // namespace

CommandOutcome SessionRunner::command(std::size_t number, const SessionCommand& command) {
  LiveSession* session = sessions_.find(number);
  if (session == nullptr) return {.status = CommandStatus::no_such_session};
  if (session->removing) return being_removed(*session);
  CommandOutcome outcome{.status = CommandStatus::refused, .refusal = OperatorResult::numbers_differ};
  if (command.expected_revision.value_or(session->revision) != session->revision) {
    outcome.refusal = OperatorResult::settings_differ;
  } else if (session->session.has_numbers(command.expected)) {
    outcome = carry_out_command(*session, command);
  }
  if (outcome.status == CommandStatus::done && !row_of(command.kind).only_reads)
    report_notice(*session, Notice::operator_command, SeqNum{}, line_of(command));
  // What it has made is sent in this iteration; what it removed is still there.
  fill_status(*session, outcome.session);
  return outcome;
}

CommandOutcome SessionRunner::being_removed(const LiveSession& session) const {
  CommandOutcome outcome{.status = CommandStatus::being_removed};
  fill_status(session, outcome.session);
  return outcome;
}

CommandOutcome SessionRunner::carry_out_command(LiveSession& session, const SessionCommand& command) {
  switch (command.kind) {
    case SessionCommandKind::show: return {.status = CommandStatus::done};
    case SessionCommandKind::set: return set_numbers(session, command);
    case SessionCommandKind::reset:
      if (!can_set_numbers(session)) return {.status = CommandStatus::store_refuses};
      return outcome_of(step(session, 0, [&](Actions& out) { return session.session.reset_numbers(now_, out); }));
    case SessionCommandKind::logout:
      // The end of a drain does not undo it.
      if (!std::exchange(session.drained, false) && !session.enabled && !session.connection.exists())
        return {.status = CommandStatus::nothing_to_do};
      session.logout(command.text);
      return {.status = CommandStatus::done};
    case SessionCommandKind::logon:
    case SessionCommandKind::enable: return enable(session, command.kind == SessionCommandKind::logon);
    case SessionCommandKind::disable:
      if (std::exchange(session.drained, false)) return {.status = CommandStatus::done};
      if (!std::exchange(session.enabled, false)) return {.status = CommandStatus::nothing_to_do};
      session.reconnect.cancel();
      if (session.connection.connecting) session.drop_connection();
      rearm(session);
      return {.status = CommandStatus::done};
    case SessionCommandKind::drop:
      if (!session.connection.exists()) return {.status = CommandStatus::nothing_to_do};
      session.drop_connection();
      return {.status = CommandStatus::done};
    case SessionCommandKind::test_request:
      return outcome_of(step(session, 0, [&](Actions& out) { return session.session.test_peer(now_, out); }));
    case SessionCommandKind::resend:
      if (!can_set_numbers(session)) return {.status = CommandStatus::store_refuses};
      return outcome_of(
          step(session, 0, [&](Actions& out) { return session.session.request_again(command.from, now_, out); }));
    case SessionCommandKind::hold:
    case SessionCommandKind::release:
      return outcome_of(session.session.hold_sending(command.kind == SessionCommandKind::hold));
    case SessionCommandKind::remove:
      if (command.unless_connected && session.connection.exists() && !session.connection.connecting)
        return {.status = CommandStatus::refused, .refusal = OperatorResult::not_now};
      if (session.from_template) keep_removed(session);
      begin_removal(session.number, command.text);
      return {.status = CommandStatus::done};
  }
  return {.status = CommandStatus::no_such_session};
}

bool SessionRunner::can_set_numbers(const LiveSession& session) noexcept {
  return session.journal_store == nullptr || can_record_numbers(session);
}

// The records state that a person has set the sequence numbers, and who; execute() finds them recorded.
CommandOutcome SessionRunner::set_numbers(LiveSession& session, const SessionCommand& command) {
  if (!can_set_numbers(session)) return {.status = CommandStatus::store_refuses};
  const std::string reason = line_of(command);
  return outcome_of(step(session, 0, [&](Actions& out) {
    const OperatorResult result = session.session.set_numbers(command.numbers, now_, out);
    if (result != OperatorResult::done) return result;
    const auto record = [&](bool inbound, SeqNum seq) {
      static_cast<void>(session.store.set_number({inbound, seq, RecordFlag::by_operator, reason}, now_.utc));
    };
    // A ResendRequest for what is expected again has its own number, which execute() records.
    if (command.numbers.in) record(true, *command.numbers.in);
    if (command.numbers.out) record(false, *command.numbers.out);
    return result;
  }));
}

CommandOutcome SessionRunner::enable(LiveSession& session, bool connect_now) {
  if (stopping_ || draining_) return {.status = CommandStatus::stopping};
  const bool was_enabled = std::exchange(session.enabled, true);
  session.callback_failed = false;
  session.drained = false;
  const bool connects = session.is_initiator() && !session.connection.exists();
  if (connects && connect_now) {
    if (may_connect_now(session)) session.reconnect.connect_at(now_.monotonic);
    apply_schedule(session);
  } else if (connects && !was_enabled) {
    schedule_reconnect(session);
  } else if (was_enabled) {
    return {.status = CommandStatus::nothing_to_do};
  }
  rearm(session);
  return {.status = CommandStatus::done};
}

void SessionRunner::drain(std::string_view text) {
  draining_ = true;
  sessions_.for_each([&](LiveSession& session) {
    if (!session.enabled || session.removing) return;
    session.drained = true;
    session.logout(text);
  });
}

void SessionRunner::end_drain() {
  draining_ = false;
  sessions_.for_each([this](LiveSession& session) {
    if (session.drained) static_cast<void>(enable(session, true));
  });
}

CommandOutcome SessionRunner::change(std::size_t number, SessionSettings& wanted, SessionConfig& rules,
                                     std::string_view what) {
  LiveSession* session = sessions_.find(number);
  if (session == nullptr) return {.status = CommandStatus::no_such_session};
  if (session->removing) return being_removed(*session);
  if (identity(session->settings.session) != identity(wanted.session) ||
      session->settings.session.role != wanted.session.role || session->settings.listen != wanted.listen)
    return {.status = CommandStatus::refused, .refusal = OperatorResult::not_possible};
  const bool other_addresses = session->settings.connect != wanted.connect;
  logons_.forget(session->settings);
  swap_live_settings(session->settings, wanted);
  ++session->revision;
  logons_.expect(session->settings);
  session->session.change(rules);
  if (other_addresses) session->reconnect.addresses_changed();
  if (session->settings.slow_consumer == SlowConsumer::refuse) session->connection.out.clear_deadline();
  rearm(*session);
  report_notice(*session, Notice::operator_command, SeqNum{}, what);
  CommandOutcome outcome{.status = CommandStatus::done};
  fill_status(*session, outcome.session);
  return outcome;
}

void SessionRunner::fill_status(const LiveSession& session, SessionStatus& into) const {
  into.number = session.number;
  into.name = session.name;
  into.role = session.config().role;
  into.phase = session.session.phase();
  into.enabled = session.enabled;
  into.sending_held = session.session.sending_held();
  into.connected = session.connection.exists() && !session.connection.connecting;
  into.from_template = session.from_template;
  into.removing = session.removing;
  into.peer = session.connection.peer.view();
  into.revision = session.revision;
  into.next_in = session.next_inbound();
  into.next_out = session.next_outbound();
  into.gap_open = session.session.gap_open();
  into.queued = session.session.queued();
  into.resending = session.session.replaying();
  into.pending_bytes = session.connection.out.pending();
  into.heartbeat_s = static_cast<std::uint32_t>(session.session.heartbeat_interval().count());
  into.times = session.times();
  into.last_end = session.last_end;
  into.counters = session.counts;
  into.has_journal = session.journal_store != nullptr;
  into.store = session.journal_store != nullptr ? session.journal_store->condition() : StoreCondition::good;
}

void SessionRunner::journal(std::size_t number, JournalStatus& into) const {
  const LiveSession* session = sessions_.find(number);
  if (session == nullptr || session->removing) {
    into.status = session == nullptr ? CommandStatus::no_such_session : CommandStatus::being_removed;
    return;
  }
  into.status = CommandStatus::done;
  into.session = session->name;
  const JournalStore* journal = session->journal_store;
  into.exists = journal != nullptr;
  if (journal == nullptr) return;
  into.folder = journal->folder();
  into.durability = journal->durability();
  into.condition = journal->condition();
  if (into.condition != StoreCondition::good) into.condition_text = journal->condition_text();
  into.oldest = journal->oldest_kept();
  into.last = journal->last_kept();
  into.stored_bytes = journal->stored_bytes();
  into.position = journal->position();
  into.durable = journal->durable();
  into.counters = journal->counters();
}

SessionPage SessionRunner::list(std::size_t from_place, std::span<SessionStatus> into) const {
  return sessions_.page(from_place, into, [this](const LiveSession& session, SessionStatus& row) {
    fill_status(session, row);
    return true;
  });
}

}  // namespace nfx
