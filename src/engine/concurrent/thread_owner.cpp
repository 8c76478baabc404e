// Distinguishes a thread that has ended from one that still runs, so that ownership can pass on after join().
#include "nexusfix/concurrent/spsc_queue.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace nfx {
namespace {

bool runs(std::int32_t thread) noexcept { return ::syscall(SYS_tgkill, ::getpid(), thread, 0) == 0 || errno != ESRCH; }

}  // namespace

std::int32_t ThreadOwner::this_thread() noexcept {
  static thread_local const auto number = static_cast<std::int32_t>(::syscall(SYS_gettid));
  return number;
}

bool ThreadOwner::take() noexcept {
  std::int32_t owner = thread_.load(std::memory_order_relaxed);
  // The kernel still finds a thread for some microseconds after join() returns.
  for (int tries = 0; owner != none && runs(owner); ++tries) {
    if (tries == 1000) return false;
    ::sched_yield();
  }
  return thread_.compare_exchange_strong(owner, this_thread(), std::memory_order_relaxed);
}

}  // namespace nfx
