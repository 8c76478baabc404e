// Moves the calling thread to CPUs that `nfx host apply` isolates. A program started from a shell in the housekeeping
// group starts there too, and may only use that group's CPUs.
// Thread: any; about the calling one (cgroup v2: its process). Cost: one system call. If the thread has to leave the
// group first, a few more and two small files; this needs permission to write the cpuset's root. Errors:
// AffinityResult.
#pragma once

#include "nexusfix/placement/cpu_affinity.hpp"

namespace nfx {

[[nodiscard]] AffinityResult place_thread(const CpuSet& cpus);

}  // namespace nfx
