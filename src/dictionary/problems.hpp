// Errors of a dictionary: thrown immediately, or collected so that its author sees all of them.
#pragma once

#include <string>
#include <vector>

#include "nexusfix/dictionary/model.hpp"

namespace nfx {

class Problems {
 public:
  // Null: the first problem is thrown.
  explicit Problems(std::vector<std::string>* all) noexcept : all_(all) {}

  // Throws, or returns so that the caller continues without the wrong element.
  void report(const ModelPlace& place, const std::string& what) {
    const std::string line = to_string(place) + ": " + what;
    if (all_ == nullptr) throw DictionaryError(line);
    if (all_->size() < max_dictionary_problems) all_->push_back(line);
  }
  [[noreturn]] static void fail(const ModelPlace& place, const std::string& what) {
    throw DictionaryError(to_string(place) + ": " + what);
  }
  [[nodiscard]] std::vector<std::string>* gathered() const noexcept { return all_; }

 private:
  std::vector<std::string>* all_;
};

[[nodiscard]] inline std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }
[[nodiscard]] inline std::string in_brackets(const ModelPlace& place) { return " (" + to_string(place) + ")"; }

}  // namespace nfx
