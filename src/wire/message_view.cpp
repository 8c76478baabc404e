#include "nexusfix/wire/message_view.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

#include "kernels/kernels.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/wire/field_values.hpp"
#include "nexusfix/wire/group_view.hpp"

namespace nfx {
namespace {

constexpr std::uint32_t max_max_fields = 32768;
constexpr std::uint32_t check_sum_field_size = 7;  // "10=ddd<SOH>"

// The value of at most nine digits, or -1.
std::int64_t small_number(std::string_view text) noexcept {
  if (text.empty() || text.size() > 9) return -1;
  std::int64_t number = 0;
  for (const char c : text) {
    const unsigned digit = static_cast<unsigned char>(c) - unsigned{'0'};
    if (digit > 9) return -1;
    number = number * 10 + digit;
  }
  return number;
}

// What the standard header and trailer promise about the whole message. Every field ends in front of a SOH.
WireError check_envelope(std::string_view message, const kernels::FieldArrays& fields, std::uint32_t count,
                         std::uint8_t sum_of_all) noexcept {
  if (count < 3 || fields.tags[0] != value(Tag::BeginString) || fields.tags[1] != value(Tag::BodyLength) ||
      fields.tags[2] != value(Tag::MsgType)) {
    return WireError::header_order;
  }
  const std::string_view length_text = message.substr(fields.offsets[1], fields.lengths[1]);
  const std::int64_t body_length = length_text.size() <= 7 ? small_number(length_text) : -1;
  if (body_length < 0) return WireError::bad_body_length;

  const std::uint32_t last = count - 1;
  const std::uint32_t body_begin = fields.offsets[1] + fields.lengths[1] + 1;
  const std::uint32_t body_end = fields.offsets[last - 1] + fields.lengths[last - 1] + 1;
  const std::int64_t declared_sum = small_number(message.substr(fields.offsets[last], fields.lengths[last]));
  if (fields.tags[last] != value(Tag::CheckSum) || fields.lengths[last] != 3 || declared_sum < 0 ||
      message.size() - body_end != check_sum_field_size) {
    return WireError::bad_check_sum;
  }
  if (body_end - body_begin != body_length) return WireError::body_length_mismatch;

  unsigned sum = sum_of_all;
  for (const char c : message.substr(body_end)) sum -= static_cast<unsigned char>(c);
  return (sum & 0xFF) == declared_sum ? WireError::none : WireError::check_sum_mismatch;
}

std::uint32_t checked_max_fields(std::uint32_t max_fields) {
  if (max_fields < 1 || max_fields > max_max_fields) {
    throw std::invalid_argument("MessageView: max_fields is " + std::to_string(max_fields) + ", must be 1 to 32768");
  }
  return max_fields;
}

}  // namespace

MessageView::MessageView(std::uint32_t max_fields)
    : max_fields_(checked_max_fields(max_fields)),
      tags_(std::make_unique<std::int32_t[]>(max_fields)),
      offsets_(std::make_unique<std::uint32_t[]>(max_fields)),
      lengths_(std::make_unique<std::uint32_t[]>(max_fields)) {
  const std::uint32_t slots = std::bit_ceil(max_fields * 2);
  shift_ = 32 - static_cast<std::uint32_t>(std::countr_zero(slots));
  slots_ = std::make_unique<Slot[]>(slots);
}

WireError MessageView::parse(std::string_view message) noexcept { return index_fields(message, false); }

WireError MessageView::parse_leniently(std::string_view message) noexcept { return index_fields(message, true); }

WireError MessageView::index_fields(std::string_view message, bool lenient) noexcept {
  bytes_ = {};
  count_ = 0;
  if (message.size() > UINT32_MAX) {
    build_table();
    return WireError::too_large;
  }
  const kernels::FieldArrays fields{tags_.get(), offsets_.get(), lengths_.get(), max_fields_};
  const kernels::IndexResult result = kernels::kernels().index_fields(message.data(), message.size(), fields);
  WireError error = result.error;
  if (error == WireError::none) error = check_envelope(message, fields, result.count, result.sum);
  if (error == WireError::none || lenient) {
    bytes_ = message;
    count_ = result.count;
  }
  build_table();
  return error;
}

// A slot of an older generation is empty, so nothing is cleared between messages, except every 65535 of them.
void MessageView::build_table() noexcept {
  const std::uint32_t mask = (1u << (32 - shift_)) - 1;
  if (++generation_ == 0) {
    std::fill_n(slots_.get(), mask + 1, Slot{});
    generation_ = 1;
  }
  for (std::uint32_t i = 0; i < count_; ++i) {
    const std::int32_t tag = tags_[i];
    std::uint32_t slot = slot_of(tag);
    while (slots_[slot].generation == generation_ && tags_[slots_[slot].index] != tag) slot = (slot + 1) & mask;
    // The first field with a tag keeps the slot.
    if (slots_[slot].generation != generation_) slots_[slot] = {generation_, static_cast<std::uint16_t>(i)};
  }
}

std::uint32_t MessageView::find(Tag tag) const noexcept {
  const std::uint32_t mask = (1u << (32 - shift_)) - 1;
  std::uint32_t slot = slot_of(nfx::value(tag));
  while (slots_[slot].generation == generation_) {
    const std::uint32_t index = slots_[slot].index;
    if (tags_[index] == nfx::value(tag)) return index;
    slot = (slot + 1) & mask;
  }
  return npos;
}

std::expected<std::int64_t, FieldError> MessageView::get_int(Tag tag) const noexcept {
  const std::uint32_t index = find(tag);
  if (index == npos) return std::unexpected(FieldError::missing);
  return parse_int((*this)[index].value);
}

std::expected<SeqNum, FieldError> MessageView::get_seq_num(Tag tag) const noexcept {
  const auto number = get_int(tag);
  if (!number) return std::unexpected(number.error());
  if (*number < 0) return std::unexpected(FieldError::bad_format);
  return SeqNum{static_cast<std::uint64_t>(*number)};
}

std::expected<Decimal, FieldError> MessageView::get_decimal(Tag tag) const noexcept {
  const std::uint32_t index = find(tag);
  if (index == npos) return std::unexpected(FieldError::missing);
  return parse_decimal((*this)[index].value);
}

std::expected<char, FieldError> MessageView::get_char(Tag tag) const noexcept {
  const std::uint32_t index = find(tag);
  if (index == npos) return std::unexpected(FieldError::missing);
  return parse_char((*this)[index].value);
}

std::expected<bool, FieldError> MessageView::get_bool(Tag tag) const noexcept {
  const std::uint32_t index = find(tag);
  if (index == npos) return std::unexpected(FieldError::missing);
  return parse_bool((*this)[index].value);
}

std::expected<UtcTimestamp, FieldError> MessageView::get_utc_timestamp(Tag tag) const noexcept {
  const std::uint32_t index = find(tag);
  if (index == npos) return std::unexpected(FieldError::missing);
  if (const auto time = parse_utc_timestamp((*this)[index].value)) return *time;
  return std::unexpected(FieldError::bad_format);
}

GroupView MessageView::group(const GroupShape& shape) const noexcept {
  const std::uint32_t count_index = find(shape.count);
  return count_index == npos ? GroupView{} : GroupView{*this, shape, count_index, count_};
}

}  // namespace nfx
