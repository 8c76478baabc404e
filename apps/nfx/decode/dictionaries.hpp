// The dictionary for each FIX version met in a log: given files first, then the shipped ones.
// Errors: DictionaryError for a file that cannot be used. Bounds: one dictionary per known version and given file.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "nexusfix/dictionary/dictionary.hpp"

namespace nfx::app {

struct DictionaryChoice {
  const Dictionary* dictionary = nullptr;
  bool exact = false;  // of this very version; otherwise a near one, good for names only
};

class Dictionaries {
 public:
  void add(const std::filesystem::path& file);
  [[nodiscard]] DictionaryChoice for_version(std::string_view begin_string);

 private:
  [[nodiscard]] const Dictionary* shipped(const std::string& file);

  std::map<std::string, Dictionary, std::less<>> given_;                     // by BeginString
  std::map<std::string, std::unique_ptr<Dictionary>, std::less<>> shipped_;  // by file name; null: there is none
};

}  // namespace nfx::app
