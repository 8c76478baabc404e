// One FIX message, its fields found in one pass and looked up by tag in constant time.
// Thread: one owner; reuse one object per poll thread. Cost: parse() is one pass and never allocates; look-up O(1).
// Lifetime: values borrow the buffer given to parse(); they die with it, or at the next parse().
// Errors: parse() says what is wrong and leaves the view empty; nothing is read outside the given bytes.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "nexusfix/base/decimal.hpp"
#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/base/tag.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/wire/wire_error.hpp"

namespace nfx {

struct Field {
  Tag tag{};
  std::string_view value;
};

class GroupView;
struct GroupShape;

class MessageView {
 public:
  static constexpr std::uint32_t default_max_fields = 512;

  // Allocates room for max_fields fields, once. Throws std::invalid_argument unless there are 1 to 32768.
  explicit MessageView(std::uint32_t max_fields = default_max_fields);
  MessageView(MessageView&&) noexcept = default;
  MessageView& operator=(MessageView&&) noexcept = default;

  // Indexes exactly one message: every field's tag and value in wire order, BodyLength and CheckSum verified,
  // length-prefixed data fields taken by their length.
  [[nodiscard]] WireError parse(std::string_view message) noexcept;

  // Like parse(), but indexes as far as it can and does not insist on a header, BodyLength or CheckSum: for tools
  // that show broken messages. Returns the first thing that is wrong and keeps the fields in front of it;
  // begin_string() and msg_type() are then whatever stands in the first and third place.
  WireError parse_leniently(std::string_view message) noexcept;

  [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }

  // Fields in wire order, from BeginString(8) to CheckSum(10).
  [[nodiscard]] std::uint32_t size() const noexcept { return count_; }
  [[nodiscard]] Field operator[](std::uint32_t index) const noexcept {
    return {Tag{tags_[index]}, bytes_.substr(offsets_[index], lengths_[index])};
  }
  [[nodiscard]] Tag tag_at(std::uint32_t index) const noexcept { return Tag{tags_[index]}; }
  [[nodiscard]] std::uint32_t offset_at(std::uint32_t index) const noexcept { return offsets_[index]; }

  static constexpr std::uint32_t npos = UINT32_MAX;

  // Index of the first field with this tag, or npos.
  [[nodiscard]] std::uint32_t find(Tag tag) const noexcept;
  [[nodiscard]] bool has(Tag tag) const noexcept { return find(tag) != npos; }

  // The value of the first field with this tag; empty when missing. has() tells missing from empty.
  [[nodiscard]] std::string_view get_view(Tag tag) const noexcept {
    const std::uint32_t index = find(tag);
    return index == npos ? std::string_view{} : bytes_.substr(offsets_[index], lengths_[index]);
  }

  [[nodiscard]] std::expected<std::int64_t, FieldError> get_int(Tag tag) const noexcept;
  [[nodiscard]] std::expected<SeqNum, FieldError> get_seq_num(Tag tag) const noexcept;  // not negative
  [[nodiscard]] std::expected<Decimal, FieldError> get_decimal(Tag tag) const noexcept;
  [[nodiscard]] std::expected<char, FieldError> get_char(Tag tag) const noexcept;
  [[nodiscard]] std::expected<bool, FieldError> get_bool(Tag tag) const noexcept;  // Y or N
  [[nodiscard]] std::expected<UtcTimestamp, FieldError> get_utc_timestamp(Tag tag) const noexcept;

  [[nodiscard]] std::string_view begin_string() const noexcept {
    return count_ > 0 ? (*this)[0].value : std::string_view{};
  }
  [[nodiscard]] std::string_view msg_type() const noexcept {
    return count_ > 2 ? (*this)[2].value : std::string_view{};
  }

  // The repeating group counted by shape.count; empty when the message has none. See group_view.hpp.
  [[nodiscard]] GroupView group(const GroupShape& shape) const noexcept;

 private:
  struct Slot {
    std::uint16_t generation;
    std::uint16_t index;
  };

  WireError index_fields(std::string_view message, bool lenient) noexcept;
  void build_table() noexcept;
  [[nodiscard]] std::uint32_t slot_of(std::int32_t tag) const noexcept {
    return (static_cast<std::uint32_t>(tag) * 0x9E3779B1u) >> shift_;
  }

  std::string_view bytes_;
  std::uint32_t count_ = 0;
  std::uint32_t max_fields_ = 0;
  std::uint32_t shift_ = 0;  // 32 - log2(number of slots)
  std::uint16_t generation_ = 0;
  std::unique_ptr<std::int32_t[]> tags_;
  std::unique_ptr<std::uint32_t[]> offsets_;
  std::unique_ptr<std::uint32_t[]> lengths_;
  std::unique_ptr<Slot[]> slots_;  // open addressing, at most half full; stale generations are empty
};

}  // namespace nfx
