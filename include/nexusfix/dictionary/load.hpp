// Finds and reads dictionary files, before run. Errors: DictionaryError, with the file, the line and the fix.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/dictionary/model.hpp"
#include "nexusfix/dictionary/package_folder.hpp"
#include "nexusfix/dictionary/version.hpp"

namespace nfx {

// The files of one session's dictionary.
struct DictionaryFiles {
  std::filesystem::path transport;              // FIXT11.xml. Empty when the application's file defines everything
  std::filesystem::path application;            // FIX50SP2.xml
  std::vector<std::filesystem::path> overlays;  // applied to both in this order. The base that they name is ignored
  // "FIX.5.0SP2": for files that leave the version open, such as FIX 5.0 without a service pack, or Orchestra files
  // with their own version. Empty: the files have to state one.
  std::string version{};
  // For a session: the messages of the session layer that the files lack are those of the shipped dictionary of their
  // version, which is a repair. FIX 5.0 and later have them in `transport`.
  bool for_session = false;
};

// A dictionary in any of the formats, or an overlay that names its base. "FIX44.xml", where no such file is in the
// current folder, is the shipped dictionary of that name.
[[nodiscard]] Dictionary load_dictionary(const std::filesystem::path& file);
[[nodiscard]] Dictionary load_dictionary(const DictionaryFiles& files);

// The same before it is resolved. `problems` as in model.hpp; a file that cannot be read throws in any case.
[[nodiscard]] DictionaryModel load_model(const std::filesystem::path& file,
                                         std::vector<std::string>* problems = nullptr);
[[nodiscard]] DictionaryModel load_model(const DictionaryFiles& files, std::vector<std::string>* problems = nullptr);

// The path of this file ("FIX44.xml"). Searched are `folder` unless it is empty, the folder named by the environment
// variable NFX_DICTIONARIES, and the dictionaries shipped with the engine. The engine finds its own beside the program
// or its shared library, beside the headers it was compiled with, or in the source tree. Empty when there is none.
[[nodiscard]] std::optional<std::filesystem::path> find_shipped_dictionary(std::string_view file,
                                                                           const std::filesystem::path& folder = {});

}  // namespace nfx
