// Writes and syncs the journals of many sessions for the poll threads that fill them. It is a function of time, not a
// thread: its owner calls turn() in a loop, on a housekeeping CPU.
// Thread: turn() from one; everything except wait() from any. Cost: turn() writes and syncs, so it takes as long as the
// disk does. Fairness: in rounds; a session's sync waits for at most one sync of every other journal, each with one
// urgent new segment. Errors: a failed write or sync marks that journal as failed, once; the others continue.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "nexusfix/base/latency_histogram.hpp"
#include "nexusfix/base/time.hpp"
#include "store/journal_store.hpp"

namespace nfx {

class JournalFlusher {
 public:
  // `durable` is called on the flusher's thread, to wake poll threads. It is called after an iteration that advanced
  // the durable position of a journal that holds messages back, or that changed a journal's condition.
  explicit JournalFlusher(std::function<void()> durable = {});
  ~JournalFlusher();
  JournalFlusher(const JournalFlusher&) = delete;
  JournalFlusher& operator=(const JournalFlusher&) = delete;

  // From here on, the store's own sync() and wait_durable() leave the files to this flusher. remove() returns when no
  // turn() works on the store.
  void add(JournalStore& store);
  void remove(JournalStore& store) noexcept;
  [[nodiscard]] std::size_t journals() const noexcept;  // from any thread
  // The duration of each sync in turn(). From any thread.
  [[nodiscard]] const LatencyCounts& syncs() const noexcept;

  // From now on a separate thread allocates and maps memory for rings, so that turn() never waits for memory. turn()
  // starts the thread when it first needs it. Without this call, turn() does the work itself, in slices. `in_place`
  // runs its argument on that thread, on the right CPUs: not on the CPU of a busy-polling flusher. Call it once, before
  // the first turn().
  void wait_for_memory_elsewhere(std::function<void(const std::function<void()>& run)> in_place = {});

  // Writes collected records, syncs when due, prepares segments in slices, and archives and removes old segments.
  // Returns the time until something is due: zero if there is more to do now.
  Duration turn(Instant now);

  // Sleeps until a sync is requested, a ring is half full, a stop is requested, or `longest` has passed.
  void wait(Duration longest);
  void wake() noexcept;  // ends a wait, or the next one; also from a signal handler

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nfx
