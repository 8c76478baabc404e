#include "text.hpp"

#include <unistd.h>

#include <cstdlib>

#include "nexusfix/wire/standard_fields.hpp"

namespace nfx::app {
namespace {

// How many bytes the well-formed UTF-8 character at the front has, or 0. Control characters of Latin-1 count as none.
std::size_t character_size(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0);
  if (first < 0x20 || first == 0x7F) return 0;
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second > 0x9F;
  const bool beyond = first == 0xF4 && second > 0x8F;
  const bool control = first == 0xC2 && second < 0xA0;
  return overlong || surrogate || beyond || control ? 0 : size;
}

}  // namespace

std::string_view Palette::operator()(Colour colour) const noexcept {
  if (!on_) return {};
  switch (colour) {
    case Colour::plain: return "\033[0m";
    case Colour::bold: return "\033[1m";
    case Colour::dim: return "\033[2m";
    case Colour::red: return "\033[31m";
    case Colour::green: return "\033[32m";
    case Colour::yellow: return "\033[33m";
    case Colour::cyan: return "\033[36m";
  }
  return {};
}

bool use_colour(std::string_view choice, int fd) {
  if (choice != "auto") return choice == "always";
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(fd) == 1 && (no_color == nullptr || *no_color == '\0');
}

void append_printable(std::string& out, std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  while (!bytes.empty()) {
    const std::size_t size = character_size(bytes);
    if (size != 0) {
      out += bytes.substr(0, size);
    } else {
      const auto byte = static_cast<unsigned char>(bytes[0]);
      out += "\\x";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
    bytes.remove_prefix(std::max<std::size_t>(size, 1));
  }
}

void append_value(std::string& out, Tag tag, std::string_view value, bool show_secrets) {
  if (is_secret(tag) && !show_secrets) {
    out += "***";
  } else {
    append_printable(out, value);
  }
}

void append_raw(std::string& out, const MessageView& message, bool show_secrets) {
  for (std::uint32_t i = 0; i < message.size(); ++i) {
    out += std::to_string(value(message[i].tag));
    out += '=';
    append_value(out, message[i].tag, message[i].value, show_secrets);
    out += '|';
  }
}

void append_summary(std::string& out, const MessageView& message, const Dictionary* dictionary, bool show_secrets) {
  bool first = true;
  for (std::uint32_t i = 0; i < message.size(); ++i) {
    const Field field = message[i];
    const bool possdup = field.tag == Tag::PossDupFlag || field.tag == Tag::PossResend;
    if ((is_header_tag(field.tag) && !possdup) || is_trailer_tag(field.tag)) continue;
    if (!first) out += ' ';
    first = false;
    const std::string_view name = dictionary == nullptr ? std::string_view{} : dictionary->field_name(field.tag);
    if (name.empty()) {
      out += std::to_string(value(field.tag));
    } else {
      out += name;
    }
    out += '=';
    append_value(out, field.tag, field.value, show_secrets);
    const std::string_view meaning =
        dictionary == nullptr ? std::string_view{} : dictionary->value_name(field.tag, field.value);
    if (!meaning.empty()) {
      out += '(';
      append_printable(out, meaning);
      out += ')';
    }
  }
}

std::string timestamp(UtcTime time) {
  char text[max_utc_timestamp_size];
  return {text, write_utc_timestamp(text, time, 3)};
}

}  // namespace nfx::app
