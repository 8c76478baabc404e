// Samples a thread and its CPU's counters every ten milliseconds, with the code of nfx host watch.
#include "t2m/host_watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/clocks.hpp"
#include "log/print.hpp"
#include "placement/place_thread.hpp"
#include "placement/thread_sampler.hpp"

namespace nfx::app::t2m {
namespace {

constexpr std::chrono::milliseconds interval{10};

struct Sample {
  UtcTime time{};
  ThreadSample thread;
  CpuCounters cpu;
};

std::optional<Sample> sample(pid_t thread) {
  const HostFiles files;
  const auto found = sample_thread(files, ::getpid(), thread);
  if (!found) return std::nullopt;
  Sample result{.time = read_utc(), .thread = *found, .cpu = {}};
  const CounterSample counters = sample_counters(files);
  const auto cpu = std::ranges::find(counters.cpus, found->cpu, &CpuCounters::cpu);
  if (cpu != counters.cpus.end()) result.cpu = *cpu;
  return result;
}

HostWindow between(const Sample& before, const Sample& after) {
  HostWindow window{.begin = before.time, .end = after.time};
  window.waited_ns = after.thread.wait_ns.value_or(0) - before.thread.wait_ns.value_or(0);
  window.involuntary_switches = after.thread.involuntary_switches - before.thread.involuntary_switches;
  window.migrations = after.thread.migrations.value_or(0) - before.thread.migrations.value_or(0);
  // Counters of two CPUs have no difference.
  if (before.cpu.cpu != after.cpu.cpu) return window;
  const auto others = [](const CpuCounters& c) {
    return c.rescheduling + c.function_calls + c.tlb_shootdowns + c.other;
  };
  window.steal_ticks = after.cpu.steal - before.cpu.steal;
  window.timer_interrupts = after.cpu.timer - before.cpu.timer;
  window.device_interrupts = after.cpu.devices - before.cpu.devices;
  window.other_interrupts = others(after.cpu) - others(before.cpu);
  return window;
}

}  // namespace

std::string to_text(const HostWindow& window) {
  SafeText out;
  const auto add = [&out](std::uint64_t number, std::string_view what) {
    if (number == 0) return;
    if (!out.empty()) out += ", ";
    out.add("{} {}", number, what);
  };
  add(window.waited_ns / 1000, "us waited for its CPU");
  add(window.involuntary_switches, "involuntary switches");
  add(window.migrations, "migrations");
  add(window.steal_ticks * 10, "ms steal");
  add(window.timer_interrupts, "timer");
  add(window.device_interrupts, "device");
  add(window.other_interrupts, "other interrupts");
  return std::string{out.view()};
}

HostWatch::HostWatch(pid_t thread, const CpuSet& own_cpus) : thread_(thread), cpus_(own_cpus) {
  windows_.reserve(1024);
  runner_ = std::thread{[this] { run(); }};
}

void HostWatch::run() {
  CpuAffinity::name_thread("nfx-t2m-watch");
  if (!cpus_.empty()) (void)place_thread(cpus_);
  std::optional<Sample> before = sample(thread_);
  while (!stop_.load(std::memory_order_relaxed) && windows_.size() < most_windows) {
    std::this_thread::sleep_for(interval);
    std::optional<Sample> after = sample(thread_);
    if (before && after) windows_.push_back(between(*before, *after));
    before = std::move(after);
  }
}

void HostWatch::stop() {
  stop_.store(true, std::memory_order_relaxed);
  if (runner_.joinable()) runner_.join();
}

HostWindow HostWatch::during(UtcTime from, UtcTime to) const {
  HostWindow sum{.begin = from, .end = to};
  for (const HostWindow& each : windows_) {
    if (each.end < from || each.begin > to) continue;
    sum.waited_ns += each.waited_ns;
    sum.involuntary_switches += each.involuntary_switches;
    sum.migrations += each.migrations;
    sum.steal_ticks += each.steal_ticks;
    sum.timer_interrupts += each.timer_interrupts;
    sum.device_interrupts += each.device_interrupts;
    sum.other_interrupts += each.other_interrupts;
  }
  return sum;
}

}  // namespace nfx::app::t2m
