// Any hwloc XML file gives a machine whose cores, nodes, caches, devices and groups fit together and whose names are
// fit for a terminal, or one error that names the file. A file may crash hwloc itself, so a child process reads it
// first, and each input costs a process. Lists of CPUs are read and written back.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz_target.hpp"
#include "host/topology_print.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "nexusfix/placement/machine.hpp"
#include "text_check.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text, .mutations = 200, .max_input_size = 8192};

namespace {

using nfx::fuzz::require;

void check_machine(const nfx::Topology& machine) {
  require(!machine.cores.empty() && !machine.online.empty(), "a machine has a core", machine.source);
  nfx::CpuSet seen;
  for (const nfx::Core& core : machine.cores) {
    require(!core.cpus.empty() && machine.online.contains_all(core.cpus), "a core's CPUs are online", machine.source);
    require((core.cpus & seen).empty(), "a CPU is of one core", machine.source);
    require(core.cache < static_cast<int>(machine.caches.size()), "a core's cache is one of the machine's",
            machine.source);
    seen = seen | core.cpus;
  }
  for (const nfx::Device& device : machine.devices) {
    require(!device.name.empty() || !device.usable, "a usable device has a name", machine.source);
  }
  for (const nfx::DeviceGroup& group : nfx::group_devices(machine)) {
    const auto known = [&](std::size_t i) { return i < machine.devices.size() && machine.devices[i].usable; };
    require(std::ranges::all_of(group.gpus, known) && std::ranges::all_of(group.nics, known),
            "a group is of usable devices", group.domain);
  }
}

void check_prints(const nfx::Topology& machine) {
  using nfx::fuzz::lines_are_printable;
  const std::string text = nfx::to_text(machine) + nfx::groups_to_text(machine);
  require(lines_are_printable(text), "a text is fit for a terminal", text);
  const std::string json = nfx::to_json(machine) + nfx::groups_to_json(machine);
  require(lines_are_printable(json), "JSON is fit for a terminal", json);
  const std::string svg = nfx::to_svg(machine);
  require(lines_are_printable(svg), "a picture is fit for a terminal", svg);
}

void check_list(std::string_view text) {
  const auto set = nfx::CpuSet::parse_list(text);
  require(set.has_value() || !set.error().empty(), "a text that is not a list of CPUs has an error", text);
  if (set) require(nfx::CpuSet::parse_list(set->to_list()) == set, "a list of CPUs reads back", text);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const nfx::fuzz::MemoryFile file;
  const std::string_view text = nfx::fuzz::text_of(data, size);
  check_list(text.substr(0, 100));
  file.write(text);
  try {
    const nfx::Topology machine = nfx::load_topology_xml(file.path());
    check_machine(machine);
    check_prints(machine);
  } catch (const nfx::TopologyError& error) {
    const std::string_view what = error.what();
    require(what.contains(file.path() + ": "), "an error names the file", what);
    require(nfx::fuzz::is_printable(what), "an error is one line, fit for a terminal", what);
  }
  return 0;
}
