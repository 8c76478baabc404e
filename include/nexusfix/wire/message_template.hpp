// One whole message, laid out once; to send it again, the values that changed are patched. Every value that changes has
// a slot of fixed width, so that BodyLength never changes and no byte moves.
// Thread: one owner. Cost: a patch writes its slot and corrects the running sum by the difference; nothing else is
// touched or read again. Allocates only when built. Lifetime: the view borrows the template until the next patch.
// Errors: a value that does not fit its slot is refused with a PatchError and leaves the message unchanged. The builder
// throws std::invalid_argument for a layout that is not a message.
// Numbers are padded with leading zeros, which FIX allows in int and float fields: 00023 equals 23.
//
//   MessageTemplateBuilder builder{header, "D"};
//   const TextSlot id = builder.text(Tag::ClOrdID, 12);
//   builder.fields(constant_fields<"21=1|55=MSFT|54=1|40=2|">.view());
//   const DecimalSlot price = builder.decimal(Tag::Price, {.whole_digits = 5, .scale = 2});
//   MessageTemplate order = builder.build();
//   ...
//   if (order.patch_header(seq, now) == PatchError::none && order.patch(price, Decimal{23230, 3}) == PatchError::none)
//     send(order.view());
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/decimal.hpp"
#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/base/tag.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/wire/encoder.hpp"

namespace nfx {

enum class PatchError : std::uint8_t {
  none,
  too_wide,    // the number has more digits than the slot
  wrong_size,  // the text is not as long as the slot
  not_exact,   // the decimal has digits after the slot's last place
  holds_soh,   // the text contains SOH
};

// The position of a value in the template that made the slot; no other template may be patched with it.
struct IntSlot {
  std::uint32_t offset;
  std::uint8_t index;
  std::uint8_t width;  // a minus sign takes one digit's place
};
struct DecimalSlot {
  std::uint32_t offset;
  std::uint8_t index;
  std::uint8_t width;  // with the point
  std::uint8_t scale;
};
struct CharSlot {
  std::uint32_t offset;
  std::uint8_t index;
};
struct TextSlot {
  std::uint32_t offset;
  std::uint8_t index;
  std::uint16_t width;
};
struct TimeSlot {
  std::uint32_t offset;
  std::uint8_t index;
  std::uint8_t fraction_digits;
};

class MessageTemplate {
 public:
  static constexpr std::size_t max_slots = 64;
  static constexpr unsigned max_number_width = 16;

  // MsgSeqNum(34) and SendingTime(52).
  [[nodiscard, gnu::always_inline]] PatchError patch_header(SeqNum seq, UtcTime now) noexcept {
    const PatchError error = patch_number(seq_, 0, value(seq), false);
    if (error == PatchError::none) patch(time_, now);
    return error;
  }

  [[nodiscard, gnu::always_inline]] PatchError patch(IntSlot slot, std::int64_t value) noexcept {
    const auto bits = static_cast<std::uint64_t>(value);
    return patch_number(slot, 0, value < 0 ? 0 - bits : bits, value < 0);
  }
  // Digits after the slot's last place are accepted when they are zeros.
  [[nodiscard, gnu::always_inline]] PatchError patch(DecimalSlot slot, Decimal value) noexcept {
    const auto bits = static_cast<std::uint64_t>(value.mantissa());
    std::uint64_t number = value.mantissa() < 0 ? 0 - bits : bits;
    if (value.scale() != slot.scale) [[unlikely]] {
      const PatchError error = rescale(number, value.scale(), slot.scale);
      if (error != PatchError::none) return error;
    }
    return patch_number({slot.offset, slot.index, slot.width}, slot.scale, number, value.mantissa() < 0);
  }
  [[nodiscard, gnu::always_inline]] PatchError patch(CharSlot slot, char value) noexcept {
    if (value == soh) return PatchError::holds_soh;
    count(slot.index, static_cast<unsigned char>(value));
    at(slot.offset, 1)[0] = value;
    return PatchError::none;
  }
  [[nodiscard, gnu::always_inline]] PatchError patch(TextSlot slot, std::string_view text) noexcept {
    if (text.size() != slot.width) return PatchError::wrong_size;
    return patch_text(slot, text);
  }
  void patch(TimeSlot slot, UtcTime time) noexcept;  // every time fits

  // The current fields after the header: for a session, which writes its own header and trailer.
  [[nodiscard]] std::string_view fields() const noexcept {
    return {bytes_.data() + fields_offset_, bytes_.size() - trailer_size - fields_offset_};
  }

  // The complete message with the current values.
  [[nodiscard]] std::string_view view() noexcept {
    NFX_ASSERT(begin_ < body_offset && bytes_.size() >= body_offset + trailer_size);
    NFX_ASSERT(static_cast<std::uint8_t>(sum_) ==
               check_sum({bytes_.data() + begin_, bytes_.size() - begin_ - trailer_size}));
    write_check_sum_field(bytes_.data() + bytes_.size() - trailer_size, static_cast<std::uint8_t>(sum_));
    return {bytes_.data() + begin_, bytes_.size() - begin_};
  }

 private:
  friend class MessageTemplateBuilder;
  MessageTemplate() = default;

  static constexpr std::size_t body_offset = HeaderTemplate::max_front_size;
  static constexpr std::size_t trailer_size = Encoder::trailer_size;

  [[nodiscard]] char* at(std::size_t offset, [[maybe_unused]] std::size_t size) noexcept {
    NFX_ASSERT(offset > body_offset && offset + size < bytes_.size() - trailer_size);
    return bytes_.data() + offset;
  }
  // Sets the sum of the slot's bytes. Called before they are written: char stores may alias anything, and after them
  // the sums would have to be reloaded from memory.
  void count(std::uint8_t index, std::uint32_t sum) noexcept {
    NFX_ASSERT(index < max_slots);
    sum_ += sum - slot_sums_[index];
    slot_sums_[index] = sum;
  }
  [[nodiscard]] PatchError patch_number(IntSlot slot, unsigned scale, std::uint64_t number, bool negative) noexcept;
  [[nodiscard]] PatchError patch_text(TextSlot slot, std::string_view text) noexcept;
  [[nodiscard]] PatchError patch_long_number(IntSlot slot, unsigned scale, std::uint64_t number,
                                             bool negative) noexcept;
  void patch_other_time(TimeSlot slot, std::uint32_t nanoseconds) noexcept;
  [[nodiscard]] PatchError patch_long_text(TextSlot slot, std::string_view text) noexcept;
  static PatchError rescale(std::uint64_t& number, unsigned from, unsigned to) noexcept;

  std::string bytes_;      // MsgType(35) is at body_offset, whatever the length of the fields before it
  std::size_t begin_ = 0;  // of the message
  std::size_t fields_offset_ = 0;
  std::uint32_t sum_ = 0;  // of all bytes before CheckSum(10)
  IntSlot seq_{};
  TimeSlot time_{};
  UtcTimestampWriter clock_;
  std::array<std::uint32_t, max_slots> slot_sums_{};
};

// Lays out a message field by field; slots start with zeros, times with 1970. Allocates.
class MessageTemplateBuilder {
 public:
  struct DecimalLayout {
    unsigned whole_digits;
    unsigned scale;
  };

  // `seq_digits`: the width of MsgSeqNum(34), 1 to 16.
  explicit MessageTemplateBuilder(const HeaderTemplate& header, std::string_view msg_type, unsigned seq_digits = 9);

  // Complete fields that never change; they may come from a FieldWriter or from constant_fields<...>.view().
  MessageTemplateBuilder& fields(std::string_view complete_fields);

  [[nodiscard]] IntSlot integer(Tag tag, unsigned digits);
  [[nodiscard]] DecimalSlot decimal(Tag tag, DecimalLayout layout);
  [[nodiscard]] CharSlot character(Tag tag);
  [[nodiscard]] TextSlot text(Tag tag, std::size_t size);
  [[nodiscard]] TimeSlot time(Tag tag, unsigned fraction_digits = 3);

  [[nodiscard]] MessageTemplate build() const;

 private:
  struct Place {
    std::uint32_t offset;
    std::uint8_t index;
  };
  // A new slot with its first value.
  Place place(std::string_view before, std::string_view value);
  Place place_field(Tag tag, std::string_view value);

  HeaderTemplate header_;
  MessageTemplate result_;
  std::size_t slot_count_ = 0;
};

namespace detail {

// Stores the first `size` bytes of a word, 1 to 8, and nothing else.
inline void store_exactly(char* out, std::uint64_t word, std::size_t size) noexcept {
  NFX_ASSERT(size - 1 < 8);
  if (size == 8) {
    digit_words::store(out, word);
  } else if (size >= 4) {
    digit_words::store(out, static_cast<std::uint32_t>(word));
    digit_words::store(out + size - 4, static_cast<std::uint32_t>(word >> 8 * (size - 4)));
  } else {
    for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<char>(word >> 8 * i);
  }
}

}  // namespace detail

[[gnu::always_inline]] inline PatchError MessageTemplate::patch_number(IntSlot slot, unsigned scale,
                                                                       std::uint64_t number, bool negative) noexcept {
  const unsigned width = slot.width;
  const unsigned point = scale == 0 ? 0 : 1;
  const unsigned digits = width - point;
  NFX_ASSERT(width - 1 < max_number_width && digits > scale);
  // A minus sign replaces the first digit, which must not be the one before the point.
  if (number >= static_cast<std::uint64_t>(powers_of_ten[digits - (negative ? 1 : 0)])) return PatchError::too_wide;
  if (negative && digits == scale + 1) return PatchError::too_wide;
  if (number >= digit_words::limit_8 || scale > 7) [[unlikely]]
    return patch_long_number(slot, scale, number, negative);
  const std::uint64_t bytes = digit_words::eight(number);
  std::uint32_t sum = digits * '0' + point * '.' + digit_words::digit_sum(bytes);
  if (negative) sum -= '0' - '-';
  count(slot.index, sum);

  const std::uint64_t all = bytes + digit_words::zero_characters;
  char* const out = at(slot.offset, width);
  // The last eight characters. The point shifts the digits before it by one place, the first of them out of the word.
  std::uint64_t text = all;
  if (scale != 0) {
    const unsigned place = 8 * (7 - scale);
    const std::uint64_t in_front = (std::uint64_t{1} << place) - 1;
    text = (all >> 8 & in_front) | std::uint64_t{'.'} << place | (all & ~(in_front << 8 | 0xFF));
  }
  if (width > 8) {
    digit_words::store(out, digit_words::zero_characters);
    out[width - 9] = scale != 0 ? static_cast<char>(all) : '0';
    digit_words::store(out + width - 8, text);
  } else {
    detail::store_exactly(out, text >> 8 * (8 - width), width);
  }
  if (negative) *out = '-';
  return PatchError::none;
}

[[gnu::always_inline]] inline void MessageTemplate::patch(TimeSlot slot, UtcTime time) noexcept {
  const std::uint32_t nanoseconds = clock_.settle(time);
  char* const out = at(slot.offset, 17);
  if (slot.fraction_digits != 3) [[unlikely]]
    return patch_other_time(slot, nanoseconds);
  const digit_words::ThreeDigits digits = digit_words::three(nanoseconds / 1'000'000);
  count(slot.index, clock_.sum() + '.' + 3 * '0' + digits.sum);
  std::memcpy(out, clock_.text(), 16);
  // The last digit of the second, the point and the fraction.
  out[16] = clock_.text()[16];
  digit_words::store(out + 17, '.' + ((digits.bytes + digit_words::three_zero_characters) << 8));
}

[[gnu::always_inline]] inline PatchError MessageTemplate::patch_text(TextSlot slot, std::string_view text) noexcept {
  const std::size_t size = text.size();
  if (size > 16) return patch_long_text(slot, text);
  if (size <= 8) {
    const std::uint64_t word = load_short(text.data(), size);
    const ByteWord bytes{word};
    if (bytes.holds_soh()) return PatchError::holds_soh;
    count(slot.index, bytes.sum());
    detail::store_exactly(at(slot.offset, size), word, size);
    return PatchError::none;
  }
  const auto first = digit_words::load<std::uint64_t>(text.data());
  const auto last = digit_words::load<std::uint64_t>(text.data() + size - 8);
  const ByteWord front{first}, back{last >> 8 * (16 - size)};
  if (front.holds_soh() || back.holds_soh()) return PatchError::holds_soh;
  count(slot.index, front.sum() + back.sum());
  char* const out = at(slot.offset, size);
  digit_words::store(out, first);
  digit_words::store(out + size - 8, last);
  return PatchError::none;
}

}  // namespace nfx
