// The texts of wire errors, as logs and tools print them.
#include "nexusfix/wire/framer.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx {

std::string_view to_string(WireError error) noexcept {
  switch (error) {
    case WireError::none: return "no error";
    case WireError::truncated: return "the message ends too early";
    case WireError::header_order: return "BeginString, BodyLength and MsgType are not the first three fields";
    case WireError::bad_body_length: return "BodyLength is not a usable number";
    case WireError::body_length_mismatch: return "BodyLength does not lead to CheckSum";
    case WireError::bad_check_sum: return "the message does not end with a three-digit CheckSum";
    case WireError::check_sum_mismatch: return "CheckSum is not the sum of the bytes";
    case WireError::bad_tag: return "a tag is not a number";
    case WireError::bad_data_length: return "a data field does not have the length announced";
    case WireError::too_many_fields: return "the message has too many fields";
    case WireError::too_large: return "the message is too large";
    case WireError::not_fix: return "the bytes do not start a FIX message";
  }
  return "unknown error";
}

std::string_view to_string(FieldError error) noexcept {
  switch (error) {
    case FieldError::missing: return "the field is missing";
    case FieldError::bad_format: return "the value has the wrong format";
    case FieldError::out_of_range: return "the value is out of range";
  }
  return "unknown error";
}

}  // namespace nfx
