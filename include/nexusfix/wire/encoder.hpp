// Builds one complete message in place: BeginString and BodyLength before the fields, CheckSum after them.
// Thread: one owner. Cost: the bytes written, each once and none read again; no allocation. Lifetime: borrows the
// buffer. Errors: finish() is empty when the buffer was too small or a field invalid.
//
//   Encoder encoder{buffer};                                     // once
//   HeaderTemplate header{{.begin_string = "FIX.4.4", ...}};     // once per session
//   encoder.begin(header, "D", seq, now);
//   encoder.fields().append<Tag::ClOrdID>(id).append<Tag::Price>(price);
//   send(encoder.finish());
#pragma once

#include <span>
#include <string_view>

#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/header_template.hpp"

namespace nfx {

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
