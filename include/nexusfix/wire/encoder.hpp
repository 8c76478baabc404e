// Builds one complete message: BeginString and BodyLength in front, CheckSum behind, written in place.
// Thread: one owner. Cost: the bytes written plus one sum over them; no allocation. Lifetime: borrows the buffer.
// Errors: finish() is empty when the buffer was too small or a field invalid.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "nexusfix/wire/field_writer.hpp"

namespace nfx {

class Encoder {
 public:
  // Bytes kept free in front for "8=<BeginString>|9=<length>|", and what CheckSum takes behind.
  static constexpr std::size_t prefix_size = 32;
  static constexpr std::size_t trailer_size = 7;

  explicit Encoder(std::span<char> buffer) noexcept;

  // Starts a message over. begin_string: at most 16 characters, kept by reference until finish().
  void begin(std::string_view begin_string, std::string_view msg_type) noexcept;

  // The fields behind MsgType(35): MsgSeqNum and the other header fields first, then the body.
  [[nodiscard]] FieldWriter& fields() noexcept { return fields_; }

  // The whole message, somewhere inside the buffer. Empty on failure.
  [[nodiscard]] std::string_view finish() noexcept;

 private:
  std::span<char> buffer_;
  FieldWriter fields_;
  std::string_view begin_string_;
  std::size_t trailer_room_ = 0;
};

// Sum of all bytes modulo 256.
[[nodiscard]] std::uint8_t check_sum(std::string_view bytes) noexcept;

// Writes "10=ddd<SOH>", seven bytes.
void write_check_sum_field(char* out, std::uint8_t sum) noexcept;

}  // namespace nfx
