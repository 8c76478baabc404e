// The first place of a tag among the first fields of a message, many tags per comparison.
// Every machine of the architecture can do it, so it is chosen by the compiler and not at run time.
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace nfx {

inline constexpr std::uint32_t tags_per_step = 32;

// A bit for each of the 32 tags that equals `tag`, the first lowest. `tags` is aligned to 64 bytes.
[[nodiscard]] inline std::uint32_t equal_tags(const std::uint16_t* tags, std::uint16_t tag) noexcept {
#if defined(__SSE2__)
  const __m128i wanted = _mm_set1_epi16(static_cast<short>(tag));
  const auto equal = [&](int from) {
    return _mm_cmpeq_epi16(_mm_load_si128(reinterpret_cast<const __m128i*>(tags + from)), wanted);
  };
  const int low = _mm_movemask_epi8(_mm_packs_epi16(equal(0), equal(8)));
  const int high = _mm_movemask_epi8(_mm_packs_epi16(equal(16), equal(24)));
  return static_cast<std::uint32_t>(low) | static_cast<std::uint32_t>(high) << 16;
#elif defined(__ARM_NEON)
  const uint16x8_t wanted = vdupq_n_u16(tag);
  const uint16x8_t bits = {1, 2, 4, 8, 16, 32, 64, 128};
  std::uint32_t result = 0;
  for (int from = 0; from < 32; from += 8) {
    const std::uint32_t eight = vaddvq_u16(vandq_u16(vceqq_u16(vld1q_u16(tags + from), wanted), bits));
    result |= eight << from;
  }
  return result;
#else
  std::uint32_t result = 0;
  for (std::uint32_t i = 0; i < tags_per_step; ++i) result |= static_cast<std::uint32_t>(tags[i] == tag) << i;
  return result;
#endif
}

}  // namespace nfx
