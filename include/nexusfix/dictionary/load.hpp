// Finds and reads dictionary files, before run. Errors: DictionaryError, which names the file, the line and the mend.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "nexusfix/dictionary/dictionary.hpp"

namespace nfx {

[[nodiscard]] Dictionary load_dictionary(const std::filesystem::path& file);

// Where this file ("FIX44.xml") is: in `folder` unless that is empty, in the folder that the environment variable
// NFX_DICTIONARIES names, or among the dictionaries shipped with the engine. Empty when it is in none of them.
[[nodiscard]] std::optional<std::filesystem::path> find_shipped_dictionary(std::string_view file,
                                                                           const std::filesystem::path& folder = {});

}  // namespace nfx
