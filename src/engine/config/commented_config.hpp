// Writes a configuration file for people: each key has a comment with its meaning, type and default, from the table
// that the reader uses.
// Thread: any, no state. Cost: allocates. Errors: a section or key that does not exist is a programming error
// (NFX_REQUIRE).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/language.hpp"

namespace nfx {

struct ConfigSetting {
  std::string_view key;
  std::string value;  // in TOML syntax: "\"DESK\"", "1024", "true"
};

struct ConfigSection {
  std::string_view name;  // "engine", "placement", "log", "control", "defaults" or "session"
  std::vector<ConfigSetting> settings;
};

// `title` is the first line. A key is explained where it first appears.
[[nodiscard]] std::string commented_config(std::string_view title, std::span<const ConfigSection> sections);

// `text` as a TOML string, with quotes, backslashes and control characters escaped. Text that is not UTF-8 is not
// changed, and a TOML reader rejects it.
[[nodiscard]] std::string toml_text(std::string_view text);

}  // namespace nfx
