// The steps of TLS handshakes that the poll threads post, and the threads that compute them, in the order of posting.
// Thread: post() and end() from any; run() from each of the threads. Cost: post() is three atomic operations, and a
// system call when a thread sleeps; it takes no lock, so a poll thread never waits for these threads, whose priority is
// lower. Bounded: by the transports, see TlsTransport. Lifetime: the transports end before this. Errors: none.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "engine/thread_watch.hpp"
#include "nexusfix/base/memory.hpp"
#include "nexusfix/concurrent/idle_strategy.hpp"
#include "transport/handshake_executor.hpp"

namespace nfx {

class HandshakeQueue final : public HandshakeExecutor {
 public:
  HandshakeQueue() = default;
  ~HandshakeQueue();  // runs what no thread has run

  void post(HandshakeTask& task) noexcept override;

  // Runs tasks until end() and until there is none left, and reports them to `watch`.
  void run(IdleMode idle, HelperWatch& watch);
  void end() noexcept;

 private:
  [[nodiscard]] HandshakeTask* take() noexcept;

  HandshakeTasks posted_;
  alignas(cache_line) std::atomic<std::uint32_t> changes_{0};  // what threads without work wait for
  std::atomic<bool> ended_{false};
  alignas(cache_line) std::mutex mutex_;  // of the threads that run tasks
  HandshakeTask* oldest_ = nullptr;       // taken from posted_, not run yet
};

}  // namespace nfx
