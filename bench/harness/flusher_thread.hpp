// A journal's flusher on a thread of its own, as an engine has one.
// Thread: any. Cost: none after the thread began.
#pragma once

#include <chrono>

#include "nexusfix/placement/cpu_affinity.hpp"
#include "store/flusher_thread.hpp"

namespace nfx::bench {

// Where it may not run there, it runs on the CPUs of the thread that made it: results are worse, but correct.
[[nodiscard]] inline FlusherThreadOptions on_cores(const CpuSet& cores) {
  return {.begin = [cores] { static_cast<void>(CpuAffinity::set(cores)); },
          .longest_wait = std::chrono::milliseconds{10}};
}

}  // namespace nfx::bench
