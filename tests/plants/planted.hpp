// Protections of a library that can be taken away, so that a test can prove that it finds what they protect from. The
// table is cluster.py or fabric.py, by which copies of the library's sources are made with it (planting.py); a program
// has one of the two libraries nfx_cluster_planted and nfx_fabric_planted. Thread: set before the first step, or the
// first link, then read by any.
#pragma once

#include <span>
#include <string_view>

namespace nfx::plants {

struct PlantRow {
  std::string_view name;
  std::string_view program;  // which one has to find it: "simulate", "explore", "faults" or "kill"
  std::string_view what;     // happens without it
};

[[nodiscard]] std::span<const PlantRow> rows();

// The row that is taken away; -1: none.
extern int planted;

}  // namespace nfx::plants
