// Which thread owns something that only one thread at a time may use, such as the producer's side of a ring: for
// assertions. The first thread that calls is_mine() is the owner. Ownership passes on with hand_over(), or once the
// owner has ended.
// Thread: is_mine() from any; hand_over() from the owner, or while no thread uses what is owned.
// Cost: none in release builds, where nothing calls is_mine(); otherwise one load of a line that the owner writes. The
// object has the same size in every build, so that programs and libraries of both kinds can be linked.
#pragma once

#include <atomic>
#include <cstdint>

#include "nexusfix/base/language.hpp"

namespace nfx {

class ThreadOwner {
 public:
  ThreadOwner() noexcept {
#ifndef NDEBUG
    static_cast<void>(this_thread());  // the first call of a thread is a system call, which belongs to construction
#endif
  }

  // Whether the calling thread is the owner, which it becomes when there is none that still runs.
  [[nodiscard]] bool is_mine() noexcept { return thread_.load(std::memory_order_relaxed) == this_thread() || take(); }
  // The next thread that calls is_mine() becomes the owner. The caller orders the memory between the two threads.
  void hand_over() noexcept { thread_.store(none, std::memory_order_relaxed); }

 private:
  static constexpr std::int32_t none = 0;

  [[nodiscard]] static std::int32_t this_thread() noexcept;  // its number in the kernel
  [[nodiscard]] bool take() noexcept;

  std::atomic<std::int32_t> thread_{none};
};
static_assert(sizeof(ThreadOwner) == 4);

}  // namespace nfx
