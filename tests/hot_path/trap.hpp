// Counts operations of the calling thread that a hot path must not make: allocations and releases of memory, locks,
// exceptions, system calls.
// Thread: each counts for itself, while a Trap exists on it. One Trap per thread at a time.
#pragma once

#include <cstdint>

#include "system_calls.hpp"

namespace nfx::test {

struct TrapCounts {
  std::uint64_t allocations = 0;  // malloc, calloc, realloc, aligned ones, operator new, mmap
  std::uint64_t releases = 0;     // free, operator delete, munmap
  std::uint64_t locks = 0;        // pthread_mutex_lock and similar functions
  std::uint64_t throws = 0;
  std::uint64_t library_allocations = 0;  // within a LibraryCall; not included in allocations and releases
  std::uint64_t library_releases = 0;
  SystemCalls calls;

  // Nothing was counted except allowed system calls, and a library's own operations.
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
  all_but_system_calls,  // for timed code: each watched system call costs a signal
};

class Trap {
 public:
  // Counts every system call outside of `allowed` as unexpected.
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

// While one exists on a thread, allocations and releases of this thread count as a library's.
class LibraryCall {
 public:
  LibraryCall() noexcept;
  ~LibraryCall();
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;
};

}  // namespace nfx::test
