// Whether a text that a program wrote itself is complete fields that a session may send: each a tag, '=', a value and
// SOH, data as long as their length field announces, and none that the session writes.
// Cost: one pass over the text.
#pragma once

#include <cstdint>
#include <string_view>

#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx {

[[nodiscard]] WriteFault fault_of_fields(std::string_view fields) noexcept;

// Checks the tag of the first field alone. `fields` is not empty and ends with SOH, which ends the digits. Inline: part
// of every send.
[[nodiscard]] inline bool begins_with_field(std::string_view fields) noexcept {
  constexpr std::int32_t most = 100'000'000;
  const char* at = fields.data();
  if (*at < '1' || *at > '9') return false;
  std::int32_t number = 0;
  for (; *at >= '0' && *at <= '9' && number < most; ++at) number = 10 * number + (*at - '0');
  return *at == '=' && !is_written_by_session(Tag{number});
}

}  // namespace nfx
