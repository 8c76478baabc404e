// The kernel for x86-64 with AVX-512 F, BW, DQ, VL and VBMI2. It equals the AVX2 kernel, but finds the positions of all
// SOH of 32 bytes together: vpcompressb compresses 0, 1, 2, ... under the mask of SOH. vpcompressb on 64 bytes is no
// faster for messages in a row, and made an order between other work 10 % slower on an Intel processor (Sapphire
// Rapids), because the clock is slower for a while afterwards. Comparing 64 bytes has no such cost.
#if defined(__x86_64__)
#include "avx512_vector.hpp"

namespace nfx::kernels {
namespace {

struct Bytes32 {
  alignas(32) std::uint8_t at[32];
};

constexpr Bytes32 ascending() noexcept {
  Bytes32 bytes{};
  for (unsigned i = 0; i < 32; ++i) bytes.at[i] = static_cast<std::uint8_t>(i);
  return bytes;
}
constexpr Bytes32 zero_to_31 = ascending();

struct CompressingVector : Avx2Vector {
  // The positions of the first eight bits of `soh`, plus `base`; further elements are arbitrary.
  template <class Position>
  static void put_eight_places(Position* to, std::uint32_t base, std::uint32_t soh) noexcept {
    const __m128i places = _mm256_castsi256_si128(_mm256_maskz_compress_epi8(soh, load(zero_to_31.at)));
    if constexpr (sizeof(Position) == 2) {
      const __m128i words = _mm_cvtepu8_epi16(places);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_add_epi16(words, _mm_set1_epi16(static_cast<short>(base))));
    } else {
      const __m256i words = _mm256_cvtepu8_epi32(places);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), add_words(words, _mm256_set1_epi32(static_cast<int>(base))));
    }
  }
};

}  // namespace

const KernelTable avx512{"avx512", VectorKernel<CompressingVector>::index_fields,
                         VectorKernel<CompressingVector>::index_wide_fields, VectorKernel<Avx512Vector>::check_sum,
                         VectorKernel<Avx512Vector>::scan_soh};

}  // namespace nfx::kernels

#endif
