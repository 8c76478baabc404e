// Pins the calling thread, also to CPUs that `nfx host apply` has isolated.
#include "placement/place_thread.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "nexusfix/placement/machine.hpp"

namespace nfx {
namespace {

// Moves the calling thread (cgroup v2: its process) out of the housekeeping group, if it exists: children of a shell in
// that group start inside it. Needs permission to write the cpuset's root.
bool leave_housekeeping_group() {
  const HostFiles files;
  const CpusetHierarchy groups = find_cpusets(files);
  if (groups.version == CpusetHierarchy::Version::none) return true;
  if (!files.exists(groups.mount + '/' + std::string{housekeeping_group})) return true;
  const char* list = groups.version == CpusetHierarchy::Version::v1 ? "/tasks" : "/cgroup.procs";
  const int fd = ::open(files.path(groups.mount + list).c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = ::write(fd, "0", 1) == 1;  // 0: the writing process
  return ::close(fd) == 0 && written;
}

}  // namespace

AffinityResult place_thread(const CpuSet& cpus) {
  const AffinityResult result = CpuAffinity::set(cpus);
  // From several CPUs, the kernel silently drops CPUs that the thread's control group does not contain.
  if (result && CpuAffinity::get() == cpus) return result;
  if (!leave_housekeeping_group()) return result;
  return CpuAffinity::set(cpus);
}

}  // namespace nfx
