// Counts what the calling thread does that a hot path must not: memory taken or given back, locks, exceptions, system
// calls.
// Thread: each counts for itself, while a Trap lives on it. One Trap per thread at a time.
#pragma once

#include <cstdint>

#include "system_calls.hpp"

namespace nfx::test {

struct TrapCounts {
  std::uint64_t allocations = 0;  // malloc, calloc, realloc, aligned ones, operator new, mmap
  std::uint64_t releases = 0;     // free, operator delete, munmap
  std::uint64_t locks = 0;        // pthread_mutex_lock and its like
  std::uint64_t throws = 0;
  std::uint64_t library_allocations = 0;  // within a LibraryCall, which allocations and releases do not count
  std::uint64_t library_releases = 0;
  SystemCalls calls;

  // Nothing was counted but system calls that were allowed, and what a library did.
  [[nodiscard]] bool nothing() const noexcept {
    return allocations == 0 && releases == 0 && locks == 0 && throws == 0 && calls.unexpected == 0;
  }
  void add(const TrapCounts& more) noexcept {
    allocations += more.allocations;
    releases += more.releases;
    locks += more.locks;
    throws += more.throws;
    library_allocations += more.library_allocations;
    library_releases += more.library_releases;
    if (calls.unexpected == 0) calls.first = more.calls.first;
    calls.unexpected += more.calls.unexpected;
    for (std::size_t i = 0; i < call_kinds; ++i) calls.counts[i] += more.calls.counts[i];
  }
};

enum class Watch : std::uint8_t {
  everything,
  all_but_system_calls,  // for what is timed: each system call that is watched costs a signal
};

class Trap {
 public:
  // Every system call but those of `allowed` is counted as unexpected.
  explicit Trap(CallSet allowed = {}) noexcept;
  explicit Trap(Watch watch) noexcept;
  ~Trap();
  Trap(const Trap&) = delete;
  Trap& operator=(const Trap&) = delete;

  [[nodiscard]] TrapCounts counts() const noexcept;

  // False in builds whose sanitizer owns these functions.
  [[nodiscard]] static bool works() noexcept;

 private:
  const Watch watch_;
};

// While one lives on a thread, what this thread allocates and releases is counted as a library's.
class LibraryCall {
 public:
  LibraryCall() noexcept;
  ~LibraryCall();
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;
};

}  // namespace nfx::test
