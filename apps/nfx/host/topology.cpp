// nfx host topology: shows the parts of the machine and, with a configuration, the place of each thread.
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "base/error_text.hpp"
#include "command.hpp"
#include "host/host.hpp"
#include "host/topology_print.hpp"
#include "output.hpp"

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
  print_error("nfx: {}\n", cannot("write", file, errno));
  return HostExit::failures;
}

HostExit show_topology(const TopologyOptions& options) {
  Place place;
  place.config = options.config;
  // A folder also has the kernel's settings; XML does not.
  std::error_code ignored;
  (std::filesystem::is_directory(options.from, ignored) ? place.root : place.topology) = options.from;
  const Situation seen = look(place);
  const std::string content = render(options, seen.topology, seen.plan ? &*seen.plan : nullptr);
  if (!options.output.empty()) return write_to(options.output, content);
  print(SafeText::lines(content));
  return HostExit::ok;
}

}  // namespace

cli::Command topology_command() {
  static TopologyOptions options;
  return {
      .name = "topology",
      .summary = "Show packages, NUMA nodes, caches, cores and devices",
      .run =
          [] {
            if (options.groups && options.format == "svg")
              throw cli::UsageError("--groups: expected --format text or json");
            return static_cast<int>(show_topology(options));
          },
      .options =
          {{.names = "--from",
            .target = &options.from,
            .help = "Another machine: a file of 'lstopo --of xml', or a folder with its sys/ and proc/",
            .value = "FILE|DIR",
            .kind = cli::Kind::file},
           {.names = "--groups",
            .target = &options.groups,
            .help = "Only the groups of GPUs and network devices, with their cores",
            .excludes = {"--plan"}},
           format_option(options.format, {"text", "json", "svg"}),
           {.names = "--output", .target = &options.output, .help = "Write to this file", .kind = cli::Kind::file},
           {.names = "--plan",
            .target = &options.config,
            .help = "Add the plan of this configuration: which thread is on which CPU",
            .value = "CONFIG",
            .kind = cli::Kind::existing_file}},
      .examples = {{.line = "nfx host topology"},
                   {.line = "nfx host topology --plan engine.toml --format svg --output plan.svg"},
                   {.line = "nfx host topology --from server.xml --groups"}},
  };
}

}  // namespace nfx::app::host
