// Shared by the readers of topologies. Private to src/placement.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "nexusfix/placement/machine.hpp"

namespace nfx::detail {

// Text from files, for terminals and pictures: the first 128 bytes, formatted by append_printable().
[[nodiscard]] std::string printable(std::string_view text);

// The kind of a PCI function with this class and vendor.
[[nodiscard]] DeviceKind kind_of(std::uint16_t pci_class, std::uint16_t vendor) noexcept;

// Adds a name of a device. The name that most programs use comes first: network interface, then RDMA device.
void add_name(Device& device, std::string_view name, bool preferred);

// Looks up drivers and link states in sysfs.
void describe_devices(const HostFiles& files, Topology& topology);

// hwloc components that are not used. x86 would bind this thread to every CPU in turn, opencl would start OpenCL, and
// gl would contact an X server. pci (libpciaccess) leaks, and finds no more than the Linux component reads from sysfs.
inline constexpr std::array unused_components{"x86", "opencl", "gl", "pci"};

// Canonical XML from hwloc, for a file, or for a folder with a machine's /sys and /proc. Throws TopologyError.
[[nodiscard]] std::string canonical_xml(const std::filesystem::path& file);
[[nodiscard]] std::string xml_of_root(const std::filesystem::path& folder);

// Parses canonical XML; sets everything except `source`, and does not call finish(). `from` is for errors.
[[nodiscard]] Topology read_xml(const std::string& xml, const std::filesystem::path& from);

// Sorts everything, names unnamed devices, drops switches that connect fewer than two devices, and notes
// irregularities. Throws TopologyError if no CPU is left.
void finish(Topology& topology);

}  // namespace nfx::detail
