// Rights first, then arguments, then the line in the audit log, then the command.
#include "control/api.hpp"

#include <charconv>

#include "control/documents.hpp"

namespace nfx::control {
namespace {

constexpr std::size_t most_rates = 256;

struct Kind {
  unsigned status;
  std::string_view name;
};

// What a command's refusal is in HTTP.
Kind kind_of(const CommandOutcome& outcome) noexcept {
  switch (outcome.status) {
    case CommandStatus::done:
    case CommandStatus::nothing_to_do: return {200, ""};
    case CommandStatus::store_refuses: return {503, "store-refuses"};
    case CommandStatus::stopping: return {409, "stopping"};
    case CommandStatus::no_such_session: return {404, "no-such-session"};
    case CommandStatus::busy: return {503, "busy"};
    case CommandStatus::timed_out: return {504, "timed-out"};
    case CommandStatus::refused: break;
  }
  switch (outcome.refusal) {
    case OperatorResult::numbers_differ: return {412, "numbers-differ"};
    case OperatorResult::bad_number: return {422, "bad-number"};
    case OperatorResult::would_end_session: return {409, "would-end-session"};
    case OperatorResult::not_logged_on: return {409, "not-logged-on"};
    case OperatorResult::not_now: return {409, "not-now"};
    case OperatorResult::not_possible: return {409, "not-possible"};
    case OperatorResult::done:
    case OperatorResult::nothing_to_do: break;
  }
  return {409, "refused"};
}

std::optional<std::uint64_t> number_in(std::string_view text) noexcept {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The sequence numbers that an ETag of this session has. Empty: it is not one.
std::optional<NextNumbers> numbers_of(std::string_view etag, std::size_t session) noexcept {
  if (etag.size() < 2 || etag.front() != '"' || etag.back() != '"') return std::nullopt;
  etag = etag.substr(1, etag.size() - 2);
  const std::size_t first = etag.find('.');
  const std::size_t second = first == std::string_view::npos ? first : etag.find('.', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto number = number_in(etag.substr(0, first));
  const auto in = number_in(etag.substr(first + 1, second - first - 1));
  const auto out = number_in(etag.substr(second + 1));
  if (number != session || !in || !out) return std::nullopt;
  return NextNumbers{.in = SeqNum{*in}, .out = SeqNum{*out}};
}

Answer session_answer(const CommandOutcome& outcome, std::string_view result) {
  return {.body = document_of(outcome.session, result), .etag = etag_of(outcome.session)};
}

Answer refused(const CommandOutcome& outcome) {
  const Kind kind = kind_of(outcome);
  Answer answer{.status = kind.status,
                .type = "application/problem+json",
                .body = problem_document(kind.status, kind.name, explain(outcome), &outcome.session)};
  if (!outcome.session.name.empty()) answer.etag = etag_of(outcome.session);
  answer.try_again = kind.status == 503 || kind.status == 504;
  return answer;
}

bool is_json(std::string_view content_type) noexcept {
  constexpr std::string_view json = "application/json";
  return content_type.starts_with(json) && (content_type.size() == json.size() || content_type[json.size()] == ';');
}

}  // namespace

std::string etag_of(const SessionStatus& session) {
  return '"' + std::to_string(session.number) + '.' + std::to_string(value(session.next_in)) + '.' +
         std::to_string(value(session.next_out)) + '"';
}

Answer problem(unsigned status, std::string_view kind, std::string_view detail) {
  return {.status = status, .type = "application/problem+json", .body = problem_document(status, kind, detail)};
}

Answer Api::answer(const Request& request) {
  const Match match = find_route(request.method, request.target);
  if (match.route == nullptr && match.other_method) {
    Answer answer = problem(405, "method-not-allowed", "this path has another method; see docs/control.md");
    answer.allow = request.method == "GET" ? "POST" : "GET";
    return answer;
  }
  // Who has no role does not learn which paths there are.
  const Role needed = match.route == nullptr ? Role::viewer : match.route->role;
  if (request.caller.role < needed) {
    if (match.route != nullptr && match.route->changes() && forbidden_lines_.take(clock_().monotonic))
      static_cast<void>(audit(request, "forbidden", {}));
    if (request.caller.role == Role::none && request.caller.via == "http") {
      Answer answer = problem(401, "token-needed", "send a token of [control] tokens as 'Authorization: Bearer TOKEN'");
      answer.authenticate = true;
      return answer;
    }
    return problem(403, "forbidden",
                   "user " + request.caller.name + " has the role " + std::string{to_string(request.caller.role)} +
                       ", and this needs " + std::string{to_string(needed)} + ": see [control] operators and viewers");
  }
  if (!within_rate(request.caller.name)) {
    Answer answer = problem(429, "too-many-requests", "200 requests per second for each user");
    answer.try_again = true;
    return answer;
  }
  if (match.route == nullptr) return problem(404, "no-such-path", "there is no such path; see docs/control.md");
  return permitted(*match.route, request, match.session);
}

Answer Api::permitted(const Route& route, const Request& request, const std::string& session) {
  if (request.body.size() > largest_body) return problem(413, "too-large", "a body has 16 KiB at most");
  if (!request.body.empty() && !is_json(request.content_type))
    return problem(415, "not-json", "send Content-Type: application/json");
  if (route.resource == Resource::session) return command(route, request, session);
  return route.changes() ? change(route, request) : read(route);
}

Answer Api::read(const Route& route) {
  switch (route.resource) {
    case Resource::health:
    case Resource::readiness: {
      const EngineView engine = target_.engine();
      if (!target_.sessions().complete) return problem(503, "not-answering", "a poll thread does not answer");
      if (route.resource == Resource::readiness && (engine.draining || engine.stopping))
        return problem(503, "not-ready", engine.stopping ? "the engine stops" : "the engine drains");
      return {.body = result_document("ok")};
    }
    case Resource::metrics: {
      MetricsPage page;
      if (!target_.add_metrics(page)) return problem(504, "timed-out", "a poll thread did not answer in time");
      return {.type = "application/openmetrics-text; version=1.0.0; charset=utf-8", .body = page.open_metrics()};
    }
    case Resource::engine: return {.body = document_of(target_.engine())};
    case Resource::threads: return {.body = document_of(target_.threads(), target_.placement_warnings())};
    case Resource::sessions: return {.body = document_of(target_.sessions())};
    case Resource::stop:
    case Resource::drain:
    case Resource::end_drain:
    case Resource::reload_tls:
    case Resource::session: break;
  }
  return problem(404, "no-such-path", "there is no such path");
}

Answer Api::change(const Route& route, const Request& request) {
  const bool takes_text = route.resource == Resource::drain;
  const auto text = text_of(request.body);
  if (!text) return problem(400, "bad-request", text.error());
  if (!takes_text && !text->empty()) return problem(400, "bad-request", "this command takes no text");
  if (!audit(request, "requested", *text))
    return problem(503, "no-audit", "the audit log cannot be written: nothing was done");
  bool all = true;
  std::vector<std::string> problems;
  switch (route.resource) {
    case Resource::stop: target_.stop(); break;
    case Resource::drain: all = target_.drain(*text); break;
    case Resource::end_drain: all = target_.end_drain(); break;
    case Resource::reload_tls: problems = target_.reload_tls(); break;
    case Resource::health:
    case Resource::readiness:
    case Resource::metrics:
    case Resource::engine:
    case Resource::threads:
    case Resource::sessions:
    case Resource::session: break;
  }
  static_cast<void>(audit(request, all && problems.empty() ? "done" : "incomplete", {}));
  if (!all) return problem(504, "timed-out", "a poll thread did not answer in time: try again");
  return {.body = result_document(problems.empty() ? "done" : "incomplete", problems)};
}

Answer Api::command(const Route& route, const Request& request, const std::string& session) {
  const SessionCommandRow& row = row_of(route.command);
  auto command = command_of(request.body, row);
  if (!command) return problem(400, "bad-request", command.error());
  const std::optional<std::uint64_t> given = number_in(session);
  const std::optional<std::size_t> number = given ? std::optional<std::size_t>{*given} : target_.find(session);
  if (!number) return refused({.status = CommandStatus::no_such_session});
  if (row.takes(CommandArguments::expected)) {
    if (!request.if_match.empty() && request.if_match != "*") {
      const auto numbers = numbers_of(request.if_match, *number);
      if (!numbers) return refused({.status = CommandStatus::refused, .refusal = OperatorResult::numbers_differ});
      command->expected = *numbers;
    } else if (request.if_match.empty() && command->expected == NextNumbers{}) {
      return problem(
          428, "expected-needed",
          "state the sequence numbers that you have seen, in \"expected\" or as If-Match with the session's ETag; "
          "If-Match: * sets without");
    }
  }
  if (row.only_reads) {
    const CommandOutcome outcome = target_.command(*number, *command);
    return outcome ? session_answer(outcome, {}) : refused(outcome);
  }
  if (!audit(request, "requested", request.body))
    return problem(503, "no-audit", "the audit log cannot be written: nothing was done");
  command->who = request.caller.name;
  const CommandOutcome outcome = target_.command(*number, *command);
  static_cast<void>(audit(request, outcome ? "done" : "refused", explain(outcome)));
  if (!outcome) return refused(outcome);
  return session_answer(outcome, outcome.status == CommandStatus::done ? "done" : "nothing_to_do");
}

// Bounded: when so many callers are known, all begin with a full bucket again.
bool Api::within_rate(const std::string& caller) {
  if (rates_.size() >= most_rates && !rates_.contains(caller)) rates_.clear();
  return rates_.try_emplace(caller, requests_per_second, burst).first->second.take(clock_().monotonic);
}

bool Api::audit(const Request& request, std::string_view event, std::string_view detail) {
  const std::string what = std::string{request.method} + ' ' + std::string{request.target};
  return audit_.write({.time = clock_().utc, .caller = request.caller, .event = event, .what = what, .detail = detail});
}

}  // namespace nfx::control
