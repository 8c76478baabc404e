// Plans one group of rails per PCIe switch: the network cards that are polled together, the thread and CPU that poll
// them, and the rates that their places in the machine allow.
// Thread: any; pure. Cost: proportional to the machine's devices and cores; allocates. Lifetime: values. Errors: none;
// a plan that must not be used has a finding that refuses it, by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nexusfix/base/language.hpp"
#include "nexusfix/placement/machine.hpp"
#include "nexusfix/placement/plan.hpp"

namespace nfx::fabric {

inline constexpr std::uint64_t huge_page_bytes = std::uint64_t{2} << 20U;

struct RailPlanRequest {
  std::uint64_t region_bytes_per_rail = std::uint64_t{64} << 20U;  // registered; rounded up to huge pages
  // Used if the topology does not state it; 0: it stays unknown.
  std::uint64_t card_megabits_per_s = 0;
  std::uint64_t switch_megabits_per_s = 0;
};

// A rate in one direction, and whether the machine or the request states it.
struct Rate {
  std::uint64_t megabits_per_s = 0;
  bool assumed = false;
};

struct PlannedRail {
  std::size_t device = 0;    // index into Topology::devices
  std::optional<Rate> link;  // of the network
  std::optional<Rate> slot;  // of its own PCIe link
  // Share of the link's rate when all cards of the group are busy: at most 1. Empty if a rate it depends on is unknown.
  std::optional<double> share_of_link;
};

enum class RateLimit : std::uint8_t { unknown, links, slots, pcie_switch };

[[nodiscard]] std::string_view to_string(RateLimit limit) noexcept;

struct PlannedGroup {
  std::string domain;  // as in DeviceGroup
  int numa_node = -1;
  int cpu = -1;            // CPU of its thread, the middle one of its cores; -1: none
  std::vector<int> cores;  // the group's cores: the first hardware thread of each
  std::vector<PlannedRail> rails;
  std::size_t gpus = 0;
  std::uint64_t memory_bytes = 0;  // registered, on its node, in whole huge pages

  std::optional<Rate> pcie_switch;  // empty: unknown, or no switch
  // The total rate of its cards between the network and the memory of the host, limited by links, slots and switch, as
  // far as known. Empty if the rate of a card is unknown.
  std::optional<std::uint64_t> reach_megabits_per_s;
  std::optional<double> share_of_switch;
  RateLimit limit = RateLimit::unknown;  // the limit of the reach
};

struct RailPlan {
  std::vector<PlannedGroup> groups;   // as from group_devices(), without groups that have no card
  std::vector<PlanFinding> findings;  // refusals first, then warnings, then notes

  [[nodiscard]] bool refused() const noexcept;
  [[nodiscard]] std::size_t rail_count() const noexcept;
};

[[nodiscard]] RailPlan plan_rails(const Topology& topology, const RailPlanRequest& request);

}  // namespace nfx::fabric
