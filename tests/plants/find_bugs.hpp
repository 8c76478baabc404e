// Programs that prove what a test finds: bugs are planted in turn, and each has to be found. Each runs in a process of
// its own, because code without a protection may end by an assertion, which is a finding too.
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
  std::string text;  // by what and what it is; or how much did not find it
};

struct Bug {
  std::string name;
  std::function<Search()> find;  // in the process of its own
};

[[nodiscard]] inline cli::Option only_option(std::string& name) {
  return {.names = "--only", .target = &name, .help = "One bug", .value = "NAME"};
}

// A line for each bug, or for the one that is named, and how many were not found. Returns the exit code: 0 when all
// were found, 1 when one was not, 2 when none has the name or one could not be tried.
[[nodiscard]] int find_bugs(const std::vector<Bug>& bugs, std::string_view only = {});

// The row with this name: `find` is called with the protection taken away. A name that is in no row is never found.
[[nodiscard]] inline Bug planted_bug(std::string_view name, std::function<Search()> find) {
  const auto row = std::ranges::find(rows(), name, &PlantRow::name);
  const int index = row == rows().end() ? -1 : static_cast<int>(row - rows().begin());
  return {std::string{name}, [index, find = std::move(find)] {
            planted = index;
            return find();
          }};
}
// All rows that a program has to find.
[[nodiscard]] inline std::vector<Bug> planted_bugs(std::string_view program, const std::function<Search()>& find) {
  std::vector<Bug> bugs;
  for (const PlantRow& row : rows())
    if (row.program == program) bugs.push_back(planted_bug(row.name, find));
  return bugs;
}

}  // namespace nfx::plants
