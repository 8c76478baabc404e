// The kernel for x86-64 with SSE4.2 and POPCNT: 16 bytes per vector.
#if defined(__x86_64__)
#include <nmmintrin.h>

#include "vector_kernel.hpp"
#include "x86_words.hpp"

namespace nfx::kernels {
namespace {

struct Vector {
  using type = __m128i;
  using Fields = Vector;
  using Words = X86Words;
  static constexpr unsigned width = 16;

  static type pattern(const Pattern& p) noexcept { return load(p.bytes); }
  static std::uint64_t equal_bits(type a, type b) noexcept { return top_bits(equal(a, b)); }

  static type zero() noexcept { return _mm_setzero_si128(); }
  static type load(const void* p) noexcept { return _mm_loadu_si128(static_cast<const type*>(p)); }
  static type both(type a, type b) noexcept { return _mm_and_si128(a, b); }
  static type either(type a, type b) noexcept { return _mm_or_si128(a, b); }
  static type without(type a, type b) noexcept { return _mm_andnot_si128(b, a); }
  static type equal(type a, type b) noexcept { return _mm_cmpeq_epi8(a, b); }
  static type add(type a, type b) noexcept { return _mm_add_epi8(a, b); }
  static type subtract(type a, type b) noexcept { return _mm_sub_epi8(a, b); }
  static type add_saturated(type a, type b) noexcept { return _mm_adds_epu8(a, b); }
  static std::uint32_t top_bits(type v) noexcept { return static_cast<std::uint32_t>(_mm_movemask_epi8(v)); }

  // For each 32-bit element.
  static std::uint32_t top_of_words(type v) noexcept {
    return static_cast<std::uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(v)));
  }
  static type add_words(type a, type b) noexcept { return _mm_add_epi32(a, b); }
  // The weights of a tag's digits, given four times their number: a row of a table.
  static const std::uint8_t* each_digit(const Constants& constant) noexcept { return constant.four.bytes; }
  static constexpr int digit_shift = 2;
  static type weights(type sizes, const Constants& constant) noexcept {
    const type lowest = _mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
    const type row = _mm_add_epi8(_mm_shuffle_epi8(sizes, lowest), load(constant.row.bytes));
    return _mm_shuffle_epi8(load(constant.weight_rows), row);
  }
  // The sum of the products of the bytes. Bytes of b are at most 127.
  static type dot(type a, type b, type one_in_16) noexcept {
    return _mm_madd_epi16(_mm_maddubs_epi16(a, b), one_in_16);
  }
  // The four bytes at each of eight positions.
  template <class Position>
  static void put_words(type (&eight)[2], const char* p, const Position* places) noexcept {
    eight[0] = four_words(p, places);
    eight[1] = four_words(p, places + 4);
  }
  static Words pack(const type (&eight)[2]) noexcept { return {_mm_packus_epi32(eight[0], eight[1])}; }

  // Only the low byte of the sum is used, so each element may wrap.
  static std::uint8_t total(type sums) noexcept {
    const type halves = _mm_sad_epu8(sums, zero());
    return static_cast<std::uint8_t>(_mm_cvtsi128_si32(halves) + _mm_extract_epi16(halves, 4));
  }
};

}  // namespace

const KernelTable sse42 = VectorKernel<Vector>::table("sse42");

}  // namespace nfx::kernels

#endif
