// One FIX message: its fields are indexed in one pass and looked up by tag in constant time.
// Thread: one owner, for lookups too; reuse one object per poll thread. Cost: parse() is one pass and never allocates.
// A lookup is O(1): the tags of the first 128 fields are compared a vector at a time, all others are in a table that
// the first lookup beyond those 128 fills. Messages above 65535 bytes or with a tag above 65535 use a slower, wider
// index. Lifetime: values borrow the buffer given to parse(); they are valid until the next parse(). Errors: parse()
// returns what is wrong and leaves the view empty; nothing is read outside the given bytes.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/decimal.hpp"
#include "nexusfix/base/digits.hpp"
#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/base/tag.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/wire/framer.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace nfx {

// Why a field has not the requested value.
enum class FieldError : std::uint8_t {
  missing,       // no such field
  bad_format,    // not a value of this type
  out_of_range,  // of this type, but too large for the result
};

[[nodiscard]] std::string_view to_string(FieldError error) noexcept;

// One field's text as a typed value. No allocation, no locale; the whole text must be the value.

// FIX int: optional '-', digits, leading zeros allowed; no '+'. 18 digits at most after leading zeros.
[[nodiscard]] std::expected<std::int64_t, FieldError> parse_int(std::string_view text) noexcept;

[[nodiscard]] inline std::expected<Decimal, FieldError> parse_decimal(std::string_view text) noexcept {
  if (const auto value = Decimal::parse(text)) return *value;
  return std::unexpected(is_decimal_text(text) ? FieldError::out_of_range : FieldError::bad_format);
}
[[nodiscard]] inline std::expected<WideDecimal, FieldError> parse_wide_decimal(std::string_view text) noexcept {
  if (const auto value = WideDecimal::parse(text)) return *value;
  return std::unexpected(is_decimal_text(text) ? FieldError::out_of_range : FieldError::bad_format);
}

[[nodiscard]] inline std::expected<char, FieldError> parse_char(std::string_view text) noexcept {
  if (text.size() != 1) return std::unexpected(FieldError::bad_format);
  return text[0];
}

[[nodiscard]] inline std::expected<bool, FieldError> parse_bool(std::string_view text) noexcept {
  if (text == "Y") return true;
  if (text == "N") return false;
  return std::unexpected(FieldError::bad_format);
}

struct Field {
  Tag tag{};
  std::string_view value;
};

class GroupView;
struct GroupShape;

class MessageView {
 public:
  static constexpr std::uint32_t default_max_fields = 512;
  static constexpr std::uint32_t most_fields = 262144;

  // Allocates space for max_fields fields, once; most of it takes memory when a message needs it. Throws
  // std::invalid_argument unless it is 1 to most_fields.
  explicit MessageView(std::uint32_t max_fields = default_max_fields);
  MessageView(MessageView&&) noexcept;
  MessageView& operator=(MessageView&&) noexcept;
  ~MessageView();

  // Indexes exactly one message: every field's tag and value in wire order, BodyLength and CheckSum verified,
  // length-prefixed data fields read by their length.
  [[nodiscard]] WireError parse(std::string_view message) noexcept;

  // Like parse(), but indexes as far as it can and does not require a header, BodyLength or CheckSum: for tools that
  // show broken messages. Returns the first error and keeps the fields before it; begin_string() and msg_type() are
  // then the first and the third field, whatever they are.
  WireError parse_leniently(std::string_view message) noexcept;

  [[nodiscard]] std::string_view bytes() const noexcept { return {data_, size_}; }

  // Fields in wire order, from BeginString(8) to CheckSum(10).
  [[nodiscard]] std::uint32_t size() const noexcept { return count_; }
  [[nodiscard]] Field operator[](std::uint32_t index) const noexcept { return {tag_at(index), value_at(index)}; }
  [[nodiscard]] Tag tag_at(std::uint32_t index) const noexcept {
    NFX_ASSERT(index < count_);
    if (wide_) [[unlikely]]
      return Tag{wide_tags_[index]};
    return Tag{tags_[index]};
  }
  [[nodiscard]] std::string_view value_at(std::uint32_t index) const noexcept {
    NFX_ASSERT(index < count_ && value_lies_inside(index));
    if (wide_) [[unlikely]]
      return {data_ + wide_begins_[index], wide_ends_[index] - wide_begins_[index]};
    return {data_ + begins_[index], static_cast<std::size_t>(ends_[index] - begins_[index])};
  }
  // Where the value begins, from the start of the message.
  [[nodiscard]] std::uint32_t offset_at(std::uint32_t index) const noexcept {
    NFX_ASSERT(index < count_);
    return wide_ ? wide_begins_[index] : begins_[index];
  }

  // The index itself, for code that goes through all fields. Fields from `padded` on may have less than eight bytes of
  // message from the start of their value on. A wide index has no fields here.
  struct Narrow {
    const char* data;
    const std::uint16_t* tags;
    const std::uint16_t* begins;  // of the value, from the start of the message
    const std::uint16_t* ends;
    std::uint32_t size;
    std::uint32_t padded;
  };
  [[nodiscard]] Narrow narrow() const noexcept {
    return {data_, tags_, begins_, ends_, wide_ ? 0 : count_, padded_values_};
  }

  static constexpr std::uint32_t npos = UINT32_MAX;

  // Index of the first field with this tag, or npos.
  [[nodiscard]] std::uint32_t find(Tag tag) const noexcept;
  [[nodiscard]] bool has(Tag tag) const noexcept { return find(tag) != npos; }

  // The value of the first field with this tag; empty when missing. has() distinguishes missing from empty.
  [[nodiscard]] std::string_view get_view(Tag tag) const noexcept {
    const std::uint32_t index = find(tag);
    return index == npos ? std::string_view{} : value_at(index);
  }

  // The value of the first field with this tag. Not negative: get_seq_num; Y or N: get_bool.
  [[nodiscard, gnu::always_inline]] std::expected<std::int64_t, FieldError> get_int(Tag tag) const noexcept {
    return int_at(find(tag));
  }
  [[nodiscard]] std::expected<SeqNum, FieldError> get_seq_num(Tag tag) const noexcept;
  [[nodiscard, gnu::always_inline]] std::expected<Decimal, FieldError> get_decimal(Tag tag) const noexcept {
    return decimal_at(find(tag));
  }
  // For numbers that get_decimal() finds out of range: up to 38 digits.
  [[nodiscard]] std::expected<WideDecimal, FieldError> get_wide_decimal(Tag tag) const noexcept {
    return wide_decimal_at(find(tag));
  }
  [[nodiscard]] std::expected<char, FieldError> get_char(Tag tag) const noexcept { return char_at(find(tag)); }
  [[nodiscard]] std::expected<bool, FieldError> get_bool(Tag tag) const noexcept { return bool_at(find(tag)); }
  [[nodiscard]] std::expected<UtcTimestamp, FieldError> get_utc_timestamp(Tag tag) const noexcept {
    return utc_timestamp_at(find(tag));
  }

  // The same for the field at an index from find(); npos is missing.
  [[nodiscard, gnu::always_inline]] std::expected<std::int64_t, FieldError> int_at(std::uint32_t index) const noexcept {
    if (index < padded_values_) [[likely]] {
      const ShortValue value = short_value_at(index);
      if (value.size - 1 < 8 && digits::non_digits(value.word) == 0) [[likely]] {
        return static_cast<std::int64_t>(digits::value(value.word));
      }
    }
    return any_int_at(index);
  }
  [[nodiscard, gnu::always_inline]] std::expected<Decimal, FieldError> decimal_at(std::uint32_t index) const noexcept {
    if (index < padded_values_) [[likely]] {
      const ShortValue value = short_value_at(index);
      digits::Part part;
      if (value.size - 1 < 8 && digits::read_part(value.word, part) && value.size > part.has_point) [[likely]] {
        return Decimal{static_cast<std::int64_t>(part.number), part.scale};
      }
    }
    return any_decimal_at(index);
  }
  [[nodiscard]] std::expected<WideDecimal, FieldError> wide_decimal_at(std::uint32_t index) const noexcept;
  [[nodiscard]] std::expected<char, FieldError> char_at(std::uint32_t index) const noexcept {
    if (index == npos) [[unlikely]]
      return std::unexpected(FieldError::missing);
    return parse_char(value_at(index));
  }
  [[nodiscard]] std::expected<bool, FieldError> bool_at(std::uint32_t index) const noexcept {
    if (index == npos) return std::unexpected(FieldError::missing);
    return parse_bool(value_at(index));
  }
  [[nodiscard]] std::expected<UtcTimestamp, FieldError> utc_timestamp_at(std::uint32_t index) const noexcept;

  [[nodiscard]] std::string_view begin_string() const noexcept { return count_ > 0 ? value_at(0) : std::string_view{}; }
  [[nodiscard]] std::string_view msg_type() const noexcept { return count_ > 2 ? value_at(2) : std::string_view{}; }

  // The repeating group counted by shape.count; empty when the message has none. See group_view.hpp.
  [[nodiscard]] GroupView group(const GroupShape& shape) const noexcept;

 private:
  struct Storage;

  // For groups: the first field with the tag from `begin` on and before `end`, or npos.
  friend class GroupEntry;
  friend class GroupView;
  [[nodiscard]] std::uint32_t find_between(std::uint32_t begin, std::uint32_t end, Tag tag) const noexcept;
  // Whether `count` fields, at least one, have the same tags at both indexes.
  [[nodiscard]] bool same_tags(std::uint32_t at, std::uint32_t other, std::uint32_t count) const noexcept;
  [[nodiscard]] std::uint32_t find_wide_between(std::uint32_t begin, std::uint32_t end, Tag tag) const noexcept;

  // The digits of a value of 1 to 8 characters, in one load whatever the length; undefined for other sizes.
  struct ShortValue {
    std::uint64_t word;
    std::uint64_t size;
  };
  [[nodiscard, gnu::always_inline]] ShortValue short_value_at(std::uint32_t index) const noexcept {
    const std::uint64_t begin = begins_[index];
    const std::uint64_t size = ends_[index] - begin;
    NFX_ASSERT(index < padded_values_ && begin + 8 <= size_);
    return {digits::load_8(data_ + begin) << ((0 - 8 * size) % 64), size};
  }
  // The same for all others: negative, longer, or malformed.
  [[nodiscard]] std::expected<std::int64_t, FieldError> any_int_at(std::uint32_t index) const noexcept;
  [[nodiscard]] std::expected<Decimal, FieldError> any_decimal_at(std::uint32_t index) const noexcept;

  // A value is inside the message, and so is the SOH after it.
  [[nodiscard]] bool value_lies_inside(std::uint32_t index) const noexcept {
    return wide_ ? wide_begins_[index] <= wide_ends_[index] && wide_ends_[index] < size_
                 : begins_[index] <= ends_[index] && ends_[index] < size_;
  }

  WireError index_fields(std::string_view message, bool lenient) noexcept;
  WireError index_unusual_fields(std::string_view message, bool lenient, WireError error, std::uint8_t sum,
                                 bool needs_wide, std::uint32_t count) noexcept;
  WireError index_wide_fields(std::string_view message, std::uint32_t& count) noexcept;
  // Fields after this number of fields are looked up in a table.
  static constexpr std::uint32_t compared_fields = 128;
  [[nodiscard]] std::uint32_t find_further(std::uint16_t tag) const noexcept;
  [[nodiscard]] std::uint32_t find_wide(Tag tag) const noexcept;

  const char* data_ = nullptr;
  std::size_t size_ = 0;
  std::uint32_t count_ = 0;
  // The number of leading fields with at least eight bytes of message from the start of their value on: in a valid
  // message all but CheckSum, in others none.
  std::uint32_t padded_values_ = 0;
  std::uint32_t max_fields_ = 0;
  bool wide_ = false;
  mutable bool table_filled_ = false;
  // One of the two sets of arrays is in use; a value is the bytes [begin, end).
  std::uint16_t* tags_ = nullptr;
  std::uint16_t* begins_ = nullptr;
  std::uint16_t* ends_ = nullptr;
  std::int32_t* wide_tags_ = nullptr;
  std::uint32_t* wide_begins_ = nullptr;
  std::uint32_t* wide_ends_ = nullptr;
  std::unique_ptr<Storage> storage_;
};

// Compares the 16-bit tags of an index several at a time. Every machine of the architecture has these instructions, so
// the choice is made at compile time.
namespace tag_scan {

// The positions of matching tags in one comparison, as a bit mask: `bits_per_place` equal bits for each position, the
// first position in the lowest bits.
struct Places {
#if defined(__SSE2__)
  static constexpr unsigned bits_per_place = 2;
#elif defined(__ARM_NEON)
  static constexpr unsigned bits_per_place = 8;
#else
  static constexpr unsigned bits_per_place = 1;
#endif
  std::uint64_t bits;

  [[nodiscard]] bool none() const noexcept { return bits == 0; }
  [[nodiscard]] std::uint32_t first() const noexcept {
    return static_cast<std::uint32_t>(std::countr_zero(bits)) / bits_per_place;
  }
  // Whether the mask has the first `count` positions, at most 8.
  [[nodiscard]] bool all_of_first(std::uint32_t count) const noexcept {
    NFX_ASSERT(count - 1 < 8);
    const std::uint64_t wanted = ~std::uint64_t{0} >> (64 - bits_per_place * count);
    return (bits & wanted) == wanted;
  }
};

inline constexpr std::uint32_t places_per_step = 8;

#if defined(__SSE2__)
using Tags = __m128i;
inline Tags load(const std::uint16_t* tags) noexcept { return _mm_loadu_si128(reinterpret_cast<const Tags*>(tags)); }
inline Tags repeated(std::uint16_t tag) noexcept { return _mm_set1_epi16(static_cast<short>(tag)); }
inline Places equal(Tags a, Tags b) noexcept {
  return {static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi16(a, b)))};
}
#elif defined(__ARM_NEON)
using Tags = uint16x8_t;
inline Tags load(const std::uint16_t* tags) noexcept { return vld1q_u16(tags); }
inline Tags repeated(std::uint16_t tag) noexcept { return vdupq_n_u16(tag); }
inline Places equal(Tags a, Tags b) noexcept {
  return {vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vceqq_u16(a, b), 4)), 0)};
}
#else
struct Tags {
  std::uint16_t at[places_per_step];
};
inline Tags load(const std::uint16_t* tags) noexcept {
  Tags result;
  std::memcpy(&result, tags, sizeof result);
  return result;
}
inline Tags repeated(std::uint16_t tag) noexcept { return {{tag, tag, tag, tag, tag, tag, tag, tag}}; }
inline Places equal(Tags a, Tags b) noexcept {
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < places_per_step; ++i) bits |= static_cast<std::uint64_t>(a.at[i] == b.at[i]) << i;
  return {bits};
}
#endif

// The positions among 32 tags in one test: fewer branches that depend on where a tag is.
inline constexpr std::uint32_t places_per_stride = 32;

[[nodiscard]] inline std::uint64_t equal_in_stride(const std::uint16_t* tags, Tags wanted) noexcept {
#if defined(__SSE2__)
  const auto two = [&](int from) {
    const Tags low = _mm_cmpeq_epi16(load(tags + from), wanted);
    const Tags high = _mm_cmpeq_epi16(load(tags + from + 8), wanted);
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high))));
  };
  return two(0) | two(16) << 16;
#elif defined(__ARM_NEON)
  // Each byte keeps the bit of its position, and sums combine them.
  const auto two = [&](int from) {
    const uint8x16_t both = vcombine_u8(vmovn_u16(vceqq_u16(load(tags + from), wanted)),
                                        vmovn_u16(vceqq_u16(load(tags + from + 8), wanted)));
    const uint8x16_t bits = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t kept = vandq_u8(both, bits);
    return std::uint64_t{vaddv_u8(vget_low_u8(kept))} | std::uint64_t{vaddv_u8(vget_high_u8(kept))} << 8;
  };
  return two(0) | two(16) << 16;
#else
  std::uint64_t bits = 0;
  for (std::uint32_t i = 0; i < places_per_stride; i += places_per_step)
    bits |= equal(load(tags + i), wanted).bits << i;
  return bits;
#endif
}

// The position of the first of `count` tags that equals `tag`, or a value of at least `count`. Reads up to 31 tags past
// the end.
[[nodiscard]] inline std::uint32_t find_far(const std::uint16_t* tags, std::uint32_t count,
                                            std::uint16_t tag) noexcept {
  const Tags wanted = repeated(tag);
  std::uint32_t from = 0;
  for (; from < count; from += places_per_stride) {
    const std::uint64_t found = equal_in_stride(tags + from, wanted);
    if (found != 0) return from + static_cast<std::uint32_t>(std::countr_zero(found));
  }
  return from;
}

// The same for a few tags. Reads up to 7 tags past the end.
[[nodiscard]] inline std::uint32_t find(const std::uint16_t* tags, std::uint32_t count, std::uint16_t tag) noexcept {
  const Tags wanted = repeated(tag);
  std::uint32_t from = 0;
  for (; from < count; from += places_per_step) {
    if (const Places found = equal(load(tags + from), wanted); !found.none()) return from + found.first();
  }
  return from;
}

// Whether two runs of `count` tags, at least one, are the same. Reads up to 7 tags past the end of each.
[[nodiscard]] inline bool same(const std::uint16_t* a, const std::uint16_t* b, std::uint32_t count) noexcept {
  NFX_ASSERT(count != 0);
  for (; count > places_per_step; a += places_per_step, b += places_per_step, count -= places_per_step) {
    if (!equal(load(a), load(b)).all_of_first(places_per_step)) return false;
  }
  return equal(load(a), load(b)).all_of_first(count);
}

}  // namespace tag_scan

inline std::uint32_t MessageView::find(Tag tag) const noexcept {
  const auto number = static_cast<std::uint32_t>(nfx::value(tag));
  if (wide_ || number > 0xFFFF) [[unlikely]]
    return find_wide(tag);
  const auto narrow = static_cast<std::uint16_t>(number);
  const std::uint32_t index = tag_scan::find_far(tags_, count_ < compared_fields ? count_ : compared_fields, narrow);
  if (index < count_ && index < compared_fields) return index;
  return count_ > compared_fields ? find_further(narrow) : npos;
}

[[gnu::always_inline]] inline std::uint32_t MessageView::find_between(std::uint32_t begin, std::uint32_t end,
                                                                      Tag tag) const noexcept {
  NFX_ASSERT(begin <= end && end <= count_);
  const auto number = static_cast<std::uint32_t>(nfx::value(tag));
  if (wide_ || number > 0xFFFF) [[unlikely]]
    return find_wide_between(begin, end, tag);
  const std::uint32_t place = tag_scan::find(tags_ + begin, end - begin, static_cast<std::uint16_t>(number));
  return place < end - begin ? begin + place : npos;
}

inline bool MessageView::same_tags(std::uint32_t at, std::uint32_t other, std::uint32_t count) const noexcept {
  NFX_ASSERT(count != 0 && at + count <= count_ && other + count <= count_);
  return !wide_ && tag_scan::same(tags_ + at, tags_ + other, count);
}

}  // namespace nfx
