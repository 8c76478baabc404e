// What a feed of JSON messages counts, besides RecoveryCounters and the messages that ended in an error.
// Thread: the feed's. Cost: one addition each.
#pragma once

#include <array>
#include <cstdint>

#include "nexusfix/base/counter_rows.hpp"

namespace nfx::market {

struct JsonFeedCounters {
  std::uint64_t tickers = 0;
  std::uint64_t depth_updates = 0;
  std::uint64_t trades = 0;
  std::uint64_t answers = 0;
  std::uint64_t refusals = 0;
  std::uint64_t old_tickers = 0;
  std::uint64_t other_book = 0;

  friend bool operator==(const JsonFeedCounters&, const JsonFeedCounters&) = default;
};

}  // namespace nfx::market

namespace nfx {

template <>
inline constexpr auto counter_rows<market::JsonFeedCounters> = std::to_array<CounterRow<market::JsonFeedCounters>>({
    {&market::JsonFeedCounters::tickers, "nfx_json_feed_messages_total", "Messages that were read.", "kind", "ticker"},
    {&market::JsonFeedCounters::depth_updates, "nfx_json_feed_messages_total", "Messages that were read.", "kind",
     "depth_update"},
    {&market::JsonFeedCounters::trades, "nfx_json_feed_messages_total", "Messages that were read.", "kind", "trade"},
    {&market::JsonFeedCounters::answers, "nfx_json_feed_messages_total", "Messages that were read.", "kind", "answer"},
    {&market::JsonFeedCounters::refusals, "nfx_json_feed_messages_total", "Messages that were read.", "kind",
     "refusal"},
    {&market::JsonFeedCounters::old_tickers, "nfx_json_feed_old_tickers_total",
     "Book tickers that are not newer than the one before, left out."},
    {&market::JsonFeedCounters::other_book, "nfx_json_feed_other_book_total",
     "Book tickers of instruments with a depth book, and depth updates of those with tickers, left out."},
});
static_assert(rows_are_complete<market::JsonFeedCounters>());

}  // namespace nfx
