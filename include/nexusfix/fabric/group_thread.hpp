// The polling thread of one group: the cards at one PCIe switch. It is named and pinned first, and only then makes its
// regions, rails and link, so that their memory is on its node; from then on no other thread uses them.
// Thread: constructor, stop() and destructor from the owner; the program's functions run on the group's thread alone.
// Cost: a clock reading and one virtual call for each iteration. Lifetime: the program is destroyed after its thread
// has ended. Errors: the constructor throws std::runtime_error when the thread cannot be pinned, and what `make`
// throws.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "nexusfix/base/time.hpp"
#include "nexusfix/concurrent/idle_strategy.hpp"
#include "nexusfix/concurrent/worker_thread.hpp"
#include "nexusfix/placement/cpu_set.hpp"

namespace nfx::fabric {

struct GroupOptions {
  std::string name = "nfx-rail-0";  // of the thread, at most 15 characters
  CpuSet cpus;                      // empty: not pinned
  IdleMode idle = IdleMode::spin;
  Duration longest_sleep = std::chrono::microseconds{50};  // with IdleMode::block: rails have nothing that wakes
};

// The program of a group. Its constructor makes regions, rails and a Link.
class GroupProgram {
 public:
  virtual ~GroupProgram() = default;
  // Polls the link, and does the application's work. Returns how much there was; after 0 the thread idles.
  virtual std::size_t step(MonotonicTime now) = 0;
};

class GroupThread {
 public:
  // Returns when `make` has returned on the new thread.
  GroupThread(const GroupOptions& options, std::function<std::unique_ptr<GroupProgram>()> make);
  ~GroupThread();
  GroupThread(const GroupThread&) = delete;
  GroupThread& operator=(const GroupThread&) = delete;

  // Ends the thread, after which the owner may use the program. Calling it again does nothing.
  void stop() noexcept;
  [[nodiscard]] GroupProgram& program() noexcept { return *program_; }

 private:
  WakeSignal signal_;
  std::atomic<bool> stopping_{false};
  std::unique_ptr<GroupProgram> program_;
  std::unique_ptr<WorkerThread> thread_;
};

}  // namespace nfx::fabric
