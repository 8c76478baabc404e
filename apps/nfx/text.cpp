#include "text.hpp"

#include <unistd.h>

#include <cstdlib>

#include "nexusfix/wire/standard_fields.hpp"

namespace nfx::app {
namespace {

void append_json_byte(std::string& out, unsigned char byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += "\\u00";
  out += digits[byte >> 4];
  out += digits[byte & 15];
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

cli::Option color_option(std::string& choice) {
  return {.names = "--color",
          .target = &choice,
          .help = "When to use colours; auto: on a terminal, unless NO_COLOR is set",
          .one_of = {"auto", "always", "never"}};
}

void append_json_text(std::string& out, std::string_view text) {
  out += '"';
  std::string safe;
  for (std::size_t i = 0; i < text.size();) {
    // One character at a time: append_printable says which of them are well-formed UTF-8.
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
  out += '"';
}

std::string json_text(std::string_view text) {
  std::string out;
  append_json_text(out, text);
  return out;
}

void append_value(std::string& out, Tag tag, std::string_view value, bool show_secrets) {
  if (is_secret(tag) && !show_secrets) {
    out += masked_text;
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
