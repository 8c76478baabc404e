// Opens the stores of sessions, closes them again, and runs on other threads what would block a poll thread.
// Thread: open() and close() from any; see each class. Errors: StoreError from open(), with file, offset and what to
// do.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/thread_watch.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/concurrent/idle_strategy.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "store/disk.hpp"
#include "store/journal_flusher.hpp"
#include "store/session_store.hpp"
#include "store/template_stores.hpp"

namespace nfx {

class SessionStores {
 public:
  virtual ~SessionStores() = default;
  // Opens with the session's first sequence numbers: from the journal if it has any, otherwise from the settings. If
  // the session's journal is still being closed, it waits for that, two seconds at most.
  [[nodiscard]] virtual SessionStore open(const SessionSettings& settings, UtcTime now) = 0;
  // Writes the rest to disk and waits for it. `session` is its identity().
  virtual void close(std::string_view session, SessionStore store) noexcept = 0;
  // Runs a job on a thread that may wait for disks; the jobs of one session one after the other, in order. False: there
  // is no such thread, and the caller has to run it.
  virtual bool later(std::string_view session, std::function<void()> job) = 0;
  // Grows when the condition of a store may have changed and should be checked.
  [[nodiscard]] std::uint64_t changes() const noexcept { return changes_.load(std::memory_order_acquire); }

 protected:
  std::atomic<std::uint64_t> changes_{0};
};

// Memory alone; a session that wants a journal is refused with a StoreError.
[[nodiscard]] SessionStores& memory_stores() noexcept;

// The threads that JournalStores uses besides the poll threads.
struct StoreHelpers {
  std::uint32_t flushers = 1;  // at least one
  // Threads that call run_jobs(); 0: jobs run on the thread that adds them.
  std::uint32_t workers = 0;
};

// Stores in memory, and journals that flushers write to disk. A journal goes to the flusher that its settings name,
// otherwise to the one with the fewest journals; the first of them if several have equally few. So journals opened in
// the same order get the same flushers. A journal stays with its flusher until it is closed. Thread: each flusher's
// turn() and wait() from its own thread, which may wait for disks; run_jobs() from one thread for each worker.
class JournalStores final : public SessionStores {
 public:
  // `durable` as JournalFlusher calls it, from all flushers. `disk` outlives this; stores are closed before it goes.
  // `limits` of the journals of templates' sessions, beyond which open() throws StoreRefusal.
  JournalStores(Disk& disk, std::function<void()> durable, StoreHelpers helpers = {}, TemplateStoreLimits limits = {});
  ~JournalStores() override;

  [[nodiscard]] SessionStore open(const SessionSettings& settings, UtcTime now) override;
  void close(std::string_view session, SessionStore store) noexcept override;
  bool later(std::string_view session, std::function<void()> job) override;

  [[nodiscard]] std::uint32_t flushers() const noexcept { return static_cast<std::uint32_t>(flushers_.size()); }
  [[nodiscard]] JournalFlusher& flusher(std::uint32_t number = 0) { return *flushers_.at(number); }
  [[nodiscard]] std::uint32_t workers() const noexcept { return static_cast<std::uint32_t>(workers_.size()); }

  // Runs the jobs of one worker until end_jobs(), and reports them to `watch`. When idle the thread sleeps or
  // busy-polls.
  void run_jobs(std::uint32_t worker = 0, IdleMode idle = IdleMode::block, HelperWatch* watch = nullptr);
  void end_jobs();  // waiting jobs are still run

 private:
  struct Worker;

  [[nodiscard]] JournalFlusher& flusher_for(const SessionSettings& settings);
  [[nodiscard]] SessionStore open_journal(const SessionSettings& settings, UtcTime now);
  void wait_until_closed(const std::string& session);

  Disk& disk_;
  TemplateStores template_stores_;
  std::function<void()> woken_, changed_;  // for replicas: something may leave; also, a condition may have changed
  std::vector<std::unique_ptr<JournalFlusher>> flushers_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::mutex closing_mutex_;
  std::condition_variable closed_;
  std::multiset<std::string> closing_;  // the sessions whose journals wait for a worker to close them
};

}  // namespace nfx
