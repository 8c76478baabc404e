// Chooses the CPU of each busy-polling thread, one thread after the other, by the lowest score. More important criteria
// come first in the score, so the first difference between two CPUs is the reason why one was not chosen.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "nexusfix/base/assert.hpp"
#include "placement/planner.hpp"

namespace nfx::planning {
namespace {

enum Slot : std::uint8_t {
  core_taken,
  blockers,
  device,
  room,
  peer,
  cpu_zero,
  isolation,
  kind,
  node,
  peer_group,
  interrupts,
  second_thread,
  number,
  slots,
};
using Score = std::array<int, slots>;

// A distance larger than any within a group of cores.
constexpr int same_node = 1'000'000;
constexpr int elsewhere = 2'000'000;

HostView view_of(const HostFacts& host, const Machine& machine) {
  HostView view{host.shielded, host.isolated, std::vector<int>(machine.cpus.size())};
  for (const Interrupt& interrupt : host.interrupts) {
    for (const int cpu : (arrival(interrupt) & machine.online).members()) {
      ++view.interrupts[static_cast<std::size_t>(cpu)];
    }
  }
  return view;
}

CpuSet whole_cores(const Machine& machine, const std::vector<int>& chosen) {
  CpuSet set;
  for (const int cpu : chosen) set |= machine.core_of(cpu);
  return set;
}

// The CPUs near one thread.
struct Nearness {
  std::vector<int> distance;  // from the requested device, by CPU; empty: no device is requested
  CpuSet beside;              // see beside_peer
};

class Chooser {
 public:
  Chooser(const PlacementPlan& plan, const Problem& problem, const HostView& view)
      : plan_(plan),
        problem_(problem),
        machine_(problem.machine),
        view_(view),
        chosen_(plan.threads.size(), -1),
        owner_(machine_.cpus.size(), -1),
        spinners_(machine_.cores.size()),
        reserved_(machine_.cores.size()),
        free_in_cache_(machine_.topology.caches.size()),
        followers_(plan.threads.size()) {
    for (std::size_t i = 0; i < machine_.cores.size(); ++i) {
      reserved_[i] = machine_.cores[i].intersects(problem.reserved);
      if (!reserved_[i]) count_free(machine_.cores[i].first(), 1);
    }
    for (std::size_t i = 0; i < plan.threads.size(); ++i) {
      const Want& want = problem.wants[i];
      if (want.peer >= 0 && follows(i)) followers_[static_cast<std::size_t>(want.peer)].push_back(i);
    }
  }

  std::vector<int> run() {
    std::vector<std::pair<std::size_t, std::size_t>> order;
    for (std::size_t i = 0; i < plan_.threads.size(); ++i) {
      if (plan_.threads[i].wait == ThreadWait::spin) order.emplace_back(urgency(i), i);
    }
    std::ranges::sort(order);
    visited_.assign(plan_.threads.size(), false);
    for (const auto& [rank, thread] : order) place(thread);
    return std::move(chosen_);
  }

  // Adopts a given choice in order to examine it.
  void adopt(const std::vector<int>& chosen) {
    for (std::size_t i = 0; i < chosen.size(); ++i) assign(i, chosen[i]);
  }

  [[nodiscard]] bool owned(int cpu) const { return owner_[static_cast<std::size_t>(cpu)] >= 0; }
  [[nodiscard]] bool core_owned(int cpu) const { return spinners_[core(cpu)] > 0; }
  [[nodiscard]] bool core_reserved(int cpu) const { return reserved_[core(cpu)]; }

  // The distance of each CPU from the device that a thread wants to be near; empty if it has no preference.
  [[nodiscard]] std::vector<int> distances(const Want& want) const {
    if (want.device == nullptr && want.group == nullptr) return {};
    const int device_node = want.group != nullptr ? want.group->numa_node : want.device->numa_node;
    CpuSet local = want.device != nullptr ? want.device->local_cpus : CpuSet{};
    if (device_node >= 0) local |= machine_.node_cpus(device_node);
    if (want.group == nullptr && local.empty()) return {};
    std::vector<int> position(machine_.cores.size(), -1);
    if (want.group != nullptr) {
      const auto middle = static_cast<int>(want.group->cpus.size() / 2);
      for (int i = 0; i < static_cast<int>(want.group->cpus.size()); ++i) {
        const int at = machine_.at(want.group->cpus[static_cast<std::size_t>(i)]).core;
        if (at >= 0) position[static_cast<std::size_t>(at)] = want.middle ? std::abs(i - middle) : 0;
      }
    }
    std::vector<int> all(machine_.cpus.size(), elsewhere);
    for (const int cpu : machine_.online.members()) {
      const int in_group = position[core(cpu)];
      const bool is_local = local.contains(cpu);
      // Without a group, "near" means the device's node.
      const int beside = want.group != nullptr ? same_node : 0;
      all[static_cast<std::size_t>(cpu)] = in_group >= 0 ? in_group : is_local ? beside : elsewhere;
    }
    return all;
  }

  // The cores near the device of a thread's peer. Empty if there are none, or if the thread itself requests a device.
  [[nodiscard]] CpuSet beside_peer(const Want& want) const {
    CpuSet cores;
    if (want.peer < 0 || want.device != nullptr) return cores;
    const DeviceGroup* group = problem_.wants[static_cast<std::size_t>(want.peer)].group;
    if (group == nullptr) return cores;
    for (const int cpu : group->cpus) cores |= machine_.core_of(cpu);
    return cores;
  }

  [[nodiscard]] Score score(std::size_t thread, int cpu, const Nearness& near) const {
    const Want& want = problem_.wants[thread];
    const CpuPlace& at = machine_.at(cpu);
    Score s{};
    s[core_taken] = spinners_[core(cpu)];
    s[blockers] = problem_.blockers_own.contains(cpu) ? 1 : 0;
    s[device] = near.distance.empty() ? 0 : near.distance[static_cast<std::size_t>(cpu)];
    s[peer] = want.peer < 0 ? 0 : peer_distance(chosen_[static_cast<std::size_t>(want.peer)], at);
    s[cpu_zero] = at.core == zero_core_ ? 1 : 0;
    s[isolation] = view_.shielded.contains(cpu) ? 0 : view_.isolated.contains(cpu) ? 1 : 2;
    s[kind] = at.kind < 0 ? 0 : machine_.fastest_kind - at.kind;
    const int home = home_of(thread);
    s[node] = home >= 0 && at.node != home ? 1 : 0;
    s[peer_group] = near.beside.empty() || near.beside.contains(cpu) ? 0 : 1;
    s[interrupts] = view_.interrupts_at(cpu);
    s[second_thread] = at.first ? 0 : 1;
    s[number] = cpu;
    return s;
  }

  [[nodiscard]] int home_of(std::size_t thread) const {
    const ThreadPlacement& placement = plan_.threads[thread];
    const std::size_t polls = problem_.request.role(ThreadRole::poll).threads;
    if (placement.role != ThreadRole::poll && polls > 0) {
      const int served = chosen_[placement.index % polls];
      if (served >= 0) return machine_.at(served).node;
    }
    // Threads of a program that pass data from one role to the next stay on one node.
    int home = machine_.network_node;
    for (std::size_t i = 0; i < plan_.threads.size(); ++i) {
      const ThreadPlacement& before = plan_.threads[i];
      if (kind_of(placement.role) != RoleKind::critical || before.role >= placement.role) break;
      const bool same_number = before.index == placement.index % problem_.request.role(before.role).threads;
      if (kind_of(before.role) == RoleKind::critical && same_number && chosen_[i] >= 0)
        home = machine_.at(chosen_[i]).node;
    }
    return home;
  }

 private:
  [[nodiscard]] std::size_t core(int cpu) const { return static_cast<std::size_t>(machine_.at(cpu).core); }

  // Whether the thread is placed next to its peer instead of where it was configured.
  [[nodiscard]] bool follows(std::size_t thread) const {
    const Want& want = problem_.wants[thread];
    return plan_.threads[thread].wait == ThreadWait::spin && want.only.empty() && want.session_cpu < 0;
  }

  // A thread with fewer possible CPUs chooses earlier.
  [[nodiscard]] std::size_t urgency(std::size_t thread) const {
    const Want& want = problem_.wants[thread];
    if (want.session_cpu >= 0) return 0;
    if (!want.only.empty()) return want.only.size();
    constexpr std::size_t anywhere = CpuSet::max_cpus;
    if (want.device != nullptr || want.group != nullptr) return anywhere + 1;
    return anywhere + (want.peer < 0 ? 2 : 3);
  }

  // A thread's peers are placed immediately after it, while a free core is near.
  void place(std::size_t thread) {
    if (visited_[thread] || plan_.threads[thread].wait != ThreadWait::spin) return;
    visited_[thread] = true;
    if (problem_.wants[thread].peer >= 0 && follows(thread)) {
      place(static_cast<std::size_t>(problem_.wants[thread].peer));
    }
    assign(thread, best(thread));
    for (const std::size_t follower : followers_[thread]) place(follower);
  }

  void assign(std::size_t thread, int cpu) {
    chosen_[thread] = cpu;
    if (cpu < 0) return;
    NFX_REQUIRE(!owned(cpu));                       // no CPU is given to two busy-polling threads
    NFX_REQUIRE(machine_.available.contains(cpu));  // and none that this process may not use
    NFX_ASSERT(plan_.threads[thread].wait == ThreadWait::spin);
    owner_[static_cast<std::size_t>(cpu)] = static_cast<int>(thread);
    if (spinners_[core(cpu)]++ == 0 && !reserved_[core(cpu)]) count_free(cpu, -1);
  }

  void count_free(int cpu, int change) {
    const int cache = machine_.at(cpu).cache;
    if (cache >= 0 && static_cast<std::size_t>(cache) < free_in_cache_.size()) {
      free_in_cache_[static_cast<std::size_t>(cache)] += change;
    }
  }

  [[nodiscard]] bool candidate(const Want& want, int cpu) const {
    if (owned(cpu) || problem_.reserved.contains(cpu)) return false;
    if (want.session_cpu >= 0) return want.session_cpu == cpu;
    if (!want.only.empty()) return want.only.contains(cpu);
    if (core_reserved(cpu)) return false;
    return problem_.request.share_smt || (!core_owned(cpu) && machine_.at(cpu).first);
  }

  [[nodiscard]] int lacks_room(std::size_t thread, int cpu) const {
    const std::size_t wanted = followers_[thread].size();
    const int cache = machine_.at(cpu).cache;
    if (wanted == 0 || cache < 0 || static_cast<std::size_t>(cache) >= free_in_cache_.size()) return 0;
    return free_in_cache_[static_cast<std::size_t>(cache)] < static_cast<int>(wanted) + 1 ? 1 : 0;
  }

  [[nodiscard]] int peer_distance(int peer_cpu, const CpuPlace& at) const {
    if (peer_cpu < 0) return 0;
    const CpuPlace& other = machine_.at(peer_cpu);
    if (other.cache >= 0 && other.cache == at.cache) return 0;
    if (other.node != at.node) return elsewhere;
    return other.cache >= 0 ? same_node : 0;
  }

  [[nodiscard]] int best(std::size_t thread) const {
    const Want& want = problem_.wants[thread];
    const Nearness near{distances(want), beside_peer(want)};
    Score lowest{};
    int found = -1;
    for (const int cpu : available_) {
      if (!candidate(want, cpu)) continue;
      Score s = score(thread, cpu, near);
      s[room] = lacks_room(thread, cpu);
      if (found >= 0 && s >= lowest) continue;
      lowest = s;
      found = cpu;
    }
    return found;
  }

  const PlacementPlan& plan_;
  const Problem& problem_;
  const Machine& machine_;
  const HostView& view_;
  std::vector<int> available_ = machine_.available.members();
  int zero_core_ = machine_.at(0).core;
  std::vector<int> chosen_;         // by thread
  std::vector<int> owner_;          // by CPU
  std::vector<int> spinners_;       // by core
  std::vector<bool> reserved_;      // by core
  std::vector<int> free_in_cache_;  // cores without a busy-polling thread
  std::vector<std::vector<std::size_t>> followers_;
  std::vector<bool> visited_;
};

// Further reasons why a CPU was not chosen, in addition to the score.
enum Refusal : std::uint8_t {
  not_allowed = slots,
  housekeeping,
  spinning,
  sibling,
  not_listed,
  not_asked,
  together,
  refusals,
};

std::string isolation_word(const HostFacts& host, int cpu) {
  if (!host_seen(host)) return {};
  if (host.shielded.contains(cpu)) return "shielded";
  if (host.isolated.contains(cpu)) return "isolated";
  return "not isolated yet";
}

std::string device_name(const Want& want) {
  return want.device != nullptr ? want.device->name : want.group != nullptr ? want.group->domain : std::string{};
}

std::string why_not(int refusal, const ThreadPlacement& thread, const Want& want) {
  switch (refusal) {
    case core_taken:
    case sibling: return "SMT siblings of busy-polling threads: a core belongs to one thread";
    case blockers: return "given by name to threads that block";
    case device:
      return (want.middle ? "farther from the middle of the cores near " : "farther from ") + device_name(want);
    case room: return "no free core left for the threads that want its cache";
    case peer: return "farther from its peer: another last-level cache or NUMA node";
    case peer_group: return "not near the device of its peer";
    case cpu_zero: return "the core of CPU 0 is taken last: it does the timekeeping and serves most interrupts";
    case isolation: return "less isolated";
    case kind: return "slower kind of core";
    case node: return "on another NUMA node than what the thread works with";
    case interrupts: return "more interrupts arrive there";
    case second_thread: return "a core's second hardware threads";
    case number: return "just as good: of equals the lowest number is taken";
    case not_allowed: return "this process may not use them";
    case housekeeping: return "housekeeping";
    case spinning: return std::string{why_spinning};
    case not_listed: return "not in " + role_key(thread.role, "cpus");
    case not_asked: return "session " + want.session + " requests another";
    default: return "worse for all threads together, or once the plan is applied";
  }
}

int refusal_of(const Chooser& chooser, const Problem& problem, std::size_t thread, int cpu, int own,
               const Nearness& near, const Score& best) {
  const Want& want = problem.wants[thread];
  if (!problem.machine.available.contains(cpu)) return not_allowed;
  if (want.session_cpu >= 0) return not_asked;
  if (problem.reserved.contains(cpu)) return housekeeping;
  if (!want.only.empty() && !want.only.contains(cpu)) return not_listed;
  if (chooser.owned(cpu)) return spinning;
  if (problem.machine.at(cpu).core == problem.machine.at(own).core || chooser.core_owned(cpu)) return sibling;
  if (chooser.core_reserved(cpu)) return housekeeping;
  // The thread occupies its own core now; the other core is free.
  Score other = chooser.score(thread, cpu, near);
  other[core_taken] = best[core_taken];
  for (int slot = 0; slot < slots; ++slot) {
    const auto at = static_cast<std::size_t>(slot);
    if (other[at] == best[at]) continue;
    // A better CPU was not chosen: the other threads decided.
    return other[at] > best[at] ? slot : together;
  }
  return number;
}

std::string reason_of(const Problem& problem, const ThreadPlacement& thread, const Want& want, int cpu, int distance,
                      const std::string& peer_name, int peer_cpu) {
  const Machine& machine = problem.machine;
  std::vector<std::string> parts;
  if (want.session_cpu >= 0) {
    parts.push_back("session " + want.session + " requests it");
  } else if (!want.only.empty()) {
    parts.push_back("from " + role_key(thread.role, "cpus"));
  }
  if (want.group != nullptr && distance < same_node) {
    parts.push_back((want.middle && distance == 0 ? "middle of the " : "among the ") +
                    count_of(want.group->cpus.size(), "core") + " near " + device_name(want));
  } else if (want.device != nullptr && distance >= 0) {
    parts.push_back((distance < elsewhere ? "on the node of " : "away from ") + device_name(want));
  }
  if (want.peer >= 0 && peer_cpu >= 0) {
    const bool shared = machine.at(cpu).cache >= 0 && machine.at(cpu).cache == machine.at(peer_cpu).cache;
    parts.push_back((shared ? "shares a cache with " : "near ") + peer_name);
  }
  const std::string apart = isolation_word(problem.host, cpu);
  if (!apart.empty()) parts.push_back(apart);
  const CpuSet siblings = machine.siblings(cpu);
  parts.push_back(siblings.empty() ? "a whole core" : "alone on its core; idle siblings: " + cpus_text(siblings));
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

}  // namespace

std::vector<int> choose_cpus(const PlacementPlan& plan, const Problem& problem) {
  const HostView seen = view_of(problem.host, problem.machine);
  std::vector<int> chosen = Chooser(plan, problem, seen).run();
  // When this plan is applied, its CPUs will be shielded and free of interrupts, and planning again must give the same
  // result. So the choice is repeated under that assumption until it no longer changes.
  constexpr int rounds = 4;
  for (int round = 0; round < rounds; ++round) {
    HostView applied = seen;
    applied.shielded = whole_cores(problem.machine, chosen);
    for (const int cpu : applied.shielded.members()) applied.interrupts[static_cast<std::size_t>(cpu)] = 0;
    std::vector<int> again = Chooser(plan, problem, applied).run();
    if (again == chosen) break;
    chosen = std::move(again);
  }
  return chosen;
}

void explain_choice(PlacementPlan& plan, const Problem& problem, const std::vector<int>& chosen) {
  const Machine& machine = problem.machine;
  const HostView seen = view_of(problem.host, machine);
  Chooser chooser(plan, problem, seen);
  chooser.adopt(chosen);
  const std::vector<int> online = machine.online.members();
  constexpr std::size_t most = 8;
  for (std::size_t i = 0; i < plan.threads.size(); ++i) {
    const int cpu = chosen[i];
    if (cpu < 0) continue;
    ThreadPlacement& thread = plan.threads[i];
    const Want& want = problem.wants[i];
    const Nearness near{chooser.distances(want), chooser.beside_peer(want)};
    const Score best = chooser.score(i, cpu, near);
    std::array<CpuSet, refusals> sets;
    for (const int other : online) {
      if (other == cpu) continue;
      sets[static_cast<std::size_t>(refusal_of(chooser, problem, i, other, cpu, near, best))].insert(other);
    }
    sets[sibling] |= std::exchange(sets[core_taken], {});
    for (int refusal = 0; refusal < refusals; ++refusal) {
      CpuSet& set = sets[static_cast<std::size_t>(refusal)];
      if (set.empty()) continue;
      std::string why = why_not(refusal, thread, want);
      if (thread.refused.size() < most) {
        thread.refused.push_back({std::move(set), std::move(why)});
      } else {
        thread.refused.back().cpus |= set;
        thread.refused.back().why += "; " + why;
      }
    }
    const int peer_cpu = want.peer < 0 ? -1 : chosen[static_cast<std::size_t>(want.peer)];
    thread.reason =
        reason_of(problem, thread, want, cpu, near.distance.empty() ? -1 : near.distance[static_cast<std::size_t>(cpu)],
                  want.peer < 0 ? std::string{} : plan.threads[static_cast<std::size_t>(want.peer)].name, peer_cpu);
  }
}

}  // namespace nfx::planning
