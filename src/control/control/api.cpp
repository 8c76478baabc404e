// Checks rights first, then limits and parameters, and then calls the handler.
#include "control/api.hpp"

#include <utility>

#include "control/documents.hpp"

namespace nfx::control {
namespace {

constexpr std::size_t most_rates = 256;

std::string what_of(const Request& request) { return std::string{request.method} + ' ' + std::string{request.target}; }

bool is_json(std::string_view content_type) noexcept {
  constexpr std::string_view json = "application/json";
  return content_type.starts_with(json) && (content_type.size() == json.size() || content_type[json.size()] == ';');
}

}  // namespace

Answer Api::answer(const Request& request) {
  AnswerOrWork made = begin(request);
  if (const Work* work = std::get_if<Work>(&made)) return work->run();
  return std::get<Answer>(std::move(made));
}

AnswerOrWork Api::begin(const Request& request) {
  const Match match = find_route(request.method, request.target);
  // A caller without a role does not learn which paths exist.
  const Role needed = match.route == nullptr ? Role::viewer : match.route->role;
  if (request.caller.role < needed) {
    if (match.route != nullptr && match.route->audited() && forbidden_lines_.take(clock_().monotonic))
      static_cast<void>(audit(request, "forbidden"));
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
  // Health requests have a bounded cost, and no other caller can use up their rate.
  if (needed != Role::none && !within_rate(request.caller.name))
    return problem(429, "too-many-requests", "expected at most 200 requests per second and user");
  if (match.route == nullptr && !match.other_methods.empty()) {
    Answer answer = problem(405, "method-not-allowed", "this path has another method; see docs/control.md");
    answer.allow = match.other_methods;
    return answer;
  }
  if (match.route == nullptr) return problem(404, "no-such-path", "no such path; see docs/control.md");
  return permitted(match, request);
}

AnswerOrWork Api::permitted(const Match& match, const Request& request) {
  const Route& route = *match.route;
  if (request.body.size() > largest_body) return problem(413, "too-large", "expected a body of at most 16 KiB");
  if (!request.body.empty() && !is_json(request.content_type))
    return problem(415, "not-json", "send Content-Type: application/json");
  if (route.on_worker && work_ >= (route.changes() ? most_work : most_reading_work))
    return problem(503, "busy", "too many requests are waiting: try again");
  const auto query = query_of(route, match.query);
  if (!query) return problem(400, "bad-request", query.error());
  return route.handler(*this, {.route = route, .request = request, .session = match.session, .query = *query});
}

AnswerOrWork Api::read(const Call& call, std::function<Answer()> run) {
  if (!call.route.on_worker) return run();
  ++work_;
  struct Ended {  // needs no memory allocation
    std::atomic<std::size_t>& work;
    ~Ended() { --work; }
  };
  const auto run_and_count = [this, run = std::move(run)] {
    const Ended ended{work_};
    return run();
  };
  return Work{.run = run_and_count, .changes = call.route.changes()};
}

AnswerOrWork Api::change(const Call& call, std::string_view detail, std::function<Outcome()> run) {
  if (!audit(call.request, "requested", detail))
    return problem(503, "no-audit", "cannot write the audit log: nothing was done");
  return read(call, [this, caller = call.request.caller, what = what_of(call.request), run = std::move(run)] {
    Outcome outcome = run();
    static_cast<void>(write_line(caller, what, outcome.event, outcome.detail));
    return std::move(outcome.answer);
  });
}

// Health requests need no token, so the number of requests to poll threads is bounded.
bool Api::answers() {
  const MonotonicTime now = clock_().monotonic;
  if (!answered_at_ || now - *answered_at_ >= health_lasts) {
    answered_ = target_.answers();
    answered_at_ = now;
  }
  return answered_;
}

std::expected<std::size_t, Answer> Api::session_of(const Call& call) {
  if (const std::optional<std::uint64_t> given = number_in(call.session)) return *given;
  const auto found = target_.find(call.session);
  if (!found) return std::unexpected(refused({.status = found.error()}));
  return *found;
}

std::expected<std::size_t, Answer> Api::session_read_by(const Call& call) {
  const auto session = session_of(call);
  if (!session || call.route.reads.empty() || !begins_to_read(call, *session)) return session;
  if (audit(call.request, "reads " + std::string{call.route.reads})) return session;
  readers_.clear();
  return std::unexpected(problem(503, "no-audit", "cannot write the audit log: nothing is shown"));
}

// Bounded: when too many readers are known, all start again, each with a new audit line.
bool Api::begins_to_read(const Call& call, std::size_t session) {
  const MonotonicTime now = clock_().monotonic;
  const std::tuple who{call.request.caller.name, session, &call.route};
  if (readers_.size() >= most_rates && !readers_.contains(who)) readers_.clear();
  const auto [reader, added] = readers_.try_emplace(who, now);
  const bool begins = added || now - reader->second >= reading_ends_after;
  reader->second = now;
  return begins;
}

// Bounded: when too many callers are known, all start again with a full bucket.
bool Api::within_rate(const std::string& caller) {
  if (rates_.size() >= most_rates && !rates_.contains(caller)) rates_.clear();
  return rates_.try_emplace(caller, requests_per_second, burst).first->second.take(clock_().monotonic);
}

bool Api::audit(const Request& request, std::string_view event, std::string_view detail) {
  return write_line(request.caller, what_of(request), event, detail);
}

bool Api::write_line(const Caller& caller, std::string_view what, std::string_view event, std::string_view detail) {
  const std::lock_guard lock{audit_mutex_};
  return audit_.write({.time = clock_().utc, .caller = caller, .event = event, .what = what, .detail = detail});
}

}  // namespace nfx::control
