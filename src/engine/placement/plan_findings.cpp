// Names the problems of a plan: with its threads on this machine, and with the settings of this host.
#include <algorithm>
#include <map>
#include <utility>

#include "nexusfix/placement/cpu_affinity.hpp"
#include "placement/planner.hpp"

namespace nfx::planning {
namespace {

using Names = std::vector<std::string>;

bool spins(const ThreadPlacement& thread) { return thread.wait == ThreadWait::spin; }

CpuSet spinner_cpus(const std::vector<int>& chosen) {
  CpuSet set;
  for (const int cpu : chosen) set.insert(cpu);
  return set;
}

// "nfx-poll-3 (CPU 5)"
std::string with_cpus(const ThreadPlacement& thread) { return thread.name + " (" + cpus_text(thread.cpus) + ')'; }

void check_room(PlacementPlan& plan, const Problem& problem, const std::vector<int>& chosen) {
  const Machine& machine = problem.machine;
  for (const ThreadRole role : thread_roles) {
    std::size_t wanted = 0, placed = 0;
    for (std::size_t i = 0; i < plan.threads.size(); ++i) {
      if (plan.threads[i].role != role || !spins(plan.threads[i])) continue;
      ++wanted;
      if (chosen[i] >= 0) ++placed;
    }
    if (placed == wanted) continue;
    const CpuSet& listed = problem.request.role(role).cpus;
    const CpuSet from = listed.empty() ? machine.available : listed & machine.available;
    std::size_t cores = 0;
    for (const CpuSet& core : machine.cores) cores += core.intersects(from) ? 1U : 0U;
    std::string text = count_of(wanted, "busy-polling " + std::string{to_string(role)} + " thread") + " on " +
                       count_of(cores, "core") + " (" + cpus_text(from) + ")";
    if (from.intersects(problem.reserved))
      text += ", of which housekeeping reserves " + cpus_text(from & problem.reserved);
    text += ": no core is left for " + std::to_string(wanted - placed) +
            "; two threads that busy-poll on one core stop each other for milliseconds at a time";
    std::string fix = placed > 0 ? "set " + role_key(role, "threads") + " = " + std::to_string(placed) + ", or " : "";
    fix +=
        role == ThreadRole::poll ? "set [engine] idle = \"block\"" : "set " + role_key(role, "wait") + " = \"block\"";
    if (!listed.empty()) fix += ", or widen " + role_key(role, "cpus");
    if (machine.cores.size() < machine.online.size() && !problem.request.share_smt) {
      fix += ", or set [placement] share_smt = true";
    }
    add(plan, Severity::refusal, "oversubscribed-spinners", role_key(role, "threads"), std::move(text), std::move(fix));
  }
}

void check_siblings(PlacementPlan& plan, const Problem& problem, const std::vector<int>& chosen) {
  const Machine& machine = problem.machine;
  std::map<int, Names> by_core;
  Names beside_others, outside;
  CpuSet offline;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const int cpu = chosen[i];
    if (cpu < 0) continue;
    by_core[machine.at(cpu).core].push_back(with_cpus(plan.threads[i]));
    const CpuSet siblings = machine.siblings(cpu);
    if (siblings.intersects(plan.housekeeping)) beside_others.push_back(with_cpus(plan.threads[i]));
    if (!machine.available.contains_all(siblings)) outside.push_back(with_cpus(plan.threads[i]));
  }
  Names pairs;
  for (const auto& [core, names] : by_core) {
    if (names.size() > 1) pairs.push_back(join(names, 8));
  }
  if (!pairs.empty()) {
    const bool wanted = problem.request.share_smt;
    add(plan, wanted ? Severity::warning : Severity::refusal, "smt-siblings-shared", pairs.front(),
        count_of(pairs.size(), "core") + " with more than one busy-polling thread: " + join(pairs) +
            "; SMT siblings share one core's units and caches, and each slows the other",
        wanted ? "set [placement] share_smt = false"
               : "name one CPU of each core in cpus, or set [placement] share_smt = true");
  }
  if (!beside_others.empty()) {
    add(plan, Severity::warning, "smt-siblings-shared", beside_others.front(),
        "housekeeping has the SMT siblings of " + join(beside_others) + ", and whatever runs there slows them",
        "take the siblings out of [placement] housekeeping");
  }
  if (!outside.empty()) {
    add(plan, Severity::warning, "sibling-outside", outside.front(),
        "this process may not use the SMT siblings of " + join(outside) +
            ", so that others may run there and slow them",
        "allow the whole cores in the process's control group (cpuset.cpus)");
  }
  for (const Core& core : machine.topology.cores) {
    if (core.cpus.intersects(plan.isolated_cpus)) offline |= (core.cpus & machine.topology.offline) - machine.online;
  }
  if (offline.empty()) return;
  add(plan, Severity::note, "offline-sibling", cpus_text(offline),
      cpus_text(offline) +
          ": SMT siblings of busy-polling threads' CPUs, and offline; these threads have their cores to themselves",
      "nothing; bringing the siblings online would slow the busy-polling threads");
}

void check_blockers(PlacementPlan& plan, const Problem& problem) {
  for (std::size_t i = 0; i < plan.threads.size(); ++i) {
    const ThreadPlacement& thread = plan.threads[i];
    const Want& want = problem.wants[i];
    if (spins(thread) || (want.only.empty() && want.session_cpu < 0)) continue;
    const bool pinned = thread.cpus.size() == 1;
    const bool on_spinners = thread.cpus.intersects(plan.isolated_cpus);
    if (!pinned && !on_spinners) continue;
    std::string text = thread.name + " blocks, and may only run on " + cpus_text(thread.cpus);
    if (on_spinners) text += ", where threads busy-poll and leave it no time";
    text += "; the scheduler cannot run it on another CPU when this one is busy, and each wake-up crosses CPUs";
    std::string fix = want.session_cpu >= 0
                          ? "set [engine] idle = \"spin\", or leave cpu_affinity_core out of session " + want.session
                          : "leave " + role_key(thread.role, "cpus") + " out, or name more housekeeping CPUs there";
    add(plan, Severity::warning, "pinned-but-blocking", thread.name, std::move(text), std::move(fix));
  }
}

// For the threads of a program: exactly the threads that a message waits for have a core.
void check_program_roles(PlacementPlan& plan, const Problem& problem) {
  for (const ThreadRole role : thread_roles) {
    const RoleRequest& request = problem.request.role(role);
    if (request.threads == 0) continue;
    const std::string name{to_string(role)};
    const bool busy = request.wait == ThreadWait::spin;
    if (kind_of(role) == RoleKind::other && busy) {
      add(plan, Severity::warning, "not-critical", role_key(role, "wait"),
          count_of(request.threads, name + " thread") + " busy-poll on isolated cores, and no message waits for them",
          "set " + role_key(role, "wait") + " = \"block\": they run on the housekeeping CPUs then");
    }
    if (kind_of(role) == RoleKind::critical && !busy) {
      add(plan, Severity::note, "critical-but-blocking", role_key(role, "wait"),
          count_of(request.threads, name + " thread") +
              " sleep on the housekeeping CPUs: each message that finds them asleep waits for a wake-up, and for "
              "whatever runs there",
          "set " + role_key(role, "wait") + " = \"spin\" where there is a core for them");
    }
  }
}

// One finding per role, naming its threads.
void check_distances(PlacementPlan& plan, const Problem& problem, const std::vector<int>& chosen) {
  const Machine& machine = problem.machine;
  struct Far {
    Names threads;
    std::string first;
  };
  std::map<std::pair<ThreadRole, std::string>, Far> devices;
  std::map<ThreadRole, Far> peers;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i] < 0) continue;
    const ThreadPlacement& thread = plan.threads[i];
    const Want& want = problem.wants[i];
    const CpuPlace& at = machine.at(chosen[i]);
    const int node = want.group != nullptr    ? want.group->numa_node
                     : want.device != nullptr ? want.device->numa_node
                                              : -1;
    if (node >= 0 && at.node >= 0 && at.node != node) {
      const std::string name = want.device != nullptr ? want.device->name : want.group->domain;
      Far& far = devices[{thread.role, name}];
      if (far.threads.empty()) far.first = thread.name;
      far.threads.push_back(with_cpus(thread) + " on NUMA node " + std::to_string(at.node) + " and not " +
                            std::to_string(node));
    }
    const int peer_cpu = want.peer < 0 ? -1 : chosen[static_cast<std::size_t>(want.peer)];
    if (peer_cpu < 0) continue;
    const CpuPlace& other = machine.at(peer_cpu);
    if (other.cache >= 0 ? other.cache == at.cache : other.node == at.node) continue;
    Far& far = peers[thread.role];
    if (far.threads.empty()) far.first = thread.name;
    far.threads.push_back(with_cpus(thread) + " from " + with_cpus(plan.threads[static_cast<std::size_t>(want.peer)]));
  }
  for (auto& [key, far] : devices) {
    add(plan, Severity::warning, "far-from-device", far.first,
        "far from " + key.second + ": " + join(far.threads) + "; each message crosses between the processors",
        "fewer " + role_key(key.first, "threads") + ", or " + role_key(key.first, "cpus") + " on the device's node");
  }
  for (auto& [role, far] : peers) {
    add(plan, Severity::warning, "far-from-peer", far.first,
        "no last-level cache in common: " + join(far.threads) + "; what they share travels through memory",
        "fewer " + role_key(role, "threads") + ", or " + role_key(role, "cpus") + " near their peers");
  }
}

void check_kinds(PlacementPlan& plan, const Problem& problem, const CpuSet& spinners) {
  const Machine& machine = problem.machine;
  CpuSet slow;
  for (const int cpu : spinners.members()) {
    const int kind = machine.at(cpu).kind;
    if (kind >= 0 && kind < machine.fastest_kind) slow.insert(cpu);
  }
  if (!slow.empty()) {
    add(plan, Severity::warning, "slow-core-kind", cpus_text(slow),
        "threads busy-poll on " + cpus_text(slow) + ", slow cores of a machine that has faster ones",
        "fewer busy-polling threads, or name faster CPUs in cpus or cpu_affinity_core");
  }
  if (spinners.contains(0)) {
    add(plan, Severity::warning, "cpu0-spinner", "CPU 0",
        "a thread busy-polls on CPU 0, which does the timekeeping for all CPUs and cannot be freed of the kernel's own "
        "work",
        "leave CPU 0 out of the configured cpus and cpu_affinity_core, and in [placement] housekeeping");
  }
}

void check_sessions(PlacementPlan& plan, const Problem& problem) {
  const auto& sessions = problem.request.sessions;
  const std::size_t polls = problem.request.role(ThreadRole::poll).threads;
  if (polls == 0) return;
  std::vector<std::size_t> serves(polls);
  std::vector<std::vector<std::size_t>> automatic(polls);
  std::size_t automatic_sessions = 0;
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    ++serves[plan.session_threads[i]];
    if (!sessions[i].auto_pin_to_core || problem.session[i] >= 0) continue;
    automatic[plan.session_threads[i]].push_back(i);
    ++automatic_sessions;
  }
  if (automatic_sessions == 0) return;
  if (problem.request.role(ThreadRole::poll).wait == ThreadWait::block) {
    add(plan, Severity::warning, "auto-pin-but-blocking", "[engine] idle",
        count_of(automatic_sessions, "session") +
            " with auto_pin_to_core = true: no thread is pinned for them, since "
            "[engine] idle is not \"spin\" and poll threads that block run on any housekeeping CPU",
        "set [engine] idle = \"spin\", or leave auto_pin_to_core out");
  }
  const auto idle = static_cast<std::size_t>(std::ranges::count(serves, std::size_t{0}));
  if (idle == 0) return;
  constexpr std::size_t most = 8;
  std::size_t listed = 0, unlisted = 0;
  for (std::size_t thread = 0; thread < polls; ++thread) {
    if (automatic[thread].size() < 2) continue;
    if (listed == most) {
      ++unlisted;
      continue;
    }
    ++listed;
    Names names;
    for (const std::size_t i : automatic[thread]) names.push_back(plan.session_names[i]);
    add(plan, Severity::warning, "session-collision", names[0] + ", " + names[1],
        join(names) + " are all served by " + with_cpus(plan.threads[thread]) + ", while " +
            count_of(idle, "poll thread") + (idle == 1 ? " serves" : " serve") + " no session: mapping = \"" +
            std::string{to_string(problem.request.mapping)} + "\" chooses only by CompIDs",
        "set [placement] mapping = \"balanced\"");
  }
  if (unlisted > 0) {
    add(plan, Severity::warning, "session-collision", count_of(unlisted, "poll thread"),
        "the same on " + count_of(unlisted, "more poll thread"), "set [placement] mapping = \"balanced\"");
  }
}

// The host's settings.

constexpr std::string_view apply_fix =
    "run `nfx host apply CONFIG --runtime`, or `nfx host apply CONFIG --boot` and reboot";

void check_isolation(PlacementPlan& plan, const Problem& problem, const CpuSet& spinners) {
  const HostFacts& host = problem.host;
  const CpuSet apart = host.isolated_cpus() & problem.machine.online;
  const CpuSet open = spinners - apart;
  if (!open.empty()) {
    add(plan, Severity::warning, "not-isolated", cpus_text(open),
        "other tasks may run on " + cpus_text(open) +
            ", where threads busy-poll; a pinned thread cannot move away, and waits while they run",
        std::string{apply_fix});
  }
  if (apart.empty()) return;
  if (!open.empty()) {
    Names sessions;
    for (std::size_t i = 0; i < plan.session_threads.size(); ++i) {
      if (plan.session_threads[i] >= plan.threads.size()) continue;
      const ThreadPlacement& thread = plan.threads[plan.session_threads[i]];
      if (spins(thread) && thread.cpus.intersects(open)) sessions.push_back(plan.session_names[i]);
    }
    std::string text =
        cpus_text(apart) + " are isolated from the scheduler, but threads busy-poll on " + cpus_text(open) + " outside";
    if (!sessions.empty()) text += ", and serve " + join(sessions) + " there";
    add(plan, Severity::warning, "isolated-elsewhere", cpus_text(open), std::move(text),
        "set cpus within " + apart.to_list() + ", or isolate the plan's own CPUs: " + std::string{apply_fix});
  }
  const CpuSet unused = apart - plan.isolated_cpus;
  if (!unused.empty()) {
    add(plan, Severity::note, "isolated-elsewhere", cpus_text(unused),
        cpus_text(unused) + " isolated from the scheduler and used by no busy-polling thread: they stay idle",
        "take " + unused.to_list() + " out of isolcpus, or configure more threads");
  }
}

void check_interrupts(PlacementPlan& plan, const Problem& problem) {
  Names seen, leaving;
  CpuSet where, left;
  for (const Interrupt& interrupt : problem.host.interrupts) {
    const CpuSet hit = arrival(interrupt) & plan.isolated_cpus;
    if (hit.empty()) continue;
    // It is already directed elsewhere, from its next arrival on.
    const bool leaves = interrupt.allowed && !interrupt.allowed->intersects(plan.isolated_cpus);
    (leaves ? left : where) |= hit;
    std::string name = std::to_string(interrupt.number) + " (" + join(interrupt.actions, 2);
    if (!interrupt.device.empty()) name += " of " + interrupt.device;
    (leaves ? leaving : seen).push_back(name + ") on " + cpus_text(hit));
  }
  if (!seen.empty()) {
    add(plan, Severity::warning, "interrupt-on-spinner", cpus_text(where),
        count_of(seen.size(), "interrupt") + " where threads busy-poll, or on their SMT siblings: " + join(seen) +
            "; each stops the thread for microseconds",
        std::string{apply_fix} + "; an affinity that is set takes effect at the next interrupt");
  }
  if (!leaving.empty()) {
    add(plan, Severity::note, "interrupt-pending", cpus_text(left),
        count_of(leaving.size(), "interrupt") + " will leave the isolated CPUs when next raised: " + join(leaving), "");
  }
}

void check_realtime(PlacementPlan& plan, const Problem& problem) {
  Names threads;
  for (const ThreadPlacement& thread : plan.threads) {
    if (spins(thread) && thread.priority > 0) threads.push_back(thread.name);
  }
  if (threads.empty()) return;
  const HostFacts& host = problem.host;
  const std::string who = join(threads) + (threads.size() == 1 ? " busy-polls" : " busy-poll") + " under SCHED_FIFO";
  if (host.rt_runtime_us && *host.rt_runtime_us != -1) {
    add(plan, Severity::warning, "realtime-throttled", threads.front(),
        who + ", and the kernel gives real-time threads " + std::to_string(*host.rt_runtime_us) + " us of each " +
            std::to_string(host.rt_period_us.value_or(1'000'000)) + " us: they stall for the rest of each period",
        "sysctl kernel.sched_rt_runtime_us=-1, which `nfx host apply CONFIG --runtime` does, or priority = 0");
  }
  constexpr KernelVersion with_fair_server{6, 12};
  if (host.kernel >= with_fair_server && host.fair_server != false) {
    add(plan, Severity::warning, "realtime-fair-server", threads.front(),
        who + ", and this kernel (" + host.kernel_release + ") has a fair server" +
            (host.fair_server ? "" : ", whose settings may not be read") +
            ": it takes 50 ms of each second for other threads that wait on the CPU",
        "write 0 to /sys/kernel/debug/sched/fair_server/cpuN/runtime of these CPUs, which `nfx host apply CONFIG "
        "--runtime` does, or priority = 0");
  }
}

void check_ticks(PlacementPlan& plan, const Problem& problem, const CpuSet& spinners) {
  const CpuSet ticking = spinners - problem.host.nohz_full;
  if (!ticking.empty()) {
    add(plan, Severity::note, "nohz-full-missing", cpus_text(ticking),
        "the periodic tick interrupts " + cpus_text(ticking) + " 100 to 1,000 times a second",
        "boot with nohz_full=" + plan.isolated_cpus.to_list() + ": `nfx host apply CONFIG --boot` writes it");
  }
  const CpuSet callbacks = spinners - problem.host.rcu_nocbs - problem.host.nohz_full;
  if (!callbacks.empty()) {
    add(plan, Severity::note, "rcu-callbacks", cpus_text(callbacks),
        "the kernel runs RCU callbacks on " + cpus_text(callbacks),
        "boot with rcu_nocbs=" + plan.isolated_cpus.to_list() + ": `nfx host apply CONFIG --boot` writes it");
  }
}

}  // namespace

void check_threads(PlacementPlan& plan, const Problem& problem, const std::vector<int>& chosen) {
  check_room(plan, problem, chosen);
  check_siblings(plan, problem, chosen);
  check_blockers(plan, problem);
  check_program_roles(plan, problem);
  check_distances(plan, problem, chosen);
  check_kinds(plan, problem, spinner_cpus(chosen));
  check_sessions(plan, problem);
}

void check_host(PlacementPlan& plan, const Problem& problem) {
  if (!host_seen(problem.host)) {
    add(plan, Severity::note, "host-unseen", problem.machine.topology.source,
        "the plan is for a machine whose kernel settings are not known: isolation, interrupts and real-time limits "
        "were "
        "not checked",
        "give --root DIR with a copy of that host's /proc and /sys, or plan on the machine itself");
    return;
  }
  CpuSet spinners;
  for (const ThreadPlacement& thread : plan.threads) {
    if (spins(thread) && thread.cpus.size() == 1 && plan.isolated_cpus.contains_all(thread.cpus))
      spinners |= thread.cpus;
  }
  check_isolation(plan, problem, spinners);
  check_interrupts(plan, problem);
  check_realtime(plan, problem);
  check_ticks(plan, problem, spinners);
}

}  // namespace nfx::planning
