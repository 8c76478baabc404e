#include "nexusfix/placement/place_thread.hpp"

#include "nexusfix/placement/apply.hpp"

namespace nfx {

AffinityResult place_thread(const CpuSet& cpus) {
  const AffinityResult result = CpuAffinity::set(cpus);
  // Of several CPUs the kernel quietly leaves out those that the group does not have.
  if (result && CpuAffinity::get() == cpus) return result;
  if (leave_housekeeping_group() != 0) return result;
  return CpuAffinity::set(cpus);
}

}  // namespace nfx
