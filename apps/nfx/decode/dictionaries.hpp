// Finds the dictionary for each message of a log: given files first, then the shipped ones. Messages of FIXT.1.1 name
// their version (ApplVerID), or their sender's Logon did (DefaultApplVerID). Errors: DictionaryError for an unusable
// file. Bounds: one dictionary per known version and given file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/dictionary/model.hpp"

namespace nfx::app {

struct DictionaryChoice {
  const Dictionary* dictionary = nullptr;
  bool exact = false;  // for exactly this version; otherwise a similar one, which is good only for names
};

class Dictionaries {
 public:
  // A dictionary of FIX 5.0 or later without a header is combined with the shipped FIXT11.xml.
  void add(const std::filesystem::path& file);
  // appl_ver_id is for FIXT.1.1; an empty or unknown one means FIX 5.0 SP2.
  [[nodiscard]] DictionaryChoice find(std::string_view begin_string, std::string_view appl_ver_id = {});
  // The number of the field with this name in a given dictionary or in the newest version; 0: there is none.
  [[nodiscard]] std::uint32_t tag_named(std::string_view name);

 private:
  [[nodiscard]] const Dictionary* shipped(std::string_view version_name);
  [[nodiscard]] const Dictionary* over_transport(std::string_view version_name);

  std::map<std::string, Dictionary, std::less<>> given_;                     // by BeginString and ApplVerID if any
  std::map<std::string, std::unique_ptr<Dictionary>, std::less<>> shipped_;  // by version; null: none exists
};

}  // namespace nfx::app
