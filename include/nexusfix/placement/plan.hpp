// Which thread runs where, and why: a pure function of the machine, the kernel's settings and what was requested.
// Thread: any. Cost: 1,000 sessions on 384 hardware threads in milliseconds; allocates. Errors: none, a plan that must
// not be used has a finding that refuses it, by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/placement/cpu_affinity.hpp"
#include "nexusfix/placement/machine.hpp"
#include "nexusfix/placement/placement_request.hpp"

namespace nfx {

enum class Severity : std::uint8_t { note, warning, refusal };

[[nodiscard]] std::string_view to_string(Severity severity) noexcept;

// A name that documentation and scripts rely on, such as "oversubscribed-spinners", and what it is about.
struct PlanFinding {
  Severity severity = Severity::note;
  std::string id;
  std::string subject;  // the thread, session, CPU or device
  std::string text;     // what was seen and why it matters
  std::string fix;      // what to change, and where
};

// Refusals first, then warnings, then notes; in their order otherwise.
void sort_by_severity(std::vector<PlanFinding>& findings);

// A CPU or set of CPUs that was not taken, and why.
struct RefusedAlternative {
  CpuSet cpus;
  std::string why;
};

struct ThreadPlacement {
  std::string name;  // as the thread is named: "nfx-poll-0"; at most 15 characters
  ThreadRole role = ThreadRole::poll;
  std::uint32_t index = 0;  // within the role
  ThreadWait wait = ThreadWait::block;
  CpuSet cpus;  // the thread's mask: one CPU for a pinned thread, the housekeeping CPUs for others
  int priority = 0;
  int numa_node = -1;
  std::string reason;
  std::vector<RefusedAlternative> refused;
};

struct PlacementPlan {
  std::vector<ThreadPlacement> threads;        // roles in order, then index
  std::vector<std::uint32_t> session_threads;  // per session of the request: its poll thread
  std::vector<std::string> session_names;      // and its name, "SENDER->TARGET"
  CpuSet isolated_cpus;                        // to be isolated: the busy-polling threads' CPUs and their SMT siblings
  // As configured; otherwise everything else that is online, but for CPUs that the host was booted to leave alone.
  // Never empty in a plan that is not refused.
  CpuSet housekeeping;
  std::vector<PlanFinding> findings;  // refusals first, then warnings, then notes
  std::string hash;                   // 16 hexadecimal digits over threads, masks, isolated and housekeeping CPUs

  [[nodiscard]] bool refused() const noexcept;
  [[nodiscard]] bool has_warnings() const noexcept;
  [[nodiscard]] const ThreadPlacement* thread(std::string_view name) const noexcept;
};

[[nodiscard]] PlacementPlan make_plan(const Topology& topology, const HostFacts& host, const PlacementRequest& request);

// For people; and one JSON object with the same content.
[[nodiscard]] std::string to_text(const PlacementPlan& plan, const Topology& topology);
[[nodiscard]] std::string to_json(const PlacementPlan& plan);

}  // namespace nfx
