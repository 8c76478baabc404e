// The byte scans below the parser, for callers that handle raw FIX text themselves.
// Thread: any, no state. Cost: one pass, no allocation. Errors: none; nothing is read outside the span.
#pragma once

#include <span>
#include <string_view>

namespace nfx {

// The first SOH, or the end of `bytes` when there is none. Portable code, eight bytes at a time.
[[nodiscard]] const char* scan_soh_scalar(std::span<const char> bytes) noexcept;

// The same by the instruction set chosen for this machine.
[[nodiscard]] const char* scan_soh(std::span<const char> bytes) noexcept;

// The instruction set that parsing, summing and scanning use: "scalar" is the portable one.
[[nodiscard]] std::string_view active_kernel_name() noexcept;

}  // namespace nfx
