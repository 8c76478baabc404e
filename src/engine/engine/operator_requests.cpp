// Commands of an operator, one by one.
#include "engine/operator_requests.hpp"

#include <string>
#include <utility>

#include "engine/admission.hpp"

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

// `changed`: it was not so already.
[[nodiscard]] CommandOutcome outcome_of(bool changed) noexcept {
  return {.status = changed ? CommandStatus::done : CommandStatus::nothing_to_do};
}

[[nodiscard]] CommandOutcome with_status(CommandOutcome outcome, const SessionDriver& session) {
  session.fill(outcome.session);
  return outcome;
}

}  // namespace

CommandOutcome OperatorRequests::command(std::size_t number, const SessionCommand& command) {
  SessionDriver* const session = sessions_.find(number);
  if (session == nullptr) return {.status = CommandStatus::no_such_session};
  if (session->removing()) return with_status({.status = CommandStatus::being_removed}, *session);
  CommandOutcome outcome{.status = CommandStatus::refused, .refusal = OperatorResult::numbers_differ};
  if (command.expected_revision.value_or(session->revision()) != session->revision()) {
    outcome.refusal = OperatorResult::settings_differ;
  } else if (session->has_numbers(command.expected)) {
    outcome = carry_out(*session, command);
  }
  if (outcome.status == CommandStatus::done && !row_of(command.kind).only_reads)
    session->report_notice(Notice::operator_command, SeqNum{}, line_of(command));
  // Messages from the command are sent in this iteration; a removed session still exists.
  return with_status(outcome, *session);
}

CommandOutcome OperatorRequests::carry_out(SessionDriver& session, const SessionCommand& command) {
  const CommandOutcome store_refuses{.status = CommandStatus::store_refuses};
  switch (command.kind) {
    case SessionCommandKind::show: return {.status = CommandStatus::done};
    case SessionCommandKind::set:
      if (!session.can_record_numbers()) return store_refuses;
      return outcome_of(session.set_numbers(command.numbers, line_of(command)));
    case SessionCommandKind::reset:
      if (!session.can_record_numbers()) return store_refuses;
      return outcome_of(session.request(&Session::reset_numbers));
    case SessionCommandKind::logout: return outcome_of(session.log_out(command.text));
    case SessionCommandKind::logon:
    case SessionCommandKind::enable:
      if (loop_.stopping || loop_.draining) return {.status = CommandStatus::stopping};
      return outcome_of(session.enable(command.kind == SessionCommandKind::logon));
    case SessionCommandKind::disable: return outcome_of(session.disable());
    case SessionCommandKind::drop:
      if (!session.connection().exists()) return {.status = CommandStatus::nothing_to_do};
      session.drop_connection();
      return {.status = CommandStatus::done};
    case SessionCommandKind::test_request: return outcome_of(session.request(&Session::test_peer));
    case SessionCommandKind::resend:
      if (!session.can_record_numbers()) return store_refuses;
      return outcome_of(session.request(&Session::request_again, command.from));
    case SessionCommandKind::hold:
    case SessionCommandKind::release: return outcome_of(session.hold_sending(command.kind == SessionCommandKind::hold));
    case SessionCommandKind::remove:
      if (command.unless_connected && session.connected())
        return {.status = CommandStatus::refused, .refusal = OperatorResult::not_now};
      sessions_.remove(session, command.text);
      return {.status = CommandStatus::done};
  }
  return {.status = CommandStatus::no_such_session};
}

void OperatorRequests::drain(std::string_view text) {
  loop_.draining = true;
  sessions_.for_each([&](SessionDriver& session) { session.drain(text); });
}

void OperatorRequests::end_drain() {
  loop_.draining = false;
  if (loop_.stopping) return;
  sessions_.for_each([](SessionDriver& session) { session.end_drain(); });
}

CommandOutcome OperatorRequests::change(std::size_t number, SessionSettings& wanted, SessionConfig& rules,
                                        std::string_view what) {
  SessionDriver* const session = sessions_.find(number);
  if (session == nullptr) return {.status = CommandStatus::no_such_session};
  if (session->removing()) return with_status({.status = CommandStatus::being_removed}, *session);
  const SessionSettings& settings = session->settings();
  if (identity(settings.session) != identity(wanted.session) || settings.session.role != wanted.session.role ||
      settings.listen != wanted.listen)
    return {.status = CommandStatus::refused, .refusal = OperatorResult::not_possible};
  loop_.admission->forget(settings);
  session->change(wanted, rules);
  loop_.admission->expect(settings);
  session->report_notice(Notice::operator_command, SeqNum{}, what);
  return with_status({.status = CommandStatus::done}, *session);
}

void OperatorRequests::journal(std::size_t number, JournalStatus& into) const {
  const SessionDriver* const session = sessions_.find(number);
  into.status = session == nullptr    ? CommandStatus::no_such_session
                : session->removing() ? CommandStatus::being_removed
                                      : CommandStatus::done;
  if (into.status != CommandStatus::done) return;
  into.session = session->name();
  const JournalStore* const journal = session->journal();
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

CommandStatus OperatorRequests::attach(MessageTap& tap) {
  const SessionDriver* const session = sessions_.find(tap.session());
  if (session == nullptr) return CommandStatus::no_such_session;
  if (session->removing()) return CommandStatus::being_removed;
  loop_.reports.taps().attach(tap);
  return CommandStatus::done;
}

}  // namespace nfx
