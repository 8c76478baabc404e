// Finds secrets while understanding as little TOML as possible: keys, strings and comments.
#include "config/masked_text.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "config/key_depth.hpp"
#include "config/quickfix_keys.hpp"
#include "config/quickfix_settings.hpp"
#include "nexusfix/base/assert.hpp"
#include "wire/secret_fields.hpp"

namespace nfx::config {
namespace {

constexpr std::string_view prefix = "secret-";
constexpr std::size_t digits = 64;

bool is_name(std::string_view text) noexcept {
  if (text.size() != prefix.size() + digits || !text.starts_with(prefix)) return false;
  return text.find_first_not_of("0123456789abcdef", prefix.size()) == std::string_view::npos;
}

bool is_plain(std::string_view text) noexcept {
  return !text.empty() && text.size() <= Secret::longest_compared &&
         std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

// Returns "password" for password, "password" and defaults.password.
std::string_view last_part(std::string_view key) noexcept {
  key = trimmed(key);
  key = trimmed(key.substr(key.rfind('.') + 1));  // no dot: npos + 1 is 0
  if (key.size() >= 2 && (key.front() == '"' || key.front() == '\'') && key.back() == key.front())
    key = key.substr(1, key.size() - 2);
  return key;
}

// The position of the value in "925=value", if the field is secret.
std::optional<std::size_t> secret_value(std::string_view field) noexcept {
  std::int32_t tag = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), tag);
  const auto size = static_cast<std::size_t>(end - field.data());
  if (error != std::errc{} || size >= field.size() || field[size] != '=' || !is_secret(Tag{tag})) return std::nullopt;
  return size + 1;
}

// Copies a text in pieces and replaces some of them by names.
class Copy {
 public:
  explicit Copy(std::string_view text) : text_(text) { made_.text.reserve(text.size() + 256); }

  // `secret` is the value of the piece at `begin`.
  void replace(std::size_t begin, std::size_t size, std::string_view secret) {
    if (!is_plain(secret) || is_name(secret)) return;
    up_to(begin);
    const std::string name = made_.secrets.add(secret);
    made_.text += name;
    done_ = begin + size;
    const std::string_view before = std::string_view{made_.text};
    made_.longer.push_back({.line = line_,
                            .column = before.size() - (before.rfind('\n') + 1) + 1,
                            .by = static_cast<std::ptrdiff_t>(name.size()) - static_cast<std::ptrdiff_t>(size)});
  }
  MaskedText finish() {
    up_to(text_.size());
    return std::move(made_);
  }

 private:
  void up_to(std::size_t end) {
    NFX_ASSERT(done_ <= end);
    const std::string_view piece = text_.substr(done_, end - done_);
    line_ += static_cast<std::size_t>(std::ranges::count(piece, '\n'));
    made_.text += piece;
    done_ = end;
  }

  std::string_view text_;
  std::size_t done_ = 0;
  std::size_t line_ = 1;
  MaskedText made_;
};

// The value of a one-line string. Empty if it has escapes other than \\ and \". Only one object exists on the way to
// the caller, so that no copy of a short text stays on the stack.
std::optional<std::string> meaning_of(std::string_view inside, char quote) {
  std::optional<std::string> meaning{std::in_place};
  meaning->reserve(inside.size());
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (quote == '"' && inside[i] == '\\') {
      ++i;
      if (i == inside.size() || (inside[i] != '\\' && inside[i] != '"')) {
        clear_text(*meaning);
        meaning.reset();
        return meaning;
      }
    }
    *meaning += inside[i];
  }
  return meaning;
}

}  // namespace

std::string Secrets::add(std::string_view text) {
  std::string name = std::string{prefix} + name_of_secret(text);
  by_name_.try_emplace(name, text);
  return name;
}

Secret Secrets::of(std::string_view text) const {
  const auto found = by_name_.find(text);
  return found == by_name_.end() ? Secret{text} : found->second;
}

std::size_t MaskedText::original_column(std::size_t line, std::size_t column) const noexcept {
  std::size_t original = column;
  for (const Longer& each : longer) {
    if (each.line == line && column >= each.column) original -= static_cast<std::size_t>(each.by);
  }
  return original;
}

MaskedText mask_toml(std::string_view toml) {
  enum class In : std::uint8_t { other, password, fields };
  In in = In::other;
  Copy copy{toml};
  std::size_t key_begin = 0;
  for (std::size_t i = 0; i < toml.size();) {
    switch (toml[i]) {
      case '"':
      case '\'': {
        const std::size_t begin = i;
        i = end_of_text(toml, begin);
        if (in == In::other) continue;
        const bool one_line = toml.substr(begin, 3) != std::string(3, toml[begin]);
        if (one_line && i - begin >= 2 && toml[i - 1] == toml[begin]) {
          const std::string_view inside = toml.substr(begin + 1, i - begin - 2);
          // Keeps the tag of a field visible; the tag contains no escapes.
          const auto value = in == In::password ? 0 : secret_value(inside);
          if (auto meaning = value ? meaning_of(inside.substr(*value), toml[begin]) : std::nullopt) {
            copy.replace(begin + 1 + *value, inside.size() - *value, *meaning);
            clear_text(*meaning);
          }
        }
        if (in == In::password) in = In::other;
        continue;
      }
      case '#':
        while (i < toml.size() && toml[i] != '\n') ++i;
        continue;
      case '=': {
        const std::string_view key = last_part(toml.substr(key_begin, i - key_begin));
        in = key == "password" ? In::password : key == "logon_fields" ? In::fields : In::other;
        break;
      }
      case '\n':
        if (in == In::password) in = In::other;
        [[fallthrough]];
      case ',':
      case '[':
      case ']':
      case '{':
      case '}': key_begin = i + 1; break;
      default: break;
    }
    ++i;
  }
  return copy.finish();
}

// Splits lines exactly as quickfix_file.cpp does.
MaskedText mask_quickfix(std::string_view text) {
  using quickfix::starts_with_key;
  Copy copy{text};
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || trimmed(line).starts_with('#')) continue;
    const std::string_view key = trimmed(line.substr(0, equals)), value = trimmed(line.substr(equals + 1));
    if (value.empty() || value.contains('$')) continue;
    std::optional<std::size_t> begin;
    if (starts_with_key(key, "LogonTag")) begin = secret_value(value);
    // A key such as password_env names a variable, so its value is not secret.
    if (key.contains("assword") && !key.ends_with("nv")) begin = 0;
    if (!begin) continue;
    const std::string_view secret = value.substr(*begin);
    copy.replace(static_cast<std::size_t>(secret.data() - text.data()), secret.size(), secret);
  }
  return copy.finish();
}

MaskedText mask(std::string& text) {
  MaskedText masked = looks_like_quickfix(text) ? mask_quickfix(text) : mask_toml(text);
  clear_text(text);
  return masked;
}

}  // namespace nfx::config
