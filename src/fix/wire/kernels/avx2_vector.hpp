// 32 bytes with AVX2, for the vector kernels of x86-64.
#pragma once

#include <immintrin.h>

#include "vector_kernel.hpp"
#include "x86_words.hpp"

namespace nfx::kernels {
namespace {

struct Avx2Vector {
  using type = __m256i;
  using Fields = Avx2Vector;
  using Words = X86Words;
  static constexpr unsigned width = 32;

  static type pattern(const Pattern& p) noexcept { return load(p.bytes); }
  static std::uint64_t equal_bits(type a, type b) noexcept { return top_bits(equal(a, b)); }

  static type zero() noexcept { return _mm256_setzero_si256(); }
  static type load(const void* p) noexcept { return _mm256_loadu_si256(static_cast<const type*>(p)); }
  static type both(type a, type b) noexcept { return _mm256_and_si256(a, b); }
  static type either(type a, type b) noexcept { return _mm256_or_si256(a, b); }
  static type without(type a, type b) noexcept { return _mm256_andnot_si256(b, a); }
  static type equal(type a, type b) noexcept { return _mm256_cmpeq_epi8(a, b); }
  static type add(type a, type b) noexcept { return _mm256_add_epi8(a, b); }
  static type subtract(type a, type b) noexcept { return _mm256_sub_epi8(a, b); }
  static type add_saturated(type a, type b) noexcept { return _mm256_adds_epu8(a, b); }
  static std::uint32_t top_bits(type v) noexcept { return static_cast<std::uint32_t>(_mm256_movemask_epi8(v)); }

  // For each 32-bit element.
  static std::uint32_t top_of_words(type v) noexcept {
    return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(v)));
  }
  static type add_words(type a, type b) noexcept { return _mm256_add_epi32(a, b); }
  // The weights of a tag's digits, given eight times their number: the weights of three digits without the first ones.
  // A shift by a negative number, above 31 as unsigned, gives zero.
  static const std::uint8_t* each_digit(const Constants& constant) noexcept { return constant.eight.bytes; }
  static constexpr int digit_shift = 3;
  static type weights(type sizes, const Constants& constant) noexcept {
    return _mm256_srlv_epi32(load(constant.weights.bytes), _mm256_sub_epi32(load(constant.three_bytes.bytes), sizes));
  }
  // The sum of the products of the bytes. Bytes of b are at most 127.
  static type dot(type a, type b, type one_in_16) noexcept {
    return _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), one_in_16);
  }
  // The four bytes at each of eight positions.
  template <class Position>
  static void put_words(type (&eight)[1], const char* p, const Position* places) noexcept {
    eight[0] = _mm256_inserti128_si256(_mm256_castsi128_si256(four_words(p, places)), four_words(p, places + 4), 1);
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
}  // namespace nfx::kernels
