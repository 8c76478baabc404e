// The repairs of all dictionaries in a configuration. Each line appears once, although sessions share dictionaries and
// files.
#include "config/dictionary_warnings.hpp"

#include <set>

#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/dictionary/model.hpp"

namespace nfx {

std::vector<std::string> dictionary_warnings(const EngineConfig& config) {
  std::vector<std::string> warnings;
  std::set<const Dictionary*> seen;
  std::set<std::string> told;  // two dictionaries may share a file
  const auto add = [&](const Dictionary* dictionary) {
    if (dictionary == nullptr || !seen.insert(dictionary).second) return;
    for (std::string& line : dictionary->repairs().summary()) {
      if (told.insert(line).second) warnings.push_back(std::move(line));
    }
  };
  for (const SessionSettings& each : config.sessions) {
    add(each.dictionary.get());
    for (const auto& application : each.application_dictionaries) add(application.get());
  }
  return warnings;
}

}  // namespace nfx
