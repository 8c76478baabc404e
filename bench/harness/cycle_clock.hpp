// Reads the processor's own counter, with fences so that exactly the work between two readings is timed.
// Thread: any, but both readings of a pair on the same core. Cost: tens of cycles per reading, measured and subtracted.
// One step of the counter may be 10 ns, so work shorter than a microsecond must be timed in batches.
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

// Everything before has completed, and nothing after has started.
[[gnu::always_inline]] inline std::uint64_t ticks_before() noexcept {
  _mm_lfence();
  const std::uint64_t ticks = __rdtsc();
  _mm_lfence();
  return ticks;
}

[[gnu::always_inline]] inline std::uint64_t ticks_after() noexcept {
  unsigned core;
  const std::uint64_t ticks = __rdtscp(&core);  // waits for everything before it
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

// Prevents the compiler from removing the computation of `value`. g++ copies a value that does not fit into a register
// if it might be in one.
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
  double step_ns = 0;  // unit of all differences between two readings

  [[nodiscard]] double to_ns(double ticks) const noexcept { return ticks / ticks_per_ns; }
  // The time between two readings, without the cost of the readings themselves.
  [[nodiscard]] double ns_between(std::uint64_t begin, std::uint64_t end, double own_cost_ticks) const noexcept {
    return to_ns(std::max(0.0, static_cast<double>(end - begin) - own_cost_ticks));
  }
  [[nodiscard]] std::uint64_t ps_between(std::uint64_t begin, std::uint64_t end, double own_cost_ticks) const noexcept {
    return static_cast<std::uint64_t>(ns_between(begin, end, own_cost_ticks) * 1000);
  }
};

// Compares the counter with the kernel's clock for about 100 ms.
[[nodiscard]] CycleClock calibrate_clock() noexcept;

// The mean of the costs up to twice the median; reorders them. The counter's step may be as large as the cost, so only
// a mean has fractions. 0 without costs.
[[nodiscard]] double undisturbed_mean(std::span<double> costs) noexcept;

// The result of a pair of readings with nothing between them: the mean of undisturbed pairs. Subtracted from the time
// of a single operation.
[[nodiscard]] double stamp_cost_ticks() noexcept;

}  // namespace nfx::bench
