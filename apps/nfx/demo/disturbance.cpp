// Reads /proc/stat, and the context switches and waits of both sides.
#include "demo/disturbance.hpp"
#include "base/clocks.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "placement/cpu_counters.hpp"
#include "placement/thread_sampler.hpp"

namespace nfx::app::demo {
namespace {

constexpr double most_steal_percent = 1;
constexpr double most_wait_percent = 1;
constexpr double most_switches_per_s = 10;
constexpr std::uint64_t fewest_switches = 3;  // minimum for a very short row

}  // namespace

bool Disturbance::spoilt() const noexcept {
  if (steal_percent >= most_steal_percent || wait_percent >= most_wait_percent) return true;
  const double seconds = std::chrono::duration<double>(elapsed).count();
  return idle == IdleMode::spin && involuntary_switches >= fewest_switches &&
         static_cast<double>(involuntary_switches) >= most_switches_per_s * seconds;
}

DisturbanceMeter::Sample DisturbanceMeter::sample() const {
  Sample sample;
  for (const CpuCounters& cpu : sample_counters(HostFiles{}).cpus) {
    sample.steal += cpu.steal;
    sample.ticks += cpu.user + cpu.system + cpu.idle + cpu.interrupt + cpu.softirq + cpu.steal;
  }
  rusage own{};  // of all its threads, because the baseline has two
  if (::getrusage(RUSAGE_SELF, &own) == 0) sample.involuntary_switches = static_cast<std::uint64_t>(own.ru_nivcsw);
  for (const pid_t side : {::getpid(), other_side_}) {
    const auto thread = side != 0 ? sample_thread(HostFiles{}, side, side) : std::nullopt;
    if (!thread) continue;
    ++sample.sides;
    if (side == other_side_) sample.involuntary_switches += thread->involuntary_switches;
    sample.wait_ns += thread->wait_ns.value_or(0);
  }
  sample.time = read_monotonic();
  return sample;
}

void DisturbanceMeter::begin() { before_ = sample(); }

Disturbance DisturbanceMeter::end() const {
  const Sample after = sample();
  Disturbance of;
  const std::uint64_t ticks = after.ticks - before_.ticks;
  if (ticks != 0)
    of.steal_percent = 100 * static_cast<double>(after.steal - before_.steal) / static_cast<double>(ticks);
  of.involuntary_switches = after.involuntary_switches - before_.involuntary_switches;
  of.elapsed = after.time - before_.time;
  of.idle = idle_;
  const double time_ns = std::chrono::duration<double, std::nano>(of.elapsed).count() * std::max(after.sides, 1U);
  if (time_ns > 0) of.wait_percent = 100 * static_cast<double>(after.wait_ns - before_.wait_ns) / time_ns;
  return of;
}

}  // namespace nfx::app::demo
