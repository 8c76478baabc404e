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

inline simde__m256i compress_bytes(std::uint32_t mask, simde__m256i v) noexcept {
  std::uint8_t from[32], to[32] = {};
  std::memcpy(from, &v, sizeof v);
  for (int i = 0, next = 0; i < 32; ++i) {
    if ((mask >> i & 1) != 0) to[next++] = from[i];
  }
  std::memcpy(&v, to, sizeof v);
  return v;
}

// SIMDe 0.7.4 takes one half without common bits for two.
inline int no_common_bits(simde__m128i a, simde__m128i b) noexcept {
  std::uint64_t as[2], bs[2];
  std::memcpy(as, &a, sizeof a);
  std::memcpy(bs, &b, sizeof b);
  return ((as[0] & bs[0]) | (as[1] & bs[1])) == 0 ? 1 : 0;
}

}  // namespace nfx::test::simulated

#undef _mm_testz_si128
#define _mm_testz_si128(a, b) nfx::test::simulated::no_common_bits(a, b)
#undef _mm256_maskz_compress_epi8
#define _mm256_maskz_compress_epi8(mask, v) nfx::test::simulated::compress_bytes(mask, v)
