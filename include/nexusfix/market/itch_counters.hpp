// What the ITCH parser and feed count. Thread: their owner's. Cost: one addition each.
#pragma once

#include <array>
#include <cstdint>

#include "nexusfix/base/counter_rows.hpp"

namespace nfx::market {

struct ItchCounters {
  std::uint64_t unknown_type = 0;
  std::uint64_t wrong_length = 0;
  std::uint64_t wrong_side = 0;

  friend bool operator==(const ItchCounters&, const ItchCounters&) = default;
};

struct ItchFeedCounters {
  std::uint64_t snapshots_tried = 0;
  std::uint64_t snapshots_loaded = 0;
  std::uint64_t snapshots_failed = 0;
  std::uint64_t snapshots_refused = 0;

  friend bool operator==(const ItchFeedCounters&, const ItchFeedCounters&) = default;
};

}  // namespace nfx::market

namespace nfx {

template <>
inline constexpr auto counter_rows<market::ItchCounters> = std::to_array<CounterRow<market::ItchCounters>>({
    {&market::ItchCounters::unknown_type, "nfx_itch_ignored_total", "ITCH messages that are ignored.", "reason",
     "unknown_type"},
    {&market::ItchCounters::wrong_length, "nfx_itch_ignored_total", "ITCH messages that are ignored.", "reason",
     "wrong_length"},
    {&market::ItchCounters::wrong_side, "nfx_itch_ignored_total", "ITCH messages that are ignored.", "reason",
     "wrong_side"},
});
static_assert(rows_are_complete<market::ItchCounters>());

template <>
inline constexpr auto counter_rows<market::ItchFeedCounters> = std::to_array<CounterRow<market::ItchFeedCounters>>({
    {&market::ItchFeedCounters::snapshots_tried, "nfx_itch_snapshots_tried_total",
     "Connections begun to load a snapshot."},
    {&market::ItchFeedCounters::snapshots_loaded, "nfx_itch_snapshots_loaded_total",
     "Snapshots after which the feed continued."},
    {&market::ItchFeedCounters::snapshots_failed, "nfx_itch_snapshots_failed_total",
     "Snapshots that did not end: the server refused, closed, was silent or sent something else."},
    {&market::ItchFeedCounters::snapshots_refused, "nfx_itch_snapshots_refused_total",
     "Snapshots that were older than the oldest buffered message."},
});
static_assert(rows_are_complete<market::ItchFeedCounters>());

}  // namespace nfx
