// What every kernel does at a SOH: end the field, check its tag, honour data lengths.
// The anonymous namespace gives each kernel its own copy, compiled for its own instruction set.
#pragma once

#include "kernels.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx::kernels {
namespace {

constexpr std::int32_t max_length_tag = 1733;

// One bit per tag that announces a data field, so that ordinary fields pay one load.
struct LengthTagBits {
  std::uint64_t words[max_length_tag / 64 + 1];
};

constexpr LengthTagBits make_length_tag_bits() noexcept {
  LengthTagBits bits{};
  for (std::int32_t tag = 0; tag <= max_length_tag; ++tag) {
    if (data_tag_of(Tag{tag}) != Tag{0}) bits.words[tag / 64] |= std::uint64_t{1} << (tag % 64);
  }
  return bits;
}

constexpr LengthTagBits length_tag_bits = make_length_tag_bits();
static_assert(data_tag_of(Tag{max_length_tag}) != Tag{0}, "the largest length tag bounds the bit set");

class FieldIndexer {
 public:
  FieldIndexer(const char* message, std::size_t size, const FieldArrays& out) noexcept
      : message_(message), size_(size), out_(out) {}

  // A kernel found SOH at `at`; positions ascend. False when the message is at fault and the kernel must stop.
  [[nodiscard, gnu::always_inline]] bool on_soh(std::size_t at) noexcept {
    if (at < start_) return true;  // inside a data field
    const char* p = message_ + start_;
    const bool negative = *p == '-';
    if (negative) ++p;
    // The SOH at `at` is no digit, so the loop ends inside the field.
    const char* const first_digit = p;
    std::uint64_t number = 0;
    for (unsigned digit; (digit = static_cast<unsigned char>(*p) - unsigned{'0'}) <= 9; ++p)
      number = number * 10 + digit;
    const std::ptrdiff_t digits = p - first_digit;
    if (*p != '=' || digits == 0 || digits > 10 || number > 0x7FFFFFFFu + std::uint64_t{negative}) {
      return fail(WireError::bad_tag);
    }
    const auto tag =
        static_cast<std::int32_t>(negative ? -static_cast<std::int64_t>(number) : static_cast<std::int64_t>(number));
    const auto value = static_cast<std::size_t>(p + 1 - message_);
    if (data_tag_ != 0) {
      if (tag == data_tag_ && !end_of_data(value, at)) return fail(WireError::bad_data_length);
      data_tag_ = 0;
    }
    if (count_ == out_.capacity) return fail(WireError::too_many_fields);
    out_.tags[count_] = tag;
    out_.offsets[count_] = static_cast<std::uint32_t>(value);
    out_.lengths[count_] = static_cast<std::uint32_t>(at - value);
    ++count_;
    start_ = at + 1;
    if (is_length_tag(tag)) data_tag_ = data_tag_behind(tag);
    return true;
  }

  [[nodiscard]] IndexResult result(std::uint8_t sum) const noexcept {
    if (error_ != WireError::none) return {error_, 0, count_};
    if (start_ != size_ || count_ == 0) return {WireError::truncated, 0, count_};
    return {WireError::none, sum, count_};
  }

 private:
  bool fail(WireError error) noexcept {
    error_ = error;
    return false;
  }

  static bool is_length_tag(std::int32_t tag) noexcept {
    const auto t = static_cast<std::uint32_t>(tag);
    return t <= static_cast<std::uint32_t>(max_length_tag) && (length_tag_bits.words[t / 64] >> (t % 64) & 1) != 0;
  }

  // Moves `at` to the SOH behind the data that starts at `value` and has the length of the field before.
  [[gnu::cold, gnu::noinline]] bool end_of_data(std::size_t value, std::size_t& at) const noexcept {
    const char* const text = message_ + out_.offsets[count_ - 1];
    const std::uint32_t text_size = out_.lengths[count_ - 1];
    const std::size_t room = size_ - value;  // at least 1: the SOH at `at`
    std::size_t length = 0;
    for (std::uint32_t i = 0; i < text_size; ++i) {
      const unsigned digit = static_cast<unsigned char>(text[i]) - unsigned{'0'};
      if (digit > 9) return false;
      length = length * 10 + digit;
      if (length >= room) return false;  // also keeps the product from overflowing
    }
    if (text_size == 0 || message_[value + length] != '\x01') return false;
    at = value + length;
    return true;
  }

  const char* message_;
  std::size_t size_;
  FieldArrays out_;
  std::size_t start_ = 0;  // of the current field
  std::uint32_t count_ = 0;
  std::int32_t data_tag_ = 0;  // announced by the previous field
  WireError error_ = WireError::none;
};

}  // namespace
}  // namespace nfx::kernels
