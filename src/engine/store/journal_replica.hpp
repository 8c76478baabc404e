// Connects a journal with a second store of its records: a gateway of a cluster, or a standby. The journal's ring is
// the queue between the two. The poll thread appends and publishes positions; the replicator reads the records in
// place. Records that it has not taken are not overwritten.
//
//   ... | taken, not committed | appended, step ended | step in progress |
//       ^ committed()          ^ taken()              ^ wanted()         ^ head()
//
// Thread: each function states it; one poll thread, one replicator. Cost: want() is a load, a store and the load of
// WakeSignal::notify(); the replicator reads in place. Bounds: the ring; while it is full the journal's condition is
// busy, and the peer is not read. Lifetime: the journal shares it until its files are closed, so that a replicator with
// the last reference knows that the journal can be opened again. Errors: prepare() may throw StoreError, which ends the
// opening.
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
  // Called after the journal was opened and before its session exists, on the opening thread: compares the journal with
  // the replica, and completes it.
  using Prepare = std::function<void(JournalStore& store, UtcTime now)>;

  // `signal` wakes the replicator.
  JournalReplica(std::shared_ptr<WakeSignal> signal, Prepare prepare)
      : signal_(std::move(signal)), prepare_(std::move(prepare)) {}
  JournalReplica(const JournalReplica&) = delete;
  JournalReplica& operator=(const JournalReplica&) = delete;

  // Called by the poll thread, through the journal.

  // Everything before `position` may be replicated: no step of the session is in progress, or the program sends the
  // records it has so far.
  void want(JournalPosition position) noexcept {
    if (wanted_.load(std::memory_order_relaxed) >= position) return;
    wanted_.store(position, std::memory_order_release);
    signal_->notify();
  }
  [[nodiscard]] const std::atomic<JournalPosition>& released() const noexcept { return committed_; }

  // Called by the replicator.

  using Visit = std::function<bool(const RecordHeader& header, std::string_view body, JournalPosition end)>;
  // Visits the records after taken() that end at `limit` or earlier, in order, until a visit returns false; the next
  // call starts with that record again. `body` is in the ring, and valid only during the visit.
  void take(JournalPosition limit, const Visit& visit);
  [[nodiscard]] JournalPosition taken() const noexcept { return taken_.load(std::memory_order_relaxed); }
  [[nodiscard]] JournalPosition wanted() const noexcept { return wanted_.load(std::memory_order_acquire); }
  [[nodiscard]] JournalPosition committed() const noexcept { return committed_.load(std::memory_order_relaxed); }
  // The end of the last whole record, including a step in progress; for a closed journal, the end of its last record.
  [[nodiscard]] JournalPosition head() const;
  // The journal is closed: records that were not taken are stored here, and nothing follows.
  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }
  // Releases everything before `position` for sending, and wakes the poll threads. A replicator that continues alone
  // may release records that it has not taken.
  void commit(JournalPosition position);
  // Asks the poll thread to end the step in progress and to call want(), for records that no answer follows.
  void ask_for_end_of_step();
  // Permanently stops sending: the journal's condition becomes `failed`, with this text.
  void fence(const std::string& why);

  // Called by the journal, on the threads that open and close it.

  // `changed`: a condition may have changed; `woken`: messages may be sent.
  void call(std::function<void()> woken, std::function<void()> changed);
  void prepare(JournalStore& store, UtcTime now) const {
    if (prepare_) prepare_(store, now);
  }
  // The ring must keep everything after it; unset_position: nothing is needed.
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

  // Protects the ring while it is read, and the members that the opening and closing threads change. The poll thread
  // never locks it.
  alignas(cache_line) mutable std::mutex mutex_;
  detail::JournalWriter* writer_ = nullptr;  // null: not open
  std::atomic<bool> closed_{false};
  JournalPosition end_ = 0;  // of a closed journal
  std::vector<char> rest_;   // records of a closed journal, from taken() on
  JournalPosition rest_begin_ = 0;
  std::string fenced_;  // the reason; empty: not fenced
  std::function<void()> woken_, changed_;
};

}  // namespace nfx
