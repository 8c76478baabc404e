// Eight 16-bit numbers with SSE4.1, in which the x86-64 kernels store results for eight fields, and the words that they
// read.
#pragma once

#include <smmintrin.h>

#include <cstdint>

namespace nfx::kernels {
namespace {

struct X86Words {
  __m128i v;

  static X86Words all(std::uint16_t number) noexcept { return {_mm_set1_epi16(static_cast<short>(number))}; }
  static X86Words load(const void* p) noexcept { return {_mm_loadu_si128(static_cast<const __m128i*>(p))}; }
  static X86Words add(X86Words a, X86Words b) noexcept { return {_mm_add_epi16(a.v, b.v)}; }
  static X86Words both(X86Words a, X86Words b) noexcept { return {_mm_and_si128(a.v, b.v)}; }
  static X86Words either(X86Words a, X86Words b) noexcept { return {_mm_or_si128(a.v, b.v)}; }
  template <int bits>
  static X86Words shift_down(X86Words a) noexcept {
    return {_mm_srli_epi16(a.v, bits)};
  }
  // The table's entry at each low byte; indexes are below 16.
  static X86Words look_up(const std::uint8_t* table, X86Words index) noexcept {
    return {_mm_shuffle_epi8(_mm_load_si128(reinterpret_cast<const __m128i*>(table)), index.v)};
  }
  // Whether any low byte is not zero.
  static bool any(X86Words a) noexcept { return _mm_testz_si128(a.v, _mm_set1_epi16(0xFF)) == 0; }
  static void store(std::uint16_t* to, X86Words a) noexcept { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), a.v); }
};

[[gnu::always_inline]] inline int word_at(const char* p) noexcept {
  int word;
  __builtin_memcpy(&word, p, sizeof word);
  return word;
}

// The four bytes at each of four positions, one element each.
template <class Position>
[[gnu::always_inline]] inline __m128i four_words(const char* p, const Position* place) noexcept {
  __m128i words = _mm_cvtsi32_si128(word_at(p + place[0]));
  words = _mm_insert_epi32(words, word_at(p + place[1]), 1);
  words = _mm_insert_epi32(words, word_at(p + place[2]), 2);
  return _mm_insert_epi32(words, word_at(p + place[3]), 3);
}

}  // namespace
}  // namespace nfx::kernels
