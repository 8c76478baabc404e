#include "nexusfix/session/composer.hpp"

#include <charconv>
#include <cstring>

#include "nexusfix/session/session_config.hpp"
#include "nexusfix/wire/encoder.hpp"

namespace nfx {
namespace {

constexpr std::string_view poss_dup_field = "43=Y\x01";
constexpr std::string_view orig_sending_time_tag = "122=";

// Writes forward without checks; compose() has summed the sizes before.
struct Cursor {
  char* at;

  void put(std::string_view text) noexcept {
    if (text.empty()) return;  // its data() may be null, which memcpy does not allow
    std::memcpy(at, text.data(), text.size());
    at += text.size();
  }
};

// Decimal digits of a number, on the stack.
class Digits {
 public:
  explicit Digits(std::uint64_t number) noexcept
      : size_(static_cast<std::size_t>(std::to_chars(text_, text_ + sizeof text_, number).ptr - text_)) {}
  [[nodiscard]] std::string_view view() const noexcept { return {text_, size_}; }

 private:
  char text_[20];
  std::size_t size_;
};

}  // namespace

Composer::Composer(const SessionConfig& config)
    : begin_("8=" + config.begin_string + soh + "9="),
      sender_("49=" + config.sender_comp_id + soh + "52="),
      target_(std::string{soh} + "56=" + config.target_comp_id + soh),
      timestamp_digits_(
          config.begin_string == "FIX.4.0" || config.begin_string == "FIX.4.1" ? 0 : config.timestamp_digits) {}

std::string_view Composer::sending_time(UtcTime now) noexcept {
  return {time_text_, clock_.write(time_text_, now, timestamp_digits_)};
}

std::optional<std::size_t> Composer::compose(const OutgoingMessage& message, UtcTime now,
                                             std::span<char> out) noexcept {
  const Digits seq{value(message.seq)};
  const std::string_view time = sending_time(now);
  const bool dup_time = !message.orig_sending_time.empty();
  const std::size_t body_length = 3 + message.msg_type.size() + 1 + 3 + seq.view().size() + 1 +
                                  (message.poss_dup ? poss_dup_field.size() : 0) + sender_.size() + time.size() +
                                  target_.size() + message.header_fields.size() + message.header_fields_behind.size() +
                                  (dup_time ? orig_sending_time_tag.size() + message.orig_sending_time.size() + 1 : 0) +
                                  message.body.size();
  const Digits length{body_length};
  const std::size_t size = begin_.size() + length.view().size() + 1 + body_length + Encoder::trailer_size;
  if (size > out.size()) return std::nullopt;

  Cursor cursor{out.data()};
  cursor.put(begin_);
  cursor.put(length.view());
  cursor.put(
      "\x01"
      "35=");
  cursor.put(message.msg_type);
  cursor.put(
      "\x01"
      "34=");
  cursor.put(seq.view());
  cursor.put("\x01");
  if (message.poss_dup) cursor.put(poss_dup_field);
  cursor.put(sender_);
  cursor.put(time);
  cursor.put(target_);
  cursor.put(message.header_fields);
  if (dup_time) {
    cursor.put(orig_sending_time_tag);
    cursor.put(message.orig_sending_time);
    cursor.put("\x01");
  }
  cursor.put(message.header_fields_behind);
  cursor.put(message.body);
  const std::size_t summed = static_cast<std::size_t>(cursor.at - out.data());
  write_check_sum_field(cursor.at, check_sum({out.data(), summed}));
  return size;
}

}  // namespace nfx
