// Writes settings with the explanations from the table of keys.
#include "config/commented_config.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "config/keys.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx {
namespace {

struct KeyText {
  std::string_view meaning;
  std::string type, usual;
};

template <class Target>
KeyText text_of(std::span<const config::Key<Target>> keys, std::string_view name) {
  const auto key = std::ranges::find(keys, name, &config::Key<Target>::name);
  NFX_REQUIRE(key != keys.end());
  return {key->meaning, config::type_text(*key), key->show(Target{})};
}

KeyText text_of(std::string_view section, std::string_view key) {
  if (section == "engine") return text_of(config::engine_keys(), key);
  if (section == "placement") return text_of(config::placement_keys(), key);
  if (section == "log") return text_of(config::log_keys(), key);
  if (section == "control") return text_of(config::control_keys(), key);
  NFX_REQUIRE(section == "defaults" || section == "session");
  return text_of(config::session_keys(), key);
}

void append_comment(std::string& out, std::string_view text) {
  constexpr std::size_t width = 100;
  while (!text.empty()) {
    std::size_t end = text.size() > width ? text.rfind(' ', width) : text.size();
    if (end == std::string_view::npos) end = text.size();
    out.append("# ").append(text.substr(0, end)).append("\n");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

std::string commented_config(std::string_view title, std::span<const ConfigSection> sections) {
  std::string out;
  append_comment(out, title);
  std::set<std::pair<std::string_view, std::string_view>> explained;
  for (const ConfigSection& section : sections) {
    // [defaults] and [[session]] have the same keys.
    const bool session = section.name == "session";
    const std::string_view table = section.name == "defaults" ? "session" : section.name;
    out.append(session ? "\n[[" : "\n[").append(section.name).append(session ? "]]\n" : "]\n");
    for (const ConfigSetting& setting : section.settings) {
      const KeyText key = text_of(table, setting.key);
      if (explained.emplace(table, setting.key).second) {
        append_comment(out, key.meaning);
        append_comment(out, key.type + "; default " + key.usual);
      }
      out.append(setting.key).append(" = ").append(setting.value).append("\n");
    }
  }
  return out;
}

std::string toml_text(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out{'"'};
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\u00";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace nfx
