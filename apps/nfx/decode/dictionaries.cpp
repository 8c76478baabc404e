#include "decode/dictionaries.hpp"

#include <algorithm>
#include <array>

#include "nexusfix/dictionary/load.hpp"

namespace nfx::app {
namespace {

// Which files know a version's names, the best first. A FIXT.1.1 session carries FIX 5.0 messages.
struct Version {
  std::string_view begin_string;
  std::array<std::string_view, 3> files;
};
constexpr std::array<Version, 9> versions{{
    {"FIX.4.0", {"FIX40.xml", "FIX42.xml", "FIX44.xml"}},
    {"FIX.4.1", {"FIX41.xml", "FIX42.xml", "FIX44.xml"}},
    {"FIX.4.2", {"FIX42.xml", "FIX44.xml", ""}},
    {"FIX.4.3", {"FIX43.xml", "FIX44.xml", ""}},
    {"FIX.4.4", {"FIX44.xml", "", ""}},
    {"FIX.5.0", {"FIX50.xml", "FIX50SP2.xml", "FIX44.xml"}},
    {"FIX.5.0SP1", {"FIX50SP1.xml", "FIX50SP2.xml", "FIX44.xml"}},
    {"FIX.5.0SP2", {"FIX50SP2.xml", "FIX44.xml", ""}},
    {"FIXT.1.1", {"FIX50SP2.xml", "FIX44.xml", ""}},
}};

}  // namespace

void Dictionaries::add(const std::filesystem::path& file) {
  Dictionary dictionary = load_dictionary(file);
  std::string version{dictionary.begin_string()};
  given_.insert_or_assign(std::move(version), std::move(dictionary));
}

DictionaryChoice Dictionaries::for_version(std::string_view begin_string) {
  if (const auto given = given_.find(begin_string); given != given_.end()) return {&given->second, true};
  const auto known = std::ranges::find(versions, begin_string, &Version::begin_string);
  // A version unheard of is most likely a broken one: the newest names are the best guess.
  const auto files = known == versions.end() ? std::array<std::string_view, 3>{"FIX44.xml", "", ""} : known->files;
  for (const std::string_view file : files) {
    if (file.empty()) break;
    if (const Dictionary* found = shipped(std::string{file})) return {found, found->begin_string() == begin_string};
  }
  return {};
}

const Dictionary* Dictionaries::shipped(const std::string& file) {
  const auto known = shipped_.find(file);
  if (known != shipped_.end()) return known->second.get();
  std::unique_ptr<Dictionary> loaded;
  if (const auto path = find_shipped_dictionary(file)) loaded = std::make_unique<Dictionary>(load_dictionary(*path));
  return shipped_.emplace(file, std::move(loaded)).first->second.get();
}

}  // namespace nfx::app
