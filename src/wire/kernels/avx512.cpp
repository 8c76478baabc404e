// x86-64 with AVX-512 F, BW, DQ, VL, VBMI and VBMI2: 64 bytes a load, and no loop over fields at all.
//
// Positions are what vpcompressb leaves of 0, 1, 2, ... under a mask. A tag is computed at every byte at once, as if
// an '=' stood there, and the right ones are compressed out:
//
//   bytes         |  5  4  1  =  |       '=' at p
//   digits  w     0  5  4  1  0  0       zero outside of tags
//   pairs   w(p) + 10 w(p-1)             low = pair(p-1) = 41, high = pair(p-3) = 5: the tag is 100 high + low
//
// Tags of five digits are mended one by one. An empty value, which would let the digits of two tags touch, a length
// field whose data differs, and whatever is wrong go to the sequential reading.
#if defined(__x86_64__)
#include <immintrin.h>

#include "vector_kernel.hpp"

namespace nfx::kernels {
namespace {

// Compilers like to keep bit masks in mask registers, where shifting and adding is slow. This moves one over.
#define NFX_IN_GENERAL_REGISTER(x) asm("" : "+r"(x))

struct alignas(64) Bytes64 {
  std::uint8_t at[64];
};

// A byte table of 128 entries for the two registers of one permutation.
struct alignas(64) Bytes128 {
  std::uint8_t at[128];
};

constexpr Bytes64 ascending(int from) noexcept {
  Bytes64 bytes{};
  for (int i = 0; i < 64; ++i) bytes.at[i] = static_cast<std::uint8_t>((i + from) & 127);
  return bytes;
}

constexpr Bytes64 make_times_ten() noexcept {
  Bytes64 bytes{};
  for (int i = 0; i < 64; ++i) bytes.at[i] = static_cast<std::uint8_t>(i % 16 < 10 ? i % 16 * 10 : 0);
  return bytes;
}

// At low ^ 2 high of every length tag 100 high + low: its high. 255 where there is none.
constexpr Bytes128 make_length_highs() noexcept {
  Bytes128 table{};
  for (auto& high : table.at) high = 255;
  for (std::uint32_t tag = 0; tag <= 9999; ++tag) {
    if (data_tag_of(Tag{static_cast<std::int32_t>(tag)}) == Tag{0}) continue;
    table.at[(tag % 100 ^ tag / 100 * 2) & 127] = static_cast<std::uint8_t>(tag / 100);
  }
  return table;
}

constexpr Bytes64 iota = ascending(0);
constexpr Bytes64 one_before = ascending(63);  // into {previous, current}: byte i of the result is byte i - 1
constexpr Bytes64 three_before = ascending(61);
constexpr Bytes64 times_ten = make_times_ten();
constexpr Bytes128 length_highs = make_length_highs();

constexpr bool all_length_tags_have_their_own_place() noexcept {
  for (std::uint32_t tag = 0; tag <= 9999; ++tag) {
    if (data_tag_of(Tag{static_cast<std::int32_t>(tag)}) == Tag{0}) continue;
    if (length_highs.at[(tag % 100 ^ tag / 100 * 2) & 127] != tag / 100) return false;
  }
  return true;
}
static_assert(all_length_tags_have_their_own_place());

[[gnu::always_inline]] inline __m512i load(const std::uint8_t* p) noexcept { return _mm512_load_si512(p); }

[[gnu::always_inline]] inline __mmask64 first_bits(std::size_t count) noexcept {
  return count >= 64 ? ~__mmask64{0} : _bzhi_u64(~0ull, static_cast<unsigned>(count));
}

// The low 16 bytes of `bytes` as 16-bit numbers, plus `base`.
[[gnu::always_inline]] inline void put_positions(__m512i bytes, __m256i base, std::uint16_t* out) noexcept {
  const __m256i words = _mm256_cvtepu8_epi16(_mm512_castsi512_si128(bytes));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_add_epi16(words, base));
}

[[gnu::always_inline]] inline void put_tags(__m512i low, __m512i high, std::uint16_t* out) noexcept {
  const __m256i ones = _mm256_cvtepu8_epi16(_mm512_castsi512_si128(low));
  const __m256i hundreds = _mm256_cvtepu8_epi16(_mm512_castsi512_si128(high));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out),
                      _mm256_add_epi16(ones, _mm256_mullo_epi16(hundreds, _mm256_set1_epi16(100))));
}

// Only the low byte of the sum is wanted, so each lane may wrap.
[[gnu::always_inline]] inline std::uint8_t total(__m512i sums) noexcept {
  return static_cast<std::uint8_t>(_mm512_reduce_add_epi64(_mm512_sad_epu8(sums, _mm512_setzero_si512())));
}

IndexResult index_fields(const char* message, std::size_t size, const FieldArrays& out) noexcept {
  constexpr std::uint32_t most_per_block = 16;  // fields of four bytes; more are possible when values are empty
  if (size == 0 || message[size - 1] != '\x01') return scalar.index_fields(message, size, out);
  const __m512i zero = _mm512_setzero_si512();
  const __m512i positions = load(iota.at);
  const __m512i by_one = load(one_before.at);
  const __m512i by_three = load(three_before.at);
  const __m512i tens = load(times_ten.at);
  const __m512i highs0 = load(length_highs.at);
  const __m512i highs1 = load(length_highs.at + 64);
  FieldMasker masker;
  __m512i sums = zero;
  __m512i digits_before = zero;
  __m512i pairs_before = zero;
  std::uint64_t wrong = 0;
  std::uint64_t data = 0;
  std::uint32_t ends = 0;
  std::uint32_t begins = 0;
  for (std::size_t at = 0; at < size; at += 64) {
    const __mmask64 inside = first_bits(size - at);
    const __m512i v = _mm512_maskz_loadu_epi8(inside, message + at);
    sums = _mm512_add_epi8(sums, v);
    std::uint64_t soh = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('\x01'));
    std::uint64_t equals = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('='));
    NFX_IN_GENERAL_REGISTER(soh);
    NFX_IN_GENERAL_REGISTER(equals);
    FieldMasks masks = masker(soh, equals, inside);
    NFX_IN_GENERAL_REGISTER(masks.first);

    const __m512i digits = _mm512_maskz_sub_epi8(masks.tags, v, _mm512_set1_epi8('0'));
    const __m512i before = _mm512_permutex2var_epi8(digits_before, by_one, digits);
    const __m512i pairs = _mm512_add_epi8(digits, _mm512_shuffle_epi8(tens, before));
    const __m512i low = _mm512_permutex2var_epi8(pairs_before, by_one, pairs);
    const __m512i high = _mm512_permutex2var_epi8(pairs_before, by_three, pairs);
    digits_before = digits;
    pairs_before = pairs;
    wrong |= _mm512_cmpgt_epu8_mask(digits, _mm512_set1_epi8(9)) | masks.empty;
    const __m512i key = _mm512_xor_si512(low, _mm512_add_epi8(high, high));
    data |= _mm512_mask_cmpeq_epi8_mask(masks.first, _mm512_permutex2var_epi8(highs0, key, highs1), high);

    const __m256i base = _mm256_set1_epi16(static_cast<short>(at));
    const __m256i behind = _mm256_set1_epi16(static_cast<short>(at + 1));
    put_positions(_mm512_maskz_compress_epi8(soh, positions), base, out.ends + ends);
    put_positions(_mm512_maskz_compress_epi8(masks.first, positions), behind, out.begins + begins);
    put_tags(_mm512_maskz_compress_epi8(masks.first, low), _mm512_maskz_compress_epi8(masks.first, high),
             out.tags + begins);
    const auto end_count = static_cast<std::uint32_t>(_mm_popcnt_u64(soh));
    const auto begin_count = static_cast<std::uint32_t>(_mm_popcnt_u64(masks.first));
    if (masks.long_tags != 0 &&
        !put_long_tags<FieldArrays>(message + at, masks.long_tags, masks.first, out.tags + begins)) [[unlikely]] {
      return scalar.index_fields(message, size, out);
    }
    ends += end_count;
    begins += begin_count;
    if (end_count > most_per_block || begin_count > most_per_block || ends > out.capacity) [[unlikely]]
      return scalar.index_fields(message, size, out);
  }
  if (wrong != 0 || ends != begins || (data != 0 && !data_lengths_agree(message, out, ends))) [[unlikely]]
    return scalar.index_fields(message, size, out);
  return {WireError::none, total(sums), false, ends};
}

// Large messages and tags beyond 16 bits are rare enough for the vectors of half the width.
IndexResult index_wide_fields(const char* message, std::size_t size, const WideFieldArrays& out) noexcept {
  return avx2.index_wide_fields(message, size, out);
}

std::uint8_t check_sum(const char* bytes, std::size_t size) noexcept {
  __m512i sums = _mm512_setzero_si512();
  for (std::size_t at = 0; at < size; at += 64) {
    const __m512i v = _mm512_maskz_loadu_epi8(first_bits(size - at), bytes + at);
    sums = _mm512_add_epi8(sums, v);
  }
  return total(sums);
}

const char* scan_soh(const char* bytes, std::size_t size) noexcept {
  for (std::size_t at = 0; at < size; at += 64) {
    const __m512i v = _mm512_maskz_loadu_epi8(first_bits(size - at), bytes + at);
    const std::uint64_t soh = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('\x01'));
    if (soh != 0) return bytes + at + _tzcnt_u64(soh);
  }
  return bytes + size;
}

}  // namespace

const KernelTable avx512{"avx512", index_fields, index_wide_fields, check_sum, scan_soh};

}  // namespace nfx::kernels

#endif
