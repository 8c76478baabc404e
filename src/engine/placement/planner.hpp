// How make_plan works inside: the machine by CPU number, what each thread wants, and the choice of CPUs for those that
// busy-poll. Private to the module. Thread: values, one owner.
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

// What the topology has of one CPU; core is an index into Machine::cores.
struct CpuPlace {
  int core = -1;
  int node = -1;
  int cache = -1;
  int kind = -1;
  bool first = false;  // the lowest of its core that this process may use
};

// The topology, indexed by CPU number: scanning its cores for each question would make planning quadratic.
struct Machine {
  explicit Machine(const Topology& from);

  [[nodiscard]] const CpuPlace& at(int cpu) const noexcept;
  [[nodiscard]] CpuSet core_of(int cpu) const;   // its online hardware threads, itself included
  [[nodiscard]] CpuSet siblings(int cpu) const;  // and without it
  [[nodiscard]] CpuSet node_cpus(int node) const;
  [[nodiscard]] int node_of(const CpuSet& cpus) const;  // the one that all of them are on; -1: none or several

  const Topology& topology;
  CpuSet online;
  CpuSet available;            // online, and this process may use it
  std::vector<CpuSet> cores;   // online hardware threads, by the lowest
  std::vector<CpuPlace> cpus;  // by CPU number, up to the highest that is online
  int fastest_kind = -1;
  int network_node = -1;  // where the network devices are, if they are all on one node
};

// What one thread requests, its names resolved.
struct Want {
  CpuSet only;           // configured CPUs; empty: any
  int session_cpu = -1;  // a session of this thread requests it
  std::string session;   // which one
  const Device* device = nullptr;
  const DeviceGroup* group = nullptr;
  bool middle = false;  // of the group
  int peer = -1;        // the thread whose last-level cache it wants; an index into PlacementPlan::threads
};

// Everything that choosing a CPU depends on.
struct Problem {
  const Machine& machine;
  const HostFacts& host;
  const PlacementRequest& request;
  std::vector<DeviceGroup> groups;
  std::vector<Want> wants;   // by thread
  std::vector<int> session;  // by session: the poll thread that its cpu_affinity_core gave it; -1: none
  CpuSet reserved;           // for housekeeping whatever the threads request
  CpuSet blockers_own;       // that threads which block were given by name
  bool no_housekeeping = false;
};

// Host settings that make one CPU better than another.
struct HostView {
  CpuSet shielded;
  CpuSet isolated;
  std::vector<int> interrupts;  // arriving, by CPU number

  [[nodiscard]] int interrupts_at(int cpu) const noexcept {
    return cpu >= 0 && static_cast<std::size_t>(cpu) < interrupts.size() ? interrupts[static_cast<std::size_t>(cpu)]
                                                                         : 0;
  }
};

// Where an interrupt is known to arrive: at its effective CPUs, or the only one it is allowed. Empty: no handler, or
// not known.
[[nodiscard]] CpuSet arrival(const Interrupt& interrupt);

// Adds up to what people can read and counts the rest: "a, b, c and 5 more".
[[nodiscard]] std::string join(const std::vector<std::string>& names, std::size_t at_most = 4);
// "CPU 3", "CPUs 2-27".
[[nodiscard]] std::string cpus_text(const CpuSet& cpus);
[[nodiscard]] std::string count_of(std::size_t count, std::string_view what);  // "1 core", "2 cores"
[[nodiscard]] std::string role_key(ThreadRole role, std::string_view key);     // "[placement.poll] cpus"

void add(PlacementPlan& plan, Severity severity, std::string_view id, std::string subject, std::string text,
         std::string fix);

// Whether anything is known about the host's settings; not when planning for a machine from its topology alone.
[[nodiscard]] bool host_seen(const HostFacts& host) noexcept;

// The threads by name, and what each wants; what cannot be had becomes a finding.
void name_threads(PlacementPlan& plan, const PlacementRequest& request);
void resolve_wants(PlacementPlan& plan, Problem& problem);
void reserve_housekeeping(PlacementPlan& plan, Problem& problem);

// A CPU for each busy-polling thread, -1 where there is none left; then the reasons and what was not taken.
[[nodiscard]] std::vector<int> choose_cpus(const PlacementPlan& plan, const Problem& problem);
void explain_choice(PlacementPlan& plan, const Problem& problem, const std::vector<int>& chosen);
void place_blockers(PlacementPlan& plan, const Problem& problem);

void map_sessions(PlacementPlan& plan, const Problem& problem);

void check_threads(PlacementPlan& plan, const Problem& problem, const std::vector<int>& chosen);
void check_host(PlacementPlan& plan, const Problem& problem);

}  // namespace nfx::planning
