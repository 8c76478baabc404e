// The fields of a message in text form, for code that needs some of them before or without decoding it. Data fields
// that contain SOH are not recognised.
// Thread: any, no state. Cost: one pass, no allocation. Lifetime: values borrow the message. Errors: text that is not a
// field is skipped.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace nfx::app {

// Calls take(tag, value) for each field until it returns false.
template <class Take>
void for_each_field(std::string_view message, Take&& take) {
  const char* at = message.data();
  const char* const end = at + message.size();
  while (at < end) {
    std::uint32_t tag = 0;
    const char* begin = at;
    while (at < end && *at >= '0' && *at <= '9' && at - begin < 9)
      tag = tag * 10 + static_cast<std::uint32_t>(*at++ - '0');
    const bool readable = at != begin && at < end && *at == '=';
    const auto* field_end = static_cast<const char*>(std::memchr(at, '\x01', static_cast<std::size_t>(end - at)));
    if (field_end == nullptr) field_end = end;
    if (readable && !take(tag, std::string_view{at + 1, field_end})) return;
    at = field_end + 1;
  }
}

// The value of the first field with this tag; empty if there is none.
[[nodiscard]] inline std::string_view field_value(std::string_view message, std::uint32_t wanted) {
  std::string_view found;
  for_each_field(message, [&](std::uint32_t tag, std::string_view value) {
    if (tag == wanted) found = value;
    return tag != wanted;
  });
  return found;
}

}  // namespace nfx::app
