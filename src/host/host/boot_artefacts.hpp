// The files that make a host boot as a plan requires. One function writes all of them from one plan, so they cannot
// disagree.
// Thread: any; pure. Errors: none; files that a plan does not need are omitted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/placement/machine.hpp"
#include "nexusfix/placement/plan.hpp"

namespace nfx {

struct BootArtefact {
  std::string path;  // absolute, in the distribution's location
  std::string content;
  std::uint32_t mode = 0644;
  std::string purpose;  // one sentence
  std::string next;     // command to run afterwards, such as "update-grub"; empty: none
};

// Puts the plan's hash on the kernel command line, so that a host booted with another plan is detected.
inline constexpr std::string_view plan_parameter = "nexusfix.plan";

// Only the kernel parameters: "isolcpus=domain,managed_irq,2-15 nohz_full=2-15 ... nexusfix.plan=0123456789abcdef".
[[nodiscard]] std::string boot_parameters(const PlacementPlan& plan, const Topology& topology, const HostFacts& facts);

[[nodiscard]] std::vector<BootArtefact> boot_artefacts(const PlacementPlan& plan, const Topology& topology,
                                                       const HostFacts& facts);

}  // namespace nfx
