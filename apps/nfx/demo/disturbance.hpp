// What the host took from the demonstration while a row was measured: time that a hypervisor gave to others (steal),
// and how often a thread's CPU was given to another task (involuntary switches). Thread: one owner. Cost: begin() and
// end() read some files under /proc, between rows. Errors: what the kernel does not show counts as nothing.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "nexusfix/base/time.hpp"

namespace nfx::app::demo {

struct Disturbance {
  double steal_percent = 0;                // of the time of all CPUs
  std::uint64_t involuntary_switches = 0;  // of both sides
  Duration elapsed{};

  // The percentiles of such a row are those of the scheduler: a hundredth of the time was taken, or a side was
  // interrupted ten times per second or more.
  [[nodiscard]] bool spoilt() const noexcept;
  // "steal 1.2%, 35 involuntary switches in 2.5 s"
  [[nodiscard]] std::string text() const;
};

class DisturbanceMeter {
 public:
  // This process, and the other side's; 0: there is none.
  explicit DisturbanceMeter(pid_t other_side) noexcept : other_side_(other_side) {}

  void begin();
  [[nodiscard]] Disturbance end() const;

 private:
  struct Sample {
    std::uint64_t steal = 0;  // ticks, of all CPUs
    std::uint64_t ticks = 0;
    std::uint64_t involuntary_switches = 0;
    MonotonicTime time{};
  };
  [[nodiscard]] Sample sample() const;

  pid_t other_side_;
  Sample before_;
};

}  // namespace nfx::app::demo
