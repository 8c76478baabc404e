// Numbered updates of many instruments over a channel that may lose, repeat and reorder them, and the snapshots that
// repair a loss. FIX feeds with RptSeq and websocket feeds with update numbers share it.
// Thread: one owner; no clock, the time is an argument. Cost: a few compares for an update in sequence; no allocation
// after construction. Errors: counters; the book of an instrument that is not live may differ from the venue's. Bounds:
// RecoveryOptions. If an instrument's updates do not fit any more, all its buffered ones are dropped, and only a
// snapshot that includes them is accepted.
//
// An instrument begins as `recovering` and needs a snapshot. A gap makes it `recovering`: later updates are buffered.
// It is live again when the missing update arrives after all, or with a snapshot to which the buffered updates connect.
// Snapshots are requested again after retry_min, with delays that grow up to retry_max, without a limit; after
// `stale_after` the state is `stale`.
//
// A function of the caller applies the entries of an update: bool(InstrumentIndex, const Entry&). False: the entry does
// not fit the book, which needs a snapshot.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/memory.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/market/feed.hpp"

namespace nfx::market {

// The update brings a book that is at `after` or later, and before `last`, to `last`.
struct UpdateRange {
  std::uint64_t after = 0;
  std::uint64_t last = 0;
};

enum class SnapshotUse : std::uint8_t {
  apply,
  not_needed,  // the book is live, and not older
  too_old,     // the buffered updates do not connect to it, or it lacks updates that were dropped
};

// The part that does not depend on the entries: positions, states and requests.
class InstrumentRecovery {
 public:
  explicit InstrumentRecovery(const RecoveryOptions& options);

  [[nodiscard]] InstrumentState state(InstrumentIndex index) const noexcept { return slot(index).state; }
  // The number of the last update that was applied; empty before the first one.
  [[nodiscard]] std::optional<std::uint64_t> position(InstrumentIndex index) const noexcept {
    return slot(index).known ? std::optional{slot(index).position} : std::nullopt;
  }
  [[nodiscard]] const RecoveryCounters& counters() const noexcept { return counters_; }

  // The instrument exists from now on and wants a snapshot.
  void begin(InstrumentIndex index);
  // The next instrument whose snapshot is to be requested at `now`; call it until it is empty, as often as the poll
  // loop runs.
  [[nodiscard]] std::optional<InstrumentIndex> due(MonotonicTime now) noexcept {
    if (waiting_.empty() || now < earliest_ || now < spaced_) [[likely]]
      return std::nullopt;
    return next_due(now);
  }
  // due() gives nothing before, unless another instrument stops being live.
  [[nodiscard]] MonotonicTime due_at() const noexcept {
    return waiting_.empty() ? MonotonicTime::max() : std::max(earliest_, spaced_);
  }
  // Instruments that are not live.
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }
  // The venue refused the request: the next one is after retry_max.
  void refused(InstrumentIndex index, MonotonicTime now) noexcept;

 protected:
  static constexpr std::uint32_t none = 0;

  struct Slot {
    std::uint64_t position = 0;  // of the book
    std::uint64_t needed = 0;    // a snapshot with a lower number lacks what was dropped
    MonotonicTime since{};       // it is not live
    MonotonicTime next_request{};
    Duration wait{};
    std::uint32_t first = none;  // buffered
    std::uint32_t last = none;
    std::uint32_t old_updates = 0;  // consecutive
    std::uint32_t old_snapshots = 0;
    std::uint32_t waiting = 0;  // its place in waiting_, if it is not live
    InstrumentState state = InstrumentState::live;
    bool known = false;   // position is
    bool intact = false;  // the book equals the venue's at `position`
    bool timed = false;   // `since` is set
  };

  [[nodiscard]] Slot& slot(InstrumentIndex index) noexcept {
    NFX_ASSERT(std::to_underlying(index) < slots_.size());
    return slots_[std::to_underlying(index)];
  }
  [[nodiscard]] const Slot& slot(InstrumentIndex index) const noexcept {
    NFX_ASSERT(std::to_underlying(index) < slots_.size());
    return slots_[std::to_underlying(index)];
  }
  void stop_being_live(InstrumentIndex index) noexcept;
  void become_live(InstrumentIndex index) noexcept;

  RecoveryOptions options_;
  RecoveryCounters counters_;

 private:
  [[gnu::cold, gnu::noinline]] std::optional<InstrumentIndex> next_due(MonotonicTime now) noexcept;

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> waiting_;  // instruments that are not live
  std::size_t cursor_ = 0;
  MonotonicTime earliest_ = MonotonicTime::min();  // no request is due before
  MonotonicTime spaced_ = MonotonicTime::min();    // nor before request_spacing is over
};

template <class Entry>
  requires std::is_trivially_copyable_v<Entry>
class UpdateRecovery : public InstrumentRecovery {
 public:
  explicit UpdateRecovery(const RecoveryOptions& options)
      : InstrumentRecovery(options),
        pool_(map_array<Held>(std::size_t{options.buffered_entries} + 1, "buffered updates; lower buffered_entries")) {}

  // A complete update. True if the book is live after it.
  template <class Apply>
  bool update(InstrumentIndex index, UpdateRange range, std::span<const Entry> entries, Apply&& apply) {
    Slot& at = slot(index);
    NFX_ASSERT(range.after < range.last);
    if (at.state == InstrumentState::live && (!at.known || (range.after <= at.position && range.last > at.position)))
        [[likely]] {
      apply_all(index, at, range.last, entries, apply);
      return at.state == InstrumentState::live;
    }
    return out_of_sequence(index, at, range, entries, apply);
  }

  // An update without a number, of a feed in the venue's order: applied when the book is live, otherwise dropped,
  // because the snapshot will include it.
  template <class Apply>
  bool update_in_order(InstrumentIndex index, std::span<const Entry> entries, Apply&& apply) {
    Slot& at = slot(index);
    if (at.state != InstrumentState::live) {
      ++counters_.dropped;
      return false;
    }
    for (const Entry& entry : entries) {
      if (!apply(index, entry)) {
        lost(index);
        return false;
      }
    }
    return true;
  }

  // Whether a snapshot with this number may be applied now. Counts it. Without a number it is newer than everything
  // before it.
  [[nodiscard]] SnapshotUse check_snapshot(InstrumentIndex index, std::optional<std::uint64_t> number) {
    Slot& at = slot(index);
    if (!number) return SnapshotUse::apply;
    if (at.state == InstrumentState::live) {
      if (!at.known || *number > at.position) return SnapshotUse::apply;
      ++counters_.snapshots_not_needed;
      return SnapshotUse::not_needed;
    }
    const bool older = *number < at.needed || (at.known && at.intact && *number < at.position);
    if (!older && connects(at, *number)) return SnapshotUse::apply;
    ++counters_.snapshots_too_old;
    if (++at.old_snapshots >= options_.old_snapshots_max) {
      ++counters_.renumbered;
      forget(index);
    }
    return SnapshotUse::too_old;
  }

  // The book was replaced by the snapshot: applies the buffered updates that follow it. True if it is live then.
  template <class Apply>
  bool snapshot_applied(InstrumentIndex index, std::optional<std::uint64_t> number, Apply&& apply) {
    Slot& at = slot(index);
    ++counters_.snapshots;
    if (!number) release(at);
    at.known = number.has_value();
    at.position = number.value_or(0);
    at.intact = true;
    at.needed = 0;
    at.old_snapshots = at.old_updates = 0;
    return catch_up(index, at, apply);
  }

  // Something of the instrument was lost or could not be read: its book needs a snapshot.
  [[gnu::cold, gnu::noinline]] void lost(InstrumentIndex index) {
    Slot& at = slot(index);
    ++counters_.lost;
    if (at.known) at.needed = std::max(at.needed, at.position);
    at.intact = false;
    stop_being_live(index);
  }

  // A new connection, or numbers that begin again: any snapshot is accepted, nothing before it is applied.
  [[gnu::cold, gnu::noinline]] void forget(InstrumentIndex index) {
    Slot& at = slot(index);
    release(at);
    at.known = at.intact = false;
    at.position = at.needed = 0;
    at.old_updates = at.old_snapshots = 0;
    stop_being_live(index);
  }

  [[nodiscard]] std::uint32_t buffered() const noexcept { return held_; }

 private:
  // The entries of an update follow each other; updates are in the order of their last numbers.
  struct Held {
    Entry entry;
    UpdateRange range;
    std::uint32_t next;  // also the next free one
    std::uint32_t previous;
  };
  // How far from the newest update the place of a late one is searched.
  static constexpr unsigned search_max = 1024;

  template <class Apply>
  void apply_all(InstrumentIndex index, Slot& at, std::uint64_t last, std::span<const Entry> entries, Apply& apply) {
    at.old_updates = 0;
    for (const Entry& entry : entries) {
      if (!apply(index, entry)) [[unlikely]] {
        lost(index);
        return;
      }
    }
    at.position = last;
    at.known = true;
  }

  template <class Apply>
  [[gnu::noinline]] bool out_of_sequence(InstrumentIndex index, Slot& at, UpdateRange range,
                                         std::span<const Entry> entries, Apply& apply) {
    if (at.known && range.last <= at.position) {
      ++counters_.duplicates;
      if (++at.old_updates >= options_.old_updates_max) {
        ++counters_.renumbered;
        forget(index);
      }
      return at.state == InstrumentState::live;
    }
    if (at.state == InstrumentState::live) {
      ++counters_.gaps;
      stop_being_live(index);
    } else if (at.known && at.intact && range.after <= at.position) {
      ++counters_.late;
      apply_all(index, at, range.last, entries, apply);
      return at.intact && catch_up(index, at, apply);
    }
    hold(at, range, entries);
    return false;
  }

  // Applies what is buffered and connects. Live if nothing is left.
  template <class Apply>
  bool catch_up(InstrumentIndex index, Slot& at, Apply& apply) {
    while (at.first != none) {
      const UpdateRange range = pool_[at.first].range;
      if (at.known && range.last > at.position && range.after > at.position) break;
      const bool old = at.known && range.last <= at.position;
      while (at.first != none && pool_[at.first].range.last == range.last) {
        const bool fits = old || apply(index, std::as_const(pool_[at.first].entry));
        release_first(at);
        if (!fits) {
          lost(index);
          return false;
        }
      }
      if (!old) at.position = range.last;
      at.known = true;
    }
    // The dropped updates are newer than the one that was missing.
    if (at.first != none || (at.known && at.position < at.needed)) return false;
    become_live(index);
    return true;
  }

  // Whether the oldest buffered update that is newer than the snapshot follows it without a gap.
  [[nodiscard]] bool connects(const Slot& at, std::uint64_t number) const noexcept {
    for (std::uint32_t i = at.first; i != none; i = pool_[i].next) {
      if (pool_[i].range.last > number) return pool_[i].range.after <= number;
    }
    return true;
  }

  void hold(Slot& at, UpdateRange range, std::span<const Entry> entries) {
    std::uint32_t before = at.last;
    for (unsigned step = 0; before != none && pool_[before].range.last > range.last; ++step) {
      if (step == search_max) return drop(at, range);
      before = pool_[before].previous;
    }
    if (before != none && pool_[before].range.last == range.last) {
      ++counters_.duplicates;
      return;
    }
    if (options_.buffered_entries - held_ < entries.size()) {
      release(at);
      return drop(at, range);
    }
    for (const Entry& entry : entries) {
      const std::uint32_t node = take();
      const std::uint32_t after = before == none ? at.first : pool_[before].next;
      pool_[node] = {entry, range, after, before};
      (before == none ? at.first : pool_[before].next) = node;
      (after == none ? at.last : pool_[after].previous) = node;
      before = node;
    }
    ++counters_.buffered;
  }

  [[gnu::cold, gnu::noinline]] void drop(Slot& at, UpdateRange range) noexcept {
    ++counters_.dropped;
    at.needed = std::max(at.needed, range.last);
  }

  [[nodiscard]] std::uint32_t take() noexcept {
    ++held_;
    if (free_ == none) return ++used_;
    return std::exchange(free_, pool_[free_].next);
  }
  void release_first(Slot& at) noexcept {
    const std::uint32_t node = at.first;
    NFX_ASSERT(node != none && held_ != 0);
    at.first = pool_[node].next;
    (at.first == none ? at.last : pool_[at.first].previous) = none;
    pool_[node].next = free_;
    free_ = node;
    --held_;
  }
  // Drops everything that is buffered; the snapshot has to include it.
  void release(Slot& at) noexcept {
    if (at.last != none) at.needed = std::max(at.needed, pool_[at.last].range.last);
    while (at.first != none) release_first(at);
  }

  PageArray<Held> pool_;  // from 1 on
  std::uint32_t used_ = 0;
  std::uint32_t free_ = none;
  std::uint32_t held_ = 0;
};

}  // namespace nfx::market
