// Protections of a session's owner that can be taken away, so that a test can prove that it finds what they protect
// from. plants.py has the table, and makes copies of the sources with it; no other program has them.
// Thread: set before the first step, then read by any.
#pragma once

#include <span>
#include <string_view>

namespace nfx::cluster_plants {

struct PlantRow {
  std::string_view name;
  std::string_view program;  // which one has to find it: simulate, or explore
  std::string_view what;     // happens without it
};

[[nodiscard]] std::span<const PlantRow> rows();

// The row that is taken away; -1: none.
extern int planted;

}  // namespace nfx::cluster_plants
