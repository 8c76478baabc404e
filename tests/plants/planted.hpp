// Protections of a library that can be removed, so that a test can prove that it detects their absence. The table is
// cluster.py or fabric.py, with which copies of the library's sources are made (planting.py); a program links one of
// the two libraries nfx_cluster_planted and nfx_fabric_planted.
// Thread: set before the first step, or the first link, then read by any.
#pragma once

#include <span>
#include <string_view>

namespace nfx::plants {

struct PlantRow {
  std::string_view name;
  std::string_view program;  // the program that must find it: "simulate", "explore", "faults" or "kill"
  std::string_view what;     // happens without the protection
};

[[nodiscard]] std::span<const PlantRow> rows();

// The removed row; -1: none.
extern int planted;

}  // namespace nfx::plants
