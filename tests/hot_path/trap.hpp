// Counts what the calling thread does that a hot path must not: memory taken or given back, locks, exceptions, system
// calls.
// Thread: each counts for itself, while a Trap lives on it. One Trap per thread at a time.
#pragma once

#include <cstdint>

namespace nfx::test {

struct TrapCounts {
  std::uint64_t allocations = 0;  // malloc, calloc, realloc, aligned ones, operator new, mmap
  std::uint64_t releases = 0;     // free, operator delete, munmap
  std::uint64_t locks = 0;        // pthread_mutex_lock and its like
  std::uint64_t throws = 0;
  std::uint64_t system_calls = 0;  // but those that receive, send or wait for either; see system_calls.hpp
  std::int64_t first_call = -1;    // the number of the first of them

  friend bool operator==(const TrapCounts&, const TrapCounts&) = default;
};

enum class Watch : std::uint8_t {
  everything,
  all_but_system_calls,  // for what is timed: each system call that is watched costs a signal
};

class Trap {
 public:
  explicit Trap(Watch watch = Watch::everything) noexcept;
  ~Trap();
  Trap(const Trap&) = delete;
  Trap& operator=(const Trap&) = delete;

  [[nodiscard]] TrapCounts counts() const noexcept;

  // False in builds whose sanitizer owns these functions.
  [[nodiscard]] static bool works() noexcept;

 private:
  const Watch watch_;
};

}  // namespace nfx::test
