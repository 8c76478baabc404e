// Creates a plan: CPUs for busy-polling threads, housekeeping CPUs for all others, and a poll thread for each session.
#include "nexusfix/placement/plan.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "placement/planner.hpp"
#include "placement/session_core_mapper.hpp"

namespace nfx {
namespace planning {
namespace {

// The housekeeping CPUs near the memory or devices that a thread uses, if there are any.
CpuSet near_housekeeping(const PlacementPlan& plan, const Problem& problem, std::size_t thread, const CpuSet& base) {
  const Machine& machine = problem.machine;
  const Want& want = problem.wants[thread];
  const auto narrowed = [&base](const CpuSet& to) { return to.intersects(base) ? base & to : CpuSet{}; };
  if (want.device != nullptr || want.group != nullptr) {
    const int node = want.group != nullptr ? want.group->numa_node : want.device->numa_node;
    if (CpuSet cpus = narrowed(machine.node_cpus(node)); !cpus.empty()) return cpus;
    if (want.device != nullptr) {
      if (CpuSet cpus = narrowed(want.device->local_cpus); !cpus.empty()) return cpus;
    }
    return base;
  }
  // The node of its peer, or of the poll threads if they are all on one node.
  int node = -1;
  if (want.peer >= 0) {
    const CpuSet& of_peer = plan.threads[static_cast<std::size_t>(want.peer)].cpus;
    const int cache = of_peer.size() == 1 ? machine.at(of_peer.first()).cache : -1;
    if (cache >= 0 && static_cast<std::size_t>(cache) < machine.topology.caches.size()) {
      const CpuSet& sharing = machine.topology.caches[static_cast<std::size_t>(cache)].cpus;
      if (CpuSet cpus = narrowed(sharing); !cpus.empty()) return cpus;
    }
    node = machine.node_of(of_peer);
  } else if (plan.threads[thread].role != ThreadRole::poll) {
    CpuSet of_polls;
    for (std::size_t i = 0; i < problem.request.role(ThreadRole::poll).threads; ++i) {
      if (plan.threads[i].wait == ThreadWait::spin) of_polls |= plan.threads[i].cpus;
    }
    node = machine.node_of(of_polls);
  }
  const CpuSet cpus = narrowed(machine.node_cpus(node));
  return cpus.empty() ? base : cpus;
}

std::uint64_t fnv_1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::string hash_of(const PlacementPlan& plan) {
  std::string text;
  for (const ThreadPlacement& thread : plan.threads) {
    text += thread.name + ' ' + thread.cpus.to_list() + ' ' + std::to_string(thread.priority) + '\n';
  }
  text += "quiet " + plan.isolated_cpus.to_list() + "\nhousekeeping " + plan.housekeeping.to_list() + '\n';
  return hexadecimal(fnv_1a(text));
}

// Pins no thread: every thread may use all CPUs of the process.
void place_nobody(PlacementPlan& plan, const Machine& machine) {
  for (ThreadPlacement& thread : plan.threads) {
    thread.cpus = machine.available;
    thread.priority = 0;
    thread.numa_node = machine.node_of(thread.cpus);
    thread.reason = "not pinned: no [placement]";
  }
  plan.housekeeping = machine.online;
  add(plan, Severity::note, "placement-off", "[placement]",
      "no thread is pinned: [placement] is missing or has enabled = false",
      "add a [placement] section to the configuration");
}

void place_spinners(PlacementPlan& plan, const Problem& problem, const std::vector<int>& chosen) {
  const Machine& machine = problem.machine;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i] < 0) continue;
    NFX_REQUIRE(plan.threads[i].cpus.empty() && plan.threads[i].wait == ThreadWait::spin);
    plan.threads[i].cpus = {chosen[i]};
    plan.threads[i].numa_node = machine.at(chosen[i]).node;
    plan.isolated_cpus |= machine.core_of(chosen[i]);
  }
  plan.isolated_cpus -= problem.reserved;
  if (!problem.request.housekeeping.empty()) {
    plan.housekeeping = problem.reserved;
    return;
  }
  // CPUs isolated at boot are not load-balanced: a thread that is not pinned would stay on one of them.
  const CpuSet booted_apart = problem.host.isolcpus.cpus & problem.host.isolated;
  plan.housekeeping = (machine.online - plan.isolated_cpus - booted_apart) | problem.reserved;
}

}  // namespace

void place_blockers(PlacementPlan& plan, const Problem& problem) {
  const Machine& machine = problem.machine;
  CpuSet base = plan.housekeeping & machine.available;
  if (base.empty()) base = machine.available;
  for (std::size_t i = 0; i < plan.threads.size(); ++i) {
    ThreadPlacement& thread = plan.threads[i];
    if (!thread.cpus.empty()) continue;
    const Want& want = problem.wants[i];
    if (thread.wait == ThreadWait::spin) {
      thread.cpus = base;
      thread.reason = "no core was left for it";
    } else if (want.session_cpu >= 0) {
      thread.cpus = {want.session_cpu};
      thread.reason = "session " + want.session + " requests it";
    } else if (want.only.intersects(machine.available)) {
      const CpuSet wanted = want.only & machine.available;
      thread.cpus = wanted - plan.isolated_cpus;
      if (thread.cpus.empty()) thread.cpus = wanted;
      thread.reason = "from " + role_key(thread.role, "cpus");
    } else {
      thread.cpus = near_housekeeping(plan, problem, i, base);
      thread.reason = thread.cpus == base ? "blocks: not pinned, runs on the housekeeping CPUs"
                                          : "blocks: not pinned, runs on the housekeeping CPUs near what it works with";
    }
    thread.numa_node = machine.node_of(thread.cpus);
    if (!plan.isolated_cpus.empty() && !thread.cpus.intersects(plan.isolated_cpus)) {
      thread.refused.push_back({plan.isolated_cpus, "isolated for busy-polling threads"});
    }
  }
}

void map_sessions(PlacementPlan& plan, const Problem& problem) {
  const auto& sessions = problem.request.sessions;
  const std::size_t polls = problem.request.role(ThreadRole::poll).threads;
  plan.session_threads.assign(sessions.size(), 0);
  if (sessions.empty()) return;
  if (polls == 0) {
    add(plan, Severity::refusal, "poll-thread-missing", "[engine] poll_threads",
        count_of(sessions.size(), "session") + " and no poll thread to serve them", "set [engine] poll_threads = 1");
    return;
  }
  std::vector<bool> has_fixed(polls);
  std::vector<std::size_t> automatic;
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    const SessionRequest& session = sessions[i];
    if (problem.session[i] < 0 && session.auto_pin_to_core) {
      automatic.push_back(i);
      continue;
    }
    std::uint32_t thread =
        problem.session[i] >= 0 ? static_cast<std::uint32_t>(problem.session[i]) : session.poll_thread;
    if (thread >= polls) {
      add(plan, Severity::refusal, "poll-thread-missing", plan.session_names[i],
          plan.session_names[i] + " has poll_thread = " + std::to_string(thread) + ", but there are only " +
              count_of(polls, "poll thread") + ", counted from 0",
          "set its poll_thread to at most " + std::to_string(polls - 1) + ", or [engine] poll_threads to " +
              std::to_string(std::uint64_t{thread} + 1));
      thread = 0;
    }
    plan.session_threads[i] = thread;
    has_fixed[thread] = true;
  }
  if (automatic.empty()) return;
  // By CPU if each thread has one of its own, otherwise by number.
  std::map<int, std::uint32_t> by_core;
  for (std::uint32_t i = 0; i < polls; ++i) {
    const CpuSet& cpus = plan.threads[i].cpus;
    if (cpus.size() == 1) by_core.try_emplace(cpus.first(), i);
  }
  if (by_core.size() != polls) {
    by_core.clear();
    for (std::uint32_t i = 0; i < polls; ++i) by_core.emplace(static_cast<int>(i), i);
  }
  SessionCoreMapperConfig config{.allowed_cores = {}, .mapping = problem.request.mapping};
  // In balanced mode, threads that already serve a session come last.
  const bool spare_fixed =
      config.mapping == SessionMapping::balanced && std::ranges::find(has_fixed, false) != has_fixed.end();
  for (const auto& [core, thread] : by_core) {
    if (!spare_fixed || !has_fixed[thread]) config.allowed_cores.push_back(core);
  }
  SessionCoreMapper mapper(std::move(config));
  for (const std::size_t i : automatic) {
    plan.session_threads[i] = by_core.at(mapper.add(sessions[i].sender_comp_id, sessions[i].target_comp_id));
  }
}

}  // namespace planning

void sort_by_severity(std::vector<PlanFinding>& findings) {
  std::vector<PlanFinding> sorted;
  sorted.reserve(findings.size());
  for (const Severity severity : {Severity::refusal, Severity::warning, Severity::note}) {
    for (PlanFinding& each : findings) {
      if (each.severity == severity) sorted.push_back(std::move(each));
    }
  }
  findings = std::move(sorted);
}

std::string_view to_string(Severity severity) noexcept {
  switch (severity) {
    case Severity::note: return "note";
    case Severity::warning: return "warning";
    case Severity::refusal: return "refusal";
  }
  return "unknown";
}

bool PlacementPlan::refused() const noexcept {
  return std::ranges::any_of(findings, [](const PlanFinding& each) { return each.severity == Severity::refusal; });
}

bool PlacementPlan::has_warnings() const noexcept {
  return std::ranges::any_of(findings, [](const PlanFinding& each) { return each.severity == Severity::warning; });
}

const ThreadPlacement* PlacementPlan::thread(std::string_view name) const noexcept {
  const auto found = std::ranges::find(threads, name, &ThreadPlacement::name);
  return found == threads.end() ? nullptr : &*found;
}

PlacementPlan make_plan(const Topology& topology, const HostFacts& host, const PlacementRequest& request) {
  PlacementPlan plan;
  const planning::Machine machine(topology);
  planning::Problem problem{machine, host, request, {}, {}, {}, {}, {}, false};
  planning::name_threads(plan, request);
  if (request.enabled) {
    planning::resolve_wants(plan, problem);
    planning::reserve_housekeeping(plan, problem);
    const std::vector<int> chosen = planning::choose_cpus(plan, problem);
    planning::place_spinners(plan, problem, chosen);
    planning::explain_choice(plan, problem, chosen);
    planning::place_blockers(plan, problem);
    planning::map_sessions(plan, problem);
    planning::check_threads(plan, problem, chosen);
    planning::check_host(plan, problem);
  } else {
    planning::place_nobody(plan, machine);
    problem.session.assign(request.sessions.size(), -1);
    planning::map_sessions(plan, problem);
  }
  for (const ThreadPlacement& thread : plan.threads) NFX_REQUIRE(!thread.cpus.empty() || machine.available.empty());
  NFX_REQUIRE(plan.session_threads.size() == request.sessions.size());
  NFX_REQUIRE(
      !plan.isolated_cpus.intersects(plan.housekeeping));  // a CPU is used either by one thread or by everything else
  sort_by_severity(plan.findings);
  plan.hash = planning::hash_of(plan);
  return plan;
}

}  // namespace nfx
