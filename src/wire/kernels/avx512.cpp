// The kernel for x86-64 with AVX-512 F, BW, DQ, VL, VBMI and VBMI2: 64 bytes per load, and no loop over fields.
//
// Positions are 0, 1, 2, ... compressed by vpcompressb under a mask. A tag is computed at every byte, as if an '=' were
// there, and the valid ones are compressed:
//
//   bytes         |  5  4  1  =  |       '=' at p
//   digits  w     0  5  4  1  0  0       zero outside of tags
//   pairs   w(p) + 10 w(p-1)             low = pair(p-1) = 41, high = pair(p-3) = 5: the tag is 100 high + low
//
// Tags of five digits are fixed up individually. Empty values (the digits of two tags would be adjacent), length fields
// whose data differs, and malformed messages are left to the sequential indexer.
#if defined(__x86_64__)
#include <immintrin.h>

#include "field_masks.hpp"

namespace nfx::kernels {
namespace {

// Compilers tend to keep bit masks in mask registers, where shifts and additions are slow. This moves one to a general
// register.
#define NFX_IN_GENERAL_REGISTER(x) asm("" : "+r"(x))

struct alignas(64) Bytes64 {
  std::uint8_t at[64];
};

struct alignas(64) Words64 {
  std::uint16_t at[64];
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

// A perfect hash of 64 entries with the length tags of common messages. Unused entries hold a number that hashes to
// another entry, so it is never found. All other length tags are in two ranges, where every tag is checked again.
constexpr std::uint32_t place_factor = 611;
constexpr std::uint32_t rare_from = 1578, rare_to = 2815;
constexpr std::uint32_t rarest_from = 40'004;

constexpr std::uint32_t place_of(std::uint32_t tag) noexcept { return (tag * place_factor & 0xFFFF) >> 10; }

constexpr Words64 make_length_tag_places() noexcept {
  Words64 table{};
  for (std::uint32_t place = 0; place < 64; ++place) table.at[place] = place == place_of(0) ? 0xFFFF : 0;
  for (std::uint32_t tag = 0; tag < rare_from; ++tag) {
    if (data_tag_of(Tag{static_cast<std::int32_t>(tag)}) == Tag{0}) continue;
    table.at[place_of(tag)] = static_cast<std::uint16_t>(tag);
  }
  return table;
}

constexpr Bytes64 iota = ascending(0);
constexpr Bytes64 one_before = ascending(63);  // into {previous, current}: byte i of the result is byte i - 1
constexpr Bytes64 three_before = ascending(61);
constexpr Bytes64 times_ten = make_times_ten();
constexpr Words64 length_tag_places = make_length_tag_places();

// That every kernel handles the rare ones is shown by a test: so many are too much for some compilers.
constexpr bool no_common_length_tag_is_missed() noexcept {
  for (std::uint32_t tag = 0; tag < rare_from; ++tag) {
    const bool found = length_tag_places.at[place_of(tag)] == tag;
    if (found != (data_tag_of(Tag{static_cast<std::int32_t>(tag)}) != Tag{0})) return false;
  }
  return true;
}
static_assert(no_common_length_tag_is_missed());

[[gnu::always_inline]] inline __m512i load(const void* p) noexcept { return _mm512_load_si512(p); }

[[gnu::always_inline]] inline __m512i load_any(const void* p) noexcept { return _mm512_loadu_si512(p); }

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

// Only the low byte of the sum is used, so each element may wrap.
[[gnu::always_inline]] inline std::uint8_t total(__m512i sums) noexcept {
  return static_cast<std::uint8_t>(_mm512_reduce_add_epi64(_mm512_sad_epu8(sums, _mm512_setzero_si512())));
}

[[gnu::always_inline]] inline bool any_length_tag(const std::uint16_t* tags, std::uint32_t count) noexcept {
  const __m512i places0 = load(length_tag_places.at);
  const __m512i places1 = load(length_tag_places.at + 32);
  __mmask32 found = 0;
  for (std::uint32_t i = 0; i < count; i += 32) {
    const __m512i some = _mm512_loadu_si512(tags + i);
    const __m512i place = _mm512_srli_epi16(_mm512_mullo_epi16(some, _mm512_set1_epi16(place_factor)), 10);
    const __m512i there = _mm512_permutex2var_epi16(places0, place, places1);
    const auto here = static_cast<__mmask32>(first_bits(count - i));
    found |= _mm512_mask_cmpeq_epi16_mask(here, there, some);
    found |= _mm512_mask_cmple_epu16_mask(here, _mm512_sub_epi16(some, _mm512_set1_epi16(rare_from)),
                                          _mm512_set1_epi16(rare_to - rare_from));
    found |= _mm512_mask_cmpge_epu16_mask(here, some, _mm512_set1_epi16(static_cast<short>(rarest_from)));
  }
  return found != 0;
}

// State carried from block to block.
struct Indexer {
  const char* message;
  FieldArrays out;
  FieldMasker masker;
  __m512i sums = _mm512_setzero_si512();
  __m512i digits_before = _mm512_setzero_si512();
  __m512i pairs_before = _mm512_setzero_si512();
  __m512i largest_digits = _mm512_setzero_si512();
  std::uint64_t empty = 0;
  std::uint32_t ends = 0;
  std::uint32_t begins = 0;

  // False when the sequential indexer must decide.
  [[gnu::always_inline]] bool add(__m512i v, std::size_t at, __mmask64 inside) noexcept {
    sums = _mm512_add_epi8(sums, v);
    std::uint64_t soh = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('\x01'));
    std::uint64_t equals = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('='));
    NFX_IN_GENERAL_REGISTER(soh);
    NFX_IN_GENERAL_REGISTER(equals);
    FieldMasks masks = masker(soh, equals, inside);
    NFX_IN_GENERAL_REGISTER(masks.first);
    empty |= masks.empty;

    const __m512i by_one = load(one_before.at);
    const __m512i digits = _mm512_maskz_sub_epi8(masks.tags, v, _mm512_set1_epi8('0'));
    const __m512i before = _mm512_permutex2var_epi8(digits_before, by_one, digits);
    const __m512i pairs = _mm512_add_epi8(digits, _mm512_shuffle_epi8(load(times_ten.at), before));
    const __m512i low = _mm512_permutex2var_epi8(pairs_before, by_one, pairs);
    const __m512i high = _mm512_permutex2var_epi8(pairs_before, load(three_before.at), pairs);
    digits_before = digits;
    pairs_before = pairs;
    largest_digits = _mm512_max_epu8(largest_digits, digits);

    const __m512i positions = load(iota.at);
    const __m256i base = _mm256_set1_epi16(static_cast<short>(at));
    const __m256i after = _mm256_set1_epi16(static_cast<short>(at + 1));
    put_positions(_mm512_maskz_compress_epi8(soh, positions), base, out.ends + ends);
    put_positions(_mm512_maskz_compress_epi8(masks.first, positions), after, out.begins + begins);
    put_tags(_mm512_maskz_compress_epi8(masks.first, low), _mm512_maskz_compress_epi8(masks.first, high),
             out.tags + begins);
    const auto end_count = static_cast<std::uint32_t>(_mm_popcnt_u64(soh));
    const auto begin_count = static_cast<std::uint32_t>(_mm_popcnt_u64(masks.first));
    if (masks.long_tags != 0 && !put_long_tags(message, at, masks.long_tags, masks.first, out.tags + begins))
        [[unlikely]] {
      return false;
    }
    ends += end_count;
    begins += begin_count;
    return end_count <= most_per_block && begin_count <= most_per_block && ends <= out.capacity;
  }

  [[gnu::always_inline]] bool ok() const noexcept {
    return ends == begins && empty == 0 && _mm512_cmpgt_epu8_mask(largest_digits, _mm512_set1_epi8(9)) == 0 &&
           (!any_length_tag(out.tags, ends) || data_lengths_agree(message, out, ends));
  }

  static constexpr std::uint32_t most_per_block = 16;  // fields of four bytes; only empty values allow more
};

IndexResult index_fields(const char* message, std::size_t size, const FieldArrays& out) noexcept {
  if (size == 0 || message[size - 1] != '\x01') return scalar.index_fields(message, size, out);
  Indexer indexer{message, out, {}};
  std::size_t at = 0;
  for (; size - at >= 64; at += 64) {
    if (!indexer.add(load_any(message + at), at, ~__mmask64{0})) [[unlikely]]
      return scalar.index_fields(message, size, out);
  }
  if (at != size) {
    const __mmask64 inside = first_bits(size - at);
    if (!indexer.add(_mm512_maskz_loadu_epi8(inside, message + at), at, inside)) [[unlikely]]
      return scalar.index_fields(message, size, out);
  }
  if (!indexer.ok()) [[unlikely]]
    return scalar.index_fields(message, size, out);
  return {WireError::none, total(indexer.sums), false, false, indexer.ends};
}

// Large messages and tags above 16 bits are rare: they use the vectors of half the width.
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
