// Appends "tag=value<SOH>" fields to a caller's buffer.
// Thread: one owner. Cost: the bytes written; no allocation. Lifetime: borrows the buffer.
// Errors: when the buffer is full, or a value holds SOH, the writer is marked and later appends do nothing; ok() tells.
// Whether a tag or an empty value makes sense is not judged here.
#pragma once

#include <concepts>
#include <cstring>
#include <span>
#include <string_view>

#include "nexusfix/base/decimal.hpp"
#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/base/tag.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

inline constexpr char soh = '\x01';

class FieldWriter {
 public:
  explicit FieldWriter(std::span<char> buffer) noexcept
      : begin_(buffer.data()), at_(buffer.data()), end_(buffer.data() + buffer.size()) {}

  // Text. SOH inside would end the field: use append_data for such values.
  FieldWriter& append(Tag tag, std::string_view text) noexcept;
  FieldWriter& append(Tag tag, const char* text) noexcept { return append(tag, std::string_view{text}); }
  FieldWriter& append(Tag tag, char value) noexcept { return append(tag, std::string_view{&value, 1}); }
  FieldWriter& append(Tag tag, bool value) noexcept { return append(tag, value ? 'Y' : 'N'); }
  FieldWriter& append(Tag tag, Decimal value) noexcept;
  FieldWriter& append(Tag tag, SeqNum value) noexcept { return append_unsigned(tag, nfx::value(value)); }
  template <std::integral Int>
    requires(!std::same_as<Int, char> && !std::same_as<Int, bool>)
  FieldWriter& append(Tag tag, Int value) noexcept {
    if constexpr (std::is_signed_v<Int>) {
      return append_signed(tag, value);
    } else {
      return append_unsigned(tag, value);
    }
  }
  // UTCTimestamp with 0 to 9 digits of fraction.
  FieldWriter& append(Tag tag, UtcTime time, unsigned fraction_digits = 3) noexcept;

  // A length field and its data field; the data may hold any byte.
  FieldWriter& append_data(Tag length_tag, Tag data_tag, std::string_view data) noexcept;

  // Complete fields copied as they are, for example a received message's body. Must end with SOH unless empty.
  FieldWriter& append_raw(std::string_view fields) noexcept;

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] std::string_view view() const noexcept { return {begin_, static_cast<std::size_t>(at_ - begin_)}; }
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(at_ - begin_); }
  void clear() noexcept {
    at_ = begin_;
    ok_ = true;
  }

 private:
  FieldWriter& append_signed(Tag tag, std::int64_t value) noexcept;
  FieldWriter& append_unsigned(Tag tag, std::uint64_t value) noexcept;
  // Room for "tag=" and a value of `size` bytes and SOH; writes "tag=". Null, and the writer marked, without room.
  char* open(Tag tag, std::size_t size) noexcept;

  char* begin_;
  char* at_;
  char* end_;
  bool ok_ = true;
};

}  // namespace nfx
