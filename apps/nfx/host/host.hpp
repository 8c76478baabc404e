// The commands below `nfx host`, and their common input: a machine, its kernel's settings, and a configuration's plan.
// Exit codes: nfx::HostExit (0 ok, 1 warnings, 2 failures, 3 cannot tell, 4 reboot pending, 5 policy invalid, 6 partly
// applied); wrong usage is 2 as everywhere.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/host/doctor.hpp"
#include "nexusfix/placement/machine.hpp"
#include "nexusfix/placement/plan.hpp"

namespace nfx::app::host {

// The host and configuration: options that several commands share.
struct Place {
  std::string config;    // the engine's configuration; empty: none
  std::string topology;  // hwloc XML or a folder; empty: the machine described by `root`
  std::string root;      // copied /proc and /sys of another host; empty: this one
};

[[nodiscard]] cli::Option config_argument(Place& place, bool required);
[[nodiscard]] cli::Option topology_option(Place& place);
[[nodiscard]] cli::Option root_option(Place& place);
[[nodiscard]] cli::Option state_option(std::string& state);
[[nodiscard]] cli::Option format_option(std::string& format, std::vector<std::string_view> forms = {"text", "json"});

struct Situation {
  HostFiles files;
  Topology topology;
  HostFacts facts;
  std::optional<EngineConfig> config;
  std::optional<PlacementPlan> plan;  // the configuration's plan
};

// Throws TopologyError and ConfigError. If the topology is another machine's and no root is given, the facts contain
// only its CPUs.
[[nodiscard]] Situation look(const Place& place);

// The folder of change records: the value of --state, or the usual folder, below the root.
[[nodiscard]] std::filesystem::path state_folder(const std::string& option, const HostFiles& files,
                                                 std::string_view usual);

// One per file of this folder.
cli::Command topology_command();
cli::Command plan_command();
cli::Command doctor_command();
cli::Command explain_command();
cli::Command collect_command();
cli::Command apply_command();
cli::Command verify_command();
cli::Command revert_command();
cli::Command watch_command();
cli::Command noise_command();

}  // namespace nfx::app::host
