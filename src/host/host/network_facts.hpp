// The settings of a host's network devices: driver, queues, coalescing, rings, offloads, time stamps.
// Thread: any. Cost: a handful of ioctls per device; allocates. Errors: settings that a device does not report are left
// out; a query that is not permitted has an `..._error` with the errno. Source: linux/ethtool.h live; a copied host has
// text files.
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
  std::string pci_address;  // empty: unknown
  int numa_node = -1;
  // "driver", "channels_rx", "channels_combined", "rx_usecs", "adaptive_rx", "ring_rx", "ring_rx_max", "gro", "lro",
  // "rx_hardware_time_stamps", ...; a key that ends in "_error" holds an errno instead.
  std::map<std::string, std::string, std::less<>> ethtool;

  [[nodiscard]] std::optional<long long> setting(std::string_view key) const;
};

// Devices backed by hardware or by a hypervisor, sorted by name; without loopback, bridges and tunnels.
[[nodiscard]] std::vector<NetworkDevice> read_network_facts(const HostFiles& files);

// The file of a copied host with ethtool's values, as "key=value" lines.
[[nodiscard]] std::string ethtool_file(std::string_view device);
[[nodiscard]] std::string ethtool_text(const NetworkDevice& device);

}  // namespace nfx
