// Opens the stores of sessions, closes them again, and does elsewhere what would keep a poll thread waiting.
// Thread: open() and close() from any; see each class. Errors: StoreError from open(), with file, offset and mend.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "nexusfix/engine/engine_config.hpp"
#include "nexusfix/store/disk.hpp"
#include "nexusfix/store/journal_flusher.hpp"
#include "nexusfix/store/session_store.hpp"

namespace nfx {

class SessionStores {
 public:
  virtual ~SessionStores() = default;
  // With the numbers at which the session begins: those of a journal that has any, otherwise those of the settings.
  [[nodiscard]] virtual SessionStore open(const SessionSettings& settings, UtcTime now) = 0;
  // Brings to disk what is left, which may take as long as the disk does.
  virtual void close(SessionStore store) noexcept = 0;
  // Runs a job on a thread that may wait for disks. False: there is none, run it yourself.
  virtual bool later(std::function<void()> job) = 0;
  // Grows when a store may have come into another condition: then it is time to look.
  [[nodiscard]] std::uint64_t changes() const noexcept { return changes_.load(std::memory_order_acquire); }

 protected:
  std::atomic<std::uint64_t> changes_{0};
};

// Memory alone; a session that wants a journal is refused with a StoreError.
[[nodiscard]] SessionStores& memory_stores() noexcept;

// Memory, and journals with one flusher behind them all.
// Thread: turn() and wait() from one, which may wait for disks; run_jobs() from another, or the same.
class JournalStores final : public SessionStores {
 public:
  // `durable` as JournalFlusher calls it. `disk` outlives this; stores are closed before it goes. With `has_worker`
  // somebody calls run_jobs(); otherwise jobs are left to those who bring them.
  JournalStores(Disk& disk, std::function<void()> durable, bool has_worker);

  [[nodiscard]] SessionStore open(const SessionSettings& settings, UtcTime now) override;
  void close(SessionStore store) noexcept override;
  bool later(std::function<void()> job) override;

  // Of the flusher; see there.
  Duration turn(Instant now) { return flusher_.turn(now); }
  void wait(Duration longest) { flusher_.wait(longest); }
  void wake() noexcept { flusher_.wake(); }

  // Runs jobs until end_jobs(), sleeping in between.
  void run_jobs();
  void end_jobs();  // those that wait are still run

 private:
  Disk& disk_;
  JournalFlusher flusher_;
  bool has_worker_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::function<void()>> jobs_;  // bounded by the sessions there may be: each has one at a time
  bool ending_ = false;
};

}  // namespace nfx
