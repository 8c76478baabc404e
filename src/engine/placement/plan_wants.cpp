// Resolves the devices, CPUs and other threads that each thread requests by name, and determines the CPUs that are
// always reserved for housekeeping.
#include <algorithm>
#include <map>
#include <utility>

#include "base/suggest.hpp"
#include "placement/planner.hpp"
#include "placement/thread_name.hpp"

namespace nfx::planning {
namespace {

std::string session_name(const SessionRequest& session) {
  return session.sender_comp_id + "->" + session.target_comp_id;
}

// Why configured CPUs cannot be used; empty: they can.
std::string unavailable(const Machine& machine, const CpuSet& wanted) {
  std::string text;
  const auto say = [&text](const CpuSet& cpus, std::string_view one, std::string_view several) {
    if (cpus.empty()) return;
    text += (text.empty() ? "" : "; ") + cpus_text(cpus) + ' ' + std::string{cpus.size() == 1 ? one : several};
  };
  const CpuSet missing = wanted - machine.online - machine.topology.offline;
  say((wanted & machine.topology.offline) - machine.online, "is offline", "are offline");
  say(missing, "does not exist here", "do not exist here");
  say((wanted & machine.online) - machine.available, "is not allowed to this process by its control group",
      "are not allowed to this process by its control group");
  return text;
}

// Reports configured CPUs that do not exist.
void check_cpus(PlacementPlan& plan, const Problem& problem) {
  const Machine& machine = problem.machine;
  const auto check = [&](const std::string& key, const CpuSet& cpus) {
    const std::string why = unavailable(machine, cpus);
    if (why.empty()) return;
    add(plan, Severity::refusal, "cpu-not-available", key,
        key + " = \"" + cpus.to_list() + "\": " + why + "; " + cpus_text(machine.available) + " can be used",
        "name only CPUs among " + machine.available.to_list() + " in " + key + ", or leave it out");
  };
  check("[placement] housekeeping", problem.request.housekeeping);
  for (const ThreadRole role : thread_roles) {
    const RoleRequest& request = problem.request.role(role);
    if (request.threads > 0) check(role_key(role, "cpus"), request.cpus);
  }
}

const DeviceGroup* group_of(const Problem& problem, const Device& device) {
  const auto index = static_cast<std::size_t>(&device - problem.machine.topology.devices.data());
  const auto holds = [index](const std::vector<std::size_t>& members) {
    return std::ranges::find(members, index) != members.end();
  };
  for (const DeviceGroup& group : problem.groups) {
    if (!group.cpus.empty() && (holds(group.gpus) || holds(group.nics))) return &group;
  }
  return nullptr;
}

// The device that names a group in messages: its first NIC, otherwise its first GPU.
const Device* first_device(const Problem& problem, const DeviceGroup& group) {
  const auto& devices = problem.machine.topology.devices;
  for (const auto* members : {&group.nics, &group.gpus}) {
    for (const std::size_t index : *members) {
      if (index < devices.size()) return &devices[index];
    }
  }
  return nullptr;
}

void near_each_group(PlacementPlan& plan, Problem& problem, ThreadRole role, std::size_t first_thread) {
  const std::size_t threads = problem.request.role(role).threads;
  const std::string key = role_key(role, "near");
  std::vector<const DeviceGroup*> usable;
  std::vector<std::string> without;
  for (const DeviceGroup& group : problem.groups) {
    if (group.cpus.empty()) {
      without.push_back(group.domain);
    } else {
      usable.push_back(&group);
    }
  }
  if (!without.empty()) {
    add(plan, Severity::warning, "group-without-core", key,
        count_of(without.size(), "group") + " of devices has no free core: " + join(without) + "; no thread goes there",
        "see `nfx host topology --groups`; name a device in " + key + " instead of \"each_group\"");
  }
  if (usable.empty()) {
    add(plan, Severity::warning, "no-device-groups", key,
        "near = \"each_group\", but the machine shows no GPU or network device with cores near it; threads go anywhere",
        "leave " + key + " out, or run where the devices are seen");
    return;
  }
  if (threads > usable.size()) {
    add(plan, Severity::warning, "more-threads-than-groups", key,
        count_of(threads, "thread") + " for " + count_of(usable.size(), "group") +
            " of devices: the remaining threads are placed next to the middle of the groups again",
        "set " + role_key(role, "threads") + " = " + std::to_string(usable.size()));
  } else if (threads < usable.size()) {
    std::vector<std::string> left;
    for (std::size_t i = threads; i < usable.size(); ++i) left.push_back(usable[i]->domain);
    add(plan, Severity::warning, "more-groups-than-threads", key,
        count_of(usable.size(), "group") + " of devices for " + count_of(threads, "thread") + ": no thread near " +
            join(left),
        "set " + role_key(role, "threads") + " = " + std::to_string(usable.size()));
  }
  for (std::size_t i = 0; i < threads; ++i) {
    Want& want = problem.wants[first_thread + i];
    want.group = usable[i % usable.size()];
    want.device = first_device(problem, *want.group);
    want.middle = true;
  }
}

void near_device(PlacementPlan& plan, Problem& problem, ThreadRole role, std::size_t first_thread) {
  const RoleRequest& request = problem.request.role(role);
  const std::string key = role_key(role, "near");
  const Topology& topology = problem.machine.topology;
  const Device* device = topology.device(request.near);
  if (device == nullptr) {
    std::vector<std::string_view> names{"each_group"};
    std::vector<std::string> known;
    for (const Device& each : topology.devices) {
      names.push_back(each.name);
      names.push_back(each.pci_address);
      names.insert(names.end(), each.other_names.begin(), each.other_names.end());
      if (each.kind == DeviceKind::network || each.kind == DeviceKind::gpu) known.push_back(each.name);
    }
    add(plan, Severity::refusal, "device-unknown", key,
        key + " = \"" + request.near + "\": no such device" + did_you_mean(request.near, names) + " (" +
            (known.empty() ? "the machine shows no network device or GPU" : "there are " + join(known)) + ")",
        "write a name or PCI address that `nfx host topology` prints, or leave " + key + " out");
    return;
  }
  if (!device->usable) {
    add(plan, Severity::warning, "device-unusable", device->name,
        device->name + " cannot be used now: " + (device->why_not.empty() ? "no reason is given" : device->why_not),
        "bring " + device->name + " up, or name another device in " + key);
  }
  const DeviceGroup* group = group_of(problem, *device);
  if (group == nullptr && device->local_cpus.empty() && device->numa_node < 0) {
    add(plan, Severity::note, "device-without-node", device->name,
        device->name + " does not state which CPUs it is near (numa_node is -1); threads go anywhere",
        "give " + role_key(role, "cpus") + " if you know better");
  }
  for (std::size_t i = 0; i < request.threads; ++i) {
    problem.wants[first_thread + i].device = device;
    problem.wants[first_thread + i].group = group;
  }
}

void want_peers(PlacementPlan& plan, Problem& problem, ThreadRole role, std::size_t first_thread,
                const std::array<std::size_t, thread_roles.size()>& first_of_role) {
  const RoleRequest& request = problem.request.role(role);
  const ThreadRole other = *request.same_cache_as;
  const std::size_t count = problem.request.role(other).threads;
  if (other == role || count == 0) {
    add(plan, Severity::warning, "peer-missing", role_key(role, "same_cache_as"),
        role_key(role, "same_cache_as") + " = \"" + std::string{to_string(other)} +
            "\": " + (other == role ? "that is the role itself" : "no such threads") + "; it is ignored",
        "leave " + role_key(role, "same_cache_as") + " out, or set " + role_key(other, "threads"));
    return;
  }
  for (std::size_t i = 0; i < request.threads; ++i) {
    problem.wants[first_thread + i].peer = static_cast<int>(first_of_role[std::to_underlying(other)] + i % count);
  }
}

// Whether a session can use the CPU it names; if not, adds a finding with the reason.
bool session_cpu_usable(PlacementPlan& plan, const Problem& problem, const SessionRequest& session) {
  const int cpu = session.cpu_affinity_core;
  const std::string name = session_name(session);
  const RoleRequest& poll = problem.request.role(ThreadRole::poll);
  const std::string request = name + " has cpu_affinity_core = " + std::to_string(cpu);
  if (!problem.machine.available.contains(cpu)) {
    const std::string why = cpu >= CpuSet::max_cpus ? "CPU " + std::to_string(cpu) + " does not exist here"
                                                    : unavailable(problem.machine, {cpu});
    add(plan, Severity::refusal, "cpu-not-available", name, request + ": " + why,
        "set cpu_affinity_core of this [[session]] to one of " + problem.machine.available.to_list());
    return false;
  }
  if (!poll.cpus.empty() && !poll.cpus.contains(cpu)) {
    add(plan, Severity::refusal, "session-core-conflict", name,
        request + ", but [placement.poll] cpus = \"" + poll.cpus.to_list() + "\" has no such CPU",
        "set cpu_affinity_core to one of " + poll.cpus.to_list() + ", or widen [placement.poll] cpus");
    return false;
  }
  if (poll.wait == ThreadWait::spin && problem.request.housekeeping.contains(cpu)) {
    add(plan, Severity::refusal, "session-core-conflict", name,
        request + ", which [placement] housekeeping reserves for everything that does not busy-poll",
        "set cpu_affinity_core to a CPU outside " + problem.request.housekeeping.to_list());
    return false;
  }
  return true;
}

// All sessions that name a CPU share one poll thread: the thread that the first of them names, if it is free, otherwise
// the first free one.
void claim_session_cpus(PlacementPlan& plan, Problem& problem) {
  const auto& sessions = problem.request.sessions;
  const std::size_t polls = problem.request.role(ThreadRole::poll).threads;
  problem.session.assign(sessions.size(), -1);
  struct Claim {
    int cpu = -1;
    std::vector<std::size_t> sessions;
    int thread = -1;
  };
  std::vector<Claim> claims;
  std::map<int, std::size_t> claim_of;
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    const int cpu = sessions[i].cpu_affinity_core;
    if (cpu < 0) continue;
    const auto [entry, added] = claim_of.try_emplace(cpu, claims.size());
    if (added) {
      if (!session_cpu_usable(plan, problem, sessions[i])) {
        entry->second = sessions.size();
        continue;
      }
      claims.push_back({.cpu = cpu, .sessions = {}, .thread = -1});
    }
    if (entry->second < claims.size()) claims[entry->second].sessions.push_back(i);
  }
  const auto take = [&](Claim& claim, std::size_t thread) {
    Want& want = problem.wants[thread];
    want.session_cpu = claim.cpu;
    want.session = session_name(sessions[claim.sessions.front()]);
    claim.thread = static_cast<int>(thread);
    for (const std::size_t session : claim.sessions) problem.session[session] = claim.thread;
  };
  for (Claim& claim : claims) {
    const std::size_t thread = sessions[claim.sessions.front()].poll_thread;
    if (thread < polls && problem.wants[thread].session_cpu < 0) take(claim, thread);
  }
  std::size_t next = 0;
  for (Claim& claim : claims) {
    if (claim.thread >= 0) continue;
    while (next < polls && problem.wants[next].session_cpu >= 0) ++next;
    if (next < polls) {
      take(claim, next);
      continue;
    }
    std::vector<std::string> names;
    for (const std::size_t session : claim.sessions) names.push_back(session_name(sessions[session]));
    add(plan, Severity::refusal, "session-core-conflict", names.front(),
        join(names) + (names.size() == 1 ? " requests" : " request") + " CPU " + std::to_string(claim.cpu) +
            " (cpu_affinity_core), but all " + count_of(polls, "poll thread") +
            " are taken by sessions that name other CPUs: a thread is on one CPU",
        "set [engine] poll_threads = " + std::to_string(claims.size()) + ", or let these sessions name fewer CPUs");
  }
}

void choose_housekeeping(const PlacementPlan& plan, Problem& problem) {
  const Machine& machine = problem.machine;
  // CPUs assigned to busy-polling threads by name. `needed` CPUs are all used; of the `listed` ones some may be left
  // over.
  CpuSet needed;
  CpuSet listed;
  std::size_t spinners = 0;
  for (std::size_t i = 0; i < plan.threads.size(); ++i) {
    const Want& want = problem.wants[i];
    if (plan.threads[i].wait != ThreadWait::spin) continue;
    if (want.session_cpu >= 0) {
      needed.insert(want.session_cpu);
    } else if (!want.only.empty() && want.only.size() <= problem.request.role(plan.threads[i].role).threads) {
      needed |= want.only;
    } else if (!want.only.empty()) {
      listed |= want.only;
      ++spinners;
    }
  }
  // The lowest cores. Prefers CPUs that were not isolated at boot and are not listed; listed CPUs are used only if the
  // threads leave some over.
  const CpuSet booted_apart = problem.host.isolcpus.cpus & problem.host.isolated;
  std::size_t spare = 0;
  std::vector<std::pair<int, std::size_t>> ranked;
  for (std::size_t i = 0; i < machine.cores.size(); ++i) {
    const CpuSet& core = machine.cores[i];
    if (!core.intersects(machine.available) || core.intersects(needed)) continue;
    const bool asked_for = core.intersects(listed);
    if (asked_for) ++spare;
    ranked.emplace_back(2 * int{asked_for} + int{core.intersects(booted_apart)}, i);
  }
  spare = spare > spinners ? spare - spinners : 0;
  std::ranges::sort(ranked);
  std::uint32_t taken = 0;
  for (const auto& [rank, core] : ranked) {
    if (taken == problem.request.housekeeping_cores) break;
    if (rank >= 2 && spare == 0) break;
    if (rank >= 2) --spare;
    problem.reserved |= machine.cores[core];
    ++taken;
  }
}

}  // namespace

void name_threads(PlacementPlan& plan, const PlacementRequest& request) {
  for (const ThreadRole role : thread_roles) {
    const RoleRequest& wanted = request.role(role);
    for (std::uint32_t i = 0; i < wanted.threads; ++i) {
      ThreadPlacement thread;
      thread.name = thread_name(role, i);
      thread.role = role;
      thread.index = i;
      thread.wait = wanted.wait;
      thread.priority = wanted.priority;
      plan.threads.push_back(std::move(thread));
    }
  }
  for (const SessionRequest& session : request.sessions) plan.session_names.push_back(session_name(session));
}

void resolve_wants(PlacementPlan& plan, Problem& problem) {
  problem.wants.resize(plan.threads.size());
  check_cpus(plan, problem);
  std::array<std::size_t, thread_roles.size()> first_of_role{};
  std::size_t next = 0;
  bool near_anything = false;
  for (const ThreadRole role : thread_roles) {
    first_of_role[std::to_underlying(role)] = next;
    next += problem.request.role(role).threads;
    near_anything |= problem.request.role(role).threads > 0 && !problem.request.role(role).near.empty();
  }
  if (near_anything) problem.groups = group_devices(problem.machine.topology);
  for (const ThreadRole role : thread_roles) {
    const RoleRequest& request = problem.request.role(role);
    const std::size_t first = first_of_role[std::to_underlying(role)];
    for (std::size_t i = 0; i < request.threads; ++i) {
      problem.wants[first + i].only = request.cpus;
      if (request.wait == ThreadWait::block) problem.blockers_own |= request.cpus & problem.machine.available;
    }
    if (request.threads == 0) continue;
    if (request.near == "each_group") {
      near_each_group(plan, problem, role, first);
    } else if (!request.near.empty()) {
      near_device(plan, problem, role, first);
    }
    if (request.same_cache_as) want_peers(plan, problem, role, first, first_of_role);
  }
  claim_session_cpus(plan, problem);
  if (problem.request.role(ThreadRole::poll).wait == ThreadWait::block) {
    for (const Want& want : problem.wants) problem.blockers_own.insert(want.session_cpu);
  }
}

void reserve_housekeeping(PlacementPlan& plan, Problem& problem) {
  const Machine& machine = problem.machine;
  if (!problem.request.housekeeping.empty()) {
    problem.reserved = problem.request.housekeeping & machine.online;
    problem.no_housekeeping = !problem.reserved.intersects(machine.available);
  } else {
    choose_housekeeping(plan, problem);
    problem.no_housekeeping = problem.reserved.empty();
  }
  if (!problem.no_housekeeping) return;
  std::string why = "this process may use no CPU of the machine";
  if (!machine.available.empty() && !problem.request.housekeeping.empty()) {
    why = "none of " + cpus_text(problem.request.housekeeping) + " can be used";
  } else if (!machine.available.empty()) {
    why = "the busy-polling threads request all of " + cpus_text(machine.available) +
          ": nothing would be left for the kernel, other programs and threads that block";
  }
  add(plan, Severity::refusal, "no-housekeeping", "[placement] housekeeping", std::move(why),
      "leave at least one core out of the configured cpus and cpu_affinity_core, or name usable CPUs in [placement] "
      "housekeeping");
}

}  // namespace nfx::planning
