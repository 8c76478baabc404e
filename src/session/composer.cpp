#include "nexusfix/session/composer.hpp"

#include "nexusfix/session/session_config.hpp"
#include "nexusfix/wire/encoder.hpp"

namespace nfx {
namespace {

constexpr std::string_view orig_sending_time_tag = "122=";

HeaderTexts texts_of(const SessionConfig& config) noexcept {
  const bool whole_seconds = config.begin_string == "FIX.4.0" || config.begin_string == "FIX.4.1";
  return {.begin_string = config.begin_string,
          .sender_comp_id = config.sender_comp_id,
          .target_comp_id = config.target_comp_id,
          .timestamp_digits = whole_seconds ? 0 : config.timestamp_digits};
}

// Copies forward without checks, for compose() has summed the sizes before.
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

Composer::Composer(const SessionConfig& config) : header_(texts_of(config)) {}

std::optional<std::size_t> Composer::compose(const OutgoingMessage& message, UtcTime now,
                                             std::span<char> out) noexcept {
  const MessageHeader header{
      .msg_type = message.msg_type, .seq = message.seq, .sending_time = now, .poss_dup = message.poss_dup};
  const bool dup_time = !message.orig_sending_time.empty();
  const std::size_t body_length = header_.size(header) + message.header_fields.size() +
                                  (dup_time ? orig_sending_time_tag.size() + message.orig_sending_time.size() + 1 : 0) +
                                  message.header_fields_behind.size() + message.body.size();
  if (body_length > HeaderTemplate::max_body_length) return std::nullopt;
  const std::size_t front_size = header_.front_size(body_length);
  const std::size_t size = front_size + body_length + Encoder::trailer_size;
  if (size > out.size()) return std::nullopt;

  std::uint32_t sum = 0;
  char* const body = out.data() + front_size;
  char* const behind_header = header_.write(header, body, out.data() + out.size(), sum);
  if (behind_header == nullptr) return std::nullopt;
  header_.write_front(body, body_length, sum);
  Cursor cursor{behind_header, sum};
  cursor.put(message.header_fields);
  if (dup_time) {
    cursor.put(orig_sending_time_tag);
    cursor.put(message.orig_sending_time);
    cursor.put("\x01");
  }
  cursor.put(message.header_fields_behind);
  cursor.put(message.body);
  write_check_sum_field(cursor.at, static_cast<std::uint8_t>(cursor.sum));
  return size;
}

}  // namespace nfx
