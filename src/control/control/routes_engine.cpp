// Routes of the engine as a whole: its state, stop, drain, reload and the log level.
#include <utility>

#include "control/api.hpp"
#include "control/documents.hpp"
#include "control/request_body.hpp"

namespace nfx::control {
namespace {

struct ReloadedTls {
  std::vector<std::string> problems;
};

std::string_view state_of(const EngineView& engine) {
  return engine.stopping ? "stopping" : engine.draining ? "draining" : "serving";
}

}  // namespace

template <>
const Document<EngineView> Document<EngineView>::self{
    "Engine",
    {{"version", &EngineView::version},
     {"pid", &EngineView::pid, "", count_schema(1)},
     {"control_since", &EngineView::started, "When the control plane began, in UTC."},
     {"poll_threads", &EngineView::poll_threads, "", count_schema(1)},
     {"idle", &EngineView::idle, "What a poll thread does without work."},
     {"transport", &EngineView::transport},
     {"log_level", &EngineView::log_level, "Least level of the lines that the program prints."},
     {"state", state_of, "", one_of({"serving", "draining", "stopping"})}}};

template <>
Json schema_of<ReloadedTls>(Json& schemas) {
  return refer(schemas, "ReloadedTls", [] {
    return either({object_schema({{"result", always("done")}}),
                   object_schema({{"result", always("incomplete")}, {"problems", filled_list(text_schema())}})});
  });
}
template <>
Json json_of<ReloadedTls>(const ReloadedTls& of) {
  if (of.problems.empty()) return {{"result", "done"}};
  return {{"result", "incomplete"}, {"problems", of.problems}};
}

namespace {

// A change without a body.
AnswerOrWork change(Api& api, const Call& call, std::function<Outcome()> run) {
  if (const auto body = nothing_in(call.request.body); !body) return problem(400, "bad-request", body.error());
  return api.change(call, {}, std::move(run));
}

// `all`: every poll thread has answered.
Outcome done_or_timed_out(bool all) {
  if (all) return {.answer = answer_of(Done{})};
  return {.answer = problem(504, "timed-out", "a poll thread did not answer in time: try again"),
          .event = "incomplete"};
}

AnswerOrWork stop(Api& api, const Call& call) {
  return change(api, call, [&target = api.target()] {
    target.stop();
    return Outcome{.answer = answer_of(Done{})};
  });
}

AnswerOrWork drain(Api& api, const Call& call) {
  auto text = logout_text_of(call.request.body);
  if (!text) return problem(400, "bad-request", text.error());
  return api.change(call, *text,
                    [&target = api.target(), text = *text] { return done_or_timed_out(target.drain(text)); });
}

AnswerOrWork end_drain(Api& api, const Call& call) {
  return change(api, call, [&target = api.target()] { return done_or_timed_out(target.end_drain()); });
}

AnswerOrWork reload_tls(Api& api, const Call& call) {
  return change(api, call, [&target = api.target()] {
    const ReloadedTls reloaded{target.reload_tls()};
    return Outcome{.answer = answer_of(reloaded), .event = reloaded.problems.empty() ? "done" : "incomplete"};
  });
}

AnswerOrWork plan_reload(Api& api, const Call& call) {
  if (!api.may_plan()) return problem(429, "too-many-requests", "expected at most one plan of a reload per second");
  if (!api.audit(call.request, "plans reload"))
    return problem(503, "no-audit", "cannot write the audit log: nothing was done");
  return api.read(call, [&target = api.target()] { return answer_of(target.plan_reload()); });
}

AnswerOrWork reload(Api& api, const Call& call) {
  return change(api, call,
                [&target = api.target(), who = call.request.caller.name] { return outcome_of(target.reload(who)); });
}

AnswerOrWork set_log_level(Api& api, const Call& call) {
  const auto level = level_of(call.request.body);
  if (!level) return problem(400, "bad-request", level.error());
  return api.change(call, to_string(*level), [&target = api.target(), level = *level] {
    target.set_log_level(level);
    return Outcome{.answer = answer_of(Done{})};
  });
}

}  // namespace

std::vector<Route> engine_routes() {
  const Success done = answers<Done>("Done, or already in that state.");
  const std::vector<std::string_view> reload_refusals{"NotReloaded", "BadConfiguration", "TimedOut"};
  const auto show = [](Api& api, const Call&) -> AnswerOrWork { return answer_of(api.target().engine()); };
  return {
      route("GET", "/v1/engine", "get_engine", Role::viewer, "The engine: version, process, threads, state.",
            answers<EngineView>("The engine."), show),
      route("POST", "/v1/engine/stop", "stop_engine", Role::operator_,
            "Log all sessions out and end the engine, as SIGTERM does.", done, stop),
      route("POST", "/v1/engine/drain", "drain_engine", Role::operator_,
            "Log all sessions out and refuse Logons until end-drain. The process continues.", done, drain,
            {.body = drain_schema,
             .body_example = R"({"text": "back at noon"})",
             .refusals = {"TimedOut"},
             .on_worker = true}),
      route("POST", "/v1/engine/end-drain", "end_drain", Role::operator_,
            "Accept Logons again, and enable the sessions that drain has disabled.", done, end_drain,
            {.refusals = {"TimedOut"}, .on_worker = true}),
      route("POST", "/v1/engine/reload-tls", "reload_tls", Role::operator_,
            "Reload certificates, keys, revocation lists and who may use HTTP, as SIGHUP does.",
            answers<ReloadedTls>("Reloaded, or what could not be reloaded."), reload_tls, {.on_worker = true}),
      route("GET", "/v1/engine/reload", "plan_reload", Role::operator_,
            "The changes that a reload would make: sessions and keys, with lines, old and new values, and what each "
            "needs.",
            answers<ReloadPlan>("What would change."), plan_reload, {.refusals = reload_refusals, .on_worker = true}),
      route("POST", "/v1/engine/reload", "reload", Role::operator_,
            "Reload the configuration: add, remove and change sessions. Changes that need a disconnect or a restart "
            "are listed and not made.",
            answers<ReloadReport>("What has changed, and what is left."), reload,
            {.refusals = reload_refusals, .on_worker = true}),
      route("POST", "/v1/engine/log-level", "set_log_level", Role::operator_,
            "Set the lowest level of the lines that the program prints, until the next start.", done, set_log_level,
            {.body = level_schema, .body_example = R"({"level": "warning"})"}),
  };
}

}  // namespace nfx::control
