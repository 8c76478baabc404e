// The internals of make_plan: the machine by CPU number, the request of each thread, and the choice of CPUs for
// busy-polling threads. Private to the module.
// Thread: values, one owner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/placement/plan.hpp"

namespace nfx::planning {

inline constexpr std::string_view why_spinning = "other threads busy-poll there";

// The topology of one CPU; core is an index into Machine::cores.
struct CpuPlace {
  int core = -1;
  int node = -1;
  int cache = -1;
  int kind = -1;
  bool first = false;  // the lowest CPU of its core that this process may use
};

// The topology, indexed by CPU number. Scanning its cores for every query would make planning quadratic.
struct Machine {
  explicit Machine(const Topology& from);

  [[nodiscard]] const CpuPlace& at(int cpu) const noexcept;
  [[nodiscard]] CpuSet core_of(int cpu) const;   // its online hardware threads, including itself
  [[nodiscard]] CpuSet siblings(int cpu) const;  // without itself
  [[nodiscard]] CpuSet node_cpus(int node) const;
  [[nodiscard]] int node_of(const CpuSet& cpus) const;  // the node that contains all of them; -1: none or several

  const Topology& topology;
  CpuSet online;
  CpuSet available;            // online and usable by this process
  std::vector<CpuSet> cores;   // online hardware threads, sorted by the lowest
  std::vector<CpuPlace> cpus;  // by CPU number, up to the highest online
  int fastest_kind = -1;
  int network_node = -1;  // the node of all network devices, if it is the same for all
};

// The request of one thread, with names resolved.
struct Want {
  CpuSet only;           // configured CPUs; empty: any
  int session_cpu = -1;  // a session of this thread requests it
  std::string session;   // the session
  const Device* device = nullptr;
  const DeviceGroup* group = nullptr;
  bool middle = false;  // prefers the middle of the group
  int peer = -1;        // the thread whose last-level cache it prefers to share; an index into PlacementPlan::threads
};

// Everything that the choice of a CPU depends on.
struct Problem {
  const Machine& machine;
  const HostFacts& host;
  const PlacementRequest& request;
  std::vector<DeviceGroup> groups;
  std::vector<Want> wants;   // by thread
  std::vector<int> session;  // by session: the poll thread chosen by its cpu_affinity_core; -1: none
  CpuSet reserved;           // always for housekeeping, whatever the threads request
  CpuSet blockers_own;       // assigned by name to threads that block
  bool no_housekeeping = false;
};

// Host settings that make one CPU better than another.
struct HostView {
  CpuSet shielded;
  CpuSet isolated;
  std::vector<int> interrupts;  // interrupts that arrive, by CPU number

  [[nodiscard]] int interrupts_at(int cpu) const noexcept {
    return cpu >= 0 && static_cast<std::size_t>(cpu) < interrupts.size() ? interrupts[static_cast<std::size_t>(cpu)]
                                                                         : 0;
  }
};

// The CPUs where an interrupt is known to arrive: its effective CPUs, or the only allowed one. Empty: no handler, or
// unknown.
[[nodiscard]] CpuSet arrival(const Interrupt& interrupt);

// Lists as many names as people can read, and counts the rest: "a, b, c and 5 more".
[[nodiscard]] std::string join(const std::vector<std::string>& names, std::size_t at_most = 4);
// "CPU 3", "CPUs 2-27".
[[nodiscard]] std::string cpus_text(const CpuSet& cpus);
[[nodiscard]] std::string count_of(std::size_t count, std::string_view what);  // "1 core", "2 cores"
[[nodiscard]] std::string role_key(ThreadRole role, std::string_view key);     // "[placement.poll] cpus"

void add(PlacementPlan& plan, Severity severity, std::string_view id, std::string subject, std::string text,
         std::string fix);

// Whether any host settings are known; false if a plan is made from a topology alone.
[[nodiscard]] bool host_seen(const HostFacts& host) noexcept;

// Names the threads and resolves what each requests; an impossible request becomes a finding.
void name_threads(PlacementPlan& plan, const PlacementRequest& request);
void resolve_wants(PlacementPlan& plan, Problem& problem);
void reserve_housekeeping(PlacementPlan& plan, Problem& problem);

// Chooses a CPU for each busy-polling thread, -1 if none is left; then adds the reasons.
[[nodiscard]] std::vector<int> choose_cpus(const PlacementPlan& plan, const Problem& problem);
void explain_choice(PlacementPlan& plan, const Problem& problem, const std::vector<int>& chosen);
void place_blockers(PlacementPlan& plan, const Problem& problem);

void map_sessions(PlacementPlan& plan, const Problem& problem);

void check_threads(PlacementPlan& plan, const Problem& problem, const std::vector<int>& chosen);
void check_host(PlacementPlan& plan, const Problem& problem);

}  // namespace nfx::planning
