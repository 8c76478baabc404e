// What the recovery of numbered updates counts. Thread: its owner's. Cost: one addition each.
#pragma once

#include <array>
#include <cstdint>

#include "nexusfix/base/counter_rows.hpp"

namespace nfx::market {

struct RecoveryCounters {
  std::uint64_t gaps = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t buffered = 0;
  std::uint64_t dropped = 0;
  std::uint64_t late = 0;
  std::uint64_t lost = 0;
  std::uint64_t renumbered = 0;
  std::uint64_t requests = 0;
  std::uint64_t snapshots = 0;
  std::uint64_t snapshots_not_needed = 0;
  std::uint64_t snapshots_too_old = 0;
  std::uint64_t stale = 0;

  friend bool operator==(const RecoveryCounters&, const RecoveryCounters&) = default;
};

}  // namespace nfx::market

namespace nfx {

template <>
inline constexpr auto counter_rows<market::RecoveryCounters> = std::to_array<CounterRow<market::RecoveryCounters>>({
    {&market::RecoveryCounters::gaps, "nfx_feed_gaps_total", "Gaps in the update numbers of an instrument."},
    {&market::RecoveryCounters::duplicates, "nfx_feed_duplicates_total",
     "Updates that were applied or buffered before."},
    {&market::RecoveryCounters::buffered, "nfx_feed_buffered_total", "Updates buffered until a snapshot arrives."},
    {&market::RecoveryCounters::dropped, "nfx_feed_dropped_total",
     "Updates dropped while a snapshot was awaited: the buffer was full, or they have no number."},
    {&market::RecoveryCounters::late, "nfx_feed_late_total", "Missing updates that arrived late and were applied."},
    {&market::RecoveryCounters::lost, "nfx_feed_lost_total",
     "Updates that could not be read or did not fit the book, so that it needs a snapshot."},
    {&market::RecoveryCounters::renumbered, "nfx_feed_renumbered_total",
     "Times that the update numbers of an instrument began again at lower ones."},
    {&market::RecoveryCounters::requests, "nfx_feed_snapshot_requests_total", "Snapshots requested."},
    {&market::RecoveryCounters::snapshots, "nfx_feed_snapshots_total", "Snapshots applied."},
    {&market::RecoveryCounters::snapshots_not_needed, "nfx_feed_snapshots_ignored_total",
     "Snapshots that were not applied.", "reason", "not_needed"},
    {&market::RecoveryCounters::snapshots_too_old, "nfx_feed_snapshots_ignored_total",
     "Snapshots that were not applied.", "reason", "too_old"},
    {&market::RecoveryCounters::stale, "nfx_feed_stale_total", "Times that an instrument became stale."},
});
static_assert(rows_are_complete<market::RecoveryCounters>());

}  // namespace nfx
