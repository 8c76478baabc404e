// Takes the place of the compiler's header of the same name: the intrinsics that the kernels for AVX-512 use, in
// portable code, so that these kernels run on any machine. SIMDe has most; what it lacks is here, element by element.
#pragma once

#define SIMDE_NO_NATIVE
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx2.h>
#include <simde/x86/avx512.h>
#include <simde/x86/sse4.2.h>

#include <cstdint>
#include <cstring>

using __mmask32 = simde__mmask32;
using __mmask64 = simde__mmask64;

namespace nfx::test::simulated {

template <class Element>
struct Elements {
  static constexpr int count = 64 / int{sizeof(Element)};
  Element at[count];
};

template <class Element>
inline Elements<Element> elements(simde__m512i v) noexcept {
  Elements<Element> result;
  std::memcpy(result.at, &v, sizeof v);
  return result;
}

template <class Element>
inline simde__m512i vector_of(const Elements<Element>& some) noexcept {
  simde__m512i v;
  std::memcpy(&v, some.at, sizeof v);
  return v;
}

inline simde__m512i compress_bytes(std::uint64_t mask, simde__m512i v) noexcept {
  const auto from = elements<std::uint8_t>(v);
  Elements<std::uint8_t> to{};
  for (int i = 0, next = 0; i < 64; ++i) {
    if ((mask >> i & 1) != 0) to.at[next++] = from.at[i];
  }
  return vector_of(to);
}

// Bytes outside of the mask are not touched.
inline simde__m512i load_bytes(std::uint64_t mask, const void* p) noexcept {
  Elements<std::uint8_t> to{};
  for (int i = 0; i < 64; ++i) {
    if ((mask >> i & 1) != 0) to.at[i] = static_cast<const std::uint8_t*>(p)[i];
  }
  return vector_of(to);
}

inline std::uint32_t equal_words(std::uint32_t mask, simde__m512i a, simde__m512i b) noexcept {
  const auto as = elements<std::uint16_t>(a), bs = elements<std::uint16_t>(b);
  std::uint32_t equal = 0;
  for (int i = 0; i < 32; ++i) equal |= std::uint32_t{as.at[i] == bs.at[i]} << i;
  return equal & mask;
}

inline long long sum_of_quads(simde__m512i v) noexcept {
  const auto quads = elements<std::uint64_t>(v);
  std::uint64_t sum = 0;
  for (const std::uint64_t quad : quads.at) sum += quad;
  return static_cast<long long>(sum);
}

// SIMDe 0.7.4 takes one half without common bits for two.
inline int no_common_bits(simde__m128i a, simde__m128i b) noexcept {
  std::uint64_t as[2], bs[2];
  std::memcpy(as, &a, sizeof a);
  std::memcpy(bs, &b, sizeof b);
  return ((as[0] & bs[0]) | (as[1] & bs[1])) == 0 ? 1 : 0;
}

inline std::uint64_t low_bits(std::uint64_t bits, unsigned count) noexcept {
  return (count & 0xFF) >= 64 ? bits : bits & ((std::uint64_t{1} << (count & 0xFF)) - 1);
}

}  // namespace nfx::test::simulated

#undef _mm_testz_si128
#define _mm_testz_si128(a, b) nfx::test::simulated::no_common_bits(a, b)
#undef _mm512_maskz_compress_epi8
#define _mm512_maskz_compress_epi8(mask, v) nfx::test::simulated::compress_bytes(mask, v)
#undef _mm512_maskz_loadu_epi8
#define _mm512_maskz_loadu_epi8(mask, p) nfx::test::simulated::load_bytes(mask, p)
#undef _mm512_mask_cmpeq_epi16_mask
#define _mm512_mask_cmpeq_epi16_mask(mask, a, b) nfx::test::simulated::equal_words(mask, a, b)
// Its own names for these two take one argument too many.
#undef _mm512_mask_cmple_epu16_mask
#define _mm512_mask_cmple_epu16_mask(mask, a, b) simde_mm512_mask_cmple_epu16_mask(mask, a, b)
#undef _mm512_mask_cmpge_epu16_mask
#define _mm512_mask_cmpge_epu16_mask(mask, a, b) simde_mm512_mask_cmpge_epu16_mask(mask, a, b)
#undef _mm512_reduce_add_epi64
#define _mm512_reduce_add_epi64(v) nfx::test::simulated::sum_of_quads(v)
#define _bzhi_u64(bits, count) nfx::test::simulated::low_bits(bits, count)
#define _tzcnt_u64(bits) static_cast<std::uint64_t>(__builtin_ctzll(bits))  // never of no bits
#define _mm_popcnt_u64(bits) __builtin_popcountll(bits)
