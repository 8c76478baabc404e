// Why bytes are not a FIX message, or a field not the requested value.
#pragma once

#include <cstdint>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

enum class WireError : std::uint8_t {
  none,
  truncated,             // ends before the message does
  header_order,          // BeginString, BodyLength, MsgType are not the first three fields
  bad_body_length,       // BodyLength is not a number, or not a sensible one
  body_length_mismatch,  // BodyLength does not lead to CheckSum
  bad_check_sum,         // CheckSum is not three digits at the end
  check_sum_mismatch,    // CheckSum is not the sum of the bytes
  bad_tag,               // a tag that is not a number
  bad_data_length,       // a data field whose length field is wrong
  too_many_fields,       // more fields than the view has space for
  too_large,             // longer than the configured maximum
  not_fix,               // bytes that do not start a FIX message
};

[[nodiscard]] std::string_view to_string(WireError error) noexcept;

enum class FieldError : std::uint8_t {
  missing,       // no such field
  bad_format,    // not a value of this type
  out_of_range,  // of this type, but too large for the result
};

[[nodiscard]] std::string_view to_string(FieldError error) noexcept;

}  // namespace nfx
