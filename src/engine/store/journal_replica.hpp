// The seam between a journal and what stores its records a second time: a gateway of a cluster, or a standby. The
// journal's ring is the queue between the two: the poll thread appends and publishes positions, the replicator reads
// the records in place, and what it has not taken is not overwritten.
//
//   ... | taken, not committed | appended, ended | a step that is under way |
//       ^ committed()          ^ taken()         ^ wanted()                 ^ head()
//
// Thread: each function states it; one poll thread, one replicator. Cost: want() is a load, a store and the load of
// WakeSignal::notify(); the replicator reads in place. Bounds: the ring; while it is full the journal's condition is
// busy, and the peer is not read. Lifetime: the journal shares it until its files are closed, so that a replicator that
// has the last reference knows that the journal can be opened again. Errors: prepare() may throw StoreError, which ends
// the opening.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/base/memory.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/concurrent/worker_thread.hpp"
#include "store/journal_format.hpp"

namespace nfx {

class JournalStore;

namespace detail {
class JournalWriter;
}

class JournalReplica {
 public:
  // Called once the journal is open, before its session exists, on the thread that opens it: compares the journal with
  // the replica, and completes it.
  using Prepare = std::function<void(JournalStore& store, UtcTime now)>;

  // `signal` wakes the replicator.
  JournalReplica(std::shared_ptr<WakeSignal> signal, Prepare prepare)
      : signal_(std::move(signal)), prepare_(std::move(prepare)) {}
  JournalReplica(const JournalReplica&) = delete;
  JournalReplica& operator=(const JournalReplica&) = delete;

  // The poll thread, through the journal.

  // Everything before `position` may be replicated: no step of the session is under way, or its program sends what it
  // has so far.
  void want(JournalPosition position) noexcept {
    if (wanted_.load(std::memory_order_relaxed) >= position) return;
    wanted_.store(position, std::memory_order_release);
    signal_->notify();
  }
  [[nodiscard]] const std::atomic<JournalPosition>& released() const noexcept { return committed_; }

  // The replicator.

  using Visit = std::function<bool(const RecordHeader& header, std::string_view body, JournalPosition end)>;
  // Visits the records after taken() that end at `limit` or before, in order, until one call returns false: that record
  // is visited again. `body` is in the ring, and dead when the visit returns.
  void take(JournalPosition limit, const Visit& visit);
  [[nodiscard]] JournalPosition taken() const noexcept { return taken_.load(std::memory_order_relaxed); }
  [[nodiscard]] JournalPosition wanted() const noexcept { return wanted_.load(std::memory_order_acquire); }
  [[nodiscard]] JournalPosition committed() const noexcept { return committed_.load(std::memory_order_relaxed); }
  // After the last whole record, a step that is under way included; of a journal that is closed, the last one.
  [[nodiscard]] JournalPosition head() const;
  // The journal is closed: what was not taken is stored here, and nothing follows.
  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }
  // What ends before `position` may leave, and the poll threads look. A replicator that continues alone may release
  // what it has not taken.
  void commit(JournalPosition position);
  // The poll thread ends the step that is under way, and calls want(): for records that no answer follows.
  void ask_for_end_of_step();
  // Nothing is sent any more: the journal's condition is `failed`, with this text. For good.
  void fence(const std::string& why);

  // The journal's side, on the threads that open and close it.

  // `changed`: a condition may have changed; `woken`: something may be sent.
  void call(std::function<void()> woken, std::function<void()> changed);
  void prepare(JournalStore& store, UtcTime now) const {
    if (prepare_) prepare_(store, now);
  }
  // The ring holds what is after it; unset_position: nothing is needed.
  [[nodiscard]] JournalPosition needed() const noexcept { return needed_.load(std::memory_order_acquire); }
  void open(detail::JournalWriter& writer, JournalPosition position);
  void close(JournalPosition position);

 private:
  [[nodiscard]] const char* record_at(JournalPosition position) const noexcept;

  const std::shared_ptr<WakeSignal> signal_;
  const Prepare prepare_;

  // Written by the poll thread.
  alignas(cache_line) std::atomic<JournalPosition> wanted_{0};
  // Written by the replicator.
  alignas(cache_line) std::atomic<JournalPosition> committed_{0};
  std::atomic<JournalPosition> taken_{0};
  std::atomic<JournalPosition> needed_{unset_position};

  // Of the ring, while it is read, and of what the threads that open and close the journal change. The poll thread
  // never takes it.
  alignas(cache_line) mutable std::mutex mutex_;
  detail::JournalWriter* writer_ = nullptr;  // null: not open
  std::atomic<bool> closed_{false};
  JournalPosition end_ = 0;  // of a closed journal
  std::vector<char> rest_;   // of a closed journal: from taken() on
  JournalPosition rest_begin_ = 0;
  std::string fenced_;  // why; empty: it is not
  std::function<void()> woken_, changed_;
};

}  // namespace nfx
