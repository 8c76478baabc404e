// nfx engine: a running engine as a whole.
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "command.hpp"
#include "control/routes.hpp"
#include "control_access.hpp"
#include "output.hpp"
#include "text.hpp"

namespace nfx::app {
namespace {

using Json = nlohmann::ordered_json;

ControlOptions show_options, threads_options, placement_options, stop_options, drain_options, end_drain_options,
    reload_tls_options, reload_options, log_level_options, health_options;
bool health_live = false, health_ready = false, reload_plan = false;
std::string drain_text, log_level;

void append_members(SafeText& out, const Json& answer) {
  for (const auto& [name, member] : answer.items()) {
    const std::size_t start = out.size();
    out.add("{}", name).pad_to(start, 16).add("{}\n", member_text(answer, name.c_str()));
  }
}

void append_threads(SafeText& out, const Json& answer) {
  const Json threads = answer.value("threads", Json::array());
  if (threads.empty()) out += "no [placement]: the kernel chooses where the threads run\n";
  for (const Json& each : threads) {
    const std::size_t start = out.size();
    const bool as_planned = each.value("as_planned", false);
    out.add("{}", member_text(each, "name")).pad_to(start, 18).add("on CPU {}", member_text(each, "cpus"));
    if (!as_planned) out.add(", planned {}", member_text(each, "planned_cpus"));
    out.add(", {} migrations, {} voluntary and {} involuntary switches, worst gap {} ns\n",
            member_text(each, "migrations"), member_text(each, "voluntary_switches"),
            member_text(each, "involuntary_switches"), member_text(each, "worst_idle_gap_ns"));
  }
  for (const Json& each : answer.value("warnings", Json::array())) {
    if (each.is_string()) out.add("warning: {}\n", each.get<std::string>());
  }
}

void append_placement(SafeText& out, const Json& answer) {
  const std::string result = member_text(answer, "result");
  if (result == "no_plan") out += "no [placement]: there is no plan\n";
  if (result == "as_planned") out += "all threads run as planned\n";
  if (result == "differs") out += "threads do not run as planned:\n";
  for (const Json& each : answer.value("problems", Json::array())) {
    if (each.is_string()) out.add("  {}\n", each.get<std::string>());
  }
}

int verify_placement() {
  return ask_and_show(placement_options, {.target = "/v1/placement"}, append_placement, [](const Json& answer) {
    return member_text(answer, "result") == "differs" ? exit_failed : exit_done;
  });
}

void append_result(SafeText& out, const Json& answer) {
  out.add("{}\n", member_text(answer, "result"));
  for (const Json& each : answer.value("problems", Json::array())) {
    if (each.is_string()) out.add("  {}\n", each.get<std::string>());
  }
}

// Checks both conditions, or one of them; the first failure decides.
int health() {
  const auto show = [](Literal fine) {
    return [fine](SafeText& out, const Json&) { out.add("{}\n", SafeText{fine}); };
  };
  int exit_code = exit_done;
  if (!health_ready)
    exit_code = ask_and_show(health_options, {.target = "/healthz"}, show("live: all poll threads answer"));
  if (exit_code == exit_done && !health_live)
    exit_code = ask_and_show(health_options, {.target = "/readyz"}, show("ready: Logons are accepted"));
  return exit_code;
}

int change(const ControlOptions& options, std::string target, std::string body = {}) {
  return ask_and_show(options, {.method = "POST", .target = std::move(target), .body = std::move(body)}, append_result);
}

cli::Command command(std::string_view name, std::string_view summary, int (*run)(), ControlOptions& options,
                     std::string_view example, bool watch = false) {
  cli::Command made = control_command(name, summary, run, options, example);
  if (watch) made.options.push_back(watch_option(options));
  return made;
}

}  // namespace

cli::Command engine_command() {
  cli::Command health_command = command("health", "Exit with code 0 if the engine is live and ready", health,
                                        health_options, "nfx engine health --ready && echo ready");
  health_command.options.push_back(
      {.names = "--live", .target = &health_live, .help = "Check only that all poll threads answer"});
  health_command.options.push_back(
      {.names = "--ready",
       .target = &health_ready,
       .help = "Check only that it accepts Logons, which it does not while it drains or stops",
       .excludes = {"--live"}});
  health_command.exit_codes = "0 yes; 1 no, with the reason on standard error; 2 wrong usage; 3 no engine answered";
  cli::Command placement = command("verify-placement", "Compare what the threads do with the plan of [placement]",
                                   verify_placement, placement_options, "nfx engine verify-placement");
  placement.exit_codes = "0 as planned, or no plan; 1 not as planned; 2 wrong usage; 3 no engine answered";
  cli::Command drain = command(
      "drain", "Log all sessions out and refuse Logons until end-drain; the process continues",
      [] {
        return change(drain_options, "/v1/engine/drain", drain_text.empty() ? "" : Json{{"text", drain_text}}.dump());
      },
      drain_options, "nfx engine drain --text 'maintenance until noon'");
  drain.options.push_back({.names = "--text", .target = &drain_text, .help = "Text(58) of the Logouts"});
  cli::Command reload = command(
      "reload", "Reload the configuration: add, remove and change sessions",
      [] {
        return ask_and_show(reload_options, {.method = reload_plan ? "GET" : "POST", .target = "/v1/engine/reload"},
                            append_changes);
      },
      reload_options, "nfx engine reload --plan");
  reload.options.push_back(
      {.names = "--plan", .target = &reload_plan, .help = "Only show what would change, and what each change needs"});
  reload.details =
      "The file is read and checked as a whole first; when it is invalid, the error names the line and nothing "
      "changes. Sessions that are logged on continue. A change that needs a disconnect is listed; reload again when "
      "the session has no connection. Changes that need a restart are listed too. docs/control.md has the keys.";
  cli::Command log_level_command = command(
      "log-level", "Set the lowest level of the lines that the program prints, until the next start",
      [] { return change(log_level_options, "/v1/engine/log-level", Json{{"level", log_level}}.dump()); },
      log_level_options, "nfx engine log-level warning");
  log_level_command.options.push_back({.names = "LEVEL",
                                       .target = &log_level,
                                       .help = "error, warning, notice, or info (all lines)",
                                       .required = true,
                                       .one_of = {"error", "warning", "notice", "info"}});
  return {
      .name = "engine",
      .summary = "Show and control a running engine: threads, drain, stop",
      .commands = {command(
                       "show", "Show the engine: version, process, threads, state",
                       [] { return ask_and_show(show_options, {.target = "/v1/engine"}, append_members); },
                       show_options, "nfx engine show", true),
                   command(
                       "threads", "Show where threads run and should run, and how the kernel scheduled them",
                       [] { return ask_and_show(threads_options, {.target = "/v1/threads"}, append_threads); },
                       threads_options, "nfx engine threads", true),
                   std::move(placement),
                   std::move(health_command),
                   std::move(drain),
                   command(
                       "end-drain", "Accept Logons again, and enable the sessions that drain has disabled",
                       [] { return change(end_drain_options, "/v1/engine/end-drain"); }, end_drain_options,
                       "nfx engine end-drain"),
                   command(
                       "reload-tls", "Reload certificates, keys, revocation lists and who may use HTTP, as SIGHUP does",
                       [] { return change(reload_tls_options, "/v1/engine/reload-tls"); }, reload_tls_options,
                       "nfx engine reload-tls"),
                   std::move(reload),
                   std::move(log_level_command),
                   {.name = "openapi",
                    .summary = "Print the OpenAPI 3.1 description of the API, to generate clients from",
                    .run =
                        [] {
                          print(SafeText::lines(control::openapi()));
                          return exit_done;
                        },
                    .details = "A running engine answers the same at /v1/openapi.json.",
                    .examples = {{.line = "nfx engine openapi > openapi.json"}}},
                   command(
                       "stop", "Log all sessions out and end the engine, as SIGTERM does",
                       [] { return change(stop_options, "/v1/engine/stop"); }, stop_options, "nfx engine stop")},
      .details = "The engine needs [control] in its configuration, and you need a role there: docs/control.md.",
      .exit_codes = control_exit_codes,
      .examples = {{.line = "nfx engine drain --text 'maintenance until noon'"}},
  };
}

}  // namespace nfx::app
