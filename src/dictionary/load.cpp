#include "nexusfix/dictionary/load.hpp"

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#ifndef NFX_DICTIONARY_PATH
#define NFX_DICTIONARY_PATH ""
#endif

namespace nfx {

Dictionary load_dictionary(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string xml{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in.is_open() || in.bad()) {
    throw DictionaryError(file.string() + ": cannot be read (" + std::generic_category().message(errno) +
                          "); give the path of a dictionary file");
  }
  return Dictionary::parse(xml, file.string());
}

std::optional<std::filesystem::path> find_shipped_dictionary(std::string_view file,
                                                             const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> places;
  if (!folder.empty()) places.push_back(folder / file);
  if (const char* named = std::getenv("NFX_DICTIONARIES")) places.push_back(std::filesystem::path{named} / file);
  // Where this build knows the shipped dictionaries to be: the source tree, then the installation.
  std::istringstream known{NFX_DICTIONARY_PATH};
  for (std::string each; std::getline(known, each, ':');) places.push_back(std::filesystem::path{each} / file);
  for (const auto& place : places) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(place, ignored)) return place;
  }
  return std::nullopt;
}

}  // namespace nfx
