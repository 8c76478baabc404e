// The sequential indexer, which a kernel calls at each SOH. It ends the field, checks its tag and applies data lengths.
// Vector kernels leave unusual and malformed messages to it, so it defines every result.
#pragma once

#include "kernels.hpp"
#include "length_tags.hpp"

namespace nfx::kernels {
namespace {

template <class Arrays>
class FieldIndexer {
 public:
  FieldIndexer(const char* message, std::size_t size, const Arrays& out) noexcept
      : message_(message), size_(size), out_(out) {}

  // A kernel found SOH at `at`; positions ascend. False if the message is malformed and the kernel must stop.
  [[nodiscard, gnu::always_inline]] bool on_soh(std::size_t at) noexcept {
    NFX_ASSERT(at < size_ && message_[at] == '\x01');
    if (at < start_) return true;  // inside a data field
    const char* p = message_ + start_;
    const bool negative = *p == '-';
    if (negative) ++p;
    // The SOH at `at` is not a digit, so the loop ends inside the field.
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
    if (is_narrow && (negative || number > 0xFFFF)) {
      needs_wide_ = true;
      return false;
    }
    const auto value = static_cast<std::size_t>(p + 1 - message_);
    if (data_tag_ != 0) {
      if (tag == data_tag_ && !end_of_data(value, at)) return fail(WireError::bad_data_length);
      data_tag_ = 0;
    }
    if (count_ == out_.capacity) return fail(WireError::too_many_fields);
    out_.tags[count_] = static_cast<typename Arrays::tag_type>(tag);
    out_.begins[count_] = static_cast<typename Arrays::position_type>(value);
    out_.ends[count_] = static_cast<typename Arrays::position_type>(at);
    NFX_ASSERT(start_ < value && value <= at && at < size_);
    ++count_;
    start_ = at + 1;
    if (is_length_tag(static_cast<std::uint32_t>(tag))) data_tag_ = data_tag_after(tag);
    return true;
  }

  [[nodiscard]] IndexResult result(std::uint8_t sum) const noexcept {
    if (needs_wide_ || error_ != WireError::none) return {error_, 0, needs_wide_, false, count_};
    if (start_ != size_ || count_ == 0) return {WireError::truncated, 0, false, false, count_};
    return {WireError::none, sum, false, false, count_};
  }

 private:
  static constexpr bool is_narrow = sizeof(typename Arrays::tag_type) == 2;

  bool fail(WireError error) noexcept {
    error_ = error;
    return false;
  }

  // Moves `at` to the SOH after the data that starts at `value`, with the length from the previous field.
  [[gnu::cold, gnu::noinline]] bool end_of_data(std::size_t value, std::size_t& at) const noexcept {
    NFX_ASSERT(count_ != 0 && value < size_);
    const std::size_t text = out_.begins[count_ - 1];
    const std::size_t room = size_ - value;  // at least 1: the SOH at `at`
    std::size_t length = 0;
    if (!read_data_length(message_ + text, out_.ends[count_ - 1] - text, room, length)) return false;
    if (message_[value + length] != '\x01') return false;
    at = value + length;
    return true;
  }

  const char* message_;
  std::size_t size_;
  Arrays out_;
  std::size_t start_ = 0;  // start of the current field
  std::uint32_t count_ = 0;
  std::int32_t data_tag_ = 0;  // announced by the previous field
  WireError error_ = WireError::none;
  bool needs_wide_ = false;
};

// Whether every data field has the length given by the preceding field. Then it contains no SOH, and indexing it like
// any other field was correct.
template <class Arrays>
[[gnu::cold, gnu::noinline]] bool data_lengths_agree(const char* message, Arrays out, std::uint32_t count) noexcept {
  NFX_ASSERT(count <= out.capacity);
  for (std::uint32_t i = 0; i + 1 < count; ++i) {
    const auto tag = static_cast<std::int32_t>(out.tags[i]);
    if (!is_length_tag(static_cast<std::uint32_t>(tag)) ||
        static_cast<std::int32_t>(out.tags[i + 1]) != data_tag_after(tag)) {
      continue;
    }
    std::size_t length = 0;
    const std::size_t data_size = static_cast<std::size_t>(out.ends[i + 1]) - out.begins[i + 1];
    const std::size_t text = out.begins[i];
    if (!read_data_length(message + text, out.ends[i] - text, data_size + 1, length) || length != data_size)
      return false;
  }
  return true;
}

}  // namespace
}  // namespace nfx::kernels
