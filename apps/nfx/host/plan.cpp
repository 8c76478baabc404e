// nfx host plan: which thread runs where on this machine or another, why, and what is wrong with that.
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "command.hpp"
#include "host/host.hpp"

namespace nfx::app::host {
namespace {

struct PlanOptions {
  Place place;
  std::string format = "text";
  bool quiet_only = false;
};

int show_plan(const PlanOptions& options) {
  const Situation seen = look(options.place);
  const PlacementPlan& plan = *seen.plan;
  if (options.quiet_only) {
    std::cout << plan.quiet.to_list() << '\n';
  } else {
    std::cout << (options.format == "json" ? to_json(plan) : to_text(plan, seen.topology));
  }
  std::cout << std::flush;
  if (!std::cout) return std::to_underlying(HostExit::failures);
  HostExit exit = HostExit::ok;
  if (plan.has_warnings()) exit = combine(exit, HostExit::warnings);
  if (plan.refused()) exit = combine(exit, HostExit::policy_invalid);
  return std::to_underlying(exit);
}

}  // namespace

void add_host_plan(CLI::App& host, int& exit_code) {
  CLI::App* command = host.add_subcommand("plan", "Show which thread runs where, why, and what is wrong with that");
  auto options = std::make_shared<PlanOptions>();
  add_config_argument(*command, options->place, true);
  add_topology_option(*command, options->place);
  add_root_option(*command, options->place);
  command->add_option("--format", options->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->add_flag("--quiet-only", options->quiet_only,
                    "Only the CPUs to keep free of everything else, as a kernel's list such as 2-5,8");
  command->footer(
      "Changes nothing. Exit codes: 0 the plan holds, 1 it has warnings, 5 it must not be used (refusals), 2 wrong\n"
      "usage or configuration.\n\n"
      "Examples:\n"
      "  nfx host plan engine.toml\n"
      "  nfx host plan engine.toml --topology server.xml     for a machine that is somewhere else\n"
      "  nfx host plan engine.toml --format json | jq '.findings[].id'");
  command->callback([options, &exit_code] { exit_code = show_plan(*options); });
}

}  // namespace nfx::app::host
