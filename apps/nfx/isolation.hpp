// CPUs of this host isolated from everything else for as long as the object lives: what `nfx host apply --runtime` and
// `nfx host revert` do, for programs that need it only while they run.
// Thread: the owner's. Errors: std::runtime_error names what could not be done and the fix; nothing stays changed
// then. A process that is killed leaves the record: `nfx host revert` restores everything.
#pragma once

#include <cstdint>
#include <vector>

#include "nexusfix/placement/cpu_set.hpp"

namespace nfx::app {

class Isolation {
 public:
  // CPUs for this many busy-polling threads; a host too small for that gives them one to share.
  explicit Isolation(std::uint32_t spinning_threads);
  ~Isolation();
  Isolation(const Isolation&) = delete;
  Isolation& operator=(const Isolation&) = delete;

  // The CPUs that it would take. Throws as the constructor does when there are none.
  [[nodiscard]] static std::vector<int> planned(std::uint32_t spinning_threads);

  // One per thread; the same one for all when shared().
  [[nodiscard]] const std::vector<int>& cpus() const noexcept { return cpus_; }
  [[nodiscard]] bool shared() const noexcept { return cpus_.size() > 1 && cpus_.front() == cpus_.back(); }
  [[nodiscard]] const CpuSet& housekeeping() const noexcept { return housekeeping_; }

  // Whether SIGINT, SIGTERM or SIGHUP came; while an Isolation lives they only set this. The second one ends the
  // process.
  [[nodiscard]] static bool interrupted() noexcept;

 private:
  void put_back();

  std::vector<int> cpus_;
  CpuSet housekeeping_;
};

}  // namespace nfx::app
