// Undoes recorded changes, last first.
#pragma once

#include <cstddef>

#include "host/apply.hpp"

namespace nfx::host {

// Undoes the changes from `first` on. With first > 0, tasks that earlier changes moved stay where they are. report.left
// names everything that could not be restored.
void restore(const HostFiles& files, HostWriter& writer, const RecordContent& record, std::size_t first,
             RevertReport& report);

[[nodiscard]] std::string boot_id(const HostFiles& files);

}  // namespace nfx::host
