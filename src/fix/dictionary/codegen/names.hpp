// Converts FIX names to C++ identifiers.
// Thread: any; no state except NameTable's. The same names in the same order give the same result.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

namespace nfx::codegen {

// Lower-case words: ClOrdID becomes cl_ord_id, NoMDEntries no_md_entries, NoPartyIDs no_party_ids, SELL_SHORT
// sell_short. Characters other than letters and digits separate words. The result is never empty and never a keyword,
// and starts with a letter: `prefix` is put before a digit.
[[nodiscard]] std::string snake_case(std::string_view name, std::string_view prefix);

// FIX's spelling with a capital first letter, without characters that are invalid in a name.
[[nodiscard]] std::string type_case(std::string_view name);

// One C++ identifier, or several with "::" between them.
[[nodiscard]] bool is_namespace(std::string_view text) noexcept;

// The names already used in one scope.
class NameTable {
 public:
  // False if the name was already used.
  bool take(const std::string& name) { return taken_.insert(name).second; }
  [[nodiscard]] bool has(const std::string& name) const { return taken_.contains(name); }

  // Returns `name`, or the first unused one of name + suffix, name + suffix + "2", ...; the name counts as used from
  // now on.
  [[nodiscard]] std::string take_free(const std::string& name, std::string_view suffix);

 private:
  std::unordered_set<std::string> taken_;
};

}  // namespace nfx::codegen
