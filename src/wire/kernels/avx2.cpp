// The kernel for x86-64 with AVX2 and BMI: 32 bytes per vector.
#if defined(__x86_64__)
#include <immintrin.h>

#include "vector_kernel.hpp"
#include "x86_words.hpp"

namespace nfx::kernels {
namespace {

struct Vector {
  using type = __m256i;
  using Words = X86Words;
  static constexpr unsigned width = 32;

  static type zero() noexcept { return _mm256_setzero_si256(); }
  static type load(const void* p) noexcept { return _mm256_loadu_si256(static_cast<const type*>(p)); }
  static type both(type a, type b) noexcept { return _mm256_and_si256(a, b); }
  static type without(type a, type b) noexcept { return _mm256_andnot_si256(b, a); }
  static type equal(type a, type b) noexcept { return _mm256_cmpeq_epi8(a, b); }
  static type add(type a, type b) noexcept { return _mm256_add_epi8(a, b); }
  static type subtract(type a, type b) noexcept { return _mm256_sub_epi8(a, b); }
  static type add_saturated(type a, type b) noexcept { return _mm256_adds_epu8(a, b); }
  static std::uint32_t top_bits(type v) noexcept { return static_cast<std::uint32_t>(_mm256_movemask_epi8(v)); }

  // In each element of 32 bits.
  static type add_words(type a, type b) noexcept { return _mm256_add_epi32(a, b); }
  static type subtract_words(type a, type b) noexcept { return _mm256_sub_epi32(a, b); }
  // By this number of bits; zero for more than 31, and for a negative number.
  static type shift_down(type v, type bits) noexcept { return _mm256_srlv_epi32(v, bits); }
  // The sum of the products of its bytes; those of b are at most 127.
  static type dot(type a, type b, type one_in_16) noexcept {
    return _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), one_in_16);
  }
  // The four bytes at each place, in one half of the eight elements.
  static void put_words(type (&eight)[1], unsigned half, const char* p, const std::uint64_t (&place)[4]) noexcept {
    const __m128i words = four_words(p, place);
    eight[0] = half == 0 ? _mm256_castsi128_si256(words) : _mm256_inserti128_si256(eight[0], words, 1);
  }
  static Words pack(const type (&eight)[1]) noexcept {
    return {_mm_packus_epi32(_mm256_castsi256_si128(eight[0]), _mm256_extracti128_si256(eight[0], 1))};
  }

  // Only the low byte of the sum is used, so each element may wrap.
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
