// Whether a text that a program wrote itself is complete fields that a session may send: each a tag, '=', a value and
// SOH, data as long as their length field announces, and none that the session writes.
// Cost: one pass over the text.
#pragma once

#include <string_view>

#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx {

[[nodiscard]] WriteFault fault_of_fields(std::string_view fields) noexcept;

// The same of the first field's tag alone, at a cost that does not depend on the text.
[[nodiscard]] bool begins_with_field(std::string_view fields) noexcept;

}  // namespace nfx
