// What apply changes on a host, so that revert writes nothing else, whatever a record says.
// Thread: any. Cost: reads the mounts of the host.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "host/change_record.hpp"
#include "nexusfix/placement/machine.hpp"

namespace nfx::host {

// The path of the first change that apply never makes.
[[nodiscard]] std::optional<std::string> foreign_path(const HostFiles& files, const RecordContent& record);

// The files that apply installs, but for the drop-in of a unit, which is named after it.
[[nodiscard]] bool is_installed_path(std::string_view path) noexcept;

}  // namespace nfx::host
