// What the threads of an engine are called, by the plan, the kernel and the metrics.
// Thread: any.
#pragma once

#include <cstdint>
#include <string>

#include "nexusfix/placement/placement_request.hpp"

namespace nfx {

// "nfx-flush-0": at most 15 characters, as the kernel wants it, with up to four of them for the number.
[[nodiscard]] std::string thread_name(ThreadRole role, std::uint32_t index);

}  // namespace nfx
