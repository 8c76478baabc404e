// Converts text saved as UTF-16, as many Windows editors and shells do, to UTF-8.
// Thread: one owner. Cost: one pass, and a copy of UTF-16 only. Errors: none; half of a surrogate pair becomes U+FFFD.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

enum class TextEncoding : std::uint8_t { bytes, utf16_little, utf16_big };

// Detected by the byte order mark, otherwise by zero bytes beside the first two characters. `bytes` means anything
// else, such as UTF-8.
[[nodiscard]] TextEncoding text_encoding(std::string_view beginning) noexcept;

// Converts UTF-16 in pieces of any size.
class Utf16Converter {
 public:
  explicit Utf16Converter(TextEncoding encoding) noexcept : big_(encoding == TextEncoding::utf16_big) {}

  // Appends complete characters, without a byte order mark.
  void append(std::string_view bytes, std::string& out);
  // No more bytes will come.
  void finish(std::string& out);

 private:
  void take(std::uint32_t unit, std::string& out);

  bool big_;
  bool begun_ = false;
  bool has_byte_ = false;
  unsigned char byte_ = 0;  // the first byte of a unit
  std::uint32_t high_ = 0;  // the first half of a surrogate pair; 0: none
};

// The text as UTF-8, without a byte order mark.
[[nodiscard]] std::string to_utf8(std::string text);

}  // namespace nfx
