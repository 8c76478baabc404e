// Rights first, then arguments, then the line in the audit log, then the command.
#include "control/api.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "control/documents.hpp"

namespace nfx::control {
namespace {

constexpr std::size_t most_rates = 256;
constexpr std::uint64_t usual_messages = 64;
constexpr std::uint64_t usual_tail = 10;

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
    case CommandStatus::being_removed: return {409, "being-removed"};
    case CommandStatus::refused: break;
  }
  switch (outcome.refusal) {
    case OperatorResult::numbers_differ: return {412, "numbers-differ"};
    case OperatorResult::settings_differ: return {412, "settings-differ"};
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

std::string_view to_string(AddStatus status) noexcept {
  switch (status) {
    case AddStatus::added: return "added";
    case AddStatus::invalid: return "the configuration is invalid";
    case AddStatus::exists: return "the session exists already";
    case AddStatus::being_removed: return "the session is being removed";
    case AddStatus::stopping: return "the engine stops or drains";
  }
  return "?";
}

// What an ETag has: see etag_of().
struct Seen {
  NextNumbers numbers;
  std::uint32_t revision;
};

// Empty: it is not an ETag of this session.
std::optional<Seen> seen_in(std::string_view etag, std::size_t session) noexcept {
  if (etag.size() < 2 || etag.front() != '"' || etag.back() != '"') return std::nullopt;
  etag = etag.substr(1, etag.size() - 2);
  std::array<std::uint64_t, 4> parts{};
  for (std::uint64_t& part : parts) {
    const bool is_last = &part == &parts.back();
    const std::size_t end = is_last ? etag.size() : etag.find('.');
    if (end == std::string_view::npos) return std::nullopt;
    const auto number = number_in(etag.substr(0, end));
    if (!number) return std::nullopt;
    part = *number;
    etag.remove_prefix(is_last ? end : end + 1);
  }
  if (parts[0] != session || parts[3] > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return Seen{.numbers = {.in = SeqNum{parts[1]}, .out = SeqNum{parts[2]}},
              .revision = static_cast<std::uint32_t>(parts[3])};
}

// What a later request may not meet.
bool passes(unsigned status) noexcept { return status == 429 || status == 503 || status == 504; }

// What an If-Match adds to what a session has to have. False: no session has both.
bool add_expected(std::string_view if_match, std::size_t session, SessionCommand& command) noexcept {
  if (if_match.empty() || if_match == "*") return true;
  const auto seen = seen_in(if_match, session);
  const NextNumbers& expected = command.expected;
  if (!seen || (expected.in && expected.in != seen->numbers.in) || (expected.out && expected.out != seen->numbers.out))
    return false;
  command.expected = seen->numbers;
  command.expected_revision = seen->revision;
  return true;
}

// What is requested, for the audit log.
std::string detail_of(const Request& request) {
  std::string detail = compact(request.body);
  if (!request.if_match.empty())
    detail += (detail.empty() ? "If-Match: " : " If-Match: ") + std::string{request.if_match};
  return detail;
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
  answer.try_again = passes(kind.status);
  return answer;
}

template <class Content>
Answer store_answer(const StoreOutcome<Content>& outcome) {
  if (outcome.status != CommandStatus::done) return refused({.status = outcome.status});
  if (!outcome.exists) return problem(409, "no-journal", "the session has no journal: its store is memory");
  if (!outcome.unreadable.empty()) return problem(503, "store-unreadable", outcome.unreadable);
  return {.body = document_of(outcome.answer)};
}

Answer not_audited() { return problem(503, "no-audit", "the audit log cannot be written: nothing was done"); }

Answer answer_of(const AddOutcome& outcome) {
  switch (outcome.status) {
    case AddStatus::added: break;
    case AddStatus::invalid: return problem(422, "bad-configuration", outcome.problem);
    case AddStatus::exists: return problem(409, "session-exists", outcome.problem);
    case AddStatus::being_removed: return problem(409, "being-removed", outcome.problem);
    case AddStatus::stopping: return problem(409, "stopping", outcome.problem);
  }
  return {.body = document_of(outcome.session, "done"), .etag = etag_of(outcome.session)};
}

Answer answer_of(const ReloadReport& report) {
  switch (report.status) {
    case ReloadStatus::planned:
    case ReloadStatus::nothing_to_do:
    case ReloadStatus::done:
    case ReloadStatus::incomplete: return {.body = document_of(report)};
    case ReloadStatus::invalid: return problem(422, "bad-configuration", report.problem);
    case ReloadStatus::no_file: return problem(409, "no-file", report.problem);
    case ReloadStatus::stopping: return problem(409, "stopping", report.problem);
    case ReloadStatus::no_such_session: return refused({.status = CommandStatus::no_such_session});
    case ReloadStatus::being_removed: return refused({.status = CommandStatus::being_removed});
    case ReloadStatus::not_answering: break;
  }
  return problem(504, "timed-out", report.problem);
}

// What became of it, for the audit log: each session with its keys, without their values.
std::string_view event_of(const ReloadReport& report) noexcept {
  switch (report.status) {
    case ReloadStatus::nothing_to_do:
    case ReloadStatus::done: return "done";
    case ReloadStatus::incomplete: return "incomplete";
    case ReloadStatus::planned:
    case ReloadStatus::invalid:
    case ReloadStatus::no_file:
    case ReloadStatus::stopping:
    case ReloadStatus::not_answering:
    case ReloadStatus::no_such_session:
    case ReloadStatus::being_removed: break;
  }
  return "refused";
}

std::string detail_of(const ReloadReport& report) {
  if (!report.problem.empty()) return report.problem;
  std::string detail;
  for (const SessionChange& each : report.sessions) {
    detail.append(detail.empty() ? "" : "; ").append(to_string(each.kind)).append(" ").append(each.name);
    for (const KeyChange& key : each.keys) detail.append(" ").append(key.key);
    if (each.needs != ChangeNeeds::nothing) detail.append(" (").append(to_string(each.needs)).append(")");
  }
  for (const std::string& each : report.problems) detail.append("; failed: ").append(each);
  return detail;
}

LatencyWindow window_of(const Query& query) {
  const auto given = query.find("window");
  if (given == query.end()) return LatencyWindow::ten_seconds;
  for (std::size_t i = 0; i < timed_window_count; ++i) {
    if (given->second == to_string(static_cast<LatencyWindow>(i))) return static_cast<LatencyWindow>(i);
  }
  return LatencyWindow::since_start;
}

std::uint64_t number_given(const Query& query, std::string_view name, std::uint64_t otherwise) {
  const auto given = query.find(name);
  return given == query.end() ? otherwise : number_in(given->second).value_or(otherwise);
}

bool is_json(std::string_view content_type) noexcept {
  constexpr std::string_view json = "application/json";
  return content_type.starts_with(json) && (content_type.size() == json.size() || content_type[json.size()] == ';');
}

}  // namespace

std::string etag_of(const SessionStatus& session) {
  return '"' + std::to_string(session.number) + '.' + std::to_string(value(session.next_in)) + '.' +
         std::to_string(value(session.next_out)) + '.' + std::to_string(session.revision) + '"';
}

Answer problem(unsigned status, std::string_view kind, std::string_view detail) {
  return {.status = status,
          .type = "application/problem+json",
          .body = problem_document(status, kind, detail),
          .try_again = passes(status)};
}

Answer Api::answer(const Request& request) {
  AnswerOrWork made = begin(request);
  if (const Work* work = std::get_if<Work>(&made)) return work->run();
  return std::get<Answer>(std::move(made));
}

AnswerOrWork Api::begin(const Request& request) {
  const Match match = find_route(request.method, request.target);
  // Who has no role does not learn which paths there are.
  const Role needed = match.route == nullptr ? Role::viewer : match.route->role;
  if (request.caller.role < needed) {
    if (match.route != nullptr && match.route->audited() && forbidden_lines_.take(clock_().monotonic))
      static_cast<void>(audit(Audited{request}, "forbidden", {}));
    if (request.caller.role == Role::none && request.caller.via == "http") {
      Answer answer = problem(401, "token-needed", "send a token of [control] tokens as 'Authorization: Bearer TOKEN'");
      answer.authenticate = true;
      return answer;
    }
    return problem(403, "forbidden",
                   "user " + request.caller.name + " has the role " + std::string{to_string(request.caller.role)} +
                       ", and this needs " + std::string{to_string(needed)} +
                       ": see [control] operators, viewers, tokens and clients");
  }
  // Health has a bounded cost, and no other caller may have it refused.
  if (needed != Role::none && !within_rate(request.caller.name))
    return problem(429, "too-many-requests", "200 requests per second for each user");
  if (match.route == nullptr && !match.other_methods.empty()) {
    Answer answer = problem(405, "method-not-allowed", "this path has another method; see docs/control.md");
    answer.allow = match.other_methods;
    return answer;
  }
  if (match.route == nullptr) return problem(404, "no-such-path", "there is no such path; see docs/control.md");
  return permitted(match, request);
}

AnswerOrWork Api::permitted(const Match& match, const Request& request) {
  const Route& route = *match.route;
  if (request.body.size() > largest_body) return problem(413, "too-large", "a body has 16 KiB at most");
  if (!request.body.empty() && !is_json(request.content_type))
    return problem(415, "not-json", "send Content-Type: application/json");
  if (route.for_worker() && work_ >= (route.changes() ? most_work : most_reading_work))
    return problem(503, "busy", "other requests wait for their turn: try again");
  if (route.resource == Resource::session) return command(route, request, match.session);
  if (route.resource == Resource::add_session) return add(request);
  if (route.resource == Resource::change_session) return change_session(request, match.session);
  if (route.resource == Resource::log_level) return set_log_level(request);
  if (route.changes()) return change(route, request);
  const auto query = query_of(route, match.query);
  if (!query) return problem(400, "bad-request", query.error());
  if (route.resource == Resource::plan_reload) return plan_reload(request);
  if (route.of_session()) return read_session(route, request, match.session, *query);
  return read(route, request, *query);
}

Work Api::leave(bool changes, std::function<Answer()> run) {
  ++work_;
  return {.run =
              [this, run = std::move(run)] {
                Answer answer = run();
                --work_;
                return answer;
              },
          .changes = changes};
}

// As a client wants it that takes the text format and does not know OpenMetrics.
Answer Api::metrics(std::string_view accept) {
  MetricsPage page;
  if (!target_.add_metrics(page)) return problem(504, "timed-out", "a poll thread did not answer in time");
  if (accept.contains("text/plain") && !accept.contains("application/openmetrics-text"))
    return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = page.text()};
  return {.type = "application/openmetrics-text; version=1.0.0; charset=utf-8", .body = page.open_metrics()};
}

Answer Api::read(const Route& route, const Request& request, const Query& query) {
  switch (route.resource) {
    case Resource::health:
    case Resource::readiness: {
      const EngineView engine = target_.engine();
      if (!answers()) return problem(503, "not-answering", "a poll thread does not answer");
      if (route.resource == Resource::readiness && (engine.draining || engine.stopping))
        return problem(503, "not-ready", engine.stopping ? "the engine stops" : "the engine drains");
      return {.body = result_document("ok")};
    }
    case Resource::metrics: return metrics(request.accept);
    case Resource::engine: return {.body = document_of(target_.engine())};
    case Resource::threads:
      return {.body = document_of(target_.threads(), target_.placement_warnings(), target_.running_threads())};
    case Resource::placement: return {.body = document_of(target_.placement(), target_.threads())};
    case Resource::latency: return latency(query);
    case Resource::slowest: return slowest(query);
    case Resource::description: {
      static const std::string description = openapi();
      return {.body = description};
    }
    case Resource::sessions: return {.body = document_of(target_.sessions())};
    case Resource::plan_reload:
    case Resource::stop:
    case Resource::drain:
    case Resource::end_drain:
    case Resource::reload_tls:
    case Resource::reload:
    case Resource::log_level:
    case Resource::add_session:
    case Resource::session:
    case Resource::change_session:
    case Resource::messages:
    case Resource::store:
    case Resource::store_verify:
    case Resource::store_tail: break;
  }
  return problem(404, "no-such-path", "there is no such path");
}

// Requests of health come without a token: the requests to poll threads are bounded.
bool Api::answers() {
  const MonotonicTime now = clock_().monotonic;
  if (!answered_at_ || now - *answered_at_ >= health_lasts) {
    answered_ = target_.answers();
    answered_at_ = now;
  }
  return answered_;
}

AnswerOrWork Api::plan_reload(const Request& request) {
  if (!plans_.take(clock_().monotonic))
    return problem(429, "too-many-requests", "one plan of a reload per second for all users together");
  if (!audit(Audited{request}, "plans reload", {})) return not_audited();
  return leave(false, [this] { return answer_of(target_.plan_reload()); });
}

Answer Api::latency(const Query& query) {
  const LatencyWindow window = window_of(query);
  std::optional<LatencyReport> report = target_.latency(window);
  if (const auto session = query.find("session"); report && session != query.end())
    std::erase_if(report->sessions, [&](const SessionLatency& each) { return each.session != session->second; });
  if (const auto format = query.find("format"); format != query.end() && format->second == "hdr")
    return {.type = "text/plain; charset=utf-8", .body = hdr_log_text(report.value_or(LatencyReport{}))};
  return {.body = document_of(window, report)};
}

Answer Api::slowest(const Query& query) {
  const LatencyWindow window = window_of(query);
  std::vector<SlowMoment> moments = target_.slowest(window);
  if (const auto session = query.find("session"); session != query.end())
    std::erase_if(moments, [&](const SlowMoment& each) { return each.session != session->second; });
  return {.body = document_of(window, moments)};
}

AnswerOrWork Api::read_session(const Route& route, const Request& request, const std::string& session,
                               const Query& query) {
  const auto number = number_of(session);
  if (!number) return refused({.status = number.error()});
  if (route.audited() && begins_to_read(request.caller.name, *number, route.resource) &&
      !audit(Audited{request}, route.resource == Resource::messages ? "reads messages" : "reads store", {})) {
    readers_.clear();
    return problem(503, "no-audit", "the audit log cannot be written: nothing is shown");
  }
  if (route.for_worker()) return read_store(route.resource, *number, query);
  return messages(*number, query);
}

AnswerOrWork Api::read_store(Resource resource, std::size_t session, const Query& query) {
  if (resource == Resource::store_verify) {
    const std::uint64_t from = number_given(query, "from", 0);
    return leave(false, [this, session, from] { return store_answer(target_.verify_store(session, from)); });
  }
  if (resource == Resource::store_tail) {
    const std::uint64_t most = number_given(query, "limit", usual_tail);
    return leave(false, [this, session, most] { return store_answer(target_.store_tail(session, most)); });
  }
  return leave(false, [this, session] { return store_answer(target_.store(session)); });
}

Answer Api::messages(std::size_t session, const Query& query) {
  const RecentMessages recent =
      target_.messages(session, number_given(query, "after", 0), number_given(query, "limit", usual_messages));
  if (recent.status == CommandStatus::busy)
    return problem(503, "busy", "the messages of eight other sessions are requested now: try again later");
  if (recent.status != CommandStatus::done) return refused({.status = recent.status});
  return {.body = document_of(recent)};
}

std::expected<std::size_t, CommandStatus> Api::number_of(const std::string& session) {
  if (const std::optional<std::uint64_t> given = number_in(session)) return *given;
  return target_.find(session);
}

// Bounded: when so many readers are known, all begin again, with a line each.
bool Api::begins_to_read(const std::string& caller, std::size_t session, Resource resource) {
  const MonotonicTime now = clock_().monotonic;
  if (readers_.size() >= most_rates && !readers_.contains({caller, session, resource})) readers_.clear();
  const auto [reader, added] = readers_.try_emplace({caller, session, resource}, now);
  const bool begins = added || now - reader->second >= reading_ends_after;
  reader->second = now;
  return begins;
}

AnswerOrWork Api::change(const Route& route, const Request& request) {
  const bool takes_text = route.resource == Resource::drain;
  auto text = text_of(request.body);
  if (!text) return problem(400, "bad-request", text.error());
  if (!takes_text && !text->empty()) return problem(400, "bad-request", "this command takes no text");
  const Audited by{request};
  if (!audit(by, "requested", *text)) return not_audited();
  if (route.resource == Resource::reload) return reload(by);
  const Resource resource = route.resource;
  if (!route.for_worker()) return carry_out(resource, *text, by);
  return leave(true, [this, resource, by, text = *std::move(text)] { return carry_out(resource, text, by); });
}

Answer Api::carry_out(Resource resource, std::string_view text, const Audited& by) {
  bool all = true;
  std::vector<std::string> problems;
  switch (resource) {
    case Resource::stop: target_.stop(); break;
    case Resource::drain: all = target_.drain(text); break;
    case Resource::end_drain: all = target_.end_drain(); break;
    case Resource::reload_tls: problems = target_.reload_tls(); break;
    case Resource::health:
    case Resource::readiness:
    case Resource::metrics:
    case Resource::engine:
    case Resource::threads:
    case Resource::placement:
    case Resource::latency:
    case Resource::slowest:
    case Resource::description:
    case Resource::sessions:
    case Resource::plan_reload:
    case Resource::reload:
    case Resource::log_level:
    case Resource::add_session:
    case Resource::session:
    case Resource::change_session:
    case Resource::messages:
    case Resource::store:
    case Resource::store_verify:
    case Resource::store_tail: break;
  }
  static_cast<void>(audit(by, all && problems.empty() ? "done" : "incomplete", {}));
  if (!all) return problem(504, "timed-out", "a poll thread did not answer in time: try again");
  return {.body = result_document(problems.empty() ? "done" : "incomplete", problems)};
}

// The text is not in the audit log, as it may have a password: the session's name is.
AnswerOrWork Api::add(const Request& request) {
  auto config = config_of(request.body);
  if (!config) return problem(400, "bad-request", config.error());
  const Audited by{request};
  if (!audit(by, "requested", {})) return not_audited();
  return leave(true, [this, by, config = *std::move(config)] {
    const AddOutcome outcome = target_.add(config);
    const bool added = outcome.status == AddStatus::added;
    static_cast<void>(audit(by, added ? "done" : "refused", added ? outcome.session.name : to_string(outcome.status)));
    return answer_of(outcome);
  });
}

// The line that it was requested is written already.
Work Api::reload(const Audited& by) {
  return leave(true, [this, by] {
    const ReloadReport report = target_.reload(by.caller.name);
    static_cast<void>(audit(by, event_of(report), detail_of(report)));
    return answer_of(report);
  });
}

// As of add(), the text is not in the audit log: what has changed is.
AnswerOrWork Api::change_session(const Request& request, const std::string& session) {
  auto config = config_of(request.body);
  if (!config) return problem(400, "bad-request", config.error());
  const auto number = number_of(session);
  if (!number) return refused({.status = number.error()});
  SessionCommand show;
  if (!request.if_match.empty()) {
    const bool is_one = add_expected(request.if_match, *number, show);
    const CommandOutcome there = target_.command(*number, show);
    if (!there) return refused(there);
    if (!is_one) return refused({.status = CommandStatus::refused, .refusal = OperatorResult::numbers_differ});
  }
  const Audited by{request};
  if (!audit(by, "requested", {})) return not_audited();
  return leave(true, [this, by, number = *number, config = *std::move(config), show = std::move(show)] {
    // Another change may have been carried out since the request came.
    const CommandOutcome there = show.expected_revision ? target_.command(number, show) : CommandOutcome{};
    if (there.status == CommandStatus::refused) {
      static_cast<void>(audit(by, "refused", explain(there)));
      return refused(there);
    }
    const ReloadReport report = target_.change(number, config, by.caller.name);
    static_cast<void>(audit(by, event_of(report), detail_of(report)));
    return answer_of(report);
  });
}

Answer Api::set_log_level(const Request& request) {
  const auto level = level_of(request.body);
  if (!level) return problem(400, "bad-request", level.error());
  const Audited by{request};
  if (!audit(by, "requested", to_string(*level))) return not_audited();
  target_.set_log_level(*level);
  static_cast<void>(audit(by, "done", {}));
  return {.body = result_document("done")};
}

Answer Api::command(const Route& route, const Request& request, const std::string& session) {
  const SessionCommandRow& row = row_of(route.command);
  auto command = command_of(request.body, row);
  if (!command) return problem(400, "bad-request", command.error());
  const auto number = number_of(session);
  if (!number) return refused({.status = number.error()});
  if (row.takes(CommandArguments::expected) && request.if_match.empty() && command->expected == NextNumbers{}) {
    return problem(
        428, "expected-needed",
        "state the sequence numbers that you have seen, in \"expected\" or as If-Match with the session's ETag; "
        "If-Match: * sets without");
  }
  if (!add_expected(request.if_match, *number, *command))
    return refused({.status = CommandStatus::refused, .refusal = OperatorResult::numbers_differ});
  if (row.only_reads) {
    const CommandOutcome outcome = target_.command(*number, *command);
    return outcome ? session_answer(outcome, {}) : refused(outcome);
  }
  const Audited by{request};
  if (!audit(by, "requested", detail_of(request))) return not_audited();
  command->who = request.caller.name;
  const CommandOutcome outcome = target_.command(*number, *command);
  static_cast<void>(audit(by, outcome ? "done" : "refused", explain(outcome)));
  if (!outcome) return refused(outcome);
  return session_answer(outcome, outcome.status == CommandStatus::done ? "done" : "nothing_to_do");
}

// Bounded: when so many callers are known, all begin with a full bucket again.
bool Api::within_rate(const std::string& caller) {
  if (rates_.size() >= most_rates && !rates_.contains(caller)) rates_.clear();
  return rates_.try_emplace(caller, requests_per_second, burst).first->second.take(clock_().monotonic);
}

bool Api::audit(const Audited& by, std::string_view event, std::string_view detail) {
  const std::lock_guard lock{audit_mutex_};
  return audit_.write({.time = clock_().utc, .caller = by.caller, .event = event, .what = by.what, .detail = detail});
}

}  // namespace nfx::control
