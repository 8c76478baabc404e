// The files that make a host boot as a plan wants it: one plan in, all artefacts out, so that they cannot disagree.
// Thread: any; pure. Errors: none; what a plan does not need is left out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/placement/machine.hpp"
#include "nexusfix/placement/plan.hpp"

namespace nfx {

struct BootArtefact {
  std::string path;  // absolute, where the distribution expects it
  std::string content;
  std::uint32_t mode = 0644;
  std::string purpose;  // one sentence
  std::string next;     // what to run afterwards, "update-grub"; empty: nothing
};

// Carries the plan's hash on the kernel command line, so that a host booted with another plan is seen.
inline constexpr std::string_view plan_parameter = "nexusfix.plan";

// The kernel parameters alone: "isolcpus=domain,managed_irq,2-15 nohz_full=2-15 ... nexusfix.plan=0123456789abcdef".
[[nodiscard]] std::string boot_parameters(const PlacementPlan& plan, const Topology& topology, const HostFacts& facts);

[[nodiscard]] std::vector<BootArtefact> boot_artefacts(const PlacementPlan& plan, const Topology& topology,
                                                       const HostFacts& facts);

}  // namespace nfx
