// Collects the problems of a dictionary. Errors are thrown immediately, or collected so that the author sees all of
// them. Irregularities with an obvious meaning are repaired and recorded.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/suggest.hpp"
#include "nexusfix/dictionary/model.hpp"

namespace nfx {

class Problems {
 public:
  // If `all` is null, the first error is thrown.
  Problems(std::vector<std::string>* all, Repairs& repairs) noexcept : all_(all), repairs_(repairs) {}

  // Throws, or returns so that the caller continues without the wrong element.
  void report(const ModelPlace& place, const std::string& what) {
    const std::string line = to_string(place) + ": " + what;
    if (all_ == nullptr) throw DictionaryError(line);
    if (all_->size() < max_dictionary_problems) all_->push_back(line);
  }
  // `what`: "type is 'FOO', read as STRING; write a FIX type"
  void repair(RepairKind kind, const ModelPlace& place, const std::string& what) {
    repairs_.add(kind, to_string(place) + ": " + what);
  }
  [[noreturn]] static void fail(const ModelPlace& place, const std::string& what) {
    throw DictionaryError(to_string(place) + ": " + what);
  }
  [[nodiscard]] Repairs& repairs() noexcept { return repairs_; }

 private:
  std::vector<std::string>* all_;
  Repairs& repairs_;
};

// did_you_mean() for the names of one dictionary. Each wrong name is looked up once, up to `max_names` names, so that a
// file full of wrong names takes no longer to explain than to read.
class Suggestions {
 public:
  static constexpr std::size_t max_names = 20;

  // `candidates` is called when it is first needed.
  template <class Candidates>
  [[nodiscard]] std::string of(std::string_view name, std::string_view otherwise, const Candidates& candidates) {
    const auto known = known_.find(std::string(name));
    if (known != known_.end()) return known->second.empty() ? std::string(otherwise) : known->second;
    if (known_.size() == max_names) return std::string(otherwise);
    const std::string found = did_you_mean(name, candidates());
    known_.emplace(name, found);
    return found.empty() ? std::string(otherwise) : found;
  }

 private:
  std::unordered_map<std::string, std::string> known_;
};

[[nodiscard]] inline std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }
[[nodiscard]] inline std::string in_brackets(const ModelPlace& place) { return " (" + to_string(place) + ")"; }

}  // namespace nfx
