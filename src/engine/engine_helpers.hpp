// The helper threads of an engine: flushers, which write journals, and workers, which open and
// close them. As many as [placement] says, one of each where it says nothing.
// Thread: begin() from any; the ends and the destructor from the owner. Lifetime: jobs end, the poll threads' sessions
// go, then this ends. Errors: begin() throws std::system_error when no thread can be had.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/engine_placement.hpp"
#include "engine/session_stores.hpp"
#include "engine/thread_watch.hpp"
#include "nexusfix/config/placement.hpp"
#include "nexusfix/observe/metrics.hpp"

namespace nfx {

class EngineHelpers {
 public:
  // `durable` is called on flushers' threads; see JournalFlusher. `disk` outlives this.
  EngineHelpers(const EngineConfig& config, EnginePlacement& placement, Disk& disk, std::function<void()> durable);
  ~EngineHelpers() { end(); }
  EngineHelpers(const EngineHelpers&) = delete;
  EngineHelpers& operator=(const EngineHelpers&) = delete;

  [[nodiscard]] JournalStores& stores() noexcept { return stores_; }

  // Starts the threads that do not run yet, and returns when each is in its place. Journals need them from the moment
  // they are open.
  void begin();
  // Runs the jobs that wait, and ends the workers. Without begin() the jobs are run here. What comes later is done by
  // whoever asks for it.
  void end_jobs() noexcept;
  // The same, and ends the flushers.
  void end() noexcept;

  // Of a helper by its thread's name, zero for others.
  [[nodiscard]] Duration worst_gap(std::string_view thread) const;
  void add_metrics(MetricsPage& page);

 private:
  // One thread; its watch outlives it.
  struct Helper {
    ThreadRole role;
    std::uint32_t index;
    std::unique_ptr<HelperWatch> watch;
    std::thread thread;
  };

  void add(ThreadRole role, std::uint32_t index);
  void join(ThreadRole role) noexcept;
  void flush(std::uint32_t index, HelperWatch& watch);

  EnginePlacement& placement_;
  const HelperThreads flushers_, workers_;
  JournalStores stores_;
  std::atomic<bool> stop_{false};
  mutable std::mutex mutex_;
  std::vector<Helper> helpers_;
};

}  // namespace nfx
