// Undoes recorded changes, last first.
#pragma once

#include <cstddef>

#include "host/apply.hpp"

namespace nfx::host {

// From change `first` on. With first > 0 tasks that were moved before stay where they are. What is not restored is
// named in report.left.
void restore(const HostFiles& files, HostWriter& writer, const RecordContent& record, std::size_t first,
             RevertReport& report);

[[nodiscard]] std::string boot_id(const HostFiles& files);

}  // namespace nfx::host
