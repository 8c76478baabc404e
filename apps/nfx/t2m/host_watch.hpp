// How the host delayed one thread of this process while it ran, in windows of ten milliseconds: time that it waited for
// its CPU, interruptions, moves, steal, and interrupts on its CPU.
// Thread: its own, on the CPUs that it is given; results after stop(). Cost: some hundred microseconds of them in
// each window. Errors: values that the kernel does not show count as 0. Bounds: `most_windows`; later windows are
// unknown.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"

namespace nfx::app::t2m {

struct HostWindow {
  UtcTime begin{};
  UtcTime end{};
  std::uint64_t waited_ns = 0;  // could have run, but another task did
  std::uint64_t involuntary_switches = 0;
  std::uint64_t migrations = 0;
  std::uint64_t steal_ticks = 0;  // of its CPU, 10 ms each
  std::uint64_t timer_interrupts = 0;
  std::uint64_t device_interrupts = 0;
  std::uint64_t other_interrupts = 0;  // rescheduling, calls of other CPUs, TLB and the rest
};

// "waited 1.2 ms for its CPU, 2 involuntary switches, 10 ms steal, 5 interrupts"; empty: nothing.
[[nodiscard]] std::string to_text(const HostWindow& window);

class HostWatch {
 public:
  static constexpr std::size_t most_windows = 60'000;

  HostWatch(pid_t thread, const CpuSet& own_cpus);
  ~HostWatch() { stop(); }
  HostWatch(const HostWatch&) = delete;
  HostWatch& operator=(const HostWatch&) = delete;

  void stop();
  // Everything that overlaps with this time.
  [[nodiscard]] HostWindow during(UtcTime from, UtcTime to) const;
  [[nodiscard]] HostWindow total() const { return during(UtcTime::min(), UtcTime::max()); }

 private:
  void run();

  pid_t thread_;
  CpuSet cpus_;
  std::atomic<bool> stop_{false};
  std::vector<HostWindow> windows_;
  std::thread runner_;
};

}  // namespace nfx::app::t2m
