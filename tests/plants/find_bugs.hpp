// For programs that prove the effectiveness of a test: bugs are planted in turn, and each must be found. Each runs in a
// separate process, because code without a protection may end with an assertion, which is a finding too.
// Thread: one, without others; it forks. Errors: a bug that throws is reported and counts as not tried.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command_line.hpp"
#include "plants/planted.hpp"

namespace nfx::plants {

struct Search {
  bool found = false;
  std::string text;  // the finding and its source; or how much was tried without one
};

struct Bug {
  std::string name;
  std::function<Search()> find;  // runs in the separate process
};

[[nodiscard]] inline cli::Option only_option(std::string& name) {
  return {.names = "--only", .target = &name, .help = "One bug", .value = "NAME"};
}

// Prints a line for each bug, or for the named one, and how many were not found. Returns the exit code: 0 if all were
// found, 1 if one was not, 2 if none has the name or one could not be tried.
[[nodiscard]] int find_bugs(const std::vector<Bug>& bugs, std::string_view only = {});

// The row with this name: `find` runs with the protection removed. A name without a row is never found.
[[nodiscard]] inline Bug planted_bug(std::string_view name, std::function<Search()> find) {
  const auto row = std::ranges::find(rows(), name, &PlantRow::name);
  const int index = row == rows().end() ? -1 : static_cast<int>(row - rows().begin());
  return {std::string{name}, [index, find = std::move(find)] {
            planted = index;
            return find();
          }};
}
// All rows that a program must find.
[[nodiscard]] inline std::vector<Bug> planted_bugs(std::string_view program, const std::function<Search()>& find) {
  std::vector<Bug> bugs;
  for (const PlantRow& row : rows())
    if (row.program == program) bugs.push_back(planted_bug(row.name, find));
  return bugs;
}

}  // namespace nfx::plants
