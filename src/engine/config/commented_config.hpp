// A configuration as a file for people: each key with its meaning, type and default as a comment, from the same table
// that reads it. Thread: any, no state. Cost: allocates. Errors: a section or key that does not exist is a programming
// error (NFX_REQUIRE).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/language.hpp"

namespace nfx {

struct ConfigSetting {
  std::string_view key;
  std::string value;  // as TOML has it: "\"DESK\"", "1024", "true"
};

struct ConfigSection {
  std::string_view name;  // "engine", "placement", "log", "control", "defaults" or "session"
  std::vector<ConfigSetting> settings;
};

// `title` is the first line. A key is explained where it is first.
[[nodiscard]] std::string commented_config(std::string_view title, std::span<const ConfigSection> sections);

// `text` as a TOML string: quotes, backslashes and control characters escaped. Text that is not UTF-8 stays so, and no
// TOML reader takes it.
[[nodiscard]] std::string toml_text(std::string_view text);

}  // namespace nfx
