// The list of calls on a page, as in docs/architecture.md and docs/datagram-to-order.md, and its comparison with
// recorded calls.
// Thread: any. Cost: of strings; for tests.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace nfx::test {

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

struct Call {
  std::string function;  // "SessionDriver::flush"
  std::string file;      // "src/engine/engine/session_driver.hpp"
  friend bool operator==(const Call&, const Call&) = default;
};
using Calls = std::vector<Call>;

// Where the engine is set up in another way: `call` instead of the calls named `replaced`, which follow one another.
struct Variation {
  std::string with;
  std::vector<std::string> replaced;
  Call call;
};

struct CallList {
  Calls calls;
  std::vector<Variation> variations;
  std::string problem;  // why the page has no usable list; empty: it has
};

// The text between backquotes, in a line or on a page; code blocks are left out.
inline std::vector<std::string> code_spans_of(std::string_view text) {
  std::vector<std::string> spans;
  std::istringstream lines{std::string{text}};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("    ")) continue;
    for (std::size_t end = 0, begin = 0; (begin = line.find('`', end)) != std::string::npos; end = end + 1) {
      end = line.find('`', begin + 1);
      if (end == std::string::npos) break;
      spans.push_back(line.substr(begin + 1, end - begin - 1));
    }
  }
  return spans;
}

// "src/fix/wire/kernels/", "wire/framer.hpp", "layers.txt".
inline bool looks_like_a_path(std::string_view code) {
  const bool characters = std::ranges::all_of(
      code, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '/' || c == '.' || c == '-'; });
  const bool source = code.ends_with(".hpp") || code.ends_with(".cpp") || code.ends_with(".txt");
  return characters && (source || code.find('/') != std::string_view::npos);
}

// "SendGate": letters only, the first a capital, with a small one; not "Application::on_message".
inline bool looks_like_a_class(std::string_view code) {
  const auto letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  const auto small = [](unsigned char c) { return std::islower(c) != 0; };
  return !code.empty() && std::isupper(static_cast<unsigned char>(code.front())) != 0 &&
         std::ranges::all_of(code, letter) && std::ranges::any_of(code, small);
}

namespace call_list_detail {

// The rows of the table that begins with this line, each as its cells.
inline std::vector<std::vector<std::string>> table_after(std::string_view page, std::string_view heading) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines{std::string{page}};
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (!inside) {
      inside = line.starts_with(heading);
      continue;
    }
    if (!line.starts_with('|')) break;
    if (line.starts_with("|---")) continue;
    std::istringstream cells{line.substr(1)};
    rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, '|');) {
      const std::size_t begin = cell.find_first_not_of(' ');
      rows.back().push_back(begin == std::string::npos ? std::string{}
                                                       : cell.substr(begin, cell.find_last_not_of(' ') + 1 - begin));
    }
  }
  return rows;
}

inline std::string without_quotes(const std::string& cell) {
  const std::vector<std::string> spans = code_spans_of(cell);
  return spans.empty() ? cell : spans.front();
}

}  // namespace call_list_detail

inline CallList call_list_of(std::string_view page) {
  using namespace call_list_detail;
  CallList list;
  for (const auto& cells : table_after(page, "| step | function | file |")) {
    list.calls.push_back({without_quotes(cells.at(1)), without_quotes(cells.at(2))});
    if (cells[0] != std::to_string(list.calls.size()))
      list.problem = "step " + std::to_string(list.calls.size()) + " has the number " + cells[0];
    if (!list.problem.empty()) return list;
  }
  if (list.calls.empty()) list.problem = "no table begins with: | step | function | file |";
  for (const auto& cells : table_after(page, "| with | instead of | function | file |")) {
    list.variations.push_back({without_quotes(cells.at(0)),
                               code_spans_of(cells.at(1)),
                               {without_quotes(cells.at(2)), without_quotes(cells.at(3))}});
  }
  return list;
}

// The calls of an engine with this setting. Empty: the page has no such variation, or the calls that it replaces are
// missing.
inline Calls with(const CallList& list, std::string_view set_up) {
  Calls calls = list.calls;
  for (const Variation& variation : list.variations) {
    if (variation.with != set_up) continue;
    const auto same = [](const Call& call, const std::string& name) { return call.function == name; };
    const auto found = std::ranges::search(calls, variation.replaced, same);
    if (found.empty()) return {};
    calls.insert(calls.erase(found.begin(), found.end()), variation.call);
    return calls;
  }
  return {};
}

// The first step in which what the page lists and what was called differ; empty when there is none.
inline std::string difference(const Calls& listed, const Calls& called) {
  for (std::size_t i = 0; i < std::max(listed.size(), called.size()); ++i) {
    const auto at = [i](const Calls& calls) {
      return i < calls.size() ? calls[i].function + " in " + calls[i].file : std::string{"nothing more"};
    };
    if (at(listed) == at(called)) continue;
    return "step " + std::to_string(i + 1) + ": the page has " + at(listed) + ", the engine called " + at(called);
  }
  return {};
}

inline std::string rows_of(const Calls& calls) {
  std::string rows;
  for (std::size_t i = 0; i < calls.size(); ++i)
    rows += "| " + std::to_string(i + 1) + " | `" + calls[i].function + "` | `" + calls[i].file + "` |\n";
  return rows;
}

// From "void nfx::A<T>::f(int) [with T = nfx::B]" to "A::f": without result, arguments, namespaces and template
// arguments. g++ and clang write them differently.
inline std::string short_name(std::string_view pretty) {
  std::string text{pretty};
  constexpr std::string_view unnamed = "(anonymous namespace)::";  // as clang writes it
  if (const std::size_t at = text.find(unnamed); at != std::string::npos) text.erase(at, unnamed.size());
  std::string name;
  int depth = 0;  // of template arguments
  for (const char c : text) {
    if (c == '(' && depth == 0) break;
    if (c == '<') ++depth;
    if (depth == 0) c == ' ' || c == '*' || c == '&' ? name.clear() : name.push_back(c);
    if (c == '>') --depth;
  }
  for (const std::string_view scope : {"nfx::", "market::", "strategy::", "detail::", "{anonymous}::"}) {
    if (name.starts_with(scope)) name.erase(0, scope.size());
  }
  return name;
}

// The path of a file as the compiler got it: absolute, or relative to the build folder.
inline std::string path_in_tree(std::string_view file, std::string_view root) {
  if (file.starts_with(root) && file.size() > root.size()) file.remove_prefix(root.size() + 1);
  while (file.starts_with("../")) file.remove_prefix(3);
  return std::string{file};
}

}  // namespace nfx::test
