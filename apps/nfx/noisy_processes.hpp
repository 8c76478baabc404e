// Processes that use all the CPU time they get, as on a busy host: compute, walk through memory, call the
// kernel. Thread: the owner's. Errors: std::system_error when a process cannot be made. Lifetime: they end with the
// object, and with the process that made them, however that one ends.
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
