// CPUs of this host isolated from everything else for as long as the object lives: what `nfx host apply --runtime` and
// `nfx host revert` do, for programs that need it only while they run.
// Thread: the owner's. Errors: std::runtime_error names what could not be done and the fix; nothing stays changed
// then. A process that is killed leaves the record: `nfx host revert` restores everything.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "nexusfix/placement/cpu_affinity.hpp"

namespace nfx::app {

// Its end restores everything.
class Isolation {
 public:
  virtual ~Isolation() = default;
  Isolation(const Isolation&) = delete;
  Isolation& operator=(const Isolation&) = delete;

  // One per thread; the same one for all when shared().
  [[nodiscard]] const std::vector<int>& cpus() const noexcept { return cpus_; }
  [[nodiscard]] bool shared() const noexcept { return cpus_.size() > 1 && cpus_.front() == cpus_.back(); }
  [[nodiscard]] const CpuSet& housekeeping() const noexcept { return housekeeping_; }

  // Whether SIGINT, SIGTERM or SIGHUP came; while an Isolation lives they only set this. The second one ends the
  // process.
  [[nodiscard]] virtual bool interrupted() const noexcept = 0;

 protected:
  Isolation(std::vector<int> cpus, CpuSet housekeeping)
      : cpus_(std::move(cpus)), housekeeping_(std::move(housekeeping)) {}

 private:
  std::vector<int> cpus_;
  CpuSet housekeeping_;
};

// CPUs for this many busy-polling threads; a host too small for that gives them one to share. Never null. A program
// that is built without nexusfix::host defines it as a refusal.
[[nodiscard]] std::unique_ptr<Isolation> isolate(std::uint32_t spinning_threads);

// The CPUs that isolate() would take. Throws as it does when there are none.
[[nodiscard]] std::vector<int> cpus_to_isolate(std::uint32_t spinning_threads);

}  // namespace nfx::app
