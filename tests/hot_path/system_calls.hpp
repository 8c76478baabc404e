// Sees every system call of the calling thread, whoever makes it: the kernel hands each one over before it is done
// (syscall user dispatch), and it is done then.
// Thread: each for itself. Cost: a signal per call. Lifetime: from the first watch() on the thread stays prepared.
// Errors: available() is false on other processors than x86-64, and where the kernel cannot (Linux before 5.11).
#pragma once

#include <cstdint>

namespace nfx::test {

struct SystemCalls {
  std::uint64_t other = 0;  // than those that receive, send or wait for either
  std::int64_t first = -1;  // the number of the first of these
};

[[nodiscard]] bool system_calls_available() noexcept;
void watch_system_calls() noexcept;
SystemCalls unwatch_system_calls() noexcept;
[[nodiscard]] SystemCalls system_calls_so_far() noexcept;

}  // namespace nfx::test
