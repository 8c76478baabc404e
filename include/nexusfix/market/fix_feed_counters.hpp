// What a FIX market data feed counts, besides RecoveryCounters and the messages that ended in an error.
// Thread: the feed's. Cost: one addition each.
#pragma once

#include <array>
#include <cstdint>

#include "nexusfix/base/counter_rows.hpp"

namespace nfx::market {

struct FixFeedCounters {
  std::uint64_t entries = 0;
  std::uint64_t statistics = 0;
  std::uint64_t unknown_symbols = 0;
  std::uint64_t unknown_ids = 0;
  std::uint64_t trade_corrections = 0;
  std::uint64_t misfits = 0;
  std::uint64_t table_full = 0;

  friend bool operator==(const FixFeedCounters&, const FixFeedCounters&) = default;
};

}  // namespace nfx::market

namespace nfx {

template <>
inline constexpr auto counter_rows<market::FixFeedCounters> = std::to_array<CounterRow<market::FixFeedCounters>>({
    {&market::FixFeedCounters::entries, "nfx_fix_feed_entries_total", "Entries of W and X that were read."},
    {&market::FixFeedCounters::statistics, "nfx_fix_feed_statistics_total",
     "Entries that change no book, such as opening prices and volumes, left out."},
    {&market::FixFeedCounters::unknown_symbols, "nfx_fix_feed_unknown_symbols_total",
     "Entries of instruments that were not added, left out."},
    {&market::FixFeedCounters::unknown_ids, "nfx_fix_feed_unknown_ids_total",
     "Changes and deletions of entries whose MDEntryID is not known."},
    {&market::FixFeedCounters::trade_corrections, "nfx_fix_feed_trade_corrections_total",
     "Changes and deletions of trades, left out."},
    {&market::FixFeedCounters::misfits, "nfx_fix_feed_misfits_total",
     "Entries that did not fit the book, which needs a snapshot then."},
    {&market::FixFeedCounters::table_full, "nfx_fix_feed_table_full_total",
     "Entries with an identifier for which no place was left, so that the book needs a snapshot."},
});
static_assert(rows_are_complete<market::FixFeedCounters>());

}  // namespace nfx
