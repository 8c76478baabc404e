// Colours, JSON escapes, masked secrets and times for the commands' output.
#include "text.hpp"

#include <cstdlib>

#include "nexusfix/wire/standard_fields.hpp"

namespace nfx::app {
namespace {

void append_hex(std::string& out, unsigned char byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += digits[byte >> 4];
  out += digits[byte & 15];
}

void append_json_byte(std::string& out, unsigned char byte) {
  out += "\\u00";
  append_hex(out, byte);
}

// The code point when this is one character of U+2000 to U+207F that must not be printed, else 0.
unsigned format_control(std::string_view character) {
  if (character.size() != 3 || character[0] != '\xE2') return 0;
  const auto second = static_cast<unsigned char>(character[1]), third = static_cast<unsigned char>(character[2]);
  if ((second != 0x80 && second != 0x81) || (third & 0xC0) != 0x80) return 0;
  std::string safe;
  append_printable(safe, character);
  return safe == character ? 0 : 0x2000u | (second & 0x3Fu) << 6 | (third & 0x3Fu);
}

}  // namespace

TerminalControl Palette::operator()(Colour colour) const noexcept {
  if (!on_) return {};
  switch (colour) {
    case Colour::plain: return TerminalControl{"\033[0m"};
    case Colour::bold: return TerminalControl{"\033[1m"};
    case Colour::dim: return TerminalControl{"\033[2m"};
    case Colour::red: return TerminalControl{"\033[31m"};
    case Colour::green: return TerminalControl{"\033[32m"};
    case Colour::yellow: return TerminalControl{"\033[33m"};
    case Colour::cyan: return TerminalControl{"\033[36m"};
  }
  return {};
}

bool use_colour(std::string_view choice, Stream stream) {
  if (choice != "auto") return choice == "always";
  const char* no_color = std::getenv("NO_COLOR");
  return is_terminal(stream) && (no_color == nullptr || *no_color == '\0');
}

cli::Option color_option(std::string& choice) {
  return {.names = "--color",
          .target = &choice,
          .help = "When to use colours; auto: on a terminal, unless NO_COLOR is set",
          .one_of = {"auto", "always", "never"}};
}

std::string json_text(std::string_view text) {
  std::string out{'"'};
  std::string safe;
  for (std::size_t i = 0; i < text.size();) {
    // One character at a time: append_printable() detects those that are not well-formed UTF-8.
    const char c = text[i];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
      ++i;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    // A control character of Latin-1 is good UTF-8, but nothing a terminal should see.
    const bool control =
        byte == 0xC2 && i + 1 < text.size() && (static_cast<unsigned char>(text[i + 1]) & 0xE0) == 0x80;
    if (control) {
      append_json_byte(out, static_cast<unsigned char>(text[i + 1]));
      i += 2;
      continue;
    }
    // So are separators of lines and what reverses the direction of text: U+2028 to U+202E, U+2066 to U+2069.
    if (const unsigned code = format_control(text.substr(i, 3)); code != 0) {
      out += "\\u20";
      append_hex(out, static_cast<unsigned char>(code & 0xFF));
      i += 3;
      continue;
    }
    std::size_t size = byte < 0x80 ? 1 : byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    safe.clear();
    append_printable(safe, text.substr(i, size));
    if (safe == text.substr(i, size)) {
      out += safe;
    } else {
      append_json_byte(out, byte);
      size = 1;
    }
    i += size;
  }
  return out + '"';
}

void append_json_text(SafeText& out, std::string_view text) { out += json_text(text); }

void append_value(SafeText& out, Tag tag, std::string_view value, bool show_secrets) {
  if (is_secret(tag) && !show_secrets) {
    out += masked_text;
  } else {
    out += value;
  }
}

void append_raw(SafeText& out, const MessageView& message, bool show_secrets) {
  for (std::uint32_t i = 0; i < message.size(); ++i) {
    out += value(message[i].tag);
    out += '=';
    append_value(out, message[i].tag, message[i].value, show_secrets);
    out += '|';
  }
}

void append_summary(SafeText& out, const MessageView& message, const Dictionary* dictionary, bool show_secrets) {
  bool first = true;
  for (std::uint32_t i = 0; i < message.size(); ++i) {
    const Field field = message[i];
    const bool possdup = field.tag == Tag::PossDupFlag || field.tag == Tag::PossResend;
    if ((is_header_tag(field.tag) && !possdup) || is_trailer_tag(field.tag)) continue;
    if (!first) out += ' ';
    first = false;
    const std::string_view name = dictionary == nullptr ? std::string_view{} : dictionary->field_name(field.tag);
    if (name.empty()) {
      out += value(field.tag);
    } else {
      out += name;
    }
    out += '=';
    append_value(out, field.tag, field.value, show_secrets);
    const std::string_view meaning =
        dictionary == nullptr ? std::string_view{} : dictionary->value_name(field.tag, field.value);
    if (!meaning.empty()) {
      out += '(';
      out += meaning;
      out += ')';
    }
  }
}

std::string timestamp(UtcTime time) {
  char text[max_utc_timestamp_size];
  return {text, write_utc_timestamp(text, time, 3)};
}

}  // namespace nfx::app
