// Checks BodyLength, CheckSum and the first three fields of a whole message, using its index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/kernels.hpp"
#include "kernels/ordinary_envelope.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/tag.hpp"
#include "nexusfix/wire/framer.hpp"

namespace nfx {

inline constexpr std::size_t check_sum_field_size = 7;  // "10=ddd<SOH>"

// The value of at most nine digits, or -1.
inline std::int64_t small_number(std::string_view text) noexcept {
  if (text.empty() || text.size() > 9) return -1;
  std::int64_t number = 0;
  for (const char c : text) {
    const unsigned digit = static_cast<unsigned char>(c) - unsigned{'0'};
    if (digit > 9) return -1;
    number = number * 10 + digit;
  }
  return number;
}

// Checks the standard header and trailer. Requires that every field ends before a SOH.
template <class Arrays>
[[gnu::cold, gnu::noinline]] WireError check_envelope(std::string_view message, const Arrays& fields,
                                                      std::uint32_t count, std::uint8_t sum_of_all) noexcept {
  if (count < 3 || fields.tags[0] != value(Tag::BeginString) || fields.tags[1] != value(Tag::BodyLength) ||
      fields.tags[2] != value(Tag::MsgType)) {
    return WireError::header_order;
  }
  const auto value_of = [&](std::uint32_t i) {
    return std::string_view{message.data() + fields.begins[i], std::size_t{fields.ends[i]} - fields.begins[i]};
  };
  const std::string_view length_text = value_of(1);
  const std::int64_t body_length = length_text.size() <= 7 ? small_number(length_text) : -1;
  if (body_length < 0) return WireError::bad_body_length;

  const std::uint32_t last = count - 1;
  const std::size_t body_begin = std::size_t{fields.ends[1]} + 1;
  const std::size_t body_end = std::size_t{fields.ends[last - 1]} + 1;
  NFX_ASSERT(body_begin <= body_end && body_end <= message.size());
  const std::string_view sum_text = value_of(last);
  const std::int64_t declared_sum = sum_text.size() == 3 ? small_number(sum_text) : -1;
  if (fields.tags[last] != value(Tag::CheckSum) || declared_sum < 0 ||
      message.size() - body_end != check_sum_field_size) {
    return WireError::bad_check_sum;
  }
  if (body_end - body_begin != static_cast<std::size_t>(body_length)) return WireError::body_length_mismatch;

  // The seven-byte field "10=ddd<SOH>" that holds the sum is not part of it.
  const unsigned own = unsigned{'1'} + '0' + '=' + 1 + static_cast<unsigned char>(sum_text[0]) +
                       static_cast<unsigned char>(sum_text[1]) + static_cast<unsigned char>(sum_text[2]);
  return ((sum_of_all - own) & 0xFF) == declared_sum ? WireError::none : WireError::check_sum_mismatch;
}

// The same in a few loads, for messages in the usual form. Returns false if anything is wrong or unusual; then
// check_envelope() decides. Requires that every field ends before a SOH.
[[gnu::always_inline]] inline bool is_ordinary_envelope(std::string_view message, const kernels::FieldArrays& fields,
                                                        std::uint32_t count, std::uint8_t sum_of_all) noexcept {
  // A message that ends in CheckSum's form ends with that field if the last value is present, because a tag contains no
  // SOH.
  return count >= 4 && fields.begins[count - 1] == message.size() - 4 &&
         kernels::is_ordinary_header(message.data(), message.size(), fields.ends[0], fields.ends[1]) &&
         kernels::is_right_check_sum(message.data() + message.size(), sum_of_all);
}

}  // namespace nfx
