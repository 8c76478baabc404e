// Reads the processor's own counter, fenced so that the work between two readings is exactly what is timed.
// Thread: any, but both readings of a pair on the same core. Cost: tens of cycles a reading, measured and subtracted.
// One step of the counter may be 10 ns: what is shorter than a microsecond must be timed in batches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#if defined(__x86_64__)
#include <x86intrin.h>
#elif !defined(__aarch64__)
#include <chrono>
#endif

namespace nfx::bench {

#if defined(__x86_64__)

// Everything before has ended, and nothing after it has begun.
[[gnu::always_inline]] inline std::uint64_t ticks_before() noexcept {
  _mm_lfence();
  const std::uint64_t ticks = __rdtsc();
  _mm_lfence();
  return ticks;
}

[[gnu::always_inline]] inline std::uint64_t ticks_after() noexcept {
  unsigned core;
  const std::uint64_t ticks = __rdtscp(&core);  // waits for everything before by itself
  _mm_lfence();
  return ticks;
}

#elif defined(__aarch64__)

[[gnu::always_inline]] inline std::uint64_t ticks_before() noexcept {
  std::uint64_t ticks;
  asm volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
  return ticks;
}

[[gnu::always_inline]] inline std::uint64_t ticks_after() noexcept { return ticks_before(); }

#else

inline std::uint64_t ticks_before() noexcept {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

inline std::uint64_t ticks_after() noexcept { return ticks_before(); }

#endif

// Keeps the compiler from dropping what computes `value`. g++ copies what does not fit in a register if it might be in
// one.
template <typename Value>
[[gnu::always_inline]] inline void keep(const Value& value) noexcept {
  if constexpr (sizeof(Value) <= sizeof(void*)) {
    asm volatile("" : : "r,m"(value) : "memory");
  } else {
    asm volatile("" : : "m"(value) : "memory");
  }
}

struct CycleClock {
  const char* source = "";
  double ticks_per_ns = 1;
  double step_ns = 0;  // what every difference between two readings is a multiple of

  [[nodiscard]] double to_ns(double ticks) const noexcept { return ticks / ticks_per_ns; }
  // What two readings are apart, without what they cost themselves.
  [[nodiscard]] double ns_between(std::uint64_t begin, std::uint64_t end, double own_cost_ticks) const noexcept {
    return to_ns(std::max(0.0, static_cast<double>(end - begin) - own_cost_ticks));
  }
  [[nodiscard]] std::uint64_t ps_between(std::uint64_t begin, std::uint64_t end, double own_cost_ticks) const noexcept {
    return static_cast<std::uint64_t>(ns_between(begin, end, own_cost_ticks) * 1000);
  }
};

// Compares the counter with the kernel's clock for about 100 ms.
[[nodiscard]] CycleClock calibrate_clock() noexcept;

// The mean of those costs that are at most twice the median; reorders them. The counter's step may be as large as the
// cost, so that only a mean has a fraction. 0 of none.
[[nodiscard]] double undisturbed_mean(std::span<double> costs) noexcept;

// What a pair of readings with nothing between them gives: the mean of those that were not interrupted. Subtracted from
// the time of a single operation.
[[nodiscard]] double stamp_cost_ticks() noexcept;

}  // namespace nfx::bench
