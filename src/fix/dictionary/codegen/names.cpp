// Turns FIX names into valid, readable C++ identifiers.
#include "dictionary/codegen/names.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace nfx::codegen {
namespace {

constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_name_character(char c) { return is_upper(c) || is_lower(c) || is_digit(c); }

// Keywords, their alternatives, and lower-case macros of common headers.
constexpr std::array unusable = std::to_array<std::string_view>({
    "alignas",     "alignof",      "and",     "and_eq",     "asm",       "assert",    "auto",
    "bitand",      "bitor",        "bool",    "break",      "case",      "catch",     "char",
    "char16_t",    "char32_t",     "char8_t", "class",      "co_await",  "co_return", "co_yield",
    "compl",       "concept",      "const",   "const_cast", "consteval", "constexpr", "constinit",
    "continue",    "decltype",     "default", "delete",     "do",        "double",    "dynamic_cast",
    "else",        "enum",         "errno",   "explicit",   "export",    "extern",    "false",
    "float",       "for",          "friend",  "goto",       "if",        "inline",    "int",
    "linux",       "long",         "major",   "makedev",    "minor",     "mutable",   "namespace",
    "new",         "noexcept",     "not",     "not_eq",     "nullptr",   "offsetof",  "operator",
    "or",          "or_eq",        "private", "protected",  "public",    "register",  "reinterpret_cast",
    "requires",    "return",       "short",   "signed",     "sizeof",    "static",    "static_assert",
    "static_cast", "stderr",       "stdin",   "stdout",     "struct",    "switch",    "template",
    "this",        "thread_local", "throw",   "true",       "try",       "typedef",   "typeid",
    "typename",    "union",        "unix",    "unsigned",   "using",     "virtual",   "void",
    "volatile",    "wchar_t",      "while",   "xor",        "xor_eq",
});

// Whether a word begins at `i`, which is not the first character.
bool begins_word(std::string_view name, std::size_t i) {
  const char before = name[i - 1];
  const char here = name[i];
  if (!is_upper(here)) return false;
  if (is_lower(before) || is_digit(before)) return true;
  if (!is_upper(before) || i + 1 == name.size() || !is_lower(name[i + 1])) return false;
  // The last of several capitals belongs to the next word, unless they are a plural: "IDs".
  return !(name[i + 1] == 's' && (i + 2 == name.size() || !is_lower(name[i + 2])));
}

// Words that FIX writes in capitals together with the next letters: IOIID, IOIid, XMLnonFIX.
constexpr std::string_view capital_words[] = {"IOI", "XML"};

// Returns the capital word that starts at `i`, or nothing.
std::string_view capital_word_at(std::string_view name, std::size_t i) {
  for (const std::string_view word : capital_words) {
    if (name.substr(i, word.size()) != word) continue;
    const std::string_view rest = name.substr(i + word.size());
    const bool is_plural = rest.starts_with('s') && (rest.size() == 1 || !is_lower(rest[1]));
    if (!is_plural) return word;
  }
  return {};
}

}  // namespace

std::string snake_case(std::string_view name, std::string_view prefix) {
  std::string result;
  // A name in capitals has no word boundaries inside: 1ST_HALF.
  const bool mixed = std::ranges::any_of(name, is_lower);
  bool gap = true;
  for (std::size_t i = 0; i < name.size();) {
    if (!is_name_character(name[i])) {
      gap = true;
      ++i;
      continue;
    }
    gap = gap || (mixed && begins_word(name, i));
    if (gap && !result.empty()) result += '_';
    const std::string_view whole = gap ? capital_word_at(name, i) : std::string_view{};
    for (const char c : whole.empty() ? name.substr(i, 1) : whole) result += lower(c);
    i += std::max<std::size_t>(whole.size(), 1);
    gap = !whole.empty();
  }
  if (result.empty()) return std::string{prefix};
  if (is_digit(result[0])) result = std::string{prefix} + '_' + result;
  if (std::ranges::find(unusable, std::string_view{result}) != unusable.end()) result += '_';
  return result;
}

std::string type_case(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (is_name_character(c)) result += c;
  }
  if (result.empty() || is_digit(result[0])) result.insert(0, "Type");
  if (is_lower(result[0])) result[0] = static_cast<char>(result[0] - 'a' + 'A');
  return result;
}

bool is_namespace(std::string_view text) noexcept {
  while (true) {
    const std::size_t end = text.find("::");
    const std::string_view name = text.substr(0, end);
    const bool characters = std::ranges::all_of(name, [](char c) { return is_name_character(c) || c == '_'; });
    if (name.empty() || !characters || is_digit(name[0]) || name[0] == '_' ||
        name.find("__") != std::string_view::npos || std::ranges::find(unusable, name) != unusable.end()) {
      return false;
    }
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 2);
  }
}

std::string NameTable::take_free(const std::string& name, std::string_view suffix) {
  std::string candidate = name;
  for (unsigned number = 1; !take(candidate); ++number) {
    candidate = name;
    candidate += suffix;
    if (number > 1) candidate += std::to_string(number);
  }
  return candidate;
}

}  // namespace nfx::codegen
