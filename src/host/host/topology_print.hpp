// A topology for people, for programs, and as a picture; with a plan, all three show which thread runs where.
// Thread: any; pure. Cost: allocates. Errors: none. Names out of files are escaped.
#pragma once

#include <string>

#include "nexusfix/placement/machine.hpp"
#include "nexusfix/placement/plan.hpp"

namespace nfx {

// `plan` may be null.
[[nodiscard]] std::string to_text(const Topology& topology, const PlacementPlan* plan = nullptr);
// One JSON object and a line end.
[[nodiscard]] std::string to_json(const Topology& topology, const PlacementPlan* plan = nullptr);
// A self-contained SVG image, readable on light and dark pages.
[[nodiscard]] std::string to_svg(const Topology& topology, const PlacementPlan* plan = nullptr);

// Groups of devices as a table: GPUs, NUMA node, CPUs, NICs. A sentence instead when there are none.
[[nodiscard]] std::string groups_to_text(const Topology& topology);
[[nodiscard]] std::string groups_to_json(const Topology& topology);

}  // namespace nfx
