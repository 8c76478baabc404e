// nfx host: examines how this machine affects latency, and configures it.
#include "host/host.hpp"

#include "command.hpp"
#include "config/placement.hpp"
#include "config/quickfix_settings.hpp"

namespace nfx::app {
namespace host {

cli::Option config_argument(Place& place, bool required) {
  return {.names = "CONFIG",
          .target = &place.config,
          .help = "The engine's configuration, TOML or QuickFIX's",
          .required = required,
          .kind = cli::Kind::existing_file};
}

cli::Option topology_option(Place& place) {
  return {.names = "--topology",
          .target = &place.topology,
          .help = "Another machine: an hwloc XML file, or a folder with its sys/",
          .value = "FILE|DIR",
          .kind = cli::Kind::file};
}

cli::Option root_option(Place& place) {
  return {.names = "--root",
          .target = &place.root,
          .help = "A folder with another host's /proc and /sys ('nfx host collect')",
          .kind = cli::Kind::existing_folder};
}

cli::Option state_option(std::string& state) {
  return {.names = "--state", .target = &state, .help = "Folder of the record of changes", .kind = cli::Kind::folder};
}

cli::Option format_option(std::string& format, std::vector<std::string_view> forms) {
  return {.names = "--format", .target = &format, .help = "Output format", .one_of = std::move(forms)};
}

Situation look(const Place& place) {
  Situation seen{HostFiles{place.root.empty() ? "/" : place.root}, {}, {}, {}, {}};
  seen.topology = load_topology(place.topology.empty() ? place.root : place.topology);
  if (place.topology.empty() || !place.root.empty()) {
    seen.facts = read_host_facts(seen.files);
  } else {
    seen.facts.online = seen.topology.online;
  }
  if (!place.config.empty()) {
    seen.config = load_any_config(place.config);
    seen.plan = plan_engine(*seen.config, seen.topology, seen.facts);
  }
  return seen;
}

}  // namespace host

cli::Command host_command() {
  using namespace host;
  return {
      .name = "host",
      .summary = "Examine, plan, configure and monitor this machine: cores, interrupts, threads",
      .commands = {topology_command(), plan_command(), doctor_command(), explain_command(), collect_command(),
                   apply_command(), verify_command(), revert_command(), watch_command(), noise_command()},
      .exit_codes =
          "0 ok, 1 warnings, 2 failures or wrong usage, 3 cannot tell, 4 reboot pending, 5 policy invalid, "
          "6 partly applied; each command's help lists those it uses and their meaning",
      .examples = {{.line = "nfx host doctor engine.toml", .about = "what on this machine adds latency jitter"},
                   {.line = "nfx host plan engine.toml",
                    .about = "which thread runs where, with warnings about problems"},
                   {.line = "nfx host apply engine.toml --runtime",
                    .about = "keep everything else off those CPUs, until revert or the next boot"},
                   {.line = "nfx host noise --seconds 10 --load 4",
                    .about = "how long a busy-polling thread is interrupted, among noisy processes"}},
  };
}

}  // namespace nfx::app
