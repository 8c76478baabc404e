// Writes and syncs the journals of many sessions for the threads that fill them. A function of time, not a thread:
// its owner calls turn() in a loop, on a housekeeping CPU.
// Thread: turn() from one; the rest but wait() from any. Cost: turn() writes and syncs, so it takes as long as
// the disk does. Fairness: rounds; a session's sync waits for at most one sync of each of the others, each with a
// segment that one of them will need soon.
// Errors: a failed write or sync marks that journal failed, once; the others continue.
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
  // `durable` is called on the flusher's thread after an iteration that moved what is durable of a journal that holds
  // messages back, or changed a journal's condition: to wake the poll threads.
  explicit JournalFlusher(std::function<void()> durable = {});
  ~JournalFlusher();
  JournalFlusher(const JournalFlusher&) = delete;
  JournalFlusher& operator=(const JournalFlusher&) = delete;

  // From here on the store's own sync() and wait_durable() leave the files to this flusher. remove() returns when no
  // turn() works on the store.
  void add(JournalStore& store);
  void remove(JournalStore& store) noexcept;
  [[nodiscard]] std::size_t journals() const noexcept;  // from any thread
  // How long each sync took that turn() made. From any thread.
  [[nodiscard]] const LatencyCounts& syncs() const noexcept;

  // From here on memory for rings is allocated and mapped on a thread of its own, which turn() makes when it needs it
  // first: a turn() never waits for memory. Without it turn() does so itself, in slices. `in_place` runs what it is
  // given on that thread, where that belongs: not on the CPU of a flusher that busy-polls. Before the first turn(),
  // once.
  void wait_for_memory_elsewhere(std::function<void(const std::function<void()>& run)> in_place = {});

  // Writes what has gathered, syncs what is due, makes segments ahead in slices, archives and removes what has had its
  // time. Returns how long until something is due: zero when there is more to do now.
  Duration turn(Instant now);

  // Sleeps until a sync is requested, a ring is half full, stop is wanted, or `longest` has passed.
  void wait(Duration longest);
  void wake() noexcept;  // ends a wait, or the next one; also from a signal handler

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nfx
