// Forks processes that compute, walk memory and call the kernel, as background load for the demonstration and tests.
#include "noisy_processes.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <system_error>

namespace nfx::app {
namespace {

// Larger than a second-level cache, so that it occupies its share of the last-level cache too.
constexpr std::size_t memory_size = std::size_t{8} << 20;

[[noreturn]] void make_noise() {
  std::vector<std::uint64_t> memory(memory_size / sizeof(std::uint64_t), 1);
  const int sink = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  std::uint64_t state = 88172645463325252;
  for (;;) {
    for (int i = 0; i < 4096; ++i) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      memory[state % memory.size()] += state;
    }
    if (::write(sink, &state, sizeof state) < 0) state |= 1;
  }
}

}  // namespace

NoisyProcesses::NoisyProcesses(unsigned count) {
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  for (unsigned i = 0; i < count; ++i) {
    const pid_t pid = ::fork();
    if (pid < 0) {
      const int error = errno;
      stop();
      throw std::system_error{error, std::generic_category(), "cannot start a noisy process"};
    }
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::prctl(PR_SET_NAME, "noisy");
      if (::getppid() != parent) ::_exit(1);
      make_noise();
    }
    pids_.push_back(pid);
  }
}

NoisyProcesses::~NoisyProcesses() { stop(); }

void NoisyProcesses::stop() noexcept {
  for (const pid_t pid : pids_) ::kill(pid, SIGKILL);
  for (const pid_t pid : pids_) ::waitpid(pid, nullptr, 0);
  pids_.clear();
}

}  // namespace nfx::app
