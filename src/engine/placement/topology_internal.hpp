// What the readers of topologies share. Private to src/placement.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "nexusfix/placement/host_files.hpp"
#include "nexusfix/placement/topology.hpp"

struct hwloc_topology;

namespace nfx::detail {

// Text out of files, for terminals and pictures: as append_printable() writes it, of the first 128 bytes.
[[nodiscard]] std::string printable(std::string_view text);

// What a PCI function of this class and vendor is to us.
[[nodiscard]] DeviceKind kind_of(std::uint16_t pci_class, std::uint16_t vendor) noexcept;

// Adds one name of a device; the one that programs use most comes first: network interface, then RDMA device.
void add_name(Device& device, std::string_view name, bool preferred);

// From sysfs: every PCI device that matters and every network interface and disk that hangs on a real device.
void read_devices(const HostFiles& files, Topology& topology);

// Looks up drivers, links and their speed in sysfs for devices that are known already.
void describe_devices(const HostFiles& files, Topology& topology);

// Converts what hwloc has loaded: everything but `source`.
[[nodiscard]] Topology convert(hwloc_topology* loaded, bool live);

// hwloc's own, canonical XML of a file. Throws TopologyError.
[[nodiscard]] std::string canonical_xml(const std::filesystem::path& file);

// Puts everything in order, names what has no name, drops switches that nothing shares, and notes what is odd. Throws
// TopologyError when no CPU is left.
void finish(Topology& topology);

}  // namespace nfx::detail
