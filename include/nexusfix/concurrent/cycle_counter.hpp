// The processor's cycle counter, for time stamps that cost a few nanoseconds. Thread: any. Cost: about 10 ns, no fence:
// neighbouring instructions may be reordered with it by some cycles. Units: ticks of the counter, at a constant rate on
// current processors; nanoseconds of the steady clock on other architectures.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#elif !defined(__aarch64__)
#include <chrono>

#include "nexusfix/base/language.hpp"
#endif

namespace nfx {

[[nodiscard]] inline std::uint64_t cycle_count() noexcept {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t count;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

}  // namespace nfx
