// How the message log writes a line; message_log.hpp shows both.
// Thread: values.
#pragma once

#include <cstdint>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

enum class MessageLogFormat : std::uint8_t { full, quickfix };

[[nodiscard]] std::string_view to_string(MessageLogFormat format) noexcept;

}  // namespace nfx
