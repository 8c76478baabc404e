// A journal's flusher on a separate thread, as in an engine.
// Thread: any. Cost: none after the thread has started.
#pragma once

#include <chrono>

#include "nexusfix/placement/cpu_affinity.hpp"
#include "store/flusher_thread.hpp"

namespace nfx::bench {

// If it may not run there, it runs on its creator's CPUs: results are worse, but correct.
[[nodiscard]] inline FlusherThreadOptions on_cores(const CpuSet& cores) {
  return {.begin = [cores] { static_cast<void>(CpuAffinity::set(cores)); },
          .longest_wait = std::chrono::milliseconds{10}};
}

}  // namespace nfx::bench
