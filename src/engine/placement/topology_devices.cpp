// Devices out of sysfs: which there are, what they are called, and whether they work.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <string>
#include <vector>

#include "placement/topology_internal.hpp"

namespace nfx::detail {
namespace {

constexpr std::string_view pci_folder = "/sys/bus/pci/devices/";

bool is_hex(std::string_view text, std::size_t from, std::size_t count) {
  const auto hex = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
  return std::ranges::all_of(text.substr(from, count), hex);
}

// "0000:4f:00.0"; domains of virtual buses have five digits or more.
bool is_address(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon < 4 || colon > 8 || text.size() != colon + 8) return false;
  return text[colon + 3] == ':' && text[colon + 6] == '.' && is_hex(text, 0, colon) && is_hex(text, colon + 1, 2) &&
         is_hex(text, colon + 4, 2) && is_hex(text, colon + 7, 1);
}

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > 0) parts.push_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return parts;
}

// The PCI function that a path in /sys/devices goes through last; "" when it goes through none.
std::string function_of(std::string_view path) {
  const auto parts = parts_of(path);
  const auto found = std::find_if(parts.rbegin(), parts.rend(), is_address);
  return found == parts.rend() ? std::string{} : std::string{*found};
}

// Of "../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0" the first function below the host bridge, when the device
// is not that itself.
std::string highest_bridge(std::string_view path) {
  std::string highest;
  const auto parts = parts_of(path);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].starts_with("pci") && i + 2 < parts.size() && is_address(parts[i + 1])) highest = parts[i + 1];
  }
  return highest;
}

std::uint32_t hexadecimal(const HostFiles& files, const std::string& file) {
  const std::string text = files.text(file).value_or("");
  const std::string_view digits = std::string_view{text}.substr(text.starts_with("0x") ? 2 : 0);
  std::uint32_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

// "16.0 GT/s PCIe" times "16": in one direction, less what the encoding takes. 0 where it is not stated.
std::uint64_t pci_link(const HostFiles& files, const std::string& folder) {
  const std::string speed = files.text(folder + "current_link_speed").value_or("");
  const long long width = files.integer(folder + "current_link_width").value_or(0);
  double giga_transfers = 0;
  std::from_chars(speed.data(), speed.data() + speed.size(), giga_transfers);
  if (!(giga_transfers > 0 && giga_transfers < 1000) || width < 1 || width > 32) return 0;
  // 8 bits in 10 for the first two generations, 128 in 130 up to the fifth, then 242 bytes of 256.
  const double carried = giga_transfers < 8 ? 8.0 / 10 : giga_transfers < 64 ? 128.0 / 130 : 242.0 / 256;
  return static_cast<std::uint64_t>(giga_transfers * carried * static_cast<double>(width) * 1000);
}

// As hwloc: displays, networks, storage, coprocessors and accelerators, InfiniBand and Fibre Channel.
bool matters(std::uint16_t pci_class) {
  const unsigned base = pci_class >> 8U;
  return base == 0x01 || base == 0x02 || base == 0x03 || base == 0x0b || base == 0x12 || pci_class == 0x0c04 ||
         pci_class == 0x0c06;
}

// A kind of thing that the kernel has names for.
struct ClassOfNames {
  std::string_view folder;  // below /sys/class, and below a device
  DeviceKind kind;
  bool preferred;
};
constexpr std::array classes{
    ClassOfNames{"net", DeviceKind::network, true}, ClassOfNames{"infiniband", DeviceKind::network, false},
    ClassOfNames{"block", DeviceKind::storage, true}, ClassOfNames{"nvme", DeviceKind::storage, false}};

class DeviceReader {
 public:
  DeviceReader(const HostFiles& files, Topology& topology) : files_(files), topology_(topology) {}

  void read() {
    for (const std::string& name : files_.list(pci_folder)) {
      if (is_address(name)) read_function(name);
    }
    for (const ClassOfNames& names : classes) read_class(names);
    for (auto& [address, device] : functions_) topology_.devices.push_back(std::move(device));
  }

 private:
  void read_function(const std::string& pci_address) {
    const std::string folder = std::string{pci_folder} + pci_address + '/';
    Device device;
    device.pci_address = pci_address;
    device.pci_class = static_cast<std::uint16_t>(hexadecimal(files_, folder + "class") >> 8U);
    if (!matters(device.pci_class)) return;
    const auto vendor = static_cast<std::uint16_t>(hexadecimal(files_, folder + "vendor"));
    device.kind = kind_of(device.pci_class, vendor);
    device.pci_switch = highest_bridge(files_.link(std::string{pci_folder} + pci_address).value_or(""));
    device.slot_megabits_per_s = pci_link(files_, folder);
    if (!device.pci_switch.empty()) {
      device.switch_megabits_per_s = pci_link(files_, std::string{pci_folder} + device.pci_switch + '/');
    }
    if (vendor != 0) {
      const auto id = [this](const std::string& file) {
        const std::string text = files_.text(file).value_or("");
        return printable(text.starts_with("0x") ? text.substr(2) : text);
      };
      device.description = '[' + id(folder + "vendor") + ':' + id(folder + "device") + ']';
    }
    set_place(folder, device);
    for (const ClassOfNames& names : classes) {
      add_names(folder + std::string{names.folder}, names, device);
      // virtio's network cards and disks are one level further down.
      for (const std::string& below : files_.list(folder)) {
        if (below.starts_with("virtio")) add_names(folder + below + '/' + std::string{names.folder}, names, device);
      }
    }
    functions_.emplace(pci_address, std::move(device));
  }

  void add_names(const std::string& folder, const ClassOfNames& names, Device& device) {
    for (const std::string& name : files_.list(folder)) add_name(device, name, names.preferred);
  }

  void set_place(const std::string& folder, Device& device) {
    const long long number = files_.integer(folder + "numa_node").value_or(-1);
    device.numa_node = number < 0 || number > 65535 ? -1 : static_cast<int>(number);
    // There is only one place to be.
    if (device.numa_node < 0 && topology_.nodes.size() == 1) device.numa_node = topology_.nodes.front().number;
    if (const NumaNode* node = topology_.node(device.numa_node)) {
      device.local_cpus = node->cpus;
      return;
    }
    if (device.numa_node >= 0) {
      topology_.notes.push_back(device.pci_address + " states NUMA node " + std::to_string(device.numa_node) +
                                ", which the machine does not have.");
      device.numa_node = -1;
    }
    const CpuSet cpus =
        CpuSet::parse_list(files_.text(folder + "local_cpulist").value_or("")).value_or(CpuSet{}) & topology_.online;
    if (cpus != topology_.online) device.local_cpus = cpus;
  }

  void read_class(const ClassOfNames& names) {
    const std::string folder = "/sys/class/" + std::string{names.folder} + '/';
    for (const std::string& name : files_.list(folder)) {
      const std::string entry = folder + name;
      std::string path = files_.link(entry).value_or("");
      if (const std::string behind = files_.link(entry + "/device").value_or(""); function_of(path).empty()) {
        path += '/' + behind;
      }
      // Partitions, and what has no device of its own: bridges, loop devices, ...
      if (files_.exists(entry + "/partition")) continue;
      const auto function = functions_.find(function_of(path));
      if (function != functions_.end()) {
        add_name(function->second, name, names.preferred && !has_name(function->second, names));
        if (function->second.kind == DeviceKind::other) function->second.kind = names.kind;
        continue;
      }
      const bool found_already = std::ranges::any_of(
          functions_, [&](const auto& f) { return f.second.name == name || contains(f.second.other_names, name); });
      if (found_already || !files_.exists(entry + "/device") || !function_of(path).empty()) continue;
      if (path.find("/virtual/") != std::string::npos || names.folder == "nvme") continue;
      Device device;
      device.kind = names.kind;
      device.name = printable(name);
      if (topology_.nodes.size() == 1) {
        device.numa_node = topology_.nodes.front().number;
        device.local_cpus = topology_.nodes.front().cpus;
      }
      topology_.devices.push_back(std::move(device));
    }
  }

  static bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  }

  // The first of several interfaces of a function gives it its name.
  [[nodiscard]] bool has_name(const Device& device, const ClassOfNames& names) const {
    return !device.name.empty() && files_.exists("/sys/class/" + std::string{names.folder} + '/' + device.name);
  }

  const HostFiles& files_;
  Topology& topology_;
  std::map<std::string, Device, std::less<>> functions_;
};

// The state of one network interface; `why` is empty when it works.
struct LinkState {
  std::uint64_t megabits_per_s = 0;
  std::string why;
};

LinkState interface_state(const HostFiles& files, const std::string& name) {
  const std::string folder = "/sys/class/net/" + name + '/';
  LinkState state;
  if (const auto speed = files.integer(folder + "speed"); speed && *speed > 0 && *speed < 10'000'000) {
    state.megabits_per_s = static_cast<std::uint64_t>(*speed);
  }
  const auto operstate = files.text(folder + "operstate");
  const auto carrier = files.integer(folder + "carrier");
  if (operstate.value_or("") == "down" && !carrier) {
    state.why = name + " is not up ('ip link set " + name + " up')";
  } else if (carrier.value_or(1) == 0 || operstate.value_or("") == "down" ||
             operstate.value_or("") == "lowerlayerdown") {
    state.why = name + " has no carrier";
  }
  return state;
}

// "4: ACTIVE" and "100 Gb/sec (4X EDR)" of its first port.
LinkState rdma_state(const HostFiles& files, const std::string& name) {
  const std::string folder = "/sys/class/infiniband/" + name + "/ports/1/";
  LinkState state;
  const auto text = files.text(folder + "state");
  if (text && !text->starts_with('4')) state.why = "its RDMA port is not active (" + printable(*text) + ')';
  const std::string rate = files.text(folder + "rate").value_or("");
  double gigabits = 0;
  std::from_chars(rate.data(), rate.data() + rate.size(), gigabits);
  if (gigabits > 0 && gigabits < 1e6) state.megabits_per_s = static_cast<std::uint64_t>(gigabits * 1000);
  return state;
}

void describe_network(const HostFiles& files, Device& device) {
  std::vector<std::string> names{device.name};
  names.insert(names.end(), device.other_names.begin(), device.other_names.end());
  std::string why;
  bool works = false, known = false;
  for (const std::string& name : names) {
    const bool net = files.exists("/sys/class/net/" + name), rdma = files.exists("/sys/class/infiniband/" + name);
    if (name.empty() || (!net && !rdma)) continue;
    const LinkState state = net ? interface_state(files, name) : rdma_state(files, name);
    known = true;
    works = works || state.why.empty();
    if (why.empty()) why = state.why;
    device.link_megabits_per_s = std::max(device.link_megabits_per_s, state.megabits_per_s);
  }
  if (!known) return;
  // One interface that works is enough.
  device.usable = works;
  device.why_not = works ? std::string{} : why;
}

}  // namespace

void read_devices(const HostFiles& files, Topology& topology) { DeviceReader{files, topology}.read(); }

void describe_devices(const HostFiles& files, Topology& topology) {
  for (Device& device : topology.devices) {
    if (device.kind == DeviceKind::other) continue;
    const std::string folder = std::string{pci_folder} + device.pci_address;
    // In a copied tree the link may lead nowhere.
    const bool driver = files.link(folder + "/driver").has_value() || files.exists(folder + "/driver");
    if (!device.pci_address.empty() && files.exists(folder) && device.name.empty() && !driver) {
      device.usable = false;
      device.why_not = "no driver is bound to it";
    } else if (device.kind == DeviceKind::network && device.name.empty()) {
      device.usable = false;
      device.why_not = "its driver shows no network interface";
    }
    if (device.kind == DeviceKind::network) describe_network(files, device);
  }
}

}  // namespace nfx::detail
