// The generic body of the kernels with vectors of 16 or 32 bytes. A thin layer per instruction set, Vector, supplies
// the type and its operations; see avx2.cpp. Unusual and malformed messages are left to the sequential indexer.
//
// A block of 64 bytes gives one bit for each SOH. The fields after eight of them are read together, each in an element
// of 32 bits:
//
//   word       5  4  1  =      the four bytes after the SOH
//   before    FF FF FF 00      those before the first '='
//   digits     5  4  1  0
//   weights  100 10  1  0      by the number of digits
//   tag      500+40+1+0
//
// Tags of four and more digits are read individually.
#pragma once

#include "field_indexer.hpp"

namespace nfx::kernels {
namespace {

[[gnu::always_inline]] inline std::uint64_t low_bits(std::uint64_t bits, std::uint32_t count) noexcept {
#if defined(__BMI2__)
  return __builtin_ia32_bzhi_di(bits, count);
#else
  return count >= 64 ? bits : bits & ((std::uint64_t{1} << count) - 1);
#endif
}

[[gnu::always_inline]] inline std::uint64_t lowest_bit(std::uint64_t bits) noexcept {
  // Without bits it is 63 or 64: what is read there is in the message, and is not used.
#if defined(__BMI__)
  return __builtin_ia32_tzcnt_u64(bits);
#else
  return static_cast<std::uint64_t>(__builtin_ctzll(bits | std::uint64_t{1} << 63));
#endif
}

// What the vectors are compared and combined with. A kernel reads it through a pointer that the compiler cannot follow:
// otherwise it makes each of them again for every eight fields.
struct alignas(32) Pattern {
  std::uint8_t bytes[32];
};

// `bytes` of one element, the lowest byte first.
constexpr Pattern in_each_element(std::uint32_t bytes) noexcept {
  Pattern pattern{};
  for (unsigned i = 0; i < 32; ++i) pattern.bytes[i] = static_cast<std::uint8_t>(bytes >> i % 4 * 8);
  return pattern;
}

// The length tags of up to three digits: a tag is one of them when the bits of its three hexadecimal digits have one in
// common. Each value of the upper two has a bit.
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
    if (bit > 128) return {};  // then short_length_tags_are_all_found() is false
    tags.low[tag & 15] = static_cast<std::uint8_t>(tags.low[tag & 15] | bit);
    tags.middle[upper & 15] = static_cast<std::uint8_t>(tags.middle[upper & 15] | bit);
    tags.high[upper >> 4] = static_cast<std::uint8_t>(tags.high[upper >> 4] | bit);
  }
  return tags;
}

struct Constants {
  Pattern soh = in_each_element(0x01010101);
  Pattern equals = in_each_element(0x3D3D3D3D);
  Pattern zero = in_each_element(0x30303030);
  Pattern minus_one = in_each_element(0xFFFFFFFF);
  Pattern eight = in_each_element(0x08080808);
  Pattern one_each = in_each_element(0x01010101);
  Pattern one_in_16 = in_each_element(0x00010001);
  Pattern two_in_16 = in_each_element(0x00020002);
  Pattern fifteen_in_16 = in_each_element(0x000F000F);
  Pattern above_nine = in_each_element(0x76767676);  // added to more than 9 it sets the top bit
  Pattern three_bytes = in_each_element(24);         // bits of three digits
  Pattern weights = in_each_element(0x00010A64);
  ShortLengthTags length_tags = make_short_length_tags();
  std::uint8_t head[128] = {};  // 64 bytes of all ones, then zeros: loaded at 64 - n, it preserves the first n of 64

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
    const auto wanted = Vector::load(constant.soh.bytes);
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < parts; ++i)
      bits |= std::uint64_t{Vector::top_bits(Vector::equal(part[i], wanted))} << (i * Vector::width);
    return bits;
  }

  // Adds the first `size` bytes.
  [[gnu::always_inline]] void add_to(typename Vector::type& sums, unsigned size,
                                     const Constants& constant) const noexcept {
    for (unsigned i = 0; i < parts; ++i) {
      const auto head =
          size == 64 ? part[i] : Vector::both(part[i], Vector::load(constant.head + 64 - size + i * Vector::width));
      sums = Vector::add(sums, head);
    }
  }
};

// The first of the blocks that a text is divided into has this many bytes, up to 64, and each after it has 64. All are
// read whole: the first one ends inside the second.
[[gnu::always_inline]] inline unsigned first_block(std::size_t size) noexcept {
  return static_cast<unsigned>((size - 1) % 64 + 1);
}

// Calls f(block, at, size) for each; false stops. There are at least 64 bytes.
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

// Reads the tags of four and more digits of the fields after `ends`; each field among `which` has the last of four
// bits. Not a member, so that the indexer's own can stay in registers.
template <class TagNumber, class Position>
[[gnu::cold, gnu::noinline]] LongTags put_long_tags(const char* message, const Position* ends, TagNumber* tags,
                                                    Position* begins, std::uint64_t which) noexcept {
  constexpr std::uint64_t max = sizeof(TagNumber) == 2 ? 0xFFFF : 0x7FFFFFFF;
  bool length_tag = false;
  for (; which != 0; which &= which - 1) {
    const auto field = static_cast<std::uint32_t>(__builtin_ctzll(which)) / 4;
    const char* p = message + ends[field] + 1;
    std::uint64_t number = 0;
    int digits = 0;
    // It ends in the message, whose last SOH is not a digit.
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
  // "8=", a value, and CheckSum with a field before it: what is shorter is not worth the beginning.
  static constexpr std::size_t least = 72;

  [[gnu::always_inline]] VectorIndexer(const char* message, const Arrays& out, const Constants& constant) noexcept
      : message_(message),
        tags_(out.tags),
        begins_(out.begins),
        ends_(out.ends),
        capacity_(out.capacity),
        constant_(constant) {}

  // False when the sequential indexer must decide.
  [[gnu::always_inline]] bool index(std::size_t size) noexcept {
    NFX_ASSERT(size >= least);
    if (message_[0] != '8' || message_[1] != '=') return false;
    tags_[0] = 8;
    begins_[0] = 2;
    std::size_t at = first_block(size);
    if (!add(Block<Vector>::load(message_), 0, static_cast<unsigned>(at))) return false;
    for (; at + 64 < size; at += 64) {
      if (!add(Block<Vector>::load(message_ + at), at, 64)) return false;
    }
    if (!add_last(Block<Vector>::load(message_ + at), at)) return false;
    NFX_ASSERT(count_ <= capacity_);  // and one more has space after them
    ends_[count_++] = static_cast<Position>(size - 1);
    return count_ <= capacity_ && wrong_ == 0 &&
           (!Words::any(length_tags_) ||
            data_lengths_agree(message_, Arrays{tags_, begins_, ends_, capacity_}, count_));
  }

  [[gnu::always_inline]] IndexResult result() const noexcept {
    return {WireError::none, Vector::total(sums_), false, count_};
  }

 private:
  using TagNumber = typename Arrays::tag_type;
  using Position = typename Arrays::position_type;
  using Words = typename Vector::Words;                    // eight numbers of 16 bits
  static constexpr unsigned vectors = 32 / Vector::width;  // of eight elements

  [[gnu::always_inline]] bool add(const Block<Vector>& block, std::size_t at, unsigned size) noexcept {
    block.add_to(sums_, size, constant_);
    return put_fields<false>(at, low_bits(block.soh(constant_), size));
  }

  // The block that ends with "|10=nnn|": the last SOH ends the message, so no field is after it.
  [[gnu::always_inline]] bool add_last(const Block<Vector>& block, std::size_t at) noexcept {
    block.add_to(sums_, 64, constant_);
    const std::uint64_t soh = block.soh(constant_);
    return soh >> before_check_sum == 0x81 && put_fields<true>(at, low_bits(soh, 63));
  }

  // The fields that end at these SOH, and the tags of those that begin after them. In the last block an element without
  // a SOH reads CheckSum again: what is after the block is not in the message.
  template <bool last>
  [[gnu::always_inline]] bool put_fields(std::size_t at, std::uint64_t soh) noexcept {
    const auto count = static_cast<std::uint32_t>(__builtin_popcountll(soh));
    bool good = true;
    if (count <= 8) [[likely]] {
      good = put_eight<last>(at, soh, count, count_);
    } else {
      for (std::uint32_t from = 0; from < count && good; from += 8)
        good = put_eight<last>(at, soh, count - from < 8 ? count - from : 8, count_ + from);
    }
    count_ += count;
    return good && count_ <= capacity_;
  }

  // The next `count` of them, eight at most, from index `to` on; removes their bits.
  template <bool last>
  [[gnu::always_inline]] bool put_eight(std::size_t at, std::uint64_t& soh, std::uint32_t count,
                                        std::uint32_t to) noexcept {
    NFX_ASSERT(count <= 8 && to + 9 <= capacity_ + array_padding);
    const char* const after = message_ + at + 1;
    std::uint64_t places = 0;
    typename Vector::type word[vectors], tags[vectors], bits[vectors];
    for (unsigned half = 0; half < 2; ++half) {
      std::uint64_t place[4];
      for (std::uint64_t& one : place) {
        one = lowest_bit(soh);
        soh &= soh - 1;
        if (last) soh |= std::uint64_t{1} << before_check_sum;
      }
      Vector::put_words(word, half, after, place);
      places |= (place[0] | place[1] << 8 | (place[2] | place[3] << 8) << 16) << (32 * half);
    }
    std::uint64_t before_bits = 0, above_bits = 0;
    const auto one_in_16 = Vector::load(constant_.one_in_16.bytes);
    for (unsigned i = 0; i < vectors; ++i) {
      const auto equals = Vector::equal(word[i], Vector::load(constant_.equals.bytes));
      const auto before = Vector::without(Vector::add_words(equals, Vector::load(constant_.minus_one.bytes)), equals);
      const auto digits = Vector::both(Vector::subtract(word[i], Vector::load(constant_.zero.bytes)), before);
      bits[i] = Vector::dot(Vector::both(before, Vector::load(constant_.eight.bytes)),
                            Vector::load(constant_.one_each.bytes), one_in_16);
      const auto missing = Vector::subtract_words(Vector::load(constant_.three_bytes.bytes), bits[i]);
      tags[i] = Vector::dot(digits, Vector::shift_down(Vector::load(constant_.weights.bytes), missing), one_in_16);
      const auto above = Vector::add_saturated(digits, Vector::load(constant_.above_nine.bytes));
      before_bits |= std::uint64_t{Vector::top_bits(before)} << (i * Vector::width);
      above_bits |= std::uint64_t{Vector::top_bits(above)} << (i * Vector::width);
    }
    wrong_ |= low_bits(above_bits | (~before_bits & 0x11111111), 4 * count);  // not a digit, or no tag at all

    const Words tag = Vector::pack(tags);
    const Words end = Words::from_bytes(places);
    const Words begin = Words::add(
        end, Words::add(Words::template shift_down<3>(Vector::pack(bits)), Words::load(constant_.two_in_16.bytes)));
    put(tags_ + to + 1, begins_ + to + 1, ends_ + to, at, tag, begin, end);
    length_tags_ = Words::either(length_tags_, in_length_tags(tag));
    const std::uint64_t long_tags = low_bits(before_bits & 0x88888888, 4 * count);
    if (long_tags == 0) [[likely]]
      return true;
    const LongTags found = put_long_tags(message_, ends_ + to, tags_ + to + 1, begins_ + to + 1, long_tags);
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

  [[gnu::always_inline]] static void put(std::uint16_t* tags, std::uint16_t* begins, std::uint16_t* ends,
                                         std::size_t at, Words tag, Words begin, Words end) noexcept {
    const Words base = Words::all(static_cast<std::uint16_t>(at));
    Words::store(ends, Words::add(end, base));
    Words::store(begins, Words::add(begin, base));
    Words::store(tags, tag);
  }
  [[gnu::always_inline]] static void put(std::int32_t* tags, std::uint32_t* begins, std::uint32_t* ends, std::size_t at,
                                         Words tag, Words begin, Words end) noexcept {
    std::uint16_t tag_of[8], begin_of[8], end_of[8];
    put(tag_of, begin_of, end_of, 0, tag, begin, end);
    const auto base = static_cast<std::uint32_t>(at);
    for (unsigned i = 0; i < 8; ++i) {
      tags[i] = tag_of[i];
      begins[i] = base + begin_of[i];
      ends[i] = base + end_of[i];
    }
  }

  static constexpr unsigned before_check_sum = 64 - 8;  // the SOH before "10=nnn|"

  const char* message_;
  TagNumber* tags_;
  Position* begins_;
  Position* ends_;
  std::uint32_t capacity_;
  std::uint32_t count_ = 0;
  const Constants& constant_;
  typename Vector::type sums_ = Vector::zero();
  Words length_tags_ = Words::all(0);
  std::uint64_t wrong_ = 0;
};

[[gnu::always_inline]] inline const Constants& constants_in_memory() noexcept {
  const Constants* constant = &constants;
  asm("" : "+r"(constant));
  return *constant;
}

template <class Vector, class Arrays>
[[gnu::always_inline]] inline IndexResult index_by_vectors(const char* message, std::size_t size, const Arrays& out,
                                                           IndexResult (*sequential)(const char*, std::size_t,
                                                                                     const Arrays&) noexcept) noexcept {
  using Indexer = VectorIndexer<Vector, Arrays>;
  if (size < Indexer::least) return sequential(message, size, out);
  Indexer indexer{message, out, constants_in_memory()};
  if (!indexer.index(size)) [[unlikely]]
    return sequential(message, size, out);
  return indexer.result();
}

// The whole table of a kernel whose vectors are Vector.
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
                             block.add_to(sums, count, constants);
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
