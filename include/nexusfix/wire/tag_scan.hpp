// Compares the 16-bit tags of an index several at a time, for MessageView and GroupView.
// Thread: any, no state. Cost: a few instructions. Every machine of the architecture has these instructions, so the
// choice is made at compile time.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "nexusfix/base/assert.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace nfx::tag_scan {

// A set of positions among one step of tags: `bits_per_place` equal bits each, the first position lowest.
struct Places {
#if defined(__SSE2__)
  static constexpr unsigned bits_per_place = 2;
#elif defined(__ARM_NEON)
  static constexpr unsigned bits_per_place = 8;
#else
  static constexpr unsigned bits_per_place = 1;
#endif
  std::uint64_t bits;

  [[nodiscard]] bool none() const noexcept { return bits == 0; }
  [[nodiscard]] std::uint32_t first() const noexcept {
    return static_cast<std::uint32_t>(std::countr_zero(bits)) / bits_per_place;
  }
  // Whether the first `count` positions, at most 8, are all in it.
  [[nodiscard]] bool all_of_first(std::uint32_t count) const noexcept {
    NFX_ASSERT(count - 1 < 8);
    const std::uint64_t wanted = ~std::uint64_t{0} >> (64 - bits_per_place * count);
    return (bits & wanted) == wanted;
  }
};

inline constexpr std::uint32_t places_per_step = 8;

#if defined(__SSE2__)
using Tags = __m128i;
inline Tags load(const std::uint16_t* tags) noexcept { return _mm_loadu_si128(reinterpret_cast<const Tags*>(tags)); }
inline Tags repeated(std::uint16_t tag) noexcept { return _mm_set1_epi16(static_cast<short>(tag)); }
inline Places equal(Tags a, Tags b) noexcept {
  return {static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi16(a, b)))};
}
#elif defined(__ARM_NEON)
using Tags = uint16x8_t;
inline Tags load(const std::uint16_t* tags) noexcept { return vld1q_u16(tags); }
inline Tags repeated(std::uint16_t tag) noexcept { return vdupq_n_u16(tag); }
inline Places equal(Tags a, Tags b) noexcept {
  return {vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vceqq_u16(a, b), 4)), 0)};
}
#else
struct Tags {
  std::uint16_t at[places_per_step];
};
inline Tags load(const std::uint16_t* tags) noexcept {
  Tags result;
  std::memcpy(&result, tags, sizeof result);
  return result;
}
inline Tags repeated(std::uint16_t tag) noexcept { return {{tag, tag, tag, tag, tag, tag, tag, tag}}; }
inline Places equal(Tags a, Tags b) noexcept {
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < places_per_step; ++i) bits |= static_cast<std::uint64_t>(a.at[i] == b.at[i]) << i;
  return {bits};
}
#endif

// The positions among 32 tags in one test: fewer branches that depend on where a tag is.
inline constexpr std::uint32_t places_per_stride = 32;

[[nodiscard]] inline std::uint64_t equal_in_stride(const std::uint16_t* tags, Tags wanted) noexcept {
#if defined(__SSE2__)
  const auto two = [&](int from) {
    const Tags low = _mm_cmpeq_epi16(load(tags + from), wanted);
    const Tags high = _mm_cmpeq_epi16(load(tags + from + 8), wanted);
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high))));
  };
  return two(0) | two(16) << 16;
#elif defined(__ARM_NEON)
  // Each byte keeps the bit of its position, and sums combine them.
  const auto two = [&](int from) {
    const uint8x16_t both = vcombine_u8(vmovn_u16(vceqq_u16(load(tags + from), wanted)),
                                        vmovn_u16(vceqq_u16(load(tags + from + 8), wanted)));
    const uint8x16_t bits = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t kept = vandq_u8(both, bits);
    return std::uint64_t{vaddv_u8(vget_low_u8(kept))} | std::uint64_t{vaddv_u8(vget_high_u8(kept))} << 8;
  };
  return two(0) | two(16) << 16;
#else
  std::uint64_t bits = 0;
  for (std::uint32_t i = 0; i < places_per_stride; i += places_per_step)
    bits |= equal(load(tags + i), wanted).bits << i;
  return bits;
#endif
}

// The position of the first of `count` tags that equals `tag`, or a value of at least `count`. Reads up to 31 tags past
// the end.
[[nodiscard]] inline std::uint32_t find_far(const std::uint16_t* tags, std::uint32_t count,
                                            std::uint16_t tag) noexcept {
  const Tags wanted = repeated(tag);
  std::uint32_t from = 0;
  for (; from < count; from += places_per_stride) {
    const std::uint64_t found = equal_in_stride(tags + from, wanted);
    if (found != 0) return from + static_cast<std::uint32_t>(std::countr_zero(found));
  }
  return from;
}

// The same for a few tags. Reads up to 7 tags past the end.
[[nodiscard]] inline std::uint32_t find(const std::uint16_t* tags, std::uint32_t count, std::uint16_t tag) noexcept {
  const Tags wanted = repeated(tag);
  std::uint32_t from = 0;
  for (; from < count; from += places_per_step) {
    if (const Places found = equal(load(tags + from), wanted); !found.none()) return from + found.first();
  }
  return from;
}

// Whether two runs of `count` tags, at least one, are the same. Reads up to 7 tags past the end of each.
[[nodiscard]] inline bool same(const std::uint16_t* a, const std::uint16_t* b, std::uint32_t count) noexcept {
  NFX_ASSERT(count != 0);
  for (; count > places_per_step; a += places_per_step, b += places_per_step, count -= places_per_step) {
    if (!equal(load(a), load(b)).all_of_first(places_per_step)) return false;
  }
  return equal(load(a), load(b)).all_of_first(count);
}

}  // namespace nfx::tag_scan
