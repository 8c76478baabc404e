// What the readers of topologies share. Private to src/placement.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "nexusfix/placement/machine.hpp"

namespace nfx::detail {

// Text out of files, for terminals and pictures: as append_printable() writes it, of the first 128 bytes.
[[nodiscard]] std::string printable(std::string_view text);

// What a PCI function of this class and vendor is to us.
[[nodiscard]] DeviceKind kind_of(std::uint16_t pci_class, std::uint16_t vendor) noexcept;

// Adds one name of a device; the one that programs use most comes first: network interface, then RDMA device.
void add_name(Device& device, std::string_view name, bool preferred);

// Looks up drivers and the state of links in sysfs.
void describe_devices(const HostFiles& files, Topology& topology);

// hwloc's parts that would bind this thread to one CPU after the other, start OpenCL, or contact an X server; and
// libpciaccess, which leaks, has no more than what the Linux component reads from sysfs.
inline constexpr std::array unused_components{"x86", "opencl", "gl", "pci"};

// hwloc's own, canonical XML of a file, or of a folder with the /sys and /proc of a machine. Throws TopologyError.
[[nodiscard]] std::string canonical_xml(const std::filesystem::path& file);
[[nodiscard]] std::string xml_of_root(const std::filesystem::path& folder);

// What canonical XML describes: everything but `source`, not finished. `from` is for errors.
[[nodiscard]] Topology read_xml(const std::string& xml, const std::filesystem::path& from);

// Puts everything in order, names what has no name, drops switches that nothing shares, and notes what is odd. Throws
// TopologyError when no CPU is left.
void finish(Topology& topology);

}  // namespace nfx::detail
