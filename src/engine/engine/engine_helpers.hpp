// The helper threads of an engine: flushers write journals, workers open and close them, and handshake threads compute
// TLS handshakes. [placement] sets the number of each (default one).
// Thread: begin() and begin_handshakes() from any; end_jobs(), end() and the destructor from the owner. Lifetime:
// end_jobs(), then the poll threads' sessions are destroyed, then end(). Errors: begin() and begin_handshakes() throw
// std::system_error when no thread can be started.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "config/placement.hpp"
#include "engine/engine_placement.hpp"
#include "engine/handshake_queue.hpp"
#include "engine/metrics.hpp"
#include "engine/session_stores.hpp"
#include "engine/thread_watch.hpp"

namespace nfx {

class EngineHelpers {
 public:
  // `durable` is called on flushers' threads; see JournalFlusher. `disk` outlives this.
  EngineHelpers(const EngineConfig& config, EnginePlacement& placement, Disk& disk, std::function<void()> durable);
  ~EngineHelpers() { end(); }
  EngineHelpers(const EngineHelpers&) = delete;
  EngineHelpers& operator=(const EngineHelpers&) = delete;

  [[nodiscard]] JournalStores& stores() noexcept { return stores_; }
  [[nodiscard]] HandshakeExecutor& handshakes() noexcept { return handshakes_; }

  // Starts the flushers and workers that do not run yet, and returns when each is in its place. An open journal needs
  // them.
  void begin();
  // The same for the threads that compute handshakes. A poll thread with TLS needs them.
  void begin_handshakes();
  // Runs the jobs that wait, and ends the workers. Without begin() the jobs are run here. Jobs that are added
  // afterwards run on the thread that adds them.
  void end_jobs() noexcept;
  // The same, and ends the flushers and the threads that compute handshakes.
  void end() noexcept;

  // The worst gap of the helper with this thread name, zero for any other name.
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

  // Those of a role that do not run yet.
  void add_all(ThreadRole role, std::uint32_t threads);
  void add(ThreadRole role, std::uint32_t index);
  void serve(ThreadRole role, std::uint32_t index, HelperWatch& watch);
  void join(ThreadRole role) noexcept;
  void flush(std::uint32_t index, HelperWatch& watch);

  EnginePlacement& placement_;
  const HelperThreads flushers_, workers_, handshakers_;
  JournalStores stores_;
  HandshakeQueue handshakes_;
  std::atomic<bool> stop_{false};
  mutable std::mutex mutex_;
  std::vector<Helper> helpers_;
};

}  // namespace nfx
