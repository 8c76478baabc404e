// nfx host doctor and nfx host explain: what stands between this host and a steady latency, and why.
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command.hpp"
#include "host/host.hpp"
#include "nexusfix/base/suggest.hpp"
#include "nexusfix/config/placement.hpp"
#include "nexusfix/host/doctor.hpp"

namespace nfx::app::host {
namespace {

struct DoctorOptions {
  Place place;
  bool everything = false;
  std::string format = "text";
};

int run_doctor(const DoctorOptions& options) {
  Situation seen = look(options.place);
  if (!options.place.topology.empty() && options.place.root.empty()) {
    // Another machine's parts, but the settings looked at are this host's.
    seen.facts = read_host_facts(seen.files);
    if (seen.config) seen.plan = make_plan(seen.topology, seen.facts, placement_request(*seen.config));
  }
  HostExit exit = HostExit::ok;
  if (seen.plan && seen.plan->refused()) {
    exit = HostExit::policy_invalid;
    for (const PlanFinding& finding : seen.plan->findings) {
      if (finding.severity == Severity::refusal)
        std::cerr << "nfx: the plan is refused: " << finding.id << ": " << finding.text << '\n';
    }
  }
  const auto findings = examine({seen.files, seen.topology, seen.facts, seen.plan ? &*seen.plan : nullptr});
  std::cout << (options.format == "json" ? to_json(findings) : to_text(findings, options.everything)) << std::flush;
  if (!std::cout) return exit_failed;
  return std::to_underlying(combine(exit, exit_of(findings)));
}

std::string or_none(std::string_view text, std::string_view none) { return std::string{text.empty() ? none : text}; }

int explain(const std::string& id) {
  const CheckInfo* check = find_check(id);
  if (check == nullptr) {
    std::vector<std::string_view> names;
    std::string hint;
    for (const CheckInfo& known : doctor_checks()) {
      names.push_back(known.id);
      if (known.id.ends_with('.' + id)) hint = "; did you mean " + std::string{known.id} + '?';
    }
    std::cerr << "nfx: no check is called \"" << id << "\"" << (hint.empty() ? did_you_mean(id, names) : hint)
              << "; 'nfx host explain' alone lists them all\n";
    return exit_wrong_usage;
  }
  std::cout << check->id << ": " << check->title << "\n\n"
            << "looks at     " << check->source << '\n'
            << "why          " << check->why << '\n'
            << "mend now     " << or_none(check->mend_runtime, "not possible: needs a reboot") << '\n'
            << "mend at boot " << or_none(check->mend_boot, "not needed") << '\n'
            << "risk         " << check->risk << '\n'
            << std::flush;
  return std::cout ? exit_done : exit_failed;
}

int list_checks() {
  std::size_t width = 0;
  for (const CheckInfo& check : doctor_checks()) width = std::max(width, check.id.size());
  for (const CheckInfo& check : doctor_checks())
    std::cout << check.id << std::string(width + 2 - check.id.size(), ' ') << check.title << '\n';
  std::cout << std::flush;
  return std::cout ? exit_done : exit_failed;
}

}  // namespace

void add_host_doctor(CLI::App& host, int& exit_code) {
  CLI::App* doctor = host.add_subcommand("doctor", "Look for what disturbs latency, without changing anything");
  auto options = std::make_shared<DoctorOptions>();
  add_config_argument(*doctor, options->place, false);
  add_root_option(*doctor, options->place);
  add_topology_option(*doctor, options->place);
  doctor->add_flag("--all", options->everything, "Also what is good, only reported, or not on this machine");
  doctor->add_option("--format", options->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  doctor->footer(
      "With a configuration the checks are about the CPUs of its plan's spinning threads, without one about the CPUs\n"
      "that the host itself has set apart. Exit codes: 0 ok, 1 warnings, 2 failures, 3 some things could not be seen\n"
      "(try as root), 5 the configuration's plan is refused.\n\n"
      "Examples:\n"
      "  sudo nfx host doctor engine.toml\n"
      "  nfx host doctor --root collected --format json | jq '.findings[] | select(.result == \"failure\")'");
  doctor->callback([options, &exit_code] { exit_code = run_doctor(*options); });

  CLI::App* why = host.add_subcommand("explain", "Say why a check of the doctor matters, and what its mend costs");
  auto id = std::make_shared<std::string>();
  why->add_option("ID", *id, "the check, isolation.isolcpus for example; without it: all of them in a list");
  why->callback([id, &exit_code] { exit_code = id->empty() ? list_checks() : explain(*id); });
}

}  // namespace nfx::app::host
