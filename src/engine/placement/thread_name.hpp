// Thread names of an engine, in the plan, the kernel and the metrics.
// Thread: any.
#pragma once

#include <cstdint>
#include <string>

#include "nexusfix/placement/placement_request.hpp"

namespace nfx {

// "nfx-flush-0": at most 15 characters, the kernel's limit, with up to four of them for the number.
[[nodiscard]] std::string thread_name(ThreadRole role, std::uint32_t index);

}  // namespace nfx
