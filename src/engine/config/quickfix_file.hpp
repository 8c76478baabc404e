// Reads a QuickFIX settings file into sections of keys and values, as the engines do, and reports what it ignored. '#'
// at the start of a line, or after white space, begins a comment. Section names are case-insensitive. Only the first
// [DEFAULT] is read. A value is everything after the first '='.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/quickfix_keys.hpp"

namespace nfx::quickfix {

struct Entry {
  std::string key;  // as written in the file
  std::string value;
  std::size_t line = 0;
  bool in_default = false;
  // From variable_at on, the value is exactly this environment variable.
  std::string variable = {};
  std::size_t variable_at = 0;
};

struct FileSection {
  std::size_t line = 0;
  std::vector<Entry> entries;  // one per key, the last one written
};

struct File {
  FileSection defaults;
  std::vector<FileSection> sessions;
  std::vector<QuickFixWarning> warnings;
};

[[nodiscard]] std::string section_of(const Entry& entry);

// Throws ConfigError.
[[nodiscard]] File read_file(std::string_view text, std::string_view name, const VariableLookup& environment);

}  // namespace nfx::quickfix
