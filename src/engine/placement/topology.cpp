// Shared code of all topology sources: order, names, notes on irregularities, and look-ups.
#include "nexusfix/placement/machine.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/error_text.hpp"
#include "base/printable.hpp"
#include "placement/topology_internal.hpp"

namespace nfx {
namespace {

// hwloc and sysfs bound the number of devices and notes; this bounds a single name.
constexpr std::size_t max_name = 128;

// "0000:4f:00.0" without its function: the slot of a card.
std::string_view slot_of(std::string_view address) { return address.substr(0, address.rfind('.')); }

void drop_lonely_switches(Topology& topology) {
  std::map<std::string, std::set<std::string_view>, std::less<>> slots;
  for (const Device& device : topology.devices) {
    if (!device.pci_switch.empty()) slots[device.pci_switch].insert(slot_of(device.pci_address));
  }
  for (Device& device : topology.devices) {
    const auto found = slots.find(device.pci_switch);
    if (found == slots.end() || found->second.size() > 1) continue;
    device.pci_switch.clear();
    device.switch_megabits_per_s = 0;
  }
}

// CUDA devices have no names in sysfs; with CUDA_DEVICE_ORDER=PCI_BUS_ID the numbers are the same as here.
void name_devices(Topology& topology) {
  constexpr std::string_view nvidia = "10de:";
  const auto named = [](const Device& d) { return d.name.starts_with("cuda"); };
  const bool cuda_is_named = std::ranges::any_of(topology.devices, named);
  int cuda = 0;
  for (Device& device : topology.devices) {
    if (device.kind == DeviceKind::gpu && !cuda_is_named && device.description.find(nvidia) != std::string::npos) {
      detail::add_name(device, "cuda" + std::to_string(cuda++), true);
    }
    if (device.name.empty()) device.name = device.pci_address;
  }
  if (cuda > 0) {
    topology.notes.push_back("The system has no CUDA names; GPUs are counted by PCI address, as CUDA does with " +
                             std::string{"CUDA_DEVICE_ORDER=PCI_BUS_ID."});
  }
}

void note_devices(Topology& topology) {
  std::map<std::string, std::vector<std::string>> dead;
  std::size_t homeless = 0;
  for (const Device& device : topology.devices) {
    if (device.numa_node < 0) ++homeless;
    if (!device.usable) dead[std::string{to_string(device.kind)} + ": " + device.why_not].push_back(device.name);
  }
  for (const auto& [why, names] : dead) {
    std::string text = "Not usable, " + why + ": " + names.front();
    if (names.size() > 1) text += " and " + std::to_string(names.size() - 1) + " more";
    topology.notes.push_back(text + '.');
  }
  if (homeless > 0 && topology.nodes.size() > 1) {
    topology.notes.push_back(std::to_string(homeless) + " devices do not state their NUMA node (numa_node is -1).");
  }
}

void note_cpus(Topology& topology) {
  if (!topology.offline.empty()) topology.notes.push_back("Offline CPUs: " + topology.offline.to_list() + '.');
  if (const CpuSet hidden = topology.online - topology.allowed; !hidden.empty()) {
    topology.notes.push_back("Control groups exclude this process from CPUs " + hidden.to_list() + '.');
  }
  for (const NumaNode& node : topology.nodes) {
    const std::string name = "NUMA node " + std::to_string(node.number);
    if (node.cpus.empty()) topology.notes.push_back(name + " has memory but no CPU that is online.");
    if (!node.cpus.empty() && node.memory_bytes == 0 && topology.nodes.size() > 1) {
      topology.notes.push_back(name + " has CPUs but no memory that is known.");
    }
  }
  CpuSet nowhere = topology.online;
  for (const NumaNode& node : topology.nodes) nowhere -= node.cpus;
  if (!nowhere.empty()) topology.notes.push_back("CPUs " + nowhere.to_list() + " are on no NUMA node that is known.");
  if (topology.caches.empty()) {
    topology.notes.emplace_back("The source does not state which cores share a cache.");
  }
}

}  // namespace

namespace detail {

std::string printable(std::string_view text) {
  std::string out;
  append_printable(out, text.substr(0, max_name));
  return out;
}

DeviceKind kind_of(std::uint16_t pci_class, std::uint16_t vendor) noexcept {
  constexpr std::uint16_t vga = 0x0300, display_3d = 0x0302, display_other = 0x0380, infiniband = 0x0c06,
                          accelerator = 0x1200, nvidia = 0x10de, amd = 0x1002;
  switch (pci_class >> 8U) {
    case 0x01: return DeviceKind::storage;
    case 0x02: return DeviceKind::network;
    default: break;
  }
  if (pci_class == infiniband) return DeviceKind::network;
  if (pci_class == display_3d || pci_class == display_other || pci_class == accelerator) return DeviceKind::gpu;
  // Most VGA adapters in servers are the console of the management controller or of the hypervisor, not for computing.
  if (pci_class == vga && (vendor == nvidia || vendor == amd)) return DeviceKind::gpu;
  return DeviceKind::other;
}

void add_name(Device& device, std::string_view text, bool preferred) {
  std::string name = printable(text);
  if (name.empty() || name == device.name || std::ranges::find(device.other_names, name) != device.other_names.end()) {
    return;
  }
  if (preferred || device.name.empty()) std::swap(name, device.name);
  if (!name.empty()) device.other_names.push_back(std::move(name));
}

void finish(Topology& topology) {
  if (topology.online.empty()) throw TopologyError(topology.source + ": no CPU is online there");
  for (Core& core : topology.cores) core.cpus &= topology.online;
  std::erase_if(topology.cores, [](const Core& core) { return core.cpus.empty(); });
  std::ranges::sort(topology.cores, {}, [](const Core& core) { return core.cpus.first(); });
  std::ranges::sort(topology.nodes, {}, &NumaNode::number);
  for (Core& core : topology.cores) core.cache = topology.cache_of(core.cpus.first());
  for (Core& core : topology.cores) core.numa_node = topology.numa_node_of(core.cpus.first());
  std::ranges::sort(topology.devices, [](const Device& a, const Device& b) {
    // PCI devices come first.
    return std::tuple{a.pci_address.empty(), std::string_view{a.pci_address}, std::string_view{a.name}} <
           std::tuple{b.pci_address.empty(), std::string_view{b.pci_address}, std::string_view{b.name}};
  });
  drop_lonely_switches(topology);
  name_devices(topology);
  note_cpus(topology);
  note_devices(topology);
}

}  // namespace detail

std::string_view to_string(DeviceKind kind) noexcept {
  switch (kind) {
    case DeviceKind::network: return "network";
    case DeviceKind::gpu: return "gpu";
    case DeviceKind::storage: return "storage";
    case DeviceKind::other: return "other";
  }
  return {};
}

const Core* Topology::core_of(int cpu) const noexcept {
  const auto found = std::ranges::find_if(cores, [cpu](const Core& core) { return core.cpus.contains(cpu); });
  return found == cores.end() ? nullptr : &*found;
}

const NumaNode* Topology::node(int number) const noexcept {
  const auto found = std::ranges::find(nodes, number, &NumaNode::number);
  return number < 0 || found == nodes.end() ? nullptr : &*found;
}

const Device* Topology::device(std::string_view name_or_address) const noexcept {
  if (name_or_address.empty()) return nullptr;
  const auto is_it = [name_or_address](const Device& device) {
    // lspci omits the domain 0000.
    const std::string_view address = device.pci_address;
    return device.name == name_or_address || address == name_or_address ||
           (address.starts_with("0000:") && address.substr(5) == name_or_address) ||
           std::ranges::find(device.other_names, name_or_address) != device.other_names.end();
  };
  const auto found = std::ranges::find_if(devices, is_it);
  return found == devices.end() ? nullptr : &*found;
}

int Topology::numa_node_of(int cpu) const noexcept {
  const auto found = std::ranges::find_if(nodes, [cpu](const NumaNode& n) { return n.cpus.contains(cpu); });
  return found == nodes.end() ? -1 : found->number;
}

int Topology::cache_of(int cpu) const noexcept {
  const auto found = std::ranges::find_if(caches, [cpu](const CacheDomain& c) { return c.cpus.contains(cpu); });
  return found == caches.end() ? -1 : static_cast<int>(found - caches.begin());
}

CpuSet Topology::siblings_of(int cpu) const {
  const Core* core = core_of(cpu);
  return core == nullptr ? CpuSet{} : core->cpus - CpuSet{cpu};
}

bool Topology::has_smt() const noexcept {
  return std::ranges::any_of(cores, [](const Core& core) { return core.cpus.size() > 1; });
}

Topology load_topology(const std::filesystem::path& from) {
  if (from.empty()) return load_this_machine();
  std::error_code error;
  const auto status = std::filesystem::status(from, error);
  if (error) throw TopologyError(cannot("read", from, error.value()));
  return std::filesystem::is_directory(status) ? load_topology_root(from) : load_topology_xml(from);
}

}  // namespace nfx
