// Another machine's /sys and /proc below a root, which hwloc reads in a child process. Without the kernel's description
// of cores, each CPU counts as one core.
#include <string>

#include "placement/topology_internal.hpp"

namespace nfx {
namespace {

const std::string cpu_folder = "/sys/devices/system/cpu/";

CpuSet list(const HostFiles& files, const std::string& file) {
  return CpuSet::parse_list(files.text(file).value_or("")).value_or(CpuSet{});
}

// hwloc looks for these files of CPU 0; without them it counts the CPUs of the machine it runs on.
bool describes_cores(const HostFiles& files) {
  const std::string folder = cpu_folder + "cpu0/topology/";
  return files.exists(folder + "core_cpus") || files.exists(folder + "thread_siblings") ||
         files.exists(folder + "package_cpus") || files.exists(folder + "core_siblings");
}

Topology one_core_per_cpu(const CpuSet& online) {
  Topology topology;
  topology.online = topology.allowed = online;
  for (const int cpu : online.members()) topology.cores.push_back({.cpus = {cpu}});
  topology.nodes.push_back({.number = 0, .cpus = online});
  topology.notes.emplace_back("Which CPUs share a core is not there; each was taken to have its own.");
  return topology;
}

}  // namespace

Topology load_topology_root(const std::filesystem::path& folder) {
  const HostFiles files{folder};
  if (files.live()) return load_this_machine();
  const CpuSet present = list(files, cpu_folder + "present") | list(files, cpu_folder + "online");
  CpuSet online = list(files, cpu_folder + "online");
  if (online.empty()) online = present;
  if (online.empty()) {
    throw TopologyError(files.root().string() + ": no CPUs: it needs " + cpu_folder.substr(1) + "online");
  }
  Topology topology =
      describes_cores(files) ? detail::read_xml(detail::xml_of_root(folder), folder) : one_core_per_cpu(online);
  topology.source = folder.string();
  // hwloc reports the name of the machine it runs on.
  topology.machine = detail::printable(files.text("/sys/class/dmi/id/product_name").value_or(""));
  if (topology.machine.empty())
    topology.machine = detail::printable(files.text("/proc/sys/kernel/hostname").value_or(""));
  topology.online &= online;
  topology.allowed = topology.online;
  topology.offline = present - online;
  detail::describe_devices(files, topology);
  detail::finish(topology);
  return topology;
}

}  // namespace nfx
