// Converts UTF-16 of either byte order to UTF-8, unit by unit.
#include "base/text_encoding.hpp"

#include "nexusfix/base/secret.hpp"

#include <utility>

namespace nfx {
namespace {

constexpr std::uint32_t replacement = 0xFFFD;

void append_utf8(std::uint32_t code, std::string& out) {
  const auto byte = [&out](std::uint32_t value) { out += static_cast<char>(value); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xC0 | (code >> 6));
  } else if (code < 0x10000) {
    byte(0xE0 | (code >> 12));
    byte(0x80 | ((code >> 6) & 0x3F));
  } else {
    byte(0xF0 | (code >> 18));
    byte(0x80 | ((code >> 12) & 0x3F));
    byte(0x80 | ((code >> 6) & 0x3F));
  }
  byte(0x80 | (code & 0x3F));
}

}  // namespace

TextEncoding text_encoding(std::string_view beginning) noexcept {
  if (beginning.starts_with("\xFF\xFE")) return TextEncoding::utf16_little;
  if (beginning.starts_with("\xFE\xFF")) return TextEncoding::utf16_big;
  if (beginning.size() < 4) return TextEncoding::bytes;
  const auto zero = [beginning](std::size_t at) { return beginning[at] == '\0'; };
  if (!zero(0) && zero(1) && !zero(2) && zero(3)) return TextEncoding::utf16_little;
  if (zero(0) && !zero(1) && zero(2) && !zero(3)) return TextEncoding::utf16_big;
  return TextEncoding::bytes;
}

void Utf16Converter::append(std::string_view bytes, std::string& out) {
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (!std::exchange(has_byte_, !has_byte_)) {
      byte_ = byte;
    } else {
      take(big_ ? std::uint32_t{byte_} << 8 | byte : std::uint32_t{byte} << 8 | byte_, out);
    }
  }
}

void Utf16Converter::finish(std::string& out) {
  if (std::exchange(high_, 0U) != 0 || std::exchange(has_byte_, false)) append_utf8(replacement, out);
}

void Utf16Converter::take(std::uint32_t unit, std::string& out) {
  if (!std::exchange(begun_, true) && unit == 0xFEFF) return;
  const std::uint32_t high = std::exchange(high_, 0U);
  if (high != 0 && unit >= 0xDC00 && unit < 0xE000)
    return append_utf8(0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00), out);
  if (high != 0) append_utf8(replacement, out);
  if (unit >= 0xD800 && unit < 0xDC00) {
    high_ = unit;
  } else {
    append_utf8(unit >= 0xDC00 && unit < 0xE000 ? replacement : unit, out);
  }
}

std::string to_utf8(std::string text) {
  const TextEncoding encoding = text_encoding(text);
  if (encoding == TextEncoding::bytes) {
    if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
    return text;
  }
  std::string out;
  out.reserve(text.size() / 2);
  Utf16Converter converter{encoding};
  converter.append(text, out);
  converter.finish(out);
  clear_text(text);  // the text may contain passwords
  return out;
}

}  // namespace nfx
