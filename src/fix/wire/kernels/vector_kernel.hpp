// The generic body of the kernels with vectors of 16 bytes and more. A thin layer per instruction set, Vector, provides
// the type and its operations; see avx2.cpp. Unusual and malformed messages are left to the sequential indexer.
//
// First the positions of SOH are stored: a block of 64 bytes gives one bit for each byte. Then the fields after eight
// of them are read together, each in a 32-bit element:
//
//   word       5  4  1  =      the four bytes after the SOH
//   before    FF FF FF 00      the bytes before the first '=', and always the first byte
//   digits     5  4  1  0
//   weights  100 10  1  0      by the number of digits
//   tag      500+40+1+0
//
// Tags of four and more digits are read individually.
#pragma once

#include "field_indexer.hpp"
#include "ordinary_envelope.hpp"

namespace nfx::kernels {
namespace {

[[gnu::always_inline]] inline std::uint64_t low_bits(std::uint64_t bits, std::uint32_t count) noexcept {
#if defined(__BMI2__)
  return __builtin_ia32_bzhi_di(bits, count);
#else
  return count >= 64 ? bits : bits & ((std::uint64_t{1} << count) - 1);
#endif
}

// Any number if no bit is set.
[[gnu::always_inline]] inline std::uint32_t lowest_bit(std::uint32_t bits) noexcept {
#if defined(__x86_64__)
  // On processors without tzcnt this executes bsf, which has the same result for a non-zero operand. The compiler's own
  // code clears the result first, for processors that wait for its previous value.
  std::uint32_t place;
  asm("tzcnt %1, %0" : "=r"(place) : "r"(bits) : "cc");
  return place;
#else
  return static_cast<std::uint32_t>(__builtin_ctzll(bits | std::uint64_t{1} << 32));
#endif
}

// Constants for comparing and combining vectors. A kernel reads them through a pointer that the compiler cannot see
// through; otherwise the compiler would recreate them for every eight fields.
struct alignas(32) Pattern {
  std::uint8_t bytes[32];
};

// `bytes` in each element, lowest byte first.
constexpr Pattern in_each_element(std::uint32_t bytes) noexcept {
  Pattern pattern{};
  for (unsigned i = 0; i < 32; ++i) pattern.bytes[i] = static_cast<std::uint8_t>(bytes >> i % 4 * 8);
  return pattern;
}

// The length tags of up to three digits. Each value of the upper two hexadecimal digits has a bit; a tag is a length
// tag if the entries of its three hexadecimal digits have a bit in common.
struct alignas(16) ShortLengthTags {
  std::uint8_t low[16], middle[16], high[16];

  static constexpr std::uint32_t limit = 1000;
};

constexpr ShortLengthTags make_short_length_tags() noexcept {
  ShortLengthTags tags{};
  std::uint32_t upper = 0;
  unsigned bit = 0;
  for (std::uint32_t tag = 0; tag < ShortLengthTags::limit; ++tag) {
    if (data_tag_of(Tag{static_cast<std::int32_t>(tag)}) == Tag{0}) continue;
    bit = bit == 0 ? 1 : tag >> 4 == upper ? bit : bit << 1;
    upper = tag >> 4;
    if (bit > 128) return {};  // makes short_length_tags_are_all_found() false
    tags.low[tag & 15] = static_cast<std::uint8_t>(tags.low[tag & 15] | bit);
    tags.middle[upper & 15] = static_cast<std::uint8_t>(tags.middle[upper & 15] | bit);
    tags.high[upper >> 4] = static_cast<std::uint8_t>(tags.high[upper >> 4] | bit);
  }
  return tags;
}

struct Constants {
  Pattern soh = in_each_element(0x01010101);
  Pattern equals = in_each_element(0x3D3D3D3D);
  Pattern not_first = in_each_element(0xFFFFFF00);
  Pattern zero = in_each_element(0x30303030);
  Pattern minus_one = in_each_element(0xFFFFFFFF);
  Pattern eight = in_each_element(0x08080808);
  Pattern four = in_each_element(0x04040404);
  Pattern one_each = in_each_element(0x01010101);
  Pattern one_in_16 = in_each_element(0x00010001);
  Pattern two_in_16 = in_each_element(0x00020002);
  Pattern fifteen_in_16 = in_each_element(0x000F000F);
  Pattern above_nine = in_each_element(0x76767676);  // sets the top bit when added to more than 9
  // For the digits of a tag: see Vector::weights().
  Pattern three_bytes = in_each_element(24);
  Pattern weights = in_each_element(0x00010A64);
  Pattern row = in_each_element(0xFFFEFDFC);  // from four times the number to the bytes of its row
  std::uint8_t weight_rows[16] = {1, 0, 0, 0, 10, 1, 0, 0, 100, 10, 1, 0, 0, 0, 0, 0};
  ShortLengthTags length_tags = make_short_length_tags();
  std::uint8_t head[128] = {};  // 64 bytes of ones, then zeros: loaded at 64 - n, it keeps the first n of 64

  constexpr Constants() noexcept {
    for (unsigned i = 0; i < 64; ++i) head[i] = 0xFF;
  }
};
alignas(64) constexpr Constants constants;

constexpr bool short_length_tags_are_all_found() noexcept {
  const ShortLengthTags& tags = constants.length_tags;
  for (std::uint32_t tag = 0; tag < ShortLengthTags::limit; ++tag) {
    const bool found = (tags.low[tag & 15] & tags.middle[tag >> 4 & 15] & tags.high[tag >> 8]) != 0;
    if (found != (data_tag_of(Tag{static_cast<std::int32_t>(tag)}) != Tag{0})) return false;
  }
  return true;
}
static_assert(short_length_tags_are_all_found());

// 64 bytes in registers.
template <class Vector>
struct Block {
  static constexpr unsigned parts = 64 / Vector::width;
  typename Vector::type part[parts];

  [[gnu::always_inline]] static Block load(const void* bytes) noexcept {
    Block block;
    for (unsigned i = 0; i < parts; ++i)
      block.part[i] = Vector::load(static_cast<const char*>(bytes) + i * Vector::width);
    return block;
  }

  [[gnu::always_inline]] std::uint64_t soh(const Constants& constant) const noexcept {
    const auto wanted = Vector::pattern(constant.soh);
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < parts; ++i) bits |= Vector::equal_bits(part[i], wanted) << (i * Vector::width);
    return bits;
  }

  [[gnu::always_inline]] void add_to(typename Vector::type& sums) const noexcept {
    for (unsigned i = 0; i < parts; ++i) sums = Vector::add(sums, part[i]);
  }

  // Adds the first `size` bytes.
  [[gnu::always_inline]] void add_first_to(typename Vector::type& sums, unsigned size,
                                           const Constants& constant) const noexcept {
    const std::uint8_t* const head = constant.head + 64 - size;
    for (unsigned i = 0; i < parts; ++i)
      sums = Vector::add(sums, Vector::both(part[i], Vector::load(head + i * Vector::width)));
  }
};

// The size of the first block of a text, up to 64; later blocks have 64. All are read whole, so the first one overlaps
// the second.
[[gnu::always_inline]] inline unsigned first_block(std::size_t size) noexcept {
  return static_cast<unsigned>((size - 1) % 64 + 1);
}

// Calls f(block, at, size) for each block; false stops. Requires at least 64 bytes.
template <class Vector, class F>
[[gnu::always_inline]] inline bool for_each_block(const char* bytes, std::size_t size, F&& f) noexcept {
  NFX_ASSERT(size >= 64);
  std::size_t at = first_block(size);
  if (!f(Block<Vector>::load(bytes), std::size_t{0}, static_cast<unsigned>(at))) return false;
  for (; at < size; at += 64) {
    if (!f(Block<Vector>::load(bytes + at), at, 64u)) return false;
  }
  return true;
}

enum class LongTags : std::uint8_t { wrong, right, with_length_tag };

// Reads the tags of four and more digits of the fields after `ends`; `which` has a bit for each such field. Not a
// member, so that the indexer's members can stay in registers.
template <class TagNumber, class Position>
[[gnu::cold, gnu::noinline]] LongTags put_long_tags(const char* message, const Position* ends, TagNumber* tags,
                                                    Position* begins, std::uint32_t which) noexcept {
  constexpr std::uint64_t max = sizeof(TagNumber) == 2 ? 0xFFFF : 0x7FFFFFFF;
  bool length_tag = false;
  for (; which != 0; which &= which - 1) {
    const auto field = static_cast<std::uint32_t>(__builtin_ctz(which));
    const char* p = message + ends[field] + 1;
    std::uint64_t number = 0;
    int digits = 0;
    // The loop ends in the message, because its last SOH is not a digit.
    for (unsigned digit; (digit = static_cast<unsigned char>(*p) - unsigned{'0'}) <= 9 && digits < 10; ++p, ++digits)
      number = number * 10 + digit;
    if (*p != '=' || number > max) return LongTags::wrong;
    tags[field] = static_cast<TagNumber>(number);
    begins[field] = static_cast<Position>(p + 1 - message);
    length_tag = length_tag || is_length_tag(static_cast<std::uint32_t>(number));
  }
  return length_tag ? LongTags::with_length_tag : LongTags::right;
}

template <class Vector, class Arrays>
class VectorIndexer {
 public:
  // Two blocks: the first one overlaps the second.
  static constexpr std::size_t least = 64 + 1;

  [[gnu::always_inline]] VectorIndexer(const char* message, const Arrays& out, const Constants& constant) noexcept
      : message_(message),
        tags_(out.tags),
        begins_(out.begins),
        ends_(out.ends),
        capacity_(out.capacity),
        constant_(constant) {}

  // False if the sequential indexer must decide.
  [[gnu::always_inline]] bool index(std::size_t size) noexcept {
    NFX_ASSERT(size >= least);
    if (message_[0] != '8' || message_[1] != '=') return false;
    std::size_t at = first_block(size);
    if (!add_first(Block<Vector>::load(message_), static_cast<unsigned>(at), size > 64 + 32)) return false;
    for (; at + 64 < size; at += 64) {
      if (!add(Block<Vector>::load(message_ + at), at)) return false;
    }
    return add_last(Block<Vector>::load(message_ + at), at) && put_fields(size);
  }

  // Requires that index() returned true.
  [[gnu::always_inline]] IndexResult result(std::size_t size) const noexcept {
    const std::uint8_t sum = Vector::total(sums_);
    const bool verified = count_ >= 4 && is_ordinary_header(message_, size, ends_[0], ends_[1]) &&
                          is_right_check_sum(message_ + size, sum);
    return {WireError::none, sum, false, verified, count_};
  }

 private:
  using TagNumber = typename Arrays::tag_type;
  using Position = typename Arrays::position_type;
  using Words = typename Vector::Words;  // eight 16-bit numbers
  using Field = typename Vector::Fields::type;
  using Fields = typename Vector::Fields;  // eight fields, one element each
  static constexpr unsigned vectors = 32 / Fields::width;
  // Whether the vector finds the positions of all bits together.
  static constexpr bool compresses = requires(Position* to) { Vector::put_eight_places(to, 0u, 0u); };

  static constexpr unsigned most_in_half = 8;           // fields have at least four bytes; only empty values allow more
  static constexpr unsigned before_check_sum = 64 - 8;  // in the last block: the SOH before "10=nnn|"

  // Adds the first `size` bytes of a block. A short message fits into its first half.
  [[gnu::always_inline]] bool add_first(const Block<Vector>& block, unsigned size, bool has_second_half) noexcept {
    block.add_first_to(sums_, size, constant_);
    const std::uint64_t soh = low_bits(block.soh(constant_), size);
    put_half<4>(0, soh);
    if (has_second_half) put_half<4>(32, soh >> 32);
    return count_ < capacity_;
  }

  [[gnu::always_inline]] bool add(const Block<Vector>& block, std::size_t at) noexcept {
    block.add_to(sums_);
    const std::uint64_t soh = block.soh(constant_);
    put_half<5>(at, soh);
    put_half<5>(at + 32, soh >> 32);
    return count_ < capacity_;
  }

  // The block that ends with "|10=nnn|". The last SOH is left out, because no field follows it.
  [[gnu::always_inline]] bool add_last(const Block<Vector>& block, std::size_t at) noexcept {
    block.add_to(sums_);
    const std::uint64_t soh = block.soh(constant_);
    if (soh >> before_check_sum != 0x81 || __builtin_memcmp(message_ + at + before_check_sum, "\x01\x31\x30=", 4) != 0)
      return false;
    put_half<4>(at, soh);
    put_half<4>(at + 32, low_bits(soh >> 32, 31));
    return count_ < capacity_;
  }

  // Stores the SOH of half a block. Always stores `often` positions, because their number cannot be predicted.
  template <unsigned often>
  [[gnu::always_inline]] void put_half(std::size_t at, std::uint64_t bits) noexcept {
    auto soh = static_cast<std::uint32_t>(bits);
    const auto base = static_cast<std::uint32_t>(at);
    const auto count = static_cast<std::uint32_t>(__builtin_popcount(soh));
    NFX_ASSERT(count_ + count <= capacity_ + 63);
    Position* const to = ends_ + count_;
    if constexpr (compresses) {
      Vector::put_eight_places(to, base, soh);
      if (count > most_in_half) [[unlikely]] {
        for (unsigned i = 0; i < count; ++i) put_place(to[i], base, soh);
      }
    } else {
      for (unsigned i = 0; i < often; ++i) put_place(to[i], base, soh);
      if (count > often) [[unlikely]] {
        for (unsigned i = often; i < most_in_half; ++i) put_place(to[i], base, soh);
        for (unsigned i = most_in_half; i < count; ++i) put_place(to[i], base, soh);
      }
    }
    count_ += count;
  }

  // Without bits the number is arbitrary; the next one replaces it.
  [[gnu::always_inline]] static void put_place(Position& to, std::uint32_t base, std::uint32_t& soh) noexcept {
    to = static_cast<Position>(base + lowest_bit(soh));
    soh &= soh - 1;
  }

  // Reads all fields from their ends, except the last. An element without a field reads CheckSum again, because nothing
  // after the message may be read.
  [[gnu::always_inline]] bool put_fields(std::size_t size) noexcept {
    NFX_ASSERT(count_ != 0 && count_ < capacity_ && ends_[count_ - 1] == size - 8);
    repeat_eight(ends_ + count_, size - 8);
    tags_[0] = 8;
    begins_[0] = 2;
    for (std::size_t i = 0; i + 1 < count_; i += 8) {
      if (!put_eight(i)) return false;
    }
    tags_[count_] = 10;
    begins_[count_] = static_cast<Position>(size - 4);
    ends_[count_] = static_cast<Position>(size - 1);
    ++count_;
    return Fields::top_bits(wrong_) == 0 &&
           (!Words::any(length_tags_) ||
            data_lengths_agree(message_, Arrays{tags_, begins_, ends_, capacity_}, count_));
  }

  // Reads the fields after eight ends.
  [[gnu::always_inline]] bool put_eight(std::size_t from) noexcept {
    const Position* const ends = ends_ + from;
    Field word[vectors], tags[vectors], sizes[vectors];
    Fields::put_words(word, message_ + 1, ends);
    std::uint32_t long_tags = 0;
    const auto one_in_16 = Fields::load(constant_.one_in_16.bytes);
    for (unsigned i = 0; i < vectors; ++i) {
      const auto equals = Fields::both(Fields::equal(word[i], Fields::load(constant_.equals.bytes)),
                                       Fields::load(constant_.not_first.bytes));
      const auto before = Fields::without(Fields::add_words(equals, Fields::load(constant_.minus_one.bytes)), equals);
      const auto digits = Fields::both(Fields::subtract(word[i], Fields::load(constant_.zero.bytes)), before);
      sizes[i] = Fields::dot(Fields::both(before, Fields::load(Fields::each_digit(constant_))),
                             Fields::load(constant_.one_each.bytes), one_in_16);
      tags[i] = Fields::dot(digits, Fields::weights(sizes[i], constant_), one_in_16);
      wrong_ = Fields::either(wrong_, Fields::add_saturated(digits, Fields::load(constant_.above_nine.bytes)));
      long_tags |= Fields::top_of_words(before) << (i * Fields::width / 4);
    }
    const Words tag = Fields::pack(tags);
    const Words size = Words::template shift_down<Fields::digit_shift>(Fields::pack(sizes));
    put(from, tag, Words::add(size, Words::load(constant_.two_in_16.bytes)));
    length_tags_ = Words::either(length_tags_, in_length_tags(tag));
    if (long_tags == 0) [[likely]]
      return true;
    const LongTags found = put_long_tags(message_, ends, tags_ + from + 1, begins_ + from + 1, long_tags);
    if (found == LongTags::with_length_tag) length_tags_ = Words::all(1);
    return found != LongTags::wrong;
  }

  // The low byte is not zero for a length tag of up to three digits.
  [[gnu::always_inline]] Words in_length_tags(Words tag) const noexcept {
    const ShortLengthTags& table = constant_.length_tags;
    const Words fifteen = Words::load(constant_.fifteen_in_16.bytes);
    const Words low = Words::look_up(table.low, Words::both(tag, fifteen));
    const Words middle = Words::look_up(table.middle, Words::both(Words::template shift_down<4>(tag), fifteen));
    const Words high = Words::look_up(table.high, Words::template shift_down<8>(tag));
    return Words::both(Words::both(low, middle), high);
  }

  // Stores their tags and the beginnings of their values, which are `sizes` bytes after the previous ends.
  [[gnu::always_inline]] void put(std::size_t from, Words tag, Words size) noexcept {
    if constexpr (sizeof(Position) == 2) {
      Words::store(tags_ + from + 1, tag);
      Words::store(begins_ + from + 1, Words::add(size, Words::load(ends_ + from)));
    } else {
      std::uint16_t tag_of[8], size_of[8];
      Words::store(tag_of, tag);
      Words::store(size_of, size);
      for (unsigned i = 0; i < 8; ++i) {
        tags_[from + 1 + i] = tag_of[i];
        begins_[from + 1 + i] = ends_[from + i] + size_of[i];
      }
    }
  }

  [[gnu::always_inline]] static void repeat_eight(Position* to, std::size_t place) noexcept {
    if constexpr (sizeof(Position) == 2) {
      Words::store(to, Words::all(static_cast<std::uint16_t>(place)));
    } else {
      for (unsigned i = 0; i < 8; ++i) to[i] = static_cast<Position>(place);
    }
  }

  const char* message_;
  TagNumber* tags_;
  Position* begins_;
  Position* ends_;
  std::uint32_t capacity_;
  std::uint32_t count_ = 0;
  const Constants& constant_;
  typename Vector::type sums_ = Vector::zero();
  Words length_tags_ = Words::all(0);
  Field wrong_ = Fields::zero();  // the top bit of a byte in a tag that is not a digit
};

[[gnu::always_inline]] inline const Constants& constants_in_memory() noexcept {
  const Constants* constant = &constants;
  asm("" : "+r"(constant));
  return *constant;
}

template <class Arrays>
using Sequential = IndexResult (*)(const char*, std::size_t, const Arrays&) noexcept;

// A separate function, so that a short message does not pay for saving registers.
template <class Vector, class Arrays>
[[gnu::noinline]] IndexResult index_long(const char* message, std::size_t size, const Arrays& out,
                                         Sequential<Arrays> sequential) noexcept {
  VectorIndexer<Vector, Arrays> indexer{message, out, constants_in_memory()};
  if (!indexer.index(size)) [[unlikely]]
    return sequential(message, size, out);
  return indexer.result(size);
}

template <class Vector, class Arrays>
[[gnu::always_inline]] inline IndexResult index_by_vectors(const char* message, std::size_t size, const Arrays& out,
                                                           Sequential<Arrays> sequential) noexcept {
  if (size < VectorIndexer<Vector, Arrays>::least) return sequential(message, size, out);
  return index_long<Vector>(message, size, out, sequential);
}

// The complete table of a kernel whose vectors are Vector.
template <class Vector>
struct VectorKernel {
  static IndexResult index_fields(const char* message, std::size_t size, const FieldArrays& out) noexcept {
    return index_by_vectors<Vector>(message, size, out, scalar.index_fields);
  }

  static IndexResult index_wide_fields(const char* message, std::size_t size, const WideFieldArrays& out) noexcept {
    return index_by_vectors<Vector>(message, size, out, scalar.index_wide_fields);
  }

  static std::uint8_t check_sum(const char* bytes, std::size_t size) noexcept {
    if (size < 64) return scalar.check_sum(bytes, size);
    auto sums = Vector::zero();
    for_each_block<Vector>(bytes, size,
                           [&](const Block<Vector>& block, std::size_t, unsigned count) __attribute__((always_inline)) {
                             block.add_first_to(sums, count, constants);
                             return true;
                           });
    return Vector::total(sums);
  }

  static const char* scan_soh(const char* bytes, std::size_t size) noexcept {
    if (size < 64) return scalar.scan_soh(bytes, size);
    const char* found = bytes + size;
    for_each_block<Vector>(
        bytes, size, [&](const Block<Vector>& block, std::size_t at, unsigned count) __attribute__((always_inline)) {
          const std::uint64_t soh = low_bits(block.soh(constants), count);
          if (soh != 0) found = bytes + at + __builtin_ctzll(soh);
          return soh == 0;
        });
    return found;
  }

  static constexpr KernelTable table(const char* name) noexcept {
    return {name, index_fields, index_wide_fields, check_sum, scan_soh};
  }
};

}  // namespace
}  // namespace nfx::kernels
