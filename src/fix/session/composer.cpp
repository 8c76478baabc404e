// Writes outgoing messages with exact sizes known in advance, so that no byte is written twice or moved.
#include "nexusfix/session/session.hpp"

#include <charconv>
#include <string>
#include <utility>

#include "base/call_trace.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/digits.hpp"
#include "nexusfix/base/tag.hpp"
#include "nexusfix/session/session_config.hpp"
#include "nexusfix/wire/encoder.hpp"

namespace nfx {
namespace {

constexpr std::string_view orig_sending_time_tag = "122=";

constexpr std::string_view last_processed_tag = "369=";

// The offset at which a field with this tag belongs among complete header fields in ascending order.
std::size_t place_of(Tag wanted, std::string_view fields) noexcept {
  std::size_t at = 0;
  while (at < fields.size()) {
    std::int32_t tag = 0;
    std::from_chars(fields.data() + at, fields.data() + fields.size(), tag);
    if (tag > value(wanted)) return at;
    at = fields.find(soh, at);
    if (at == std::string_view::npos) return fields.size();
    ++at;
  }
  return at;
}

std::string own_fields_of(const SessionConfig& config) {
  const std::pair<Tag, const std::string&> fields[] = {{Tag::SenderSubID, config.sender_sub_id},
                                                       {Tag::TargetSubID, config.target_sub_id},
                                                       {Tag::SenderLocationID, config.sender_location_id},
                                                       {Tag::TargetLocationID, config.target_location_id}};
  std::string text;
  for (const auto& [tag, content] : fields) {
    if (content.empty()) continue;
    text += std::to_string(value(tag));
    text += '=';
    text += content;
    text += soh;
  }
  return text;
}

HeaderTexts texts_of(const SessionConfig& config, std::string_view own_fields) noexcept {
  const bool whole_seconds = session_rules(config.begin_string) < SessionRules::fix42;
  return {.begin_string = config.begin_string,
          .sender_comp_id = config.sender_comp_id,
          .target_comp_id = config.target_comp_id,
          .more_fields = own_fields,
          .timestamp_digits = whole_seconds ? 0 : config.timestamp_digits};
}

// Copies without checks: compose() has added up the sizes before.
struct Cursor {
  char* at;
  std::uint32_t sum;

  void put(std::string_view text) noexcept {
    if (text.empty()) return;
    sum += copy_and_sum(at, text.data(), text.size());
    at += text.size();
  }
};

}  // namespace

Composer::Composer(const SessionConfig& config)
    : own_fields_(own_fields_of(config)), header_(texts_of(config, own_fields_)) {}

void Composer::begin(Encoder& encoder, std::string_view msg_type, SeqNum seq, std::string_view header_fields,
                     std::optional<SeqNum> last_processed, UtcTime now, std::span<char> room) noexcept {
  encoder.begin_in(room, header_, msg_type, seq, now);
  if (header_fields.empty() && !last_processed) return;
  const std::size_t split = last_processed ? place_of(Tag::LastMsgSeqNumProcessed, header_fields) : 0;
  encoder.fields().append_raw(header_fields.substr(0, split));
  if (last_processed) encoder.fields().append<Tag::LastMsgSeqNumProcessed>(*last_processed);
  encoder.fields().append_raw(header_fields.substr(split));
}

std::size_t Composer::write(const OutgoingMessage& message, UtcTime now, std::span<char> out) noexcept {
  NFX_TRACE();
  const MessageHeader header{
      .msg_type = message.msg_type, .seq = message.seq, .sending_time = now, .poss_dup = message.poss_dup};
  const bool dup_time = !message.orig_sending_time.empty();
  const std::size_t body_length =
      header_.size(header) + message.header_fields.size() +
      (dup_time ? orig_sending_time_tag.size() + message.orig_sending_time.size() + 1 : 0) +
      (message.last_processed ? last_processed_tag.size() + count_digits(value(*message.last_processed)) + 1 : 0) +
      message.header_fields_after.size() + message.header_fields_last.size() + message.body.size();
  if (body_length > HeaderTemplate::max_body_length) return 0;
  const std::size_t front_size = header_.front_size(body_length);
  const std::size_t size = front_size + body_length + Encoder::trailer_size;
  if (size > out.size()) return 0;

  std::uint32_t sum = 0;
  char* const body = out.data() + front_size;
  char* const header_end = header_.write(header, body, out.data() + out.size(), sum);
  if (header_end == nullptr) return 0;
  NFX_ASSERT(header_end == body + header_.size(header));
  [[maybe_unused]] const char* const begin = header_.write_front(body, body_length, sum);
  NFX_ASSERT(begin == out.data());
  Cursor cursor{header_end, sum};
  char digits[40];
  // Without 122 all optional fields are in one text; with it, the fields after 122 are. That text is split around 369.
  const std::string_view after = dup_time ? message.header_fields_after : message.header_fields;
  const std::size_t split = message.last_processed ? place_of(Tag::LastMsgSeqNumProcessed, after) : after.size();
  NFX_ASSERT(split <= after.size() && (split == 0 || after[split - 1] == soh));
  if (dup_time) {
    cursor.put(message.header_fields);
    cursor.put(orig_sending_time_tag);
    cursor.put(message.orig_sending_time);
    cursor.put("\x01");
  }
  cursor.put(after.substr(0, split));
  if (message.last_processed) {
    cursor.put(last_processed_tag);
    const WrittenText written = write_digits(digits, value(*message.last_processed));
    cursor.put({digits, written.size});
    cursor.put("\x01");
  }
  cursor.put(after.substr(split));
  if (!dup_time) cursor.put(message.header_fields_after);
  cursor.put(message.header_fields_last);
  cursor.put(message.body);
  NFX_ASSERT(cursor.at == body + body_length);  // what was written is what BodyLength announces
  write_check_sum_field(cursor.at, static_cast<std::uint8_t>(cursor.sum));
  return size;
}

}  // namespace nfx
