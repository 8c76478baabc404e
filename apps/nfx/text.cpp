// Colours, masked secrets and times for the commands' output.
#include "text.hpp"

#include <cstdlib>

#include "nexusfix/wire/standard_fields.hpp"

namespace nfx::app {

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
