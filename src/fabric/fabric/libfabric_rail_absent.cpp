// LibfabricRail in a build without libfabric: its factory returns an error that names the package.
#ifndef NFX_WITH_LIBFABRIC

#include "nexusfix/fabric/rail_kinds.hpp"

namespace nfx::fabric {

struct LibfabricRail::Parts {
  std::string text;
};

bool libfabric_supported() noexcept { return false; }

std::expected<std::unique_ptr<LibfabricRail>, std::string> LibfabricRail::make(const LibfabricRailOptions&) {
  return std::unexpected(std::string{libfabric_unsupported});
}

// No object can exist, so these are never called.
LibfabricRail::LibfabricRail(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}
LibfabricRail::~LibfabricRail() = default;
std::expected<RegionIndex, std::string> LibfabricRail::add_region(const Region&) {
  return std::unexpected(std::string{libfabric_unsupported});
}
void LibfabricRail::open(MonotonicTime) noexcept {}
void LibfabricRail::maintain(MonotonicTime) noexcept {}
void LibfabricRail::close() noexcept {}
WriteResult LibfabricRail::try_write(const Write&) noexcept { return WriteResult::failed; }
std::size_t LibfabricRail::poll(std::span<Completion>) noexcept { return 0; }
RailState LibfabricRail::state() const noexcept { return RailState::closed; }
RailLimits LibfabricRail::limits() const noexcept { return {}; }
std::string_view LibfabricRail::name() const noexcept { return parts_->text; }
std::string_view LibfabricRail::last_error() const noexcept { return libfabric_unsupported; }
const std::string& LibfabricRail::place() const noexcept { return parts_->text; }
const std::string& LibfabricRail::provider() const noexcept { return parts_->text; }
const std::string& LibfabricRail::card() const noexcept { return parts_->text; }

}  // namespace nfx::fabric

#endif
