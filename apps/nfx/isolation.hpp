// Isolates CPUs of this host during the object's lifetime, like `nfx host apply --runtime` and `nfx host revert`, for
// programs that need it only while they run.
// Thread: the owner's. Errors: std::runtime_error names the failure and the fix; everything is restored then. A killed
// process leaves the record, and `nfx host revert` restores everything.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "nexusfix/placement/cpu_affinity.hpp"

namespace nfx::app {

// The destructor restores everything.
class Isolation {
 public:
  virtual ~Isolation() = default;
  Isolation(const Isolation&) = delete;
  Isolation& operator=(const Isolation&) = delete;

  // One per thread; the same CPU for all if shared().
  [[nodiscard]] const std::vector<int>& cpus() const noexcept { return cpus_; }
  [[nodiscard]] bool shared() const noexcept { return cpus_.size() > 1 && cpus_.front() == cpus_.back(); }
  [[nodiscard]] const CpuSet& housekeeping() const noexcept { return housekeeping_; }

  // Whether SIGINT, SIGTERM or SIGHUP was received; during an Isolation's lifetime they only set this flag. The second
  // signal ends the process.
  [[nodiscard]] virtual bool interrupted() const noexcept = 0;

 protected:
  Isolation(std::vector<int> cpus, CpuSet housekeeping)
      : cpus_(std::move(cpus)), housekeeping_(std::move(housekeeping)) {}

 private:
  std::vector<int> cpus_;
  CpuSet housekeeping_;
};

// Isolates CPUs for this many busy-polling threads; if the host is too small, they share one. Never null. A program
// built without nexusfix::host defines it to refuse.
[[nodiscard]] std::unique_ptr<Isolation> isolate(std::uint32_t spinning_threads);

// The CPUs that isolate() would use. Throws like it if there are none.
[[nodiscard]] std::vector<int> cpus_to_isolate(std::uint32_t spinning_threads);

}  // namespace nfx::app
