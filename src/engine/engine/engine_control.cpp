// Requests of other threads to poll threads: commands of an operator, lists, metrics.
#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "engine/engine_control.hpp"
#include "engine/engine_metrics.hpp"
#include "engine/loop_parts.hpp"

namespace nfx {
namespace {

constexpr std::size_t page_sessions = 64;  // some microseconds of the poll thread
constexpr std::size_t longest_name = 256;  // texts up to here are copied without an allocation

CommandStatus status_of(CallResult result) noexcept {
  return result == CallResult::busy ? CommandStatus::busy : CommandStatus::timed_out;
}

}  // namespace

std::string_view to_string(CommandStatus status) noexcept {
  switch (status) {
    case CommandStatus::done: return "done";
    case CommandStatus::nothing_to_do: return "already in that state";
    case CommandStatus::refused: return "refused";
    case CommandStatus::store_refuses:
      return "the message store cannot record a sequence number now: see its condition";
    case CommandStatus::stopping: return "the engine stops or drains";
    case CommandStatus::no_such_session: return "no such session";
    case CommandStatus::busy:
      return "too many commands wait for this poll thread, or a reload replaces the session now: try again";
    case CommandStatus::being_removed: return "the session is being removed: it logs out first";
    case CommandStatus::timed_out: return "a poll thread did not answer in time; the command is withdrawn";
  }
  return "?";
}

std::string_view explain(const CommandOutcome& outcome) noexcept {
  return outcome.status == CommandStatus::refused ? to_string(outcome.refusal) : to_string(outcome.status);
}

CallResult call_on(PollThread& thread, const LoopCall::Work& work, Duration timeout) {
  bool failed = false;
  const auto call = std::make_shared<LoopCall>([&](OperatorRequests& requests) {
    try {
      work(requests);
    } catch (...) {
      failed = true;  // no memory for a text: the poll thread continues
    }
  });
  if (!thread.loop().push(call)) return CallResult::busy;
  return call->wait(timeout) && !failed ? CallResult::done : CallResult::timed_out;
}

CommandOutcome command_on(PollThread& thread, std::size_t session, const SessionCommand& command, Duration timeout) {
  CommandOutcome outcome;
  const CallResult result =
      call_on(thread, [&](OperatorRequests& requests) { outcome = requests.command(session, command); }, timeout);
  if (result != CallResult::done) outcome.status = status_of(result);
  return outcome;
}

// The replaced settings are freed by this thread.
CommandOutcome change_on(PollThread& thread, std::size_t session, SessionSettings wanted, std::string_view what,
                         Duration timeout) {
  SessionConfig rules = wanted.session;
  CommandOutcome outcome;
  const CallResult result = call_on(
      thread, [&](OperatorRequests& requests) { outcome = requests.change(session, wanted, rules, what); }, timeout);
  if (result != CallResult::done) outcome.status = status_of(result);
  return outcome;
}

JournalStatus journal_on(PollThread& thread, std::size_t session, Duration timeout) {
  JournalStatus journal;
  journal.session.reserve(longest_name);
  const CallResult result =
      call_on(thread, [&](OperatorRequests& requests) { requests.journal(session, journal); }, timeout);
  if (result != CallResult::done) journal.status = status_of(result);
  return journal;
}

bool list_of(PollThread& thread, std::vector<SessionStatus>& into, Duration timeout) {
  std::vector<SessionStatus> rows(page_sessions);
  SessionPage page;
  while (!page.end) {
    for (SessionStatus& row : rows) {
      row.name.reserve(longest_name);
      row.peer.reserve(longest_name);
    }
    const CallResult result =
        call_on(thread, [&](OperatorRequests& requests) { page = requests.list(page.next_place, rows); }, timeout);
    if (result != CallResult::done) return false;
    into.insert(into.end(), rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(page.count));
  }
  return true;
}

bool drain_on(PollThread& thread, std::string_view text, Duration timeout) {
  return call_on(thread, [text](OperatorRequests& requests) { requests.drain(text); }, timeout) == CallResult::done;
}

bool end_drain_on(PollThread& thread, Duration timeout) {
  return call_on(thread, [](OperatorRequests& requests) { requests.end_drain(); }, timeout) == CallResult::done;
}

bool answers_in(PollThread& thread, Duration timeout) {
  return call_on(thread, [](OperatorRequests&) {}, timeout) == CallResult::done;
}

bool gather_from(PollThread& thread, ThreadFigures& into, Duration timeout) {
  SessionPage page;
  std::size_t count = 0;
  while (!page.end) {
    if (into.sessions.size() < count + page_sessions) into.sessions.resize(count + page_sessions);
    const std::span rows = std::span{into.sessions}.subspan(count, page_sessions);
    for (SessionFigures& row : rows) row.identity.reserve(longest_name);
    const auto take = [&](OperatorRequests& requests) {
      page = requests.figures(page.next_place, rows);
      if (page.end) thread.gather_loop(into);
    };
    if (call_on(thread, take, timeout) != CallResult::done) return false;
    count += page.count;
  }
  into.sessions.resize(count);
  return true;
}

}  // namespace nfx
