// The parser's byte scans, for callers that handle raw FIX text themselves, and the choice of instruction set. The best
// one that the processor has is chosen once, at start; the environment variable NFX_ISA selects another.
// Thread: any, no state. Cost: one pass, no allocation. Errors: none; nothing is read outside the span.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

// The first SOH, or the end of `bytes` if there is none. Portable code, eight bytes at a time.
[[nodiscard]] const char* scan_soh_scalar(std::span<const char> bytes) noexcept;

// The same with the instruction set chosen for this machine.
[[nodiscard]] const char* scan_soh(std::span<const char> bytes) noexcept;

// The same with the named instruction set; empty if this machine does not have it.
[[nodiscard]] std::optional<const char*> scan_soh(std::string_view isa, std::span<const char> bytes) noexcept;

// The name of the instruction set used to parse, sum and scan; "scalar" is portable.
[[nodiscard]] std::string_view active_kernel_name() noexcept;

// The supported instruction sets, the portable one first and the best last: "scalar, sse42, avx2".
[[nodiscard]] std::string available_kernel_names();

// Why the value of NFX_ISA was ignored; empty if it was not. If ignored, the best instruction set is used.
[[nodiscard]] std::string kernel_override_error();

}  // namespace nfx
