// The root of another machine's /sys and /proc, read by ourselves. hwloc takes a root only from the environment of the
// whole process, which threads may not change while others read it; it needs far more files than a host's report has;
// and it follows absolute links out of the root.
#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <system_error>

#include "placement/topology_internal.hpp"

namespace nfx {
namespace {

constexpr std::string_view cpu_folder = "/sys/devices/system/cpu";
constexpr std::string_view node_folder = "/sys/devices/system/node";

// The number after `prefix`: "node12" is 12; -1 when there is none.
int number_after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return -1;
  text.remove_prefix(prefix.size());
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value >= 0 ? value : -1;
}

class SysfsReader {
 public:
  SysfsReader(const HostFiles& files, Topology& topology) : files_(files), topology_(topology) {}

  void read() {
    read_cpus();
    read_cores();
    read_nodes();
    read_caches();
    read_kinds();
    read_names();
  }

 private:
  [[nodiscard]] static std::string cpu_file(int cpu, std::string_view file) {
    return std::string{cpu_folder} + "/cpu" + std::to_string(cpu) + '/' + std::string{file};
  }

  // An empty set when the file is not there; a note when it cannot be understood.
  CpuSet cpus(const std::string& file) {
    const auto text = files_.text(file);
    if (!text) return {};
    auto set = CpuSet::parse_list(*text);
    if (!set) topology_.notes.push_back(detail::printable(file + ": " + set.error()));
    return set.value_or(CpuSet{});
  }

  [[nodiscard]] int integer(const std::string& file) const {
    const long long value = files_.integer(file).value_or(-1);
    return value < -1 || value > 1'000'000'000 ? -1 : static_cast<int>(value);
  }

  void read_cpus() {
    const std::string folder{cpu_folder};
    topology_.online = cpus(folder + "/online");
    CpuSet present = cpus(folder + "/present");
    if (present.empty()) {
      for (const std::string& name : files_.list(cpu_folder)) present.insert(number_after(name, "cpu"));
    }
    if (present.empty()) present = cpus(folder + "/possible");
    if (topology_.online.empty()) {
      topology_.online = present;
      if (!present.empty()) topology_.notes.emplace_back("Which CPUs are online is not there; all were taken to be.");
    }
    if (topology_.online.empty()) {
      throw TopologyError(files_.root().string() + ": no CPUs: it needs " + folder.substr(1) + "/online");
    }
    topology_.offline = present - topology_.online;
    topology_.allowed = topology_.online;
  }

  void read_cores() {
    CpuSet seen;
    std::map<std::pair<int, int>, std::size_t> by_id;  // package and core_id
    bool known = false;
    for (const int cpu : topology_.online.members()) {
      if (seen.contains(cpu)) continue;
      const int package = integer(cpu_file(cpu, "topology/physical_package_id"));
      const int id = integer(cpu_file(cpu, "topology/core_id"));
      CpuSet siblings = cpus(cpu_file(cpu, "topology/thread_siblings_list"));
      if (siblings.empty()) siblings = cpus(cpu_file(cpu, "topology/core_cpus_list"));
      known = known || id >= 0 || !siblings.empty();
      if (siblings.empty() && id >= 0) {
        const auto [at, first] = by_id.try_emplace({package, id}, topology_.cores.size());
        if (!first) {
          topology_.cores[at->second].cpus.insert(cpu);
          continue;
        }
      }
      siblings.insert(cpu);
      siblings = (siblings & topology_.online) - seen;
      seen |= siblings;
      topology_.cores.push_back({.cpus = siblings, .package = package, .numa_node = -1, .cache = -1, .kind = -1});
    }
    if (!known) topology_.notes.emplace_back("Which CPUs share a core is not there; each was taken to have its own.");
  }

  void read_nodes() {
    CpuSet taken;
    for (const std::string& name : files_.list(node_folder)) {
      const int number = number_after(name, "node");
      const std::string folder = std::string{node_folder} + '/' + name;
      if (number < 0) continue;
      const CpuSet all = cpus(folder + "/cpulist") & topology_.online;
      topology_.nodes.push_back({.number = number, .cpus = all - taken, .memory_bytes = memory(folder + "/meminfo")});
      taken |= all;
    }
    if (!topology_.nodes.empty()) return;
    topology_.nodes.push_back({.number = 0, .cpus = topology_.online, .memory_bytes = memory("/proc/meminfo")});
    topology_.notes.emplace_back("NUMA nodes are not there; all CPUs were taken to be on node 0.");
  }

  // "Node 0 MemTotal:  24684084 kB", or the same without the node.
  [[nodiscard]] std::uint64_t memory(const std::string& file) const {
    constexpr std::string_view key = "MemTotal:";
    const std::string text = files_.text(file).value_or("");
    std::size_t at = text.find(key);
    if (at == std::string::npos) return 0;
    at = text.find_first_not_of(' ', at + key.size());
    if (at == std::string::npos) return 0;
    std::uint64_t kib = 0;
    std::from_chars(text.data() + at, text.data() + text.size(), kib);
    return kib < (std::uint64_t{1} << 50U) ? kib * 1024 : 0;
  }

  void read_caches() {
    CpuSet seen;
    for (const int cpu : topology_.online.members()) {
      if (seen.contains(cpu)) continue;
      CacheDomain last;
      for (const std::string& name : files_.list(cpu_file(cpu, "cache"))) {
        const std::string folder = cpu_file(cpu, "cache/" + name);
        const int level = integer(folder + "/level");
        const bool instructions = files_.text(folder + "/type").value_or("") == "Instruction";
        if (level <= last.level || last.level == 3 || level > 9 || instructions) continue;
        last = {.cpus = cpus(folder + "/shared_cpu_list") & topology_.online,
                .size_bytes = size(files_.text(folder + "/size").value_or("")),
                .level = level};
      }
      last.cpus -= seen;
      if (last.level == 0 || !last.cpus.contains(cpu)) continue;
      seen |= last.cpus;
      topology_.caches.push_back(std::move(last));
    }
  }

  // "32768K"
  [[nodiscard]] static std::uint64_t size(const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || value > (std::uint64_t{1} << 40U)) return 0;
    const char unit = end == text.data() + text.size() ? ' ' : *end;
    return unit == 'K' ? value << 10U : unit == 'M' ? value << 20U : value;
  }

  void read_kinds() {
    const CpuSet slow = cpus("/sys/devices/cpu_atom/cpus"), fast = cpus("/sys/devices/cpu_core/cpus");
    std::map<int, int> kinds;  // capacity to kind
    std::vector<int> capacity;
    for (const Core& core : topology_.cores) {
      const int cpu = core.cpus.first();
      const bool listed = slow.contains(cpu) || fast.contains(cpu);
      capacity.push_back(listed ? (fast.contains(cpu) ? 1 : 0) : integer(cpu_file(cpu, "cpu_capacity")));
      kinds[capacity.back()] = 0;
    }
    if (kinds.size() < 2) return;
    int next = 0;
    for (auto& [value, kind] : kinds) kind = next++;
    for (std::size_t i = 0; i < topology_.cores.size(); ++i) topology_.cores[i].kind = kinds[capacity[i]];
  }

  void read_names() {
    topology_.machine = detail::printable(files_.text("/sys/class/dmi/id/product_name").value_or(""));
    if (topology_.machine.empty()) {
      topology_.machine = detail::printable(files_.text("/proc/sys/kernel/hostname").value_or(""));
    }
    const std::string text = files_.text("/proc/cpuinfo").value_or("");
    const std::size_t at = text.find("model name");
    if (at == std::string::npos) return;
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::size_t colon = text.find(": ", at);
    if (colon < end) topology_.cpu_model = detail::printable(std::string_view{text}.substr(colon + 2, end - colon - 2));
  }

  const HostFiles& files_;
  Topology& topology_;
};

}  // namespace

Topology load_topology_root(const std::filesystem::path& folder) {
  const HostFiles files{folder};
  if (files.live()) return load_this_machine();
  Topology topology;
  topology.source = folder.string();
  SysfsReader{files, topology}.read();
  detail::read_devices(files, topology);
  detail::describe_devices(files, topology);
  detail::finish(topology);
  return topology;
}

}  // namespace nfx
