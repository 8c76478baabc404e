// Appends "tag=value<SOH>" fields to a caller's buffer, and sums the bytes written for CheckSum(10).
// Thread: one owner. Cost: the bytes written; no allocation. Lifetime: borrows the buffer.
// Errors: the writer fails when the buffer is full, and for a value that is empty or contains SOH. Then ok() is false,
// fault() has the tag and the reason, later appends do nothing, and view() is a text that no session sends. Bytes of
// the buffer after view() may be overwritten as well, bytes after the buffer never.
//   writer.append(tag, value)                     for any tag
//   writer.append<Tag::Price>(value)              faster, for a tag that is known at compile time
//   writer.append(constant_fields<"21=1|59=0|">)  whole fields as one constant; '|' stands for SOH
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/decimal.hpp"
#include "nexusfix/base/digits.hpp"
#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/base/tag.hpp"
#include "nexusfix/base/time.hpp"

#ifdef __SSE2__  // every x86-64 has it
#include <emmintrin.h>
#endif

namespace nfx {

inline constexpr char soh = '\x01';

// "<tag>=" in one word, the first character in the lowest byte. Size 0: the tag is not positive or has more than 7
// digits.
struct TagText {
  std::uint64_t word;
  std::uint32_t size;
  std::uint32_t sum;
};

[[nodiscard]] constexpr TagText tag_text(Tag tag) noexcept {
  const auto number = static_cast<std::uint32_t>(value(tag));  // a negative one becomes too large
  if (number - 1 < 999) {
    const digit_words::ThreeDigits digits = digit_words::three(number);
    const unsigned zeros = static_cast<unsigned>(std::countr_zero(digits.bytes | 0x10000)) / 8;
    const std::uint32_t text = (digits.bytes + digit_words::three_zero_characters) | std::uint32_t{'='} << 24;
    return {text >> 8 * zeros, 4 - zeros, digits.sum + (3 - zeros) * '0' + '='};
  }
  if (number - 1 > 9'999'998) return {0, 0, 0};
  const std::uint64_t bytes = digit_words::eight(number);
  const unsigned zeros = digit_words::leading_zeros(bytes);  // at least 1
  const unsigned count = 8 - zeros;
  return {(bytes + digit_words::zero_characters) >> 8 * zeros | std::uint64_t{'='} << 8 * count, count + 1,
          digit_words::digit_sum(bytes) + count * '0' + '='};
}

// The same for a tag known at compile time.
template <Tag tag>
inline constexpr TagText tag_text_of = tag_text(tag);

// Eight bytes at a time: their sum, and whether one of them is SOH.
class ByteWord {
 public:
#ifdef __SSE2__
  [[gnu::always_inline]] explicit ByteWord(std::uint64_t word) noexcept
      : word_(_mm_cvtsi64_si128(static_cast<long long>(word))) {}
  [[nodiscard, gnu::always_inline]] std::uint32_t sum() const noexcept {
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_sad_epu8(word_, _mm_setzero_si128())));
  }
  [[nodiscard, gnu::always_inline]] bool holds_soh() const noexcept {
    return _mm_movemask_epi8(_mm_cmpeq_epi8(word_, _mm_set1_epi8(soh))) != 0;
  }

 private:
  __m128i word_;
#else
  explicit ByteWord(std::uint64_t word) noexcept : word_(word) {}
  [[nodiscard]] std::uint32_t sum() const noexcept {
    constexpr std::uint64_t even_bytes = 0x00FF00FF00FF00FF;
    const std::uint64_t pairs = (word_ & even_bytes) + (word_ >> 8 & even_bytes);
    return static_cast<std::uint32_t>(pairs * 0x0001000100010001 >> 48);
  }
  [[nodiscard]] bool holds_soh() const noexcept {
    const std::uint64_t other = word_ ^ digit_words::every_byte;
    return ((other - digit_words::every_byte) & ~other & digit_words::every_byte * 0x80) != 0;
  }

 private:
  std::uint64_t word_;
#endif
};

// One to eight characters in a word, followed by zeros; zero for none. Nothing outside the text is read: two
// overlapping loads cover 4 to 8 characters, three loads of one byte cover fewer.
[[nodiscard, gnu::always_inline]] inline std::uint64_t load_short(const char* p, std::size_t size) noexcept {
  NFX_ASSERT(size <= 8);
  if (size >= 4) {
    const std::uint64_t last = digit_words::load<std::uint32_t>(p + size - 4);
    return digit_words::load<std::uint32_t>(p) | last << 8 * (size - 4);
  }
  if (size == 0) return 0;
  const auto byte = [p](std::size_t i) { return std::uint64_t{static_cast<unsigned char>(p[i])} << 8 * i; };
  return byte(0) | byte(size / 2) | byte(size - 1);
}

// Copies bytes, exactly `size` of them, and returns their sum.
std::uint32_t copy_and_sum(char* out, const char* bytes, std::size_t size) noexcept;

// Complete fields known at compile time, followed by unused bytes so that they can be copied in whole steps of 16.
template <std::size_t padded_size>
struct ConstantFields {
  std::array<char, padded_size> bytes;
  std::size_t size;
  std::uint32_t sum;

  [[nodiscard]] constexpr std::string_view view() const noexcept { return {bytes.data(), size}; }
};

// A string literal as a template argument.
template <std::size_t size>
struct FieldsLiteral {
  char text[size];

  consteval FieldsLiteral(const char (&literal)[size]) {  // NOLINT: meant implicit
    for (std::size_t i = 0; i < size; ++i) text[i] = literal[i];
  }
};

namespace detail {

// Not constexpr: reaching it while a constant is made is the compiler's error message.
inline void constant_fields_must_read_tag_equals_value_bar() {}

template <FieldsLiteral literal>
consteval auto make_constant_fields() {
  constexpr std::size_t size = sizeof literal.text - 1;
  ConstantFields<(size + 15) / 16 * 16> result{{}, size, 0};
  bool in_tag = true;
  std::size_t tag_size = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const char c = literal.text[i];
    if (in_tag) {
      const bool digit = c >= '0' && c <= '9';
      if (!digit && (c != '=' || tag_size == 0)) constant_fields_must_read_tag_equals_value_bar();
      tag_size += digit ? 1 : 0;
      in_tag = digit;
    } else if (c == '|') {
      in_tag = true;
      tag_size = 0;
    }
    result.bytes[i] = c == '|' ? soh : c;
    result.sum += static_cast<unsigned char>(result.bytes[i]);
  }
  if (!in_tag || tag_size != 0) constant_fields_must_read_tag_equals_value_bar();
  return result;
}

}  // namespace detail

// constant_fields<"21=1|59=0|">: one or more complete fields, checked while compiling.
template <FieldsLiteral literal>
inline constexpr auto constant_fields = detail::make_constant_fields<literal>();

// Numbers: characters and bool are values of their own.
template <typename T>
concept FieldInteger =
    std::integral<T> && !std::same_as<T, char> && !std::same_as<T, bool> && !std::same_as<T, wchar_t> &&
    !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

namespace detail {
// A null pointer is an empty text.
[[nodiscard, gnu::always_inline]] inline constexpr std::string_view text_of(const char* text) noexcept {
  return text == nullptr ? std::string_view{} : std::string_view{text};
}
}  // namespace detail

// Why a FieldWriter failed.
enum class WriteError : std::uint8_t {
  none,
  no_space,      // the buffer is full
  empty_value,   // FIX has no empty fields: leave the field out
  contains_soh,  // the value would end at that byte; append_data() takes any byte
  bad_tag,       // not a number from 1 to 2147483647
  bad_value,     // copied from another message, where it is not of the field's type; or out of range
  incomplete,    // the last field has no SOH at its end
  header_field,  // of the header: the session writes it, or it belongs to create()
};

// The first field that could not be written.
struct WriteFault {
  WriteError error = WriteError::none;
  Tag tag{};  // 0 for a text that is no field

  friend constexpr bool operator==(WriteFault, WriteFault) noexcept = default;
};

// "the value is empty"
[[nodiscard]] std::string_view to_string(WriteError error) noexcept;
// "tag 151: the value is empty"
[[nodiscard]] std::string to_string(WriteFault fault);

// What view() of a failed writer returns: no complete field, so that nothing sends it.
inline constexpr std::string_view not_sendable = "?";

class FieldWriter {
 public:
  explicit FieldWriter(std::span<char> buffer) noexcept
      : begin_(buffer.data()), at_(begin_), limit_(begin_ + buffer.size()), end_(limit_) {}

  // Text. SOH inside would end the field: use append_data for such values.
  FieldWriter& append(Tag tag, std::string_view text) noexcept;
  FieldWriter& append(Tag tag, const char* text) noexcept { return append(tag, detail::text_of(text)); }
  template <std::same_as<char> Char>
  FieldWriter& append(Tag tag, Char value) noexcept {
    return append_char(tag, value);
  }
  template <std::same_as<bool> Bool>
  FieldWriter& append(Tag tag, Bool value) noexcept {
    return append_char(tag, value ? 'Y' : 'N');
  }
  FieldWriter& append(Tag tag, Decimal value) noexcept;
  FieldWriter& append(Tag tag, SeqNum value) noexcept { return append_unsigned(tag, nfx::value(value)); }
  template <FieldInteger Int>
  FieldWriter& append(Tag tag, Int value) noexcept {
    if constexpr (std::is_signed_v<Int>) {
      return append_signed(tag, value);
    } else {
      return append_unsigned(tag, value);
    }
  }
  // UTCTimestamp with 0 to 9 digits of fraction. A writer used for many messages caches the last second's text.
  FieldWriter& append(Tag tag, UtcTime time, unsigned fraction_digits = 3) noexcept;
  template <typename Unit>
    requires(!std::same_as<Unit, Duration>)
  FieldWriter& append(Tag tag, std::chrono::sys_time<Unit> time, unsigned fraction_digits = 3) noexcept {
    const auto utc = to_utc_time(time);
    return utc ? append(tag, *utc, fraction_digits) : fail(tag, WriteError::bad_value);
  }

  // The same values for a tag known at compile time.
  template <Tag tag>
  [[gnu::always_inline]] FieldWriter& append(std::string_view text) noexcept {
    return put_text(tag, tag_text_of<tag>, text);
  }
  template <Tag tag>
  [[gnu::always_inline]] FieldWriter& append(const char* text) noexcept {
    return put_text(tag, tag_text_of<tag>, detail::text_of(text));
  }
  template <Tag tag, std::same_as<char> Char>
  [[gnu::always_inline]] FieldWriter& append(Char value) noexcept {
    return put_char(tag, tag_text_of<tag>, value);
  }
  template <Tag tag, std::same_as<bool> Bool>
  [[gnu::always_inline]] FieldWriter& append(Bool value) noexcept {
    return put_char(tag, tag_text_of<tag>, value ? 'Y' : 'N');
  }
  template <Tag tag>
  [[gnu::always_inline]] FieldWriter& append(Decimal value) noexcept {
    return put_decimal(tag, tag_text_of<tag>, value);
  }
  template <Tag tag>
  [[gnu::always_inline]] FieldWriter& append(SeqNum value) noexcept {
    return put_unsigned(tag, tag_text_of<tag>, nfx::value(value));
  }
  template <Tag tag, FieldInteger Int>
  [[gnu::always_inline]] FieldWriter& append(Int value) noexcept {
    if constexpr (std::is_signed_v<Int>) {
      return put_signed(tag, tag_text_of<tag>, value);
    } else {
      return put_unsigned(tag, tag_text_of<tag>, value);
    }
  }
  template <Tag tag>
  [[gnu::always_inline]] FieldWriter& append(UtcTime time, unsigned fraction_digits = 3) noexcept {
    return put_time(tag, tag_text_of<tag>, time, fraction_digits);
  }
  template <Tag tag, typename Unit>
    requires(!std::same_as<Unit, Duration>)
  FieldWriter& append(std::chrono::sys_time<Unit> time, unsigned fraction_digits = 3) noexcept {
    return append(tag, time, fraction_digits);
  }

  // Fields that never change: append(constant_fields<"21=1|59=0|">).
  template <std::size_t padded_size>
  [[gnu::always_inline]] FieldWriter& append(const ConstantFields<padded_size>& fields) noexcept {
    if (room() < static_cast<std::ptrdiff_t>(padded_size)) [[unlikely]]
      return append_raw(fields.view());
    const Place from = place();
    std::memcpy(from.at, fields.bytes.data(), padded_size);
    return advance(from, fields.size, fields.sum);
  }

  // A length field and its data field; the data may hold any byte.
  FieldWriter& append_data(Tag length_tag, Tag data_tag, std::string_view data) noexcept;

  // Complete fields, copied unchanged, for example the body of a received message. Must end with SOH unless empty.
  FieldWriter& append_raw(std::string_view fields) noexcept;

  // Fails with this fault: for those who write through this writer.
  void refuse(Tag tag, WriteError error) noexcept { fail(tag, error); }

  [[nodiscard]] bool ok() const noexcept { return fault_.error == WriteError::none; }
  [[nodiscard]] WriteFault fault() const noexcept { return fault_; }
  // The fields so far; not_sendable after a failure.
  [[nodiscard]] std::string_view view() const noexcept {
    return ok() ? std::string_view{begin_, size()} : not_sendable;
  }
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(at_ - begin_); }
  // Sum of all bytes of view(); modulo 256 it is their part of CheckSum(10).
  [[nodiscard]] std::uint32_t sum() const noexcept { return sum_; }
  void clear() noexcept {
    at_ = begin_;
    limit_ = end_;
    sum_ = 0;
    fault_ = {};
  }

 private:
  friend class Encoder;

  // Space that the quick writers below need: whole words are stored, so it is more than any of their fields takes.
  static constexpr std::ptrdiff_t quick_room = 64;

  [[nodiscard, gnu::always_inline]] std::ptrdiff_t room() const noexcept { return limit_ - at_; }
  // A writer's position and sum are loaded once before a field's bytes and stored once after them: char stores may
  // alias anything, so the compiler would otherwise reload both for each byte.
  struct Place {
    char* at;
    std::uint32_t sum;
  };
  [[nodiscard, gnu::always_inline]] Place place() const noexcept { return {at_, sum_}; }
  [[gnu::always_inline]] FieldWriter& advance(Place from, std::size_t size, std::uint32_t sum) noexcept {
    NFX_ASSERT(ok() && from.at == at_ && size <= static_cast<std::size_t>(end_ - at_));
    at_ = from.at + size;
    sum_ = from.sum + sum;
    return *this;
  }
  // After "tag=" and its value: adds SOH and completes the field.
  [[gnu::always_inline]] FieldWriter& close(Place from, const TagText& tag, WrittenText value) noexcept {
    const std::size_t size = tag.size + value.size;
    NFX_ASSERT(size < static_cast<std::size_t>(quick_room));
    from.at[size] = soh;
    return advance(from, size + 1, tag.sum + value.sum + static_cast<unsigned char>(soh));
  }
  // The quick writers. They require quick_room, and the append_*_anyhow functions below handle all other cases.
  [[gnu::always_inline]] FieldWriter& put_text(Tag tag, const TagText& head, std::string_view text) noexcept {
    const Place from = place();
    const std::size_t size = text.size();
    if (limit_ - from.at < quick_room || size - 1 > 15 || head.size == 0) [[unlikely]] {
      return append_text_anyhow(tag, text);
    }
    digit_words::store(from.at, head.word);
    char* const out = from.at + head.size;
    std::uint32_t sum;
    if (size <= 8) {
      const std::uint64_t word = load_short(text.data(), size);
      const ByteWord bytes{word};
      digit_words::store(out, word);
      if (bytes.holds_soh()) [[unlikely]]
        return fail(tag, WriteError::contains_soh);
      sum = bytes.sum();
    } else {
      // Two overlapping words; the overlap is shifted out of the second before it is summed.
      const auto first = digit_words::load<std::uint64_t>(text.data());
      const auto last = digit_words::load<std::uint64_t>(text.data() + size - 8);
      const ByteWord front{first}, back{last >> 8 * (16 - size)};
      digit_words::store(out, first);
      digit_words::store(out + size - 8, last);
      if (front.holds_soh() || back.holds_soh()) [[unlikely]]
        return fail(tag, WriteError::contains_soh);
      sum = front.sum() + back.sum();
    }
    return close(from, head, {static_cast<std::uint32_t>(size), sum});
  }
  [[gnu::always_inline]] FieldWriter& put_char(Tag tag, const TagText& head, char value) noexcept {
    const Place from = place();
    const auto byte = static_cast<unsigned char>(value);
    if (limit_ - from.at < quick_room || byte <= soh || head.size == 0) [[unlikely]] {
      return append_char_anyhow(tag, value);
    }
    digit_words::store(from.at, head.word);
    digit_words::store(from.at + head.size, static_cast<std::uint16_t>(byte | soh << 8));
    return advance(from, head.size + 2, head.sum + byte + static_cast<unsigned char>(soh));
  }
  [[gnu::always_inline]] FieldWriter& put_decimal(Tag tag, const TagText& head, Decimal value) noexcept {
    const Place from = place();
    if (limit_ - from.at < quick_room || head.size == 0 || value.scale() > Decimal::max_scale) [[unlikely]]
      return append_decimal_anyhow(tag, value);
    digit_words::store(from.at, head.word);
    return close(from, head, write_scaled(from.at + head.size, value.mantissa(), value.scale()));
  }
  [[gnu::always_inline]] FieldWriter& put_unsigned(Tag tag, const TagText& head, std::uint64_t value) noexcept {
    const Place from = place();
    if (limit_ - from.at < quick_room || head.size == 0) [[unlikely]]
      return append_unsigned_anyhow(tag, value);
    digit_words::store(from.at, head.word);
    return close(from, head, write_digits(from.at + head.size, value));
  }
  [[gnu::always_inline]] FieldWriter& put_signed(Tag tag, const TagText& head, std::int64_t value) noexcept {
    if (value < 0) [[unlikely]]
      return append_decimal_anyhow(tag, Decimal{value});
    return put_unsigned(tag, head, static_cast<std::uint64_t>(value));
  }
  [[gnu::always_inline]] FieldWriter& put_time(Tag tag, const TagText& head, UtcTime time, unsigned digits) noexcept {
    const std::uint32_t nanoseconds = clock_.settle(time);
    const Place from = place();
    if (limit_ - from.at < quick_room || head.size == 0 || digits > 9) [[unlikely]] {
      return append_time_anyhow(tag, time, digits);
    }
    const std::uint32_t second_sum = clock_.sum();
    digit_words::store(from.at, head.word);
    char* const out = from.at + head.size;
    std::memcpy(out, clock_.text(), 24);
    const WrittenText fraction = write_fraction(out + 17, nanoseconds, digits);
    return close(from, head, {17 + fraction.size, second_sum + fraction.sum});
  }

  FieldWriter& append_char(Tag tag, char value) noexcept;
  FieldWriter& append_signed(Tag tag, std::int64_t value) noexcept;
  FieldWriter& append_unsigned(Tag tag, std::uint64_t value) noexcept;
  FieldWriter& append_text_anyhow(Tag tag, std::string_view text) noexcept;
  FieldWriter& append_char_anyhow(Tag tag, char value) noexcept;
  FieldWriter& append_decimal_anyhow(Tag tag, Decimal value) noexcept;
  FieldWriter& append_unsigned_anyhow(Tag tag, std::uint64_t value) noexcept;
  FieldWriter& append_time_anyhow(Tag tag, UtcTime time, unsigned fraction_digits) noexcept;
  // Writes one field of exact size; the value's bytes are not checked. Without space, returns false and the writer
  // fails.
  bool append_exactly(Tag tag, std::string_view value) noexcept;
  FieldWriter& fail(Tag tag, WriteError error) noexcept;

  char* begin_;
  char* at_;
  char* limit_;  // end_, or begin_ once the writer has failed: then no append finds space
  char* end_;
  std::uint32_t sum_ = 0;
  WriteFault fault_;
  UtcTimestampWriter clock_;
};

}  // namespace nfx
