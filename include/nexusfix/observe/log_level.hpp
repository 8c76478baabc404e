// How much a line of the log matters.
// Thread: values.
#pragma once

#include <cstdint>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

// With the values of syslog, which the journal takes at the start of a line.
enum class LogLevel : std::uint8_t { error = 3, warning = 4, notice = 5, info = 6 };
[[nodiscard]] std::string_view to_string(LogLevel level) noexcept;

}  // namespace nfx
