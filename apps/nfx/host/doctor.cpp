// nfx host doctor and nfx host explain: find causes of latency jitter on this host, and explain them.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/suggest.hpp"
#include "command.hpp"
#include "config/placement.hpp"
#include "host/host.hpp"
#include "nexusfix/host/doctor.hpp"
#include "output.hpp"

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
    // Another machine's topology, with this host's settings.
    seen.facts = read_host_facts(seen.files);
    if (seen.config) seen.plan = plan_engine(*seen.config, seen.topology, seen.facts);
  }
  HostExit exit = HostExit::ok;
  if (seen.plan && seen.plan->refused()) {
    exit = HostExit::policy_invalid;
    for (const PlanFinding& finding : seen.plan->findings) {
      if (finding.severity == Severity::refusal)
        print_error("nfx: the plan is refused: {}: {}\n", finding.id, finding.text);
    }
  }
  const auto findings = examine({seen.files, seen.topology, seen.facts, seen.plan ? &*seen.plan : nullptr});
  print(SafeText::lines(options.format == "json" ? to_json(findings) : to_text(findings, options.everything)));
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
    print_error("nfx: unknown check \"{}\"{} ('nfx host explain' lists all)\n", id,
                hint.empty() ? did_you_mean(id, names) : hint);
    return exit_wrong_usage;
  }
  SafeText out = made("{}: {}\n\n", check->id, check->title);
  out.add("reads        {}\n", check->source);
  out.add("why          {}\n", check->why);
  out.add("fix now      {}\n", or_none(check->fix_runtime, "not possible: needs a reboot"));
  out.add("fix at boot  {}\n", or_none(check->fix_boot, "not needed"));
  out.add("risk         {}\n", check->risk);
  print(out);
  return exit_done;
}

int list_checks() {
  std::size_t width = 0;
  for (const CheckInfo& check : doctor_checks()) width = std::max(width, check.id.size());
  SafeText out;
  for (const CheckInfo& check : doctor_checks()) {
    const std::size_t start = out.size();
    out += check.id;
    out.pad_to(start, width + 2);
    out.add("{}\n", check.title);
  }
  print(out);
  return exit_done;
}

}  // namespace

cli::Command doctor_command() {
  static DoctorOptions options;
  return {
      .name = "doctor",
      .summary = "Find what adds latency jitter on this host, without changing anything",
      .run = [] { return run_doctor(options); },
      .options = {config_argument(options.place, false),
                  root_option(options.place),
                  topology_option(options.place),
                  {.names = "--all",
                   .target = &options.everything,
                   .help = "Also show checks that passed, only report, or do not apply to this machine"},
                  format_option(options.format)},
      .details =
          "With a configuration the checks are about the CPUs of its plan's busy-polling threads, without one "
          "about the CPUs that the host itself has isolated.",
      .exit_codes =
          "0 ok, 1 warnings, 2 failures, 3 some things could not be read (try as root), 5 the configuration's "
          "plan is refused",
      .examples = {{.line = "sudo nfx host doctor engine.toml", .about = "what on this machine adds latency jitter"},
                   {.line = "nfx host doctor --root collected --format json | jq '.findings[] | select(.result == "
                            "\"failure\")'"}},
  };
}

cli::Command explain_command() {
  static std::string id;
  return {.name = "explain",
          .summary = "Explain why a check of the doctor matters, and what its fix costs",
          .run = [] { return id.empty() ? list_checks() : explain(id); },
          .options = {{.names = "ID",
                       .target = &id,
                       .help = "Name of the check, for example isolation.isolcpus",
                       .default_text = "a list of all of them"}},
          .exit_codes = "0 done, 1 failed, 2 no such check",
          .examples = {{.line = "nfx host explain isolation.isolcpus"}}};
}

}  // namespace nfx::app::host
