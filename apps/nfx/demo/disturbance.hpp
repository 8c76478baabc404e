// What the host took from the demonstration while a row was measured: time that a hypervisor gave to others (steal),
// how long a side waited for its CPU while another task had it, and how often that interrupted it (involuntary
// switches; a thread that blocks has them also where it loses no time). Thread: one owner. Cost: begin() and
// end() read some files under /proc, between rows. Errors: what the kernel does not show counts as nothing.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "nexusfix/base/time.hpp"
#include "nexusfix/concurrent/idle_strategy.hpp"

namespace nfx::app::demo {

struct Disturbance {
  double steal_percent = 0;                // of the time of all CPUs
  double wait_percent = 0;                 // of the time of both sides
  std::uint64_t involuntary_switches = 0;  // of both sides
  Duration elapsed{};
  IdleMode idle = IdleMode::spin;

  // The percentiles of such a row are those of the scheduler: a hundredth of the time was taken or waited for, or a
  // side that busy-polls was interrupted ten times per second or more.
  [[nodiscard]] bool spoilt() const noexcept;
};

class DisturbanceMeter {
 public:
  // This process, and the other side's; 0: there is none.
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
