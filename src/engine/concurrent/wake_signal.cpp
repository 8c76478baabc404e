// The futex and membarrier calls of WakeSignal. Only a sleeping thread and the thread that wakes it execute them.
#include "nexusfix/concurrent/worker_thread.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "nexusfix/base/assert.hpp"

namespace nfx {
namespace {

bool register_barrier() noexcept {
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

}  // namespace

WakeSignal::WakeSignal() noexcept : has_barrier_(register_barrier()) {}

void WakeSignal::announce() noexcept {
  NFX_ASSERT(sleeping_.load(std::memory_order_relaxed) == 0);  // only one thread may sleep here
  sleeping_.store(1, std::memory_order_seq_cst);
  if (has_barrier_) ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

void WakeSignal::wait(Duration longest) noexcept {
  const Duration limit = std::clamp(has_barrier_ ? longest : std::min(longest, fallback_sleep), Duration::zero(),
                                    Duration{INT32_MAX} * 1000);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  const timespec time{static_cast<std::time_t>(seconds.count()), static_cast<long>((limit - seconds).count())};
  NFX_ASSERT(time.tv_sec >= 0 && time.tv_nsec >= 0 && time.tv_nsec < 1'000'000'000);
  // A wait that is interrupted or no longer needed returns early; the caller checks its queues again.
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&sleeping_), FUTEX_WAIT_PRIVATE, 1U, &time, nullptr, 0);
}

void WakeSignal::wake() noexcept {
  if (sleeping_.exchange(0, std::memory_order_seq_cst) == 0) return;
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&sleeping_), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace nfx
