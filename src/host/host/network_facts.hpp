// What a host's network devices are set to: driver, queues, coalescing, rings, offloads, time stamps.
// Thread: any. Cost: a handful of ioctls per device; allocates. Errors: what a device does not report is left out; what
// we may not query has an `..._error` with the errno. Source: linux/ethtool.h live; a copied host has it in text files.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/placement/machine.hpp"

namespace nfx {

struct NetworkDevice {
  std::string name;
  std::string pci_address;  // empty: not known
  int numa_node = -1;
  // "driver", "channels_rx", "channels_combined", "rx_usecs", "adaptive_rx", "ring_rx", "ring_rx_max", "gro", "lro",
  // "rx_hardware_time_stamps", ...; a key with the end "_error" holds an errno instead.
  std::map<std::string, std::string, std::less<>> ethtool;

  [[nodiscard]] std::optional<long long> setting(std::string_view key) const;
};

// Devices with hardware, or a hypervisor's, below them; loopback, bridges and tunnels are left out. By name.
[[nodiscard]] std::vector<NetworkDevice> read_network_facts(const HostFiles& files);

// Where a copied host stores what ethtool reported, and how: "key=value" lines.
[[nodiscard]] std::string ethtool_file(std::string_view device);
[[nodiscard]] std::string ethtool_text(const NetworkDevice& device);

}  // namespace nfx
