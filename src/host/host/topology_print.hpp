// Prints a topology as text, as JSON and as a picture; with a plan, all three show the CPU of each thread.
// Thread: any; pure. Cost: allocates. Errors: none. Names out of files are escaped.
#pragma once

#include <string>

#include "nexusfix/placement/machine.hpp"
#include "nexusfix/placement/plan.hpp"

namespace nfx {

// `plan` may be null.
[[nodiscard]] std::string to_text(const Topology& topology, const PlacementPlan* plan = nullptr);
// One JSON object and a newline.
[[nodiscard]] std::string to_json(const Topology& topology, const PlacementPlan* plan = nullptr);
// A self-contained SVG image, readable on light and dark pages.
[[nodiscard]] std::string to_svg(const Topology& topology, const PlacementPlan* plan = nullptr);

// Groups of devices as a table: GPUs, NUMA node, CPUs, NICs. Without groups, a sentence.
[[nodiscard]] std::string groups_to_text(const Topology& topology);
[[nodiscard]] std::string groups_to_json(const Topology& topology);

}  // namespace nfx
