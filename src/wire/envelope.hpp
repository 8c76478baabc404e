// Checks BodyLength, CheckSum and the first three fields of a whole message on its index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/kernels.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/read_digits.hpp"
#include "nexusfix/base/tag.hpp"
#include "nexusfix/wire/wire_error.hpp"

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

// Checks what the standard header and trailer declare about the message. Every field ends before a SOH.
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

  // The field of seven bytes that holds the sum is "10=ddd<SOH>", and not part of it.
  const unsigned own = unsigned{'1'} + '0' + '=' + 1 + static_cast<unsigned char>(sum_text[0]) +
                       static_cast<unsigned char>(sum_text[1]) + static_cast<unsigned char>(sum_text[2]);
  return ((sum_of_all - own) & 0xFF) == declared_sum ? WireError::none : WireError::check_sum_mismatch;
}

// The same for messages as engines write them, in a few loads: false when anything is wrong, or only unusual, and
// check_envelope() must decide. Every field ends before a SOH.
[[gnu::always_inline]] inline bool is_ordinary_envelope(std::string_view message, const kernels::FieldArrays& fields,
                                                        std::uint32_t count, std::uint8_t sum_of_all) noexcept {
  using digits::load;
  const char* const end = message.data() + message.size();
  if (count < 4 || fields.tags[0] != value(Tag::BeginString) || fields.tags[1] != value(Tag::BodyLength) ||
      fields.tags[2] != value(Tag::MsgType) || fields.tags[count - 1] != value(Tag::CheckSum)) {
    return false;
  }
  // "<SOH>10=ddd<SOH>", which is the last field if that has its value there: a tag contains no SOH.
  constexpr std::uint64_t form = 0x01'00'00'00'3D'30'31'01;
  const std::uint64_t tail = load<std::uint64_t>(end - 8);
  if ((tail & 0xFF'00'00'00'FF'FF'FF'FF) != form || fields.begins[count - 1] != message.size() - 4) return false;
  const auto digit = [tail](int shift) { return static_cast<unsigned>(tail >> shift & 0xFF) - '0'; };
  const unsigned hundreds = digit(32), tens = digit(40), ones = digit(48);
  if (hundreds > 2 || tens > 9 || ones > 9) return false;
  const unsigned own = '1' + '0' + '=' + 1 + 3 * '0' + hundreds + tens + ones;
  if (((sum_of_all - own) & 0xFF) != hundreds * 100 + tens * 10 + ones) return false;

  // Eight bytes can be read from where a value of up to seven begins: "<SOH>10=ddd<SOH>" follows.
  const std::size_t size = static_cast<std::size_t>(fields.ends[1] - fields.begins[1]);
  if (size - 1 >= 7) return false;
  const std::uint64_t word = digits::load_8(message.data() + fields.begins[1]) << (64 - 8 * size);
  return digits::non_digits(word) == 0 &&
         digits::value(word) == message.size() - check_sum_field_size - (std::size_t{fields.ends[1]} + 1);
}

}  // namespace nfx
