// Turns two samples into rates per CPU and per thread, which all outputs of watch print.
#include <algorithm>
#include <map>

#include "base/enumerator_name.hpp"
#include "host/watch_view.hpp"

namespace nfx {
namespace {

double rate(std::uint64_t before, std::uint64_t after, double seconds) noexcept {
  return before < after ? static_cast<double>(after - before) / seconds : 0.0;
}

CpuRole role_of(int cpu, const DriftInput& input) noexcept {
  if (input.isolated_cpus.contains(cpu)) return CpuRole::isolated;
  if (input.plan != nullptr) return input.plan->housekeeping.contains(cpu) ? CpuRole::housekeeping : CpuRole::other;
  // If CPUs are isolated but there is no plan, all other CPUs are housekeeping CPUs.
  return input.isolated_cpus.empty() ? CpuRole::other : CpuRole::housekeeping;
}

CpuActivity activity(const CpuCounters& c, const DriftInput& input, double seconds) {
  CpuActivity out;
  const auto per_second = [&](std::uint64_t count) { return static_cast<double>(count) / seconds; };
  out.cpu = c.cpu;
  out.role = role_of(c.cpu, input);
  const auto busy = static_cast<double>(c.user + c.system + c.interrupt + c.softirq + c.steal);
  const double all = busy + static_cast<double>(c.idle);
  if (all > 0) {
    out.busy_percent = 100 * busy / all;
    out.steal_percent = 100 * static_cast<double>(c.steal) / all;
  }
  out.timer = per_second(c.timer);
  out.devices = per_second(c.devices);
  out.rescheduling = per_second(c.rescheduling);
  out.function_calls = per_second(c.function_calls);
  out.tlb_shootdowns = per_second(c.tlb_shootdowns);
  out.other_interrupts = per_second(c.other);
  for (const auto& [name, count] : c.softirqs) out.softirqs += per_second(count);
  return out;
}

ThreadActivity activity(const ThreadSample* before, const ThreadSample& after, double seconds) {
  ThreadActivity out;
  out.now = after;
  if (before == nullptr) return out;
  out.measured = true;
  if (before->run_ns && after.run_ns) out.run_percent = rate(*before->run_ns, *after.run_ns, seconds) / 1e7;
  if (before->wait_ns && after.wait_ns) out.stall_us = rate(*before->wait_ns, *after.wait_ns, seconds) / 1e3;
  const std::uint64_t moved = before->cpu != after.cpu ? 1 : 0;
  out.migrations = before->migrations && after.migrations ? rate(*before->migrations, *after.migrations, seconds)
                                                          : static_cast<double>(moved) / seconds;
  out.voluntary_switches = rate(before->voluntary_switches, after.voluntary_switches, seconds);
  out.involuntary_switches = rate(before->involuntary_switches, after.involuntary_switches, seconds);
  out.minor_faults = rate(before->minor_faults, after.minor_faults, seconds);
  out.major_faults = rate(before->major_faults, after.major_faults, seconds);
  return out;
}

}  // namespace

std::string_view to_string(CpuRole role) noexcept { return enumerator_name(role); }

WatchInterval summarize(const DriftInput& input, const DriftOptions& options) {
  WatchInterval out;
  out.time = input.after.time;
  out.seconds = seconds_between(input.before, input.after);
  std::map<int, std::size_t> by_number;
  for (const CpuCounters& c : difference(input.before.counters, input.after.counters).cpus) {
    by_number.emplace(c.cpu, out.cpus.size());
    out.cpus.push_back(activity(c, input, out.seconds));
  }
  std::map<TaskKey, const ThreadSample*> earlier;
  for (const ThreadSample& thread : input.before.threads) earlier.emplace(thread.key(), &thread);
  for (const ThreadSample& thread : input.after.threads) {
    const auto found = earlier.find(thread.key());
    ThreadActivity now = activity(found == earlier.end() ? nullptr : found->second, thread, out.seconds);
    now.planned = input.plan != nullptr && input.plan->thread(thread.name) != nullptr;
    if (const auto cpu = by_number.find(thread.cpu); cpu != by_number.end()) {
      CpuActivity& row = out.cpus[cpu->second];
      row.threads.push_back(out.threads.size());
      row.stall_us += now.stall_us;
      row.migrations += now.migrations;
      row.voluntary_switches += now.voluntary_switches;
      row.involuntary_switches += now.involuntary_switches;
      row.faults += now.minor_faults + now.major_faults;
    }
    out.threads.push_back(std::move(now));
  }
  out.drift = find_drift(input, options);
  for (const std::string& file : input.after.unreadable) out.notes.push_back("cannot see " + file);
  if (out.cpus.empty()) out.notes.emplace_back("cannot see /proc/stat: nothing is known about the CPUs");
  if (input.after.threads_left_out != 0)
    out.notes.push_back(std::to_string(input.after.threads_left_out) + " threads were not checked: more than " +
                        std::to_string(max_sampled_threads));
  return out;
}

}  // namespace nfx
