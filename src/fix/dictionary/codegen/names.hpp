// FIX names as C++ identifiers.
// Thread: any; no state but that of NameTable. The same names in the same order give the same result.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

namespace nfx::codegen {

// Words in small letters: ClOrdID is cl_ord_id, NoMDEntries no_md_entries, NoPartyIDs no_party_ids, SELL_SHORT
// sell_short. Characters other than letters and digits separate words. Never empty, never a keyword, and with a letter
// first: `prefix` goes before a digit.
[[nodiscard]] std::string snake_case(std::string_view name, std::string_view prefix);

// FIX's own spelling with a capital first and without characters that are invalid in a name.
[[nodiscard]] std::string type_case(std::string_view name);

// One C++ identifier, or several with "::" between them.
[[nodiscard]] bool is_namespace(std::string_view text) noexcept;

// Names already given within one scope.
class NameTable {
 public:
  // False when it was taken.
  bool take(const std::string& name) { return taken_.insert(name).second; }
  [[nodiscard]] bool has(const std::string& name) const { return taken_.contains(name); }

  // `name`, or the first free one of name + suffix, name + suffix + "2", ...; taken from now on.
  [[nodiscard]] std::string take_free(const std::string& name, std::string_view suffix);

 private:
  std::unordered_set<std::string> taken_;
};

}  // namespace nfx::codegen
