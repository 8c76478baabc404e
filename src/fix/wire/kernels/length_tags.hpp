// Which tags announce a data field, and the limits of the announced length. Source: data_tag_of() in
// standard_fields.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nexusfix/wire/standard_fields.hpp"

namespace nfx::kernels {

// One byte per tag, 1 for a length tag: an ordinary field costs one load. Includes all length tags of FIX 5.0 SP2.
struct LengthTags {
  static constexpr std::uint32_t count = 43'112;
  std::uint8_t is_length[count];
};
extern const LengthTags length_tags;

namespace {

[[maybe_unused]] inline bool is_length_tag(std::uint32_t tag) noexcept {
  return tag < LengthTags::count && length_tags.is_length[tag] != 0;
}

// Reads a length field's value, which must be below `limit`. False if it is not a number.
[[maybe_unused]] inline bool read_data_length(const char* text, std::size_t size, std::size_t limit,
                                              std::size_t& length) noexcept {
  length = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const unsigned digit = static_cast<unsigned char>(text[i]) - unsigned{'0'};
    if (digit > 9) return false;
    length = length * 10 + digit;
    if (length >= limit) return false;  // also prevents overflow of the product
  }
  return size != 0;
}

}  // namespace
}  // namespace nfx::kernels
