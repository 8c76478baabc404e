// Builds message templates, and writes the values that the inline paths do not handle.
#include "nexusfix/wire/message_template.hpp"

#include <stdexcept>

namespace nfx {
namespace {

void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

std::string first_time(unsigned fraction_digits) {
  char text[max_utc_timestamp_size];
  return {text, write_utc_timestamp(text, UtcTime{}, fraction_digits)};
}

}  // namespace

PatchError MessageTemplate::patch_long_number(IntSlot slot, unsigned scale, std::uint64_t number,
                                              bool negative) noexcept {
  char text[max_number_width];
  NFX_ASSERT(slot.width <= sizeof text);
  std::uint32_t sum = 0;
  for (unsigned i = slot.width; i-- != 0;) {
    const bool is_point = scale != 0 && i + scale + 1 == slot.width;
    text[i] = is_point ? '.' : (negative && i == 0 ? '-' : static_cast<char>('0' + number % 10));
    if (!is_point) number /= 10;
    sum += static_cast<unsigned char>(text[i]);
  }
  count(slot.index, sum);
  std::memcpy(at(slot.offset, slot.width), text, slot.width);
  return PatchError::none;
}

void MessageTemplate::patch_other_time(TimeSlot slot, std::uint32_t nanoseconds) noexcept {
  char fraction[10];
  const WrittenText written = write_fraction(fraction, nanoseconds, slot.fraction_digits);
  char* const out = at(slot.offset, 17 + written.size);
  std::memcpy(out, clock_.text(), 17);
  std::memcpy(out + 17, fraction, written.size);
  count(slot.index, clock_.sum() + written.sum);
}

PatchError MessageTemplate::patch_long_text(TextSlot slot, std::string_view text) noexcept {
  NFX_ASSERT(text.size() == slot.width);
  if (text.find(soh) != std::string_view::npos) return PatchError::holds_soh;
  count(slot.index, copy_and_sum(at(slot.offset, text.size()), text.data(), text.size()));
  return PatchError::none;
}

PatchError MessageTemplate::rescale(std::uint64_t& number, unsigned from, unsigned to) noexcept {
  if (from > to) {
    if (from - to >= powers_of_ten.size()) return PatchError::not_exact;
    const auto divisor = static_cast<std::uint64_t>(powers_of_ten[from - to]);
    if (number % divisor != 0) return PatchError::not_exact;
    number /= divisor;
    return PatchError::none;
  }
  NFX_ASSERT(to - from < powers_of_ten.size());
  const auto factor = static_cast<std::uint64_t>(powers_of_ten[to - from]);
  if (number > UINT64_MAX / factor) return PatchError::too_wide;
  number *= factor;
  return PatchError::none;
}

MessageTemplateBuilder::MessageTemplateBuilder(const HeaderTemplate& header, std::string_view msg_type,
                                               unsigned seq_digits)
    : header_(header) {
  require(!msg_type.empty() && msg_type.find(soh) == std::string_view::npos, "MsgType is a text without SOH");
  require(seq_digits >= 1 && seq_digits <= MessageTemplate::max_number_width, "MsgSeqNum has 1 to 16 digits");
  result_.bytes_.assign(MessageTemplate::body_offset, '0');
  const Place seq = place("35=" + std::string{msg_type} + soh + "34=", std::string(seq_digits, '0'));
  result_.seq_ = {seq.offset, seq.index, static_cast<std::uint8_t>(seq_digits)};
  const unsigned fraction_digits = header.timestamp_digits();
  const Place time = place(header.after_seq(), first_time(fraction_digits));
  result_.time_ = {time.offset, time.index, static_cast<std::uint8_t>(fraction_digits)};
  result_.bytes_ += header.after_time();
  result_.fields_offset_ = result_.bytes_.size();
}

MessageTemplateBuilder& MessageTemplateBuilder::fields(std::string_view complete_fields) {
  require(complete_fields.empty() || complete_fields.back() == soh, "complete fields end with SOH");
  result_.bytes_ += complete_fields;
  return *this;
}

IntSlot MessageTemplateBuilder::integer(Tag tag, unsigned digits) {
  require(digits >= 1 && digits <= MessageTemplate::max_number_width, "a number's slot has 1 to 16 characters");
  const Place slot = place_field(tag, std::string(digits, '0'));
  return {slot.offset, slot.index, static_cast<std::uint8_t>(digits)};
}

DecimalSlot MessageTemplateBuilder::decimal(Tag tag, DecimalLayout layout) {
  require(layout.whole_digits >= 1, "a decimal has a digit before its point");
  // Checks each against the limit first, so that the sum cannot overflow.
  require(layout.whole_digits <= MessageTemplate::max_number_width && layout.scale < MessageTemplate::max_number_width,
          "a number's slot has 1 to 16 characters");
  const unsigned width = layout.whole_digits + (layout.scale == 0 ? 0 : 1 + layout.scale);
  require(width <= MessageTemplate::max_number_width, "a number's slot has 1 to 16 characters");
  std::string zeros(width, '0');
  if (layout.scale != 0) zeros[layout.whole_digits] = '.';
  const Place slot = place_field(tag, zeros);
  return {slot.offset, slot.index, static_cast<std::uint8_t>(width), static_cast<std::uint8_t>(layout.scale)};
}

CharSlot MessageTemplateBuilder::character(Tag tag) {
  const Place slot = place_field(tag, "0");
  return {slot.offset, slot.index};
}

TextSlot MessageTemplateBuilder::text(Tag tag, std::size_t size) {
  require(size >= 1 && size <= UINT16_MAX, "a text's slot has 1 to 65535 characters");
  const Place slot = place_field(tag, std::string(size, '0'));
  return {slot.offset, slot.index, static_cast<std::uint16_t>(size)};
}

TimeSlot MessageTemplateBuilder::time(Tag tag, unsigned fraction_digits) {
  require(fraction_digits <= 9, "a time has at most 9 digits of fraction");
  const Place slot = place_field(tag, first_time(fraction_digits));
  return {slot.offset, slot.index, static_cast<std::uint8_t>(fraction_digits)};
}

MessageTemplate MessageTemplateBuilder::build() const {
  MessageTemplate result = result_;
  const std::size_t body_length = result.bytes_.size() - MessageTemplate::body_offset;
  require(body_length <= HeaderTemplate::max_body_length, "the message is too long");
  std::uint32_t front_sum = 0;
  char* const body = result.bytes_.data() + MessageTemplate::body_offset;
  const char* const begin = header_.write_front(body, body_length, front_sum);
  NFX_ASSERT(begin >= result.bytes_.data() && begin < body);
  result.begin_ = static_cast<std::size_t>(begin - result.bytes_.data());
  result.sum_ = check_sum(std::string_view{result.bytes_}.substr(result.begin_));
  result.bytes_.append(MessageTemplate::trailer_size, '0');
  (void)result.view();
  return result;
}

// Checks everything before appending anything.
MessageTemplateBuilder::Place MessageTemplateBuilder::place(std::string_view before, std::string_view value) {
  require(slot_count_ < MessageTemplate::max_slots,
          "a message template has at most 64 slots, two of them the header's");
  require(result_.bytes_.size() <= HeaderTemplate::max_body_length, "the message is too long");
  result_.bytes_ += before;
  const auto offset = static_cast<std::uint32_t>(result_.bytes_.size());
  result_.bytes_ += value;
  for (const char c : value) result_.slot_sums_[slot_count_] += static_cast<unsigned char>(c);
  return {offset, static_cast<std::uint8_t>(slot_count_++)};
}

MessageTemplateBuilder::Place MessageTemplateBuilder::place_field(Tag tag, std::string_view value) {
  require(nfx::value(tag) > 0, "a tag is a positive number");
  const Place slot = place(std::to_string(nfx::value(tag)) + '=', value);
  result_.bytes_ += soh;
  return slot;
}

}  // namespace nfx
