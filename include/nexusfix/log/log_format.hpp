// Where a line of a log is printed, its level and its form.
// Thread: values. Cost: to_string is a switch.
#pragma once

#include <cstdint>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

enum class Stream : std::uint8_t { out, err };
[[nodiscard]] std::string_view to_string(Stream stream) noexcept;  // "stdout"

// With the values of syslog, which the journal takes at the start of a line.
enum class LogLevel : std::uint8_t { error = 3, warning = 4, notice = 5, info = 6 };
[[nodiscard]] std::string_view to_string(LogLevel level) noexcept;

// The form of the lines that a program prints of its engine; line_log.hpp shows them.
enum class LineFormat : std::uint8_t { text, json, journald };
[[nodiscard]] std::string_view to_string(LineFormat format) noexcept;  // "text"; "?" beyond the last

// How the message log writes a line; message_log.hpp shows both.
enum class MessageLogFormat : std::uint8_t { full, quickfix };

[[nodiscard]] std::string_view to_string(MessageLogFormat format) noexcept;

}  // namespace nfx
