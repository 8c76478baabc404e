// Checks BodyLength, CheckSum and the first three fields of messages in the usual form; false if something is wrong or
// unusual. Vector kernels check this while the positions are in registers, and MessageView after the other kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nexusfix/base/digits.hpp"

namespace nfx::kernels {
namespace {

// The first two fields end at these SOH, and at least two fields follow. Checks that the first three begin with "8=",
// "9=" and "35=", and that BodyLength has up to four digits and fits a message that ends with a seven-byte CheckSum.
[[gnu::always_inline]] inline bool is_ordinary_header(const char* message, std::size_t size, std::size_t first_end,
                                                      std::size_t second_end) noexcept {
  using digits::load;
  if (load<std::uint16_t>(message) != 0x3D'38 || load<std::uint16_t>(message + first_end + 1) != 0x3D'39 ||
      (load<std::uint32_t>(message + second_end + 1) & 0xFF'FF'FF) != 0x3D'35'33) {
    return false;
  }
  // Four bytes can be read at the value's beginning, because "<SOH>35=" follows.
  const std::size_t begin = first_end + 3;
  const std::size_t digit_count = second_end - begin;
  if (digit_count - 1 >= 4) return false;
  const std::uint32_t word = (load<std::uint32_t>(message + begin) ^ 0x30'30'30'30u) << (32 - 8 * digit_count);
  if ((((word + 0x76'76'76'76u) | word) & 0x80'80'80'80u) != 0) return false;
  const std::uint32_t pairs = (word * 10 + (word >> 8)) & 0x00'FF'00'FFu;
  const std::uint32_t body_length = (pairs * 100 + (pairs >> 16)) & 0xFFFF;
  constexpr std::size_t check_sum_size = 7;
  return body_length == size - check_sum_size - (second_end + 1);
}

// Whether the message ends with "<SOH>10=ddd<SOH>", and its bytes without the last seven have this sum.
[[gnu::always_inline]] inline bool is_right_check_sum(const char* end, std::uint8_t sum_of_all) noexcept {
  constexpr std::uint64_t form = 0x01'30'30'30'3D'30'31'01;
  constexpr std::uint64_t up_to = 0x7F'76'76'76'7F'7F'7F'7F;  // carries into the top bit above 0, or 9 for a digit
  const std::uint64_t tail = digits::load<std::uint64_t>(end - 8) ^ form;
  if ((((tail + up_to) | tail) & digits::top_bits) != 0) return false;
  const auto three = static_cast<std::uint32_t>(tail >> 32);  // the digits of the sum, first digit lowest
  const std::uint32_t declared = (three & 0xFF) * 100 + (three >> 8 & 0xFF) * 10 + (three >> 16);
  const std::uint32_t digit_sum = three * 0x01'01'01 >> 16 & 0xFF;
  constexpr std::uint32_t own = '1' + '0' + '=' + 1 + 3 * '0';
  return ((sum_of_all - own - digit_sum) & 0xFF) == declared;
}

}  // namespace
}  // namespace nfx::kernels
