// Events of sessions and of the engine, one line each. A worker writes them, not the threads that record them.
// See deferred_log.hpp for cost, bounds, rotation, full queues and failed disks.
//
//    20240315-12:00:00.123 FIX.4.4:ME->YOU logged out: the peer's text, printable
//    20240315-12:00:00.123 placement: poll0 on CPU 2
//
// Thread: one queue for each thread that serves sessions; other threads share one queue under a mutex.
#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>

#include "log/deferred_log.hpp"

namespace nfx {

class EventLog final : public DeferredLog {
 public:
  class Lane {
   public:
    // On the queue's own thread. `detail` may come from the network: it is made printable, and follows a colon if not
    // empty. no_log_session: a line about the engine itself.
    void record(std::uint32_t session, UtcTime time, std::string_view text, std::string_view detail = {}) noexcept {
      lane_->record(0, session, time, text, detail);
    }

   private:
    friend class EventLog;
    explicit Lane(LogLane& lane) noexcept : lane_(&lane) {}
    LogLane* lane_;
  };

  // `options.lanes` is the number of threads that serve sessions; one more queue is for all others.
  explicit EventLog(DeferredLogOptions options);
  ~EventLog() override { finish(); }

  [[nodiscard]] Lane lane(std::uint32_t thread) { return Lane{lane_at(thread)}; }

  // For a thread without a queue. Takes a lock, so a thread that serves sessions must not call it.
  void record(std::uint32_t session, UtcTime time, std::string_view text, std::string_view detail = {}) noexcept {
    const std::lock_guard lock{others_mutex_};
    others_.hand_over();
    others_.record(0, session, time, text, detail);
  }

 private:
  void append_line(std::string& out, const Line& line) override;
  [[nodiscard]] std::string_view noun() const noexcept override { return "events"; }

  std::mutex others_mutex_;
  LogLane& others_;
};

}  // namespace nfx
