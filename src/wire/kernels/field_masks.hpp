// Fields as bit masks over a block of 64 bytes, for the AVX-512 kernel. Bit 0 is the first byte.
//
//   bytes    8=FIX|35=D=E|49=ME|
//   soh      .....1......1.....1
//   equals   .1......1.1...1....
//   starts   1.....1......1.....      soh shifted by one, and the start of the message
//   first    .1......1.....1....      ~equals + starts carries each start up to the next '='; an '=' inside a value has
//                                     no start before it and is not included
//   tags     1.....11.....11....      first - starts: from each start up to its '='
//
// A field without '=' passes its start on to the next field, so that fewer fields are found than there are SOH.
#pragma once

#include "field_indexer.hpp"

namespace nfx::kernels {
namespace {

struct FieldMasks {
  std::uint64_t first;      // the '=' that ends a tag
  std::uint64_t tags;       // the bytes of tags
  std::uint64_t long_tags;  // among first: tags of five bytes and more
  std::uint64_t empty;      // the ends of empty values, and '=' without a tag before it
};

// Carries fields that begin in one block and end in the next.
class FieldMasker {
 public:
  // `inside` are the bits of bytes that belong to the message.
  [[gnu::always_inline]] FieldMasks operator()(std::uint64_t soh, std::uint64_t equals, std::uint64_t inside) noexcept {
    const std::uint64_t starts = (soh << 1 | start_) & inside;
    start_ = soh >> 63;
    unsigned long long sum = 0;
    unsigned long long tags = 0;
    const bool carry = __builtin_add_overflow(~equals, starts, &sum);
    carry_ = carry | __builtin_add_overflow(sum, std::uint64_t{carry_}, &sum);
    const std::uint64_t first = sum & equals;
    const bool borrow = __builtin_sub_overflow(first, starts, &tags);
    borrow_ = borrow | __builtin_sub_overflow(tags, std::uint64_t{borrow_}, &tags);
    // When no value is empty, at least three bytes are between two tags, so the fourth and the fifth byte before a
    // '=' are both in a tag only when they belong to its tag.
    const std::uint64_t long_tags = first & (tags << 4 | tags_ >> 60) & (tags << 5 | tags_ >> 59);
    const std::uint64_t empty = ((first << 1 | first_ >> 63) & soh) | (first & starts);
    tags_ = tags;
    first_ = first;
    return {first, tags, long_tags, empty};
  }

  [[nodiscard]] std::uint64_t tags() const noexcept { return tags_; }  // of the last block

 private:
  std::uint64_t start_ = 1;
  std::uint64_t tags_ = 0;
  std::uint64_t first_ = 0;
  bool carry_ = false;
  bool borrow_ = false;
};

// Reads the tags of five and more digits that end in one block into their places; `out` is the place of the first field
// with its '=' in the block. False when one is not a number or does not fit.
template <class TagNumber>
[[gnu::cold, gnu::noinline]] bool put_long_tags(const char* message, std::size_t block, std::uint64_t long_tags,
                                                std::uint64_t first, TagNumber* out) noexcept {
  constexpr std::uint64_t max = sizeof(TagNumber) == 2 ? 0xFFFF : 0x7FFFFFFF;
  for (; long_tags != 0; long_tags &= long_tags - 1) {
    const std::uint64_t bit = long_tags & (~long_tags + 1);
    std::size_t at = block + static_cast<std::size_t>(__builtin_ctzll(bit));
    std::uint64_t number = 0;
    std::uint64_t power = 1;
    for (int digits = 0; at != 0 && message[at - 1] != '\x01'; --at, ++digits) {
      const unsigned digit = static_cast<unsigned char>(message[at - 1]) - unsigned{'0'};
      if (digit > 9 || digits == 10) return false;
      number += digit * power;
      power *= 10;
    }
    if (number > max) return false;
    out[__builtin_popcountll(first & (bit - 1))] = static_cast<TagNumber>(number);
  }
  return true;
}

}  // namespace
}  // namespace nfx::kernels
