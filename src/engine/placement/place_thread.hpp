// Puts the calling thread onto CPUs that `nfx host apply` isolates: a program started from a shell
// that was moved begins in the housekeeping group, whose CPUs are all it may use. Thread: any; about the calling
// one (cgroup v2: its process). Cost: one system call, a few more and two small files when the thread has to leave the
// group first, which needs the rights to write the cpuset's root. Errors: AffinityResult.
#pragma once

#include "nexusfix/placement/cpu_affinity.hpp"

namespace nfx {

[[nodiscard]] AffinityResult place_thread(const CpuSet& cpus);

}  // namespace nfx
