// nfx host plan: shows which thread runs where on this machine or another, why, and the plan's problems.
#include <string>
#include <utility>

#include "command.hpp"
#include "host/host.hpp"
#include "output.hpp"

namespace nfx::app::host {
namespace {

struct PlanOptions {
  Place place;
  std::string format = "text";
  bool isolated_only = false;
};

int show_plan(const PlanOptions& options) {
  const Situation seen = look(options.place);
  const PlacementPlan& plan = *seen.plan;
  if (options.isolated_only) {
    print("{}\n", plan.isolated_cpus.to_list());
  } else {
    print(SafeText::lines(options.format == "json" ? to_json(plan) : to_text(plan, seen.topology)));
  }
  HostExit exit = HostExit::ok;
  if (plan.has_warnings()) exit = combine(exit, HostExit::warnings);
  if (plan.refused()) exit = combine(exit, HostExit::policy_invalid);
  return std::to_underlying(exit);
}

}  // namespace

cli::Command plan_command() {
  static PlanOptions options;
  return {
      .name = "plan",
      .summary = "Show which thread runs where and why, and warn about problems",
      .run = [] { return show_plan(options); },
      .options = {config_argument(options.place, true),
                  topology_option(options.place),
                  root_option(options.place),
                  format_option(options.format),
                  {.names = "--isolated-only",
                   .target = &options.isolated_only,
                   .help = "Only the CPUs to isolate, as a kernel's list such as 2-5,8"}},
      .details = "Changes nothing.",
      .exit_codes = "0 the plan has no warnings, 1 it has warnings, 5 it is refused, 2 wrong usage or configuration",
      .examples = {{.line = "nfx host plan engine.toml"},
                   {.line = "nfx host plan engine.toml --topology server.xml", .about = "for another machine"},
                   {.line = "nfx host plan engine.toml --format json | jq '.findings[].id'"}},
  };
}

}  // namespace nfx::app::host
