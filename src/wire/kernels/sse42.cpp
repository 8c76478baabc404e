// The kernel for x86-64 with SSE4.2 and POPCNT: 16 bytes per vector.
#if defined(__x86_64__)
#include <nmmintrin.h>

#include "vector_kernel.hpp"

namespace nfx::kernels {
namespace {

struct Vector {
  using type = __m128i;
  static constexpr int width = 16;

  static type zero() noexcept { return _mm_setzero_si128(); }
  static type load(const void* p) noexcept { return _mm_loadu_si128(static_cast<const type*>(p)); }
  static void store(void* p, type v) noexcept { _mm_storeu_si128(static_cast<type*>(p), v); }
  static type both(type a, type b) noexcept { return _mm_and_si128(a, b); }
  static type either(type a, type b) noexcept { return _mm_or_si128(a, b); }
  static type add(type a, type b) noexcept { return _mm_add_epi8(a, b); }
  static type subtract(type v, char c) noexcept { return _mm_sub_epi8(v, _mm_set1_epi8(c)); }
  static type above_nine(type v) noexcept { return _mm_subs_epu8(v, _mm_set1_epi8(9)); }
  static bool is_zero(type v) noexcept { return _mm_testz_si128(v, v) != 0; }

  static std::uint64_t equal_bits(type v, char c) noexcept {
    return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8(c))));
  }

  // A byte of all ones for each of the low 16 bits.
  static type from_bits(std::uint64_t bits) noexcept {
    const type bytes =
        _mm_shuffle_epi8(_mm_cvtsi32_si128(static_cast<int>(bits)), _mm_set_epi64x(0x0101010101010101, 0));
    const type bit = _mm_set1_epi64x(static_cast<long long>(0x8040201008040201));
    return _mm_cmpeq_epi8(_mm_and_si128(bytes, bit), bit);
  }

  // v moved up by one byte, the last of `before` below it.
  static type shift_in(type before, type v) noexcept { return _mm_alignr_epi8(v, before, 15); }

  static type times_ten(type v) noexcept {
    return _mm_shuffle_epi8(_mm_setr_epi8(0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 0, 0, 0, 0, 0, 0), v);
  }

  // Only the low byte of the sum is used, so each lane may wrap.
  static std::uint8_t total(type sums) noexcept {
    const type halves = _mm_sad_epu8(sums, zero());
    return static_cast<std::uint8_t>(_mm_cvtsi128_si32(halves) + _mm_extract_epi16(halves, 4));
  }
};

}  // namespace

const KernelTable sse42 = VectorKernel<Vector>::table("sse42");

}  // namespace nfx::kernels

#endif
