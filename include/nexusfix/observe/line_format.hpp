// The form of the lines that a program prints of its engine: see log_entry.hpp.
// Thread: values. Cost: none. Errors: none.
#pragma once

#include <cstdint>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

enum class LineFormat : std::uint8_t { text, json, journald };
[[nodiscard]] std::string_view to_string(LineFormat format) noexcept;  // "text"; "?" beyond the last

}  // namespace nfx
