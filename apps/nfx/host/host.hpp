// The commands below `nfx host`, and what they start from: a machine, its kernel's settings, and a configuration's
// plan. Exit codes: nfx::HostExit (0 ok, 1 warnings, 2 failures, 3 cannot tell, 4 reboot pending, 5 policy invalid, 6
// partly applied); wrong usage is 2 as everywhere.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/host/exit_code.hpp"
#include "nexusfix/placement/host_facts.hpp"
#include "nexusfix/placement/host_files.hpp"
#include "nexusfix/placement/plan.hpp"
#include "nexusfix/placement/topology.hpp"

namespace nfx::app::host {

// Where to look: options that several commands share.
struct Place {
  std::string config;    // the engine's configuration; empty: none
  std::string topology;  // hwloc XML or a folder; empty: the machine that `root` describes
  std::string root;      // copied /proc and /sys of another host; empty: this one
};

void add_config_argument(CLI::App& command, Place& place, bool required);
void add_topology_option(CLI::App& command, Place& place);
void add_root_option(CLI::App& command, Place& place);

struct Situation {
  HostFiles files;
  Topology topology;
  HostFacts facts;
  std::optional<EngineConfig> config;
  std::optional<PlacementPlan> plan;  // of the configuration
};

// Throws TopologyError and ConfigError. When the topology is another machine's and no root is given, the facts are
// empty but for its CPUs.
[[nodiscard]] Situation look(const Place& place);

// Where records of changes are: what --state says, or the usual folder, below the root.
[[nodiscard]] std::filesystem::path state_folder(const std::string& option, const HostFiles& files,
                                                 std::string_view usual);

// One per file of this folder.
void add_host_topology(CLI::App& host, int& exit_code);
void add_host_plan(CLI::App& host, int& exit_code);
void add_host_doctor(CLI::App& host, int& exit_code);  // and explain
void add_host_collect(CLI::App& host, int& exit_code);
void add_host_apply(CLI::App& host, int& exit_code);
void add_host_verify(CLI::App& host, int& exit_code);
void add_host_revert(CLI::App& host, int& exit_code);
void add_host_watch(CLI::App& host, int& exit_code);
void add_host_noise(CLI::App& host, int& exit_code);

}  // namespace nfx::app::host
