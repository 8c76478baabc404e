// Routes of monitoring: health, metrics, threads, placement, latencies, and the description of all routes.
#include <algorithm>
#include <array>
#include <utility>

#include "control/api.hpp"
#include "control/documents.hpp"
#include "nexusfix/engine/latency.hpp"

namespace nfx::control {
namespace {

struct Health {};

struct Threads {
  std::vector<ThreadReport> threads;
  std::vector<std::string> warnings;
  std::vector<RunningThread> running;
};

struct Placement {
  std::optional<PlacementReport> report;  // empty: no plan
  std::vector<ThreadReport> threads;
};

// Sessions and stages that have any latencies.
struct Latency {
  LatencyWindow window;
  std::optional<LatencyReport> report;  // empty: nothing is measured
};

struct Slowest {
  LatencyWindow window;
  std::vector<SlowMoment> moments;
};

// Percentiles, or only a count of 0.
struct Measured {
  const LatencyCounts& counts;
};

const auto windows = [] {
  std::array<std::string_view, timed_window_count + 1> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = to_string(static_cast<LatencyWindow>(i));
  return names;
}();
constexpr std::array<std::string_view, 2> formats{"json", "hdr"};
const std::array latency_query{
    QueryParameter{"window", "Length of the window; the last complete one is returned (default 10s).", 0, windows},
    QueryParameter{"session", "Only the session of this name."},
    QueryParameter{"format", "hdr: all counts, in HdrHistogram's log format.", 0, formats}};

LatencyWindow window_of(const Query& query) {
  const auto given = query.find("window");
  return given == query.end() ? LatencyWindow::ten_seconds
                              : parse_enum<LatencyWindow>(given->second).value_or(LatencyWindow::since_start);
}

}  // namespace

template <>
const Document<Health> Document<Health>::self{"Health", {{"result", [](auto&) { return "ok"; }, "", always("ok")}}};

template <>
const Document<ThreadReport> Document<ThreadReport>::self{
    "PlacedThread",
    {{"name", &ThreadReport::name},
     {"planned_cpus", [](auto& of) { return of.planned.to_list(); }, "A list such as 2-3,6."},
     {"cpus", [](auto& of) { return of.cpus.to_list(); }, "Those of its mask."},
     {"as_planned", [](auto& of) { return of.cpus == of.planned; }},
     {"migrations", &ThreadReport::migrations, "null: the kernel does not report them."},
     {"voluntary_switches", &ThreadReport::voluntary_switches},
     {"involuntary_switches", &ThreadReport::involuntary_switches},
     {"worst_idle_gap_ns", &ThreadReport::worst_idle_gap}},
    "A thread of the plan of [placement]."};

template <>
const Document<RunningThread> Document<RunningThread>::self{
    "RunningThread",
    {{"name", [](auto& of) { return of.sample.name; }},
     {"tid", [](auto& of) { return of.sample.tid; }, "", count_schema(1)},
     {"poll_thread", &RunningThread::poll_thread, "Its number. null: another thread."},
     {"cpu", [](auto& of) { return of.sample.cpu; }, "Where it runs, or ran last."},
     {"state",
      [](auto& of) { return std::string(1, of.sample.state); },
      "As /proc has it: R, S, D, ...",
      {{"type", "string"}, {"minLength", 1}, {"maxLength", 1}}},
     {"run_ns", [](auto& of) { return of.sample.run_ns; }, "Time on a CPU. null: the kernel does not report it."},
     {"wait_ns", [](auto& of) { return of.sample.wait_ns; }, "Time in which it could have run and another task did."},
     {"migrations", [](auto& of) { return of.sample.migrations; }},
     {"voluntary_switches", [](auto& of) { return of.sample.voluntary_switches; }},
     {"involuntary_switches", [](auto& of) { return of.sample.involuntary_switches; }},
     {"cpu_stolen_ns", &RunningThread::cpu_stolen, "Taken by the hypervisor from that CPU, since the host's start."}},
    "A thread of the process, as the kernel has run it since it began."};

template <>
const Document<Threads> Document<Threads>::self{"Threads",
                                                {{"threads", &Threads::threads, "Empty without [placement]."},
                                                 {"warnings", &Threads::warnings},
                                                 {"running", &Threads::running}}};

template <>
Json schema_of<Placement>(Json& schemas) {
  return refer(schemas, "Placement", [&] {
    const Json threads = schema_of<std::vector<ThreadReport>>(schemas), plan = with_help(text_schema(), "Its hash.");
    const auto planned = [&](const char* result, const Json& problems) {
      return object_schema({{"result", always(result)}, {"plan", plan}, {"problems", problems}, {"threads", threads}});
    };
    return either({object_schema({{"result", always("no_plan")}, {"problems", empty_list(text_schema())}}),
                   planned("as_planned", empty_list(text_schema())), planned("differs", filled_list(text_schema()))});
  });
}
template <>
Json json_of<Placement>(const Placement& of) {
  if (!of.report) return {{"result", "no_plan"}, {"problems", Json::array()}};
  return {{"result", of.report->problems.empty() ? "as_planned" : "differs"},
          {"plan", of.report->plan},
          {"problems", of.report->problems},
          {"threads", json_of(of.threads)}};
}

template <>
const Document<LatencyCounts> Document<LatencyCounts>::self{"Percentiles",
                                                            {{"count", &LatencyCounts::count, "", count_schema(1)},
                                                             {"p50_ns", [](auto& of) { return of.percentile(50); }},
                                                             {"p99_ns", [](auto& of) { return of.percentile(99); }},
                                                             {"p999_ns", [](auto& of) { return of.percentile(99.9); }},
                                                             {"max_ns", [](auto& of) { return of.percentile(100); }}}};

template <>
Json schema_of<Measured>(Json& schemas) {
  return either({schema_of<LatencyCounts>(schemas), object_schema({{"count", always(0)}})});
}
template <>
Json json_of<Measured>(const Measured& of) {
  return of.counts.count() == 0 ? Json{{"count", 0}} : json_of(of.counts);
}

template <>
const Document<LatencySet> Document<LatencySet>::self = [] {
  Document<LatencySet> all{"Stages", {}, "Those in which anything was measured."};
  for (std::size_t i = 0; i < session_stage_count; ++i) {
    const auto counts = [i](auto& of) {
      return of.of[i].count() == 0 ? Omitted<LatencyCounts>{} : Omitted<LatencyCounts>{of.of[i]};
    };
    all.members.emplace_back(std::string{latency_stages[i].name}, counts, latency_stages[i].help);
  }
  return all;
}();

template <>
const Document<SessionLatency> Document<SessionLatency>::self{"SessionLatency",
                                                              {{"name", &SessionLatency::session},
                                                               {"poll_thread", &SessionLatency::poll_thread},
                                                               {"stages", &SessionLatency::stages}}};

template <>
const Document<ThreadLatency> Document<ThreadLatency>::self{
    "ThreadLatency",
    {{"poll_thread", &ThreadLatency::poll_thread},
     {"handling", [](auto& of) { return Measured{of.loop.handling}; },
      "Time that a busy-polling thread handles messages."},
     {"poll_gap", [](auto& of) { return Measured{of.loop.poll_gap}; }, "Time between two polls of the network."},
     {"stages", &ThreadLatency::stages, "Of all sessions of this thread."}}};

template <>
Json schema_of<Latency>(Json& schemas) {
  return refer(schemas, "Latency", [&] {
    const Json window = schema_of<LatencyWindow>(schemas), session = schema_of<SessionLatency>(schemas),
               thread = schema_of<ThreadLatency>(schemas);
    return either({object_schema({{"window", window},
                                  {"measured", always(true)},
                                  {"from", time_schema()},
                                  {"to", time_schema()},
                                  {"sessions", list_schema(session)},
                                  {"threads", list_schema(thread)}}),
                   object_schema({{"window", window},
                                  {"measured", with_help(always(false), "[engine] latency is off.")},
                                  {"sessions", empty_list(session)},
                                  {"threads", empty_list(thread)}})});
  });
}
template <>
Json json_of<Latency>(const Latency& of) {
  Json json{{"window", to_string(of.window)}, {"measured", of.report.has_value()}};
  if (of.report) {
    json["from"] = time_text(of.report->from);
    json["to"] = time_text(of.report->to);
  }
  json["sessions"] = of.report ? json_of(of.report->sessions) : Json::array();
  json["threads"] = of.report ? json_of(of.report->threads) : Json::array();
  return json;
}

template <>
const Document<SlowMoment> Document<SlowMoment>::self{
    "SlowMoment",
    {{"ended", &SlowMoment::ended},
     {"took_ns", &SlowMoment::took},
     {"stage", &SlowMoment::stage},
     {"session", &SlowMoment::session, "Empty: of no one session."},
     {"poll_thread", &SlowMoment::poll_thread},
     {"cause", &SlowMoment::cause},
     {"between_ns", [](auto& of) { return of.host.between; },
      "Time between the two samples around it; the numbers below belong to that time."},
     {"ran_ns", [](auto& of) { return of.host.ran; }, "CPU time of the thread."},
     {"waited_ns", [](auto& of) { return of.host.waited; }},
     {"stolen_ns", [](auto& of) { return of.host.stolen; }},
     {"interrupts", [](auto& of) { return of.host.interrupts; }},
     {"involuntary_switches", [](auto& of) { return of.host.involuntary_switches; }},
     {"migrations", [](auto& of) { return of.host.migrations; }},
     {"minor_faults", [](auto& of) { return of.host.minor_faults; }},
     {"major_faults", [](auto& of) { return of.host.major_faults; }}}};

template <>
const Document<Slowest> Document<Slowest>::self{
    "Slowest", {{"window", &Slowest::window}, {"moments", &Slowest::moments, "Slowest first."}}};

namespace {

AnswerOrWork is_alive(Api& api, const Call&) {
  return api.answers() ? answer_of(Health{}) : problem(503, "not-answering", "a poll thread did not answer in time");
}

AnswerOrWork is_ready(Api& api, const Call& call) {
  const EngineView engine = api.target().engine();
  if (api.answers() && (engine.draining || engine.stopping))
    return problem(503, "not-ready", engine.stopping ? "the engine stops" : "the engine drains");
  return is_alive(api, call);
}

AnswerOrWork show_metrics(Api& api, const Call& call) {
  MetricsPage page;
  if (!api.target().add_metrics(page)) return problem(504, "timed-out", "a poll thread did not answer in time");
  // The format for a client that accepts the text format and does not know OpenMetrics.
  if (call.request.accept.contains("text/plain") && !call.request.accept.contains("application/openmetrics-text"))
    return Answer{.type = "text/plain; version=0.0.4; charset=utf-8", .body = page.text()};
  return Answer{.type = "application/openmetrics-text; version=1.0.0; charset=utf-8", .body = page.open_metrics()};
}

// Keeps only the entries of the session in the query, if it names one.
template <class Each>
void select_session(std::vector<Each>& all, const Query& query) {
  const auto session = query.find("session");
  if (session != query.end()) std::erase_if(all, [&](const Each& each) { return each.session != session->second; });
}

AnswerOrWork show_latency(Api& api, const Call& call) {
  Latency latency{.window = window_of(call.query), .report = api.target().latency(window_of(call.query))};
  if (latency.report) select_session(latency.report->sessions, call.query);
  if (const auto format = call.query.find("format"); format != call.query.end() && format->second == "hdr") {
    return Answer{.type = "text/plain; charset=utf-8", .body = hdr_log_text(latency.report.value_or(LatencyReport{}))};
  }
  return answer_of(latency);
}

AnswerOrWork show_slowest(Api& api, const Call& call) {
  Slowest slowest{.window = window_of(call.query), .moments = api.target().slowest(window_of(call.query))};
  select_session(slowest.moments, call.query);
  return answer_of(slowest);
}

}  // namespace

std::vector<Route> monitoring_routes() {
  const auto threads = [](Api& api, const Call&) -> AnswerOrWork {
    Target& target = api.target();
    return answer_of(Threads{target.threads(), target.placement_warnings(), target.running_threads()});
  };
  const auto placement = [](Api& api, const Call&) -> AnswerOrWork {
    return answer_of(Placement{api.target().placement(), api.target().threads()});
  };
  const auto description = [](Api&, const Call&) -> AnswerOrWork {
    static const std::string text = openapi();
    return Answer{.body = text};
  };
  Success latencies = answers<Latency>("The percentiles.");
  latencies.texts = {"text/plain; charset=utf-8"};
  const Success pages{.help = "The metrics at this moment.",
                      .texts = {"application/openmetrics-text; version=1.0.0; charset=utf-8",
                                "text/plain; version=0.0.4; charset=utf-8"}};
  const Success object{.help = "This document.", .schema = [](Json&) { return Json{{"type", "object"}}; }};
  return {
      route("GET", "/healthz", "is_alive", Role::none, "Whether all poll threads answer.",
            answers<Health>("All poll threads answer."), is_alive, {.refusals = {"NotReady"}}),
      route("GET", "/readyz", "is_ready", Role::none, "Whether the engine takes Logons: not while it drains or stops.",
            answers<Health>("The engine takes Logons."), is_ready, {.refusals = {"NotReady"}}),
      route("GET", "/metrics", "get_metrics", Role::viewer, "All metrics, in the OpenMetrics text format.", pages,
            show_metrics, {.refusals = {"TimedOut"}}),
      route("GET", "/v1/threads", "get_threads", Role::viewer,
            "Where threads run and, with [placement], should run, and how the kernel scheduled each thread of the "
            "process.",
            answers<Threads>("The threads."), threads),
      route("GET", "/v1/placement", "get_placement", Role::viewer,
            "Whether the threads of the process run as planned by [placement]; what differs, a sentence each.",
            answers<Placement>("What differs."), placement),
      route("GET", "/v1/latency", "get_latency", Role::viewer,
            "Percentiles of the latencies of sessions and poll threads, by stage.", latencies, show_latency,
            {.query = latency_query}),
      route("GET", "/v1/slowest", "get_slowest", Role::viewer,
            "The slowest hundred moments of a window, slowest first, each with its cause.",
            answers<Slowest>("The moments."), show_slowest, {.query = std::span{latency_query}.first(2)}),
      route("GET", "/v1/openapi.json", "get_description", Role::viewer,
            "This description of the API in OpenAPI 3.1, to generate clients from.", object, description),
  };
}

}  // namespace nfx::control
