// Scans for dots outside of strings and comments, so that the check can run before the parser.
#include "config/key_depth.hpp"

namespace nfx::config {

std::size_t end_of_text(std::string_view toml, std::size_t at) noexcept {
  const char quote = toml[at];
  const bool escapes = quote == '"';
  const bool several_lines = toml.size() - at >= 3 && toml[at + 1] == quote && toml[at + 2] == quote;
  for (std::size_t i = at + (several_lines ? 3 : 1); i < toml.size(); ++i) {
    if (escapes && toml[i] == '\\') {
      ++i;
    } else if (several_lines) {
      if (toml.substr(i).starts_with(toml.substr(at, 3))) {
        i += 3;
        while (i < toml.size() && toml[i] == quote) ++i;  // a string may end with quotes of its own
        return i;
      }
    } else if (toml[i] == quote) {
      return i + 1;
    } else if (toml[i] == '\n') {
      return i;
    }
  }
  return toml.size();
}

std::optional<TextPlace> find_deep_key(std::string_view toml) noexcept {
  std::size_t line = 1, line_begin = 0, key_begin = 0, dots = 0;
  const auto begin_key = [&](std::size_t at) {
    key_begin = at;
    dots = 0;
  };
  for (std::size_t i = 0; i < toml.size();) {
    switch (toml[i]) {
      case '"':
      case '\'': {
        const std::size_t end = end_of_text(toml, i);
        for (; i < end; ++i) {
          if (toml[i] != '\n') continue;
          ++line;
          line_begin = i + 1;
        }
        continue;
      }
      case '#':
        while (i < toml.size() && toml[i] != '\n') ++i;
        continue;
      case '\n':
        ++line;
        line_begin = i + 1;
        [[fallthrough]];
      case '=':
      case ',':
      case '[':
      case ']':
      case '{':
      case '}': begin_key(i + 1); break;
      case '.':
        if (++dots < max_key_parts) break;
        return TextPlace{line, key_begin < line_begin ? 1 : key_begin - line_begin + 1};
      default: break;
    }
    ++i;
  }
  return std::nullopt;
}

}  // namespace nfx::config
