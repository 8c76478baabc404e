// Converts hwloc's topology of the running machine or of XML to a Topology.
#include <hwloc.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <type_traits>

#include "base/error_text.hpp"
#include "nexusfix/placement/machine.hpp"
#include "placement/topology_internal.hpp"

namespace nfx {
namespace {

using Loaded = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;
using Bitmap = std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)>;

CpuSet to_cpus(hwloc_const_bitmap_t bitmap) {
  CpuSet cpus;
  if (bitmap == nullptr) return cpus;
  for (int cpu = hwloc_bitmap_first(bitmap); cpu >= 0 && cpu < CpuSet::max_cpus; cpu = hwloc_bitmap_next(bitmap, cpu)) {
    cpus.insert(cpu);
  }
  return cpus;
}

std::string info(hwloc_obj_t object, const char* name) {
  const char* text = object == nullptr ? nullptr : hwloc_obj_get_info_by_name(object, name);
  return text == nullptr ? std::string{} : detail::printable(text);
}

int number(unsigned os_index) { return os_index == HWLOC_UNKNOWN_INDEX ? -1 : static_cast<int>(os_index); }

std::string address(const hwloc_obj_attr_u::hwloc_pcidev_attr_s& pci) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.%x", static_cast<unsigned>(pci.domain), pci.bus, pci.dev,
                pci.func);
  return text.data();
}

// L3, or the largest cache if there is no L3.
hwloc_obj_t last_level_cache(hwloc_obj_t object) {
  hwloc_obj_t last = nullptr;
  for (; object != nullptr && !(last != nullptr && last->type == HWLOC_OBJ_L3CACHE); object = object->parent) {
    if (hwloc_obj_type_is_dcache(object->type)) last = object;
  }
  return last;
}

void add_cores(hwloc_topology_t loaded, Topology& topology) {
  CpuSet seen;
  std::vector<hwloc_obj_t> caches;
  for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_by_type(loaded, HWLOC_OBJ_PU, pu)) != nullptr;) {
    if (const hwloc_obj_t cache = last_level_cache(pu);
        cache != nullptr && std::ranges::find(caches, cache) == caches.end()) {
      caches.push_back(cache);
      topology.caches.push_back({.cpus = to_cpus(cache->cpuset) & topology.online,
                                 .size_bytes = cache->attr->cache.size,
                                 .level = static_cast<int>(cache->attr->cache.depth)});
    }
    // Some virtual machines do not report cores.
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(loaded, HWLOC_OBJ_CORE, pu);
    if (core == nullptr) core = pu;
    const CpuSet cpus = to_cpus(core->cpuset);
    if (seen.intersects(cpus)) continue;
    seen |= cpus;
    const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(loaded, HWLOC_OBJ_PACKAGE, pu);
    topology.cores.push_back({.cpus = cpus,
                              .package = package == nullptr ? -1 : number(package->os_index),
                              .numa_node = -1,
                              .cache = -1,
                              .kind = -1});
    if (topology.cpu_model.empty()) topology.cpu_model = info(package, "CPUModel");
  }
}

// hwloc gives memory without CPUs the CPUs near it: fast memory next to ordinary memory, or a whole machine. Each CPU
// belongs to the smallest node around it; among equal nodes, to the first.
void add_nodes(hwloc_topology_t loaded, Topology& topology) {
  for (hwloc_obj_t n = nullptr; (n = hwloc_get_next_obj_by_type(loaded, HWLOC_OBJ_NUMANODE, n)) != nullptr;) {
    topology.nodes.push_back({.number = number(n->os_index),
                              .cpus = to_cpus(n->cpuset) & topology.online,
                              .memory_bytes = n->attr->numanode.local_memory});
  }
  std::ranges::sort(topology.nodes, {}, [](const NumaNode& n) { return std::pair{n.cpus.size(), n.number}; });
  CpuSet taken;
  for (NumaNode& node : topology.nodes) {
    const CpuSet all = node.cpus;
    node.cpus -= taken;
    taken |= all;
  }
}

void add_kinds(hwloc_topology_t loaded, Topology& topology) {
  const int kinds = hwloc_cpukinds_get_nr(loaded, 0);
  if (kinds < 2) return;
  const Bitmap bitmap{hwloc_bitmap_alloc(), hwloc_bitmap_free};
  for (int i = 0; i < kinds; ++i) {
    int efficiency = -1;
    if (hwloc_cpukinds_get_info(loaded, static_cast<unsigned>(i), bitmap.get(), &efficiency, nullptr, nullptr, 0) !=
        0) {
      continue;
    }
    if (efficiency < 0) {
      topology.notes.emplace_back("Cores differ in kind, but the system does not state which kind is faster.");
      return;
    }
    const CpuSet cpus = to_cpus(bitmap.get());
    for (Core& core : topology.cores) {
      if (core.cpus.intersects(cpus)) core.kind = efficiency;
    }
  }
}

// Devices.

void add_os_device(hwloc_obj_t os, Device& device) {
  if (os->name == nullptr) return;
  const auto type = os->attr->osdev.type;
  const bool block = type == HWLOC_OBJ_OSDEV_BLOCK, net = type == HWLOC_OBJ_OSDEV_NETWORK,
             coprocessor = type == HWLOC_OBJ_OSDEV_COPROC, rdma = type == HWLOC_OBJ_OSDEV_OPENFABRICS;
  if (block && device.kind == DeviceKind::other) device.kind = DeviceKind::storage;
  if ((net || rdma) && device.kind == DeviceKind::other) device.kind = DeviceKind::network;
  const bool cuda = std::string_view{os->name}.starts_with("cuda");
  if (coprocessor) device.kind = DeviceKind::gpu;
  // Names of a GPU in the graphics stack and OpenCL differ between programs.
  const bool alias = device.kind == DeviceKind::gpu && !cuda;
  if (alias) {
    device.other_names.push_back(detail::printable(os->name));
  } else {
    detail::add_name(device, os->name, net || cuda);
  }
  // 4 is ACTIVE, as in infiniband/*/ports/1/state.
  if (const std::string state = info(os, "Port1State"); rdma && !state.empty() && state != "4") {
    device.usable = false;
    device.why_not = "its RDMA port is not active (state " + state + ')';
  }
}

void set_place(hwloc_topology_t loaded, hwloc_obj_t object, const Topology& topology, Device& device) {
  const hwloc_obj_t ancestor = hwloc_get_non_io_ancestor_obj(loaded, object);
  if (ancestor == nullptr) return;
  const CpuSet near = to_cpus(ancestor->cpuset) & topology.online;
  for (const NumaNode& node : topology.nodes) {
    if (!near.empty() && node.cpus.contains_all(near)) device.numa_node = node.number;
  }
  // A node without CPUs, or several nodes with some.
  if (device.numa_node < 0 && near.empty() && hwloc_bitmap_weight(ancestor->nodeset) == 1) {
    device.numa_node = hwloc_bitmap_first(ancestor->nodeset);
  }
  if (device.numa_node >= 0 || near != topology.online) device.local_cpus = near;
}

// hwloc copies the type of a bridge from a file unchecked, so it may be outside the enumeration.
[[nodiscard]] bool is_pci_bridge(const hwloc_obj& object) noexcept {
  if (object.type != HWLOC_OBJ_BRIDGE) return false;
  std::underlying_type_t<hwloc_obj_bridge_type_t> upstream{};
  static_assert(sizeof upstream == sizeof object.attr->bridge.upstream_type);
  std::memcpy(&upstream, &object.attr->bridge.upstream_type, sizeof upstream);
  return upstream == HWLOC_OBJ_BRIDGE_PCI;
}

// hwloc reports gigabytes per second; the value in a file may be anything.
[[nodiscard]] std::uint64_t megabits_per_s(float gigabytes_per_s) noexcept {
  constexpr float highest = 1e6F;
  return gigabytes_per_s > 0 && gigabytes_per_s < highest ? static_cast<std::uint64_t>(gigabytes_per_s * 8000) : 0;
}

void add_pci_devices(hwloc_topology_t loaded, Topology& topology) {
  for (hwloc_obj_t pci = nullptr; (pci = hwloc_get_next_pcidev(loaded, pci)) != nullptr;) {
    const hwloc_obj_attr_u::hwloc_pcidev_attr_s& attr = pci->attr->pcidev;
    Device device;
    device.kind = detail::kind_of(attr.class_id, attr.vendor_id);
    device.pci_address = address(attr);
    device.pci_class = attr.class_id;
    device.slot_megabits_per_s = megabits_per_s(attr.linkspeed);
    std::array<char, 16> ids;
    std::snprintf(ids.data(), ids.size(), "%04x:%04x", static_cast<unsigned>(attr.vendor_id),
                  static_cast<unsigned>(attr.device_id));
    const std::string vendor = info(pci, "PCIVendor"), model = info(pci, "PCIDevice");
    device.description = vendor + (vendor.empty() || model.empty() ? "" : " ") + model;
    device.description += (device.description.empty() ? "" : " ") + std::string{"["} + ids.data() + ']';
    for (hwloc_obj_t up = pci->parent; up != nullptr && is_pci_bridge(*up); up = up->parent) {
      device.pci_switch = address(up->attr->bridge.upstream.pci);
      device.switch_megabits_per_s = megabits_per_s(up->attr->bridge.upstream.pci.linkspeed);
    }
    for (hwloc_obj_t os = pci->io_first_child; os != nullptr; os = os->next_sibling) {
      if (os->type == HWLOC_OBJ_OS_DEVICE) add_os_device(os, device);
    }
    set_place(loaded, pci, topology, device);
    topology.devices.push_back(std::move(device));
  }
}

// Network interfaces and disks on platform devices and buses other than PCI.
void add_other_devices(hwloc_topology_t loaded, Topology& topology) {
  for (hwloc_obj_t os = nullptr; (os = hwloc_get_next_osdev(loaded, os)) != nullptr;) {
    if (os->name == nullptr) continue;
    hwloc_obj_t up = os->parent;
    while (up != nullptr && up->type == HWLOC_OBJ_OS_DEVICE) up = up->parent;
    if (up != nullptr && up->type == HWLOC_OBJ_PCI_DEVICE) continue;
    Device device;
    add_os_device(os, device);
    if (device.kind == DeviceKind::other || device.name.empty()) continue;
    set_place(loaded, os, topology, device);
    topology.devices.push_back(std::move(device));
  }
}

Loaded prepare() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw TopologyError("hwloc: " + system_text(errno));
  Loaded loaded{raw, hwloc_topology_destroy};
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  hwloc_topology_set_type_filter(raw, HWLOC_OBJ_BRIDGE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  return loaded;
}

// hwloc reads our own control group. If `nfx host apply --runtime` has isolated CPUs, that group shows the effect of
// our own plan and not the CPUs that the engine may use. A plan made now must equal the applied one.
void set_allowed(hwloc_topology_t loaded, Topology& topology) {
  topology.allowed = to_cpus(hwloc_topology_get_allowed_cpuset(loaded)) & topology.online;
  const HostFiles files;
  const CpusetHierarchy hierarchy = find_cpusets(files);
  if (hierarchy.version == CpusetHierarchy::Version::none) return;
  if (!files.exists(hierarchy.mount + '/' + std::string{housekeeping_group})) return;
  const auto above = CpuSet::parse_list(files.text(hierarchy.mount + "/cpuset.cpus").value_or("")).value_or(CpuSet{});
  const CpuSet allowed = above.empty() ? topology.online : above & topology.online;
  if (allowed == topology.allowed) return;
  topology.notes.push_back("The control group " + std::string{housekeeping_group} + " restricts this process to CPUs " +
                           topology.allowed.to_list() + "; the engine may use " + allowed.to_list() + '.');
  topology.allowed = allowed;
}

// Sets everything except `source`.
Topology convert(hwloc_topology_t loaded, bool live) {
  Topology topology;
  const hwloc_obj_t root = hwloc_get_root_obj(loaded);
  topology.online = to_cpus(root->cpuset);
  topology.offline = to_cpus(root->complete_cpuset) - topology.online;
  topology.allowed = topology.online;
  if (live) set_allowed(loaded, topology);
  topology.machine = info(root, "DMIProductName");
  if (topology.machine.empty()) topology.machine = info(root, "HostName");
  topology.cpu_model = info(root, "CPUModel");
  add_cores(loaded, topology);
  add_nodes(loaded, topology);
  add_kinds(loaded, topology);
  add_pci_devices(loaded, topology);
  add_other_devices(loaded, topology);
  return topology;
}

}  // namespace

Topology load_this_machine() {
  const Loaded loaded = prepare();
  for (const char* component : detail::unused_components) {
    hwloc_topology_set_components(loaded.get(), HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
  }
  if (hwloc_topology_load(loaded.get()) != 0) throw TopologyError("hwloc " + cannot("read", "this machine", errno));
  Topology topology = convert(loaded.get(), true);
  topology.source = "this machine";
  detail::describe_devices(HostFiles{}, topology);
  detail::finish(topology);
  return topology;
}

Topology detail::read_xml(const std::string& xml, const std::filesystem::path& from) {
  const Loaded loaded = prepare();
  if (hwloc_topology_set_xmlbuffer(loaded.get(), xml.c_str(), static_cast<int>(xml.size() + 1)) != 0 ||
      hwloc_topology_load(loaded.get()) != 0) {
    throw TopologyError("hwloc " + cannot("read", from, errno));
  }
  return convert(loaded.get(), false);
}

Topology load_topology_xml(const std::filesystem::path& file) {
  Topology topology = detail::read_xml(detail::canonical_xml(file), file);
  topology.source = file.string();
  for (Device& device : topology.devices) {
    if (!device.usable || !device.name.empty() || device.kind == DeviceKind::gpu) continue;
    if (device.kind == DeviceKind::other) continue;
    device.usable = false;
    device.why_not = device.kind == DeviceKind::network ? "no interface, so no driver" : "no disk, or no driver";
  }
  detail::finish(topology);
  return topology;
}

}  // namespace nfx
