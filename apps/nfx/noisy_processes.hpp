// Processes that use all available CPU time, as on a busy host: they compute, walk through memory, and call the kernel.
// Thread: the owner's. Errors: std::system_error if a process cannot be created. Lifetime: they end with the object,
// and with the process that created them, however that one ends.
#pragma once

#include <sys/types.h>

#include <vector>

namespace nfx::app {

class NoisyProcesses {
 public:
  explicit NoisyProcesses(unsigned count);
  ~NoisyProcesses();
  NoisyProcesses(const NoisyProcesses&) = delete;
  NoisyProcesses& operator=(const NoisyProcesses&) = delete;

 private:
  void stop() noexcept;

  std::vector<pid_t> pids_;
};

}  // namespace nfx::app
