// Protections of links and rails that can be taken away, so that a test can prove that it finds what they protect from.
// plants.py has the table, and makes copies of the sources with it; no other program has them.
// Thread: set before the first link is made, then read by any.
#pragma once

#include <span>
#include <string_view>

namespace nfx::fabric_plants {

struct PlantRow {
  std::string_view name;
  std::string_view program;  // "faults" or "kill": which one has to find it
  std::string_view what;     // happens without it
};

[[nodiscard]] std::span<const PlantRow> rows();

// The row that is taken away; -1: none.
extern int planted;

}  // namespace nfx::fabric_plants
