// Which network cards are polled together, by which thread, on which CPU, and what their places in the machine let them
// reach: a group of rails per PCIe switch.
// Thread: any; pure. Cost: proportional to the machine's devices and cores; allocates. Lifetime: values. Errors: none,
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
  // What to take where the topology does not state it; 0: it stays unknown.
  std::uint64_t card_megabits_per_s = 0;
  std::uint64_t switch_megabits_per_s = 0;
};

// A rate in one direction, and whether the machine states it or the request did.
struct Rate {
  std::uint64_t megabits_per_s = 0;
  bool assumed = false;
};

struct PlannedRail {
  std::size_t device = 0;    // into Topology::devices
  std::optional<Rate> link;  // of the network
  std::optional<Rate> slot;  // of its own PCIe link
  // Of the link, when all cards of the group are busy: at most 1. Empty while a rate that it follows from is unknown.
  std::optional<double> share_of_link;
};

enum class RateLimit : std::uint8_t { unknown, links, slots, pcie_switch };

[[nodiscard]] std::string_view to_string(RateLimit limit) noexcept;

struct PlannedGroup {
  std::string domain;  // as DeviceGroup has it
  int numa_node = -1;
  int cpu = -1;            // of its thread: the middle one of its cores; -1: it has none
  std::vector<int> cores;  // the group's: the first hardware thread of each
  std::vector<PlannedRail> rails;
  std::size_t gpus = 0;
  std::uint64_t memory_bytes = 0;  // registered, on its node, in whole huge pages

  std::optional<Rate> pcie_switch;  // empty: not known, or there is no switch
  // What all its cards together can carry between the network and the memory of the host: links, slots and switch, each
  // where it is known. Empty while the rate of a card is unknown.
  std::optional<std::uint64_t> reach_megabits_per_s;
  std::optional<double> share_of_switch;
  RateLimit limit = RateLimit::unknown;  // what the reach ends at
};

struct RailPlan {
  std::vector<PlannedGroup> groups;   // as group_devices() has them, without those that have no card
  std::vector<PlanFinding> findings;  // refusals first, then warnings, then notes

  [[nodiscard]] bool refused() const noexcept;
  [[nodiscard]] std::size_t rail_count() const noexcept;
};

[[nodiscard]] RailPlan plan_rails(const Topology& topology, const RailPlanRequest& request);

}  // namespace nfx::fabric
