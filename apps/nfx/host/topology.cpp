// nfx host topology: what the machine is made of, and with a configuration who sits where on it.
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>

#include "host/host.hpp"
#include "nexusfix/placement/topology_print.hpp"

namespace nfx::app::host {
namespace {

struct TopologyOptions {
  std::string from;
  std::string format = "text";
  std::string output;
  std::string config;
  bool groups = false;
};

std::string render(const TopologyOptions& options, const Topology& topology, const PlacementPlan* plan) {
  if (options.groups) return options.format == "json" ? groups_to_json(topology) : groups_to_text(topology);
  if (options.format == "json") return to_json(topology, plan);
  if (options.format == "svg") return to_svg(topology, plan);
  return to_text(topology, plan);
}

HostExit write_to(const std::string& file, const std::string& content) {
  std::ofstream out{file, std::ios::binary | std::ios::trunc};
  out << content << std::flush;
  if (out) return HostExit::ok;
  std::cerr << "nfx: " << file << ": cannot write it: " << std::generic_category().message(errno) << '\n';
  return HostExit::failures;
}

HostExit show_topology(const TopologyOptions& options) {
  Place place;
  place.config = options.config;
  // A folder says what the kernel is set to, too; XML does not.
  std::error_code ignored;
  (std::filesystem::is_directory(options.from, ignored) ? place.root : place.topology) = options.from;
  const Situation seen = look(place);
  const std::string content = render(options, seen.topology, seen.plan ? &*seen.plan : nullptr);
  if (!options.output.empty()) return write_to(options.output, content);
  std::cout << content << std::flush;
  return std::cout ? HostExit::ok : HostExit::failures;
}

}  // namespace

void add_host_topology(CLI::App& host, int& exit_code) {
  CLI::App* command = host.add_subcommand("topology", "Show packages, NUMA nodes, caches, cores and devices");
  auto options = std::make_shared<TopologyOptions>();
  command
      ->add_option("--from", options->from,
                   "Another machine: a file of 'lstopo --of xml', or a folder with its sys/ and proc/")
      ->type_name("FILE|DIR");
  CLI::Option* groups =
      command->add_flag("--groups", options->groups, "Only the groups of GPUs and network devices, with their cores");
  command->add_option("--format", options->format, "text, json or svg")
      ->check(CLI::IsMember({"text", "json", "svg"}))
      ->capture_default_str();
  command->add_option("--output", options->output, "Write to this file")->type_name("FILE");
  command
      ->add_option("--plan", options->config,
                   "Draw the plan of this configuration into it: which thread is on which CPU")
      ->type_name("CONFIG")
      ->check(CLI::ExistingFile)
      ->excludes(groups);
  command->footer(
      "Examples:\n"
      "  nfx host topology\n"
      "  nfx host topology --plan engine.toml --format svg --output plan.svg\n"
      "  nfx host topology --from server.xml --groups");
  command->callback([options, &exit_code] {
    if (options->groups && options->format == "svg") {
      throw CLI::ValidationError("--groups", "is a table, in text or json; there is no picture of it");
    }
    exit_code = static_cast<int>(show_topology(*options));
  });
}

}  // namespace nfx::app::host
