// The paths that apply may change on a host, so that revert writes nothing else, whatever a record contains.
// Thread: any. Cost: reads the mounts of the host.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "host/change_record.hpp"
#include "nexusfix/placement/machine.hpp"

namespace nfx::host {

// The path of the first change in the record that apply never makes.
[[nodiscard]] std::optional<std::string> foreign_path(const HostFiles& files, const RecordContent& record);

// Whether apply installs this file. The drop-in of a unit is not included, because it is named after the unit.
[[nodiscard]] bool is_installed_path(std::string_view path) noexcept;

}  // namespace nfx::host
