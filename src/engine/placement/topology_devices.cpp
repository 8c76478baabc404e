// Checks in sysfs whether devices work: their drivers and links.
#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "placement/topology_internal.hpp"

namespace nfx::detail {
namespace {

constexpr std::string_view pci_folder = "/sys/bus/pci/devices/";

// The state of one network interface; `why` is empty if it works.
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

// "4: ACTIVE" and "100 Gb/sec (4X EDR)" of the first port.
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
  // One working interface is enough.
  device.usable = works;
  device.why_not = works ? std::string{} : why;
}

}  // namespace

void describe_devices(const HostFiles& files, Topology& topology) {
  for (Device& device : topology.devices) {
    if (device.kind == DeviceKind::other) continue;
    const std::string folder = std::string{pci_folder} + device.pci_address;
    // In a copy, the link may be dangling.
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
