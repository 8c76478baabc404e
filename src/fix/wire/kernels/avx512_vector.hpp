// 64 bytes with AVX-512 F, BW, DQ and VL, for the vector kernels of x86-64; fields are read as with AVX2.
#pragma once

#include "avx2_vector.hpp"

namespace nfx::kernels {
namespace {

struct Avx512Vector {
  using type = __m512i;
  using Fields = Avx2Vector;
  using Words = X86Words;
  static constexpr unsigned width = 64;

  static type pattern(const Pattern& p) noexcept { return _mm512_broadcast_i64x4(Avx2Vector::load(p.bytes)); }
  static std::uint64_t equal_bits(type a, type b) noexcept { return _mm512_cmpeq_epi8_mask(a, b); }

  static type zero() noexcept { return _mm512_setzero_si512(); }
  static type load(const void* p) noexcept { return _mm512_loadu_si512(p); }
  static type both(type a, type b) noexcept { return _mm512_and_si512(a, b); }
  static type add(type a, type b) noexcept { return _mm512_add_epi8(a, b); }

  // Only the low byte of the sum is used, so each element may wrap.
  static std::uint8_t total(type sums) noexcept {
    return Avx2Vector::total(_mm256_add_epi8(_mm512_castsi512_si256(sums), _mm512_extracti64x4_epi64(sums, 1)));
  }
};

}  // namespace
}  // namespace nfx::kernels
