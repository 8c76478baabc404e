// nfx host: what this machine does to latency, and what can be done about it.
#include "host/host.hpp"

#include "command.hpp"
#include "nexusfix/config/placement.hpp"
#include "nexusfix/config/quickfix_settings.hpp"

namespace nfx::app {
namespace host {

void add_config_argument(CLI::App& command, Place& place, bool required) {
  CLI::Option* option = command.add_option("config", place.config, "the engine's configuration, TOML or QuickFIX's");
  option->check(CLI::ExistingFile);
  if (required) option->required();
}

void add_topology_option(CLI::App& command, Place& place) {
  command.add_option("--topology", place.topology, "another machine: an hwloc XML file, or a folder with its sys/");
}

void add_root_option(CLI::App& command, Place& place) {
  command.add_option("--root", place.root, "a folder with another host's /proc and /sys ('nfx host collect')")
      ->check(CLI::ExistingDirectory);
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
    seen.plan = make_plan(seen.topology, seen.facts, placement_request(*seen.config));
  }
  return seen;
}

}  // namespace host

void add_host(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("host", "See, plan, prepare and watch the machine: cores, interrupts, threads");
  command->require_subcommand(1);
  host::add_host_topology(*command, exit_code);
  host::add_host_plan(*command, exit_code);
  host::add_host_doctor(*command, exit_code);
  host::add_host_collect(*command, exit_code);
  host::add_host_apply(*command, exit_code);
  host::add_host_verify(*command, exit_code);
  host::add_host_revert(*command, exit_code);
  host::add_host_watch(*command, exit_code);
  host::add_host_noise(*command, exit_code);
  command->footer(
      "Examples:\n"
      "  nfx host plan engine.toml                 which thread runs where, and what speaks against it\n"
      "  nfx host doctor engine.toml               what this machine does against it\n"
      "  nfx host apply engine.toml --runtime      everything else off those CPUs, until revert or the next boot\n"
      "  nfx host noise --seconds 10 --load 4      what a spinning thread is kept from, among noisy neighbours\n"
      "'nfx host COMMAND --help' explains a command.\n"
      "Exit codes: 0 ok, 1 warnings, 2 failures or wrong usage, 3 cannot tell, 4 reboot pending, 5 policy invalid,\n"
      "6 partly applied.");
}

}  // namespace nfx::app
