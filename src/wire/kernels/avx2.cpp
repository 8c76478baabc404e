// The kernel for x86-64 with AVX2 and BMI: 32 bytes per vector.
#if defined(__x86_64__)
#include <immintrin.h>

#include "vector_kernel.hpp"

namespace nfx::kernels {
namespace {

struct Vector {
  using type = __m256i;
  static constexpr int width = 32;

  static type zero() noexcept { return _mm256_setzero_si256(); }
  static type load(const void* p) noexcept { return _mm256_loadu_si256(static_cast<const type*>(p)); }
  static void store(void* p, type v) noexcept { _mm256_storeu_si256(static_cast<type*>(p), v); }
  static type both(type a, type b) noexcept { return _mm256_and_si256(a, b); }
  static type either(type a, type b) noexcept { return _mm256_or_si256(a, b); }
  static type add(type a, type b) noexcept { return _mm256_add_epi8(a, b); }
  static type subtract(type v, char c) noexcept { return _mm256_sub_epi8(v, _mm256_set1_epi8(c)); }
  static type above_nine(type v) noexcept { return _mm256_subs_epu8(v, _mm256_set1_epi8(9)); }
  static bool is_zero(type v) noexcept { return _mm256_testz_si256(v, v) != 0; }

  static std::uint64_t equal_bits(type v, char c) noexcept {
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, _mm256_set1_epi8(c))));
  }

  // A byte of all ones for each of the low 32 bits.
  static type from_bits(std::uint64_t bits) noexcept {
    const type which = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const type bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(bits)), which);
    const type bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201));
    return _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit);
  }

  // v moved up by one byte, the last of `before` below it.
  static type shift_in(type before, type v) noexcept {
    return _mm256_alignr_epi8(v, _mm256_permute2x128_si256(before, v, 0x21), 15);
  }

  static type times_ten(type v) noexcept {
    const __m128i table = _mm_setr_epi8(0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 0, 0, 0, 0, 0, 0);
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), v);
  }

  // Only the low byte of the sum is used, so each lane may wrap.
  static std::uint8_t total(type sums) noexcept {
    const __m128i half = _mm_add_epi8(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    const __m128i quarters = _mm_sad_epu8(half, _mm_setzero_si128());
    return static_cast<std::uint8_t>(_mm_cvtsi128_si32(quarters) + _mm_extract_epi16(quarters, 4));
  }
};

}  // namespace

const KernelTable avx2 = VectorKernel<Vector>::table("avx2");

}  // namespace nfx::kernels

#endif
