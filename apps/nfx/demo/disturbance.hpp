// Measures how much the host disturbed the demonstration during a row: time that a hypervisor gave to others (steal),
// how long a side waited for its CPU while another task ran, and how often it was interrupted (involuntary switches; a
// blocking thread has them even if it loses no time).
// Thread: one owner. Cost: begin() and end() read some files under /proc, between rows. Errors: values that the kernel
// does not report count as zero.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "nexusfix/base/time.hpp"
#include "nexusfix/concurrent/idle_strategy.hpp"

namespace nfx::app::demo {

struct Disturbance {
  double steal_percent = 0;                // of all CPUs' time
  double wait_percent = 0;                 // of both sides' time
  std::uint64_t involuntary_switches = 0;  // of both sides
  Duration elapsed{};
  IdleMode idle = IdleMode::spin;

  // The row's percentiles are the scheduler's, not the engine's: a hundredth of the time was stolen or spent waiting,
  // or a busy-polling side was interrupted ten times per second or more.
  [[nodiscard]] bool spoilt() const noexcept;
};

class DisturbanceMeter {
 public:
  // This process and the other side's process; 0: none.
  DisturbanceMeter(pid_t other_side, IdleMode idle) noexcept : other_side_(other_side), idle_(idle) {}

  void begin();
  [[nodiscard]] Disturbance end() const;

 private:
  struct Sample {
    std::uint64_t steal = 0;  // ticks, of all CPUs
    std::uint64_t ticks = 0;
    std::uint64_t involuntary_switches = 0;
    std::uint64_t wait_ns = 0;
    unsigned sides = 0;
    MonotonicTime time{};
  };
  [[nodiscard]] Sample sample() const;

  pid_t other_side_;
  IdleMode idle_;
  Sample before_;
};

}  // namespace nfx::app::demo
