// Writes JSON piece by piece: commas, quotes and escapes follow from the calls.
#include "harness/json.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace nfx::bench {

void Json::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_elements_.back()) text_ += ',';
  has_elements_.back() = true;
  if (has_elements_.size() > 1) {
    text_ += '\n';
    text_.append(2 * (has_elements_.size() - 1), ' ');
  }
}

Json& Json::open(char bracket) {
  separate();
  text_ += bracket;
  has_elements_.push_back(false);
  return *this;
}

Json& Json::close(char bracket) {
  has_elements_.pop_back();
  text_ += bracket;
  return *this;
}

Json& Json::raw(std::string_view text) {
  separate();
  text_ += text;
  return *this;
}

void Json::quote(std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  text_ += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (byte < 0x20) {
      text_ += "\\u00";
      text_ += hex[byte >> 4];
      text_ += hex[byte & 15];
    } else {
      text_ += c;
    }
  }
  text_ += '"';
}

Json& Json::key(std::string_view name) {
  separate();
  quote(name);
  text_ += ": ";
  after_key_ = true;
  return *this;
}

Json& Json::value(std::string_view text) {
  separate();
  quote(text);
  return *this;
}

Json& Json::value(double number) {
  if (!std::isfinite(number)) return raw("null");
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::general, 8).ptr;
  return raw({text.data(), static_cast<std::size_t>(end - text.data())});
}

Json& Json::value(bool truth) { return raw(truth ? "true" : "false"); }

}  // namespace nfx::bench
