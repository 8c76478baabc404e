// Builds one complete message in place: BeginString and BodyLength before the fields, CheckSum after them. A
// HeaderTemplate is the header of one session's messages, prepared once: what changes from message to message is
// inserted while it is copied. It is the only place that writes headers.
// Thread: one owner. Cost: the bytes written, each once and none read again; no allocation but in the constructor of a
// HeaderTemplate. Lifetime: an Encoder borrows the buffer and the template, which owns copies of its texts. Errors:
// finish() is empty when the buffer was too small or a field invalid; the constructor of a HeaderTemplate throws
// std::invalid_argument for what the operator has to fix.
//
//   Encoder encoder{buffer};                                     // once
//   HeaderTemplate header{{.begin_string = "FIX.4.4", ...}};     // once per session
//   encoder.begin(header, "D", seq, now);
//   encoder.fields().append<Tag::ClOrdID>(id).append<Tag::Price>(price);
//   send(encoder.finish());
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/digits.hpp"
#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/wire/field_writer.hpp"

namespace nfx {

// The values that are the same in all headers of a session.
struct HeaderTexts {
  std::string_view begin_string;  // at most HeaderTemplate::max_begin_string_size characters
  std::string_view sender_comp_id;
  std::string_view target_comp_id;
  std::string_view more_fields = {};  // complete fields after TargetCompID(56)
  unsigned timestamp_digits = 3;      // fraction of SendingTime(52), 0 to 9
};

// The values of one message's header.
struct MessageHeader {
  std::string_view msg_type;
  SeqNum seq{};
  UtcTime sending_time{};
  bool poss_dup = false;
};

//   8=FIX.4.4|9=176|   35=D|34=   7   |49=SENDER|52=20240315-12:00:00   .123   |56=TARGET|...
//   front, written       type    seq   lead, updated every second      fraction  tail
//   after the body
// Cost: 35, 34 and the fraction of 52 are written, the rest is copied with a known sum. The text of 52 down to the
// second is cached until the second changes.
class HeaderTemplate {
 public:
  static constexpr std::size_t max_begin_string_size = 16;
  // "8=" BeginString, SOH, "9=", seven digits and SOH.
  static constexpr std::size_t max_front_size = 2 + max_begin_string_size + 3 + 7 + 1;
  static constexpr std::size_t max_body_length = 9'999'999;

  // Throws std::invalid_argument when a text holds SOH, BeginString is empty or too long, or more_fields are
  // incomplete.
  explicit HeaderTemplate(const HeaderTexts& texts);

  // Length of what write() writes.
  [[nodiscard]] std::size_t size(const MessageHeader& header) const noexcept {
    return fixed_size_ + header.msg_type.size() + count_digits(value(header.seq)) +
           (header.poss_dup ? poss_dup_field.size() : 0);
  }

  // Writes the header from MsgType(35) on, and adds to `sum` what it wrote. Returns its end, or null when there is
  // no space or MsgType contains SOH. Bytes after the returned end may be overwritten too, those from `end` on never.
  [[nodiscard]] char* write(const MessageHeader& header, char* out, const char* end, std::uint32_t& sum) noexcept;

  // The same without a check for space: `out` has ample_room() characters, and bytes after the header may be
  // overwritten.
  [[nodiscard]] std::size_t ample_room(std::size_t msg_type_size) const noexcept { return max_size_ + msg_type_size; }
  [[nodiscard, gnu::always_inline]] char* write_amply(const MessageHeader& header, char* out,
                                                      std::uint32_t& sum) noexcept {
    if (!clock_.covers(header.sending_time)) [[unlikely]]
      lay_second(header.sending_time);
    char* const end = lay<true>(header, out, clock_.settle(header.sending_time), sum);
    NFX_ASSERT(out + size(header) == end);
    return end;
  }

  // Length of "8=...9=...<SOH>" before a body of `body_length` bytes, at most max_body_length.
  [[nodiscard]] std::size_t front_size(std::size_t body_length) const noexcept {
    return front_size_ + count_digits(body_length) + 1;
  }

  // Writes exactly that before `body`, and adds its sum. Returns where the message begins.
  [[gnu::always_inline]] char* write_front(char* body, std::size_t body_length, std::uint32_t& sum) const noexcept {
    NFX_ASSERT(body_length <= max_body_length);
    if (body_length - 100 >= 900 || front_size_ < 8 || front_size_ > 16) [[unlikely]] {
      return write_other_front(body, body_length, sum);
    }
    const digit_words::ThreeDigits digits = digit_words::three(static_cast<std::uint32_t>(body_length));
    digit_words::store(body - 4, digits.bytes + (digit_words::three_zero_characters | std::uint32_t{soh} << 24));
    sum += front_sum_ + digits.sum + 3 * '0' + static_cast<unsigned char>(soh);
    char* const begin = body - 4 - front_size_;
    // Two overlapping copies of eight bytes.
    std::uint64_t first, last;
    std::memcpy(&first, front_.data(), 8);
    std::memcpy(&last, front_.data() + front_size_ - 8, 8);
    std::memcpy(begin, &first, 8);
    std::memcpy(begin + front_size_ - 8, &last, 8);
    return begin;
  }

  // The value of SendingTime(52); the view lasts until the next call.
  [[nodiscard]] std::string_view sending_time(UtcTime time) noexcept;

  // For message templates: the texts between the parts that change.
  [[nodiscard]] std::string_view front() const noexcept { return {front_.data(), front_size_}; }
  [[nodiscard]] std::string_view after_seq() const noexcept { return {lead_.data(), time_offset_}; }
  [[nodiscard]] std::string_view after_time() const noexcept { return {tail_.data(), tail_size_}; }
  [[nodiscard]] unsigned timestamp_digits() const noexcept { return timestamp_digits_; }

 private:
  static constexpr std::string_view poss_dup_field =
      "\x01"
      "43=Y";
  static constexpr std::uint32_t poss_dup_sum = 1 + '4' + '3' + '=' + 'Y';

  static constexpr std::uint64_t seq_step = 10'000;
  static constexpr std::size_t step = 16;  // of the copies, which may write up to 15 bytes past the end

  template <bool roomy>
  char* lay(const MessageHeader& header, char* out, std::uint32_t nanoseconds, std::uint32_t& sum) noexcept;
  template <bool roomy>
  static char* copy(char* out, const char* text, std::size_t size) noexcept;
  WrittenText write_seq(char* out, std::uint64_t seq) noexcept;
  WrittenText write_other_seq(char* out, std::uint64_t seq) noexcept;
  char* write_long_type(char* out, std::string_view type, std::uint32_t& sum) const noexcept;
  char* write_other_front(char* body, std::size_t body_length, std::uint32_t& sum) const noexcept;
  void lay_second(UtcTime time) noexcept;

  std::string lead_;  // both padded, so that they can be copied in steps of 16 bytes
  std::string tail_;
  std::size_t time_offset_ = 0;  // in lead_
  std::size_t lead_size_ = 0;
  std::size_t tail_size_ = 0;
  std::size_t max_size_ = 0;    // without MsgType, with the bytes that the widest stores write after the header
  std::size_t fixed_size_ = 0;  // of the header without MsgType, MsgSeqNum and PossDupFlag
  std::uint32_t fixed_sum_ = 0;
  std::uint32_t sum_ = 0;  // fixed_sum_ and the sum of the cached second
  std::size_t front_size_ = 0;
  std::uint32_t front_sum_ = 0;
  unsigned timestamp_digits_ = 0;
  // The text of a MsgSeqNum that ends in 0000; the next 9999 differ from it in four digits only.
  std::uint64_t seq_base_ = seq_step;
  std::uint64_t seq_word_ = '1' | std::uint64_t{digit_words::four_zero_characters} << 8;
  std::uint32_t seq_size_ = 5;
  std::uint32_t seq_sum_ = '1' + 4 * '0';
  UtcTimestampWriter clock_;
  std::array<char, 32> front_{};
  std::array<char, max_utc_timestamp_size> time_text_{};
};

// Whole steps when there is space after the header, exact bytes otherwise.
template <bool roomy>
[[gnu::always_inline]] inline char* HeaderTemplate::copy(char* out, const char* text, std::size_t size) noexcept {
  if constexpr (roomy) {
    for (std::size_t i = 0; i < size; i += step) std::memcpy(out + i, text + i, step);
  } else {
    std::memcpy(out, text, size);
  }
  return out + size;
}

[[gnu::always_inline]] inline WrittenText HeaderTemplate::write_seq(char* out, std::uint64_t seq) noexcept {
  const std::uint64_t above_base = seq - seq_base_;
  if (above_base >= seq_step) [[unlikely]]
    return write_other_seq(out, seq);
  NFX_ASSERT(seq_size_ >= 5 && seq_size_ <= 8 && seq_base_ % seq_step == 0);
  const std::uint32_t digits = digit_words::four(static_cast<std::uint32_t>(above_base));
  digit_words::store(out, seq_word_ + (std::uint64_t{digits} << 8 * (seq_size_ - 4)));
  return {seq_size_, seq_sum_ + (digits * 0x01010101 >> 24)};
}

// The parts are written in order: each overwrites what a wide store wrote past the end of the one before.
template <bool roomy>
[[gnu::always_inline]] inline char* HeaderTemplate::lay(const MessageHeader& header, char* out,
                                                        std::uint32_t nanoseconds, std::uint32_t& sum) noexcept {
  std::uint32_t total = sum + sum_;
  if (header.msg_type.size() == 1) [[likely]] {
    constexpr std::uint64_t around = std::uint64_t{'3'} | std::uint64_t{'5'} << 8 | std::uint64_t{'='} << 16 |
                                     std::uint64_t{soh} << 32 | std::uint64_t{'3'} << 40 | std::uint64_t{'4'} << 48 |
                                     std::uint64_t{'='} << 56;
    const auto letter = static_cast<unsigned char>(header.msg_type[0]);
    digit_words::store(out, around | std::uint64_t{letter} << 24);
    total += letter;
    out += 8;
  } else {
    out = write_long_type(out, header.msg_type, total);
  }
  WrittenText written;
  if constexpr (roomy) {
    written = write_seq(out, value(header.seq));
  } else {
    char scratch[40];
    written = write_digits(scratch, value(header.seq));
    std::memcpy(out, scratch, written.size);
  }
  out += written.size;
  total += written.sum;
  if (header.poss_dup) {
    std::memcpy(out, poss_dup_field.data(), poss_dup_field.size());
    out += poss_dup_field.size();
    total += poss_dup_sum;
  }
  out = copy<roomy>(out, lead_.data(), lead_size_);
  if constexpr (roomy) {
    written = write_fraction(out, nanoseconds, timestamp_digits_);
  } else {
    char scratch[10];
    written = write_fraction(scratch, nanoseconds, timestamp_digits_);
    std::memcpy(out, scratch, written.size);
  }
  sum = total + written.sum;
  return copy<roomy>(out + written.size, tail_.data(), tail_size_);
}

class Encoder {
 public:
  // Bytes reserved for "8=<BeginString>|9=<length>|" before the fields and for CheckSum after them.
  static constexpr std::size_t prefix_size = 32;
  static constexpr std::size_t trailer_size = 7;

  explicit Encoder(std::span<char> buffer) noexcept;

  // An encoder without a buffer, for begin_in().
  Encoder() noexcept : Encoder(std::span<char>{}) {}

  // Starts a new message. begin_string: at most 16 characters, borrowed until finish(). An empty MsgType is written as
  // such: no session takes it, but tests of peers send it.
  void begin(std::string_view begin_string, std::string_view msg_type) noexcept;

  // Starts a new message with a session's whole header. The template is borrowed until finish().
  void begin(HeaderTemplate& header, std::string_view msg_type, SeqNum seq, UtcTime now) noexcept;

  // The same for a message that begins with the first byte of `room`, where finish_in() leaves it. Cost: fields of 100
  // to 999 bytes are written where they stay, others are moved by a few bytes.
  void begin_in(std::span<char> room, HeaderTemplate& header, std::string_view msg_type, SeqNum seq,
                UtcTime now) noexcept;
  [[nodiscard]] std::string_view finish_in() noexcept;

  // The fields after MsgType(35): MsgSeqNum and the other header fields first, unless begin() wrote them, then the
  // body.
  [[nodiscard]] FieldWriter& fields() noexcept { return fields_; }
  [[nodiscard]] const FieldWriter& fields() const noexcept { return fields_; }

  // The whole message, somewhere inside the buffer. Empty on failure.
  [[nodiscard]] std::string_view finish() noexcept;

 private:
  std::string_view finish_without_template() noexcept;

  void write_header(std::string_view msg_type, SeqNum seq, UtcTime now) noexcept;
  std::string_view finish_with_template() noexcept;

  FieldWriter fields_;
  std::string_view begin_string_;
  HeaderTemplate* header_ = nullptr;
  char* room_ = nullptr;  // of begin_in()
  bool has_room_;
};

// Sum of all bytes modulo 256.
[[nodiscard]] std::uint8_t check_sum(std::string_view bytes) noexcept;

// Writes "10=ddd<SOH>", seven bytes.
inline void write_check_sum_field(char* out, std::uint8_t sum) noexcept {
  const std::uint32_t digits = digit_words::three(sum).bytes;
  constexpr std::uint32_t head = '1' | '0' << 8 | '=' << 16 | '0' << 24;
  constexpr std::uint32_t tail = digit_words::three_zero_characters | std::uint32_t{soh} << 24;
  digit_words::store(out, head + (digits << 24));
  digit_words::store(out + 3, tail + digits);
}

}  // namespace nfx
