// The documentation names every counter of the live feeds.
#include <gtest/gtest.h>

#include "config/doc_table.hpp"
#include "engine/metric_table.hpp"
#include "nexusfix/live/fix_handler.hpp"
#include "nexusfix/live/itch_handler.hpp"
#include "nexusfix/live/live_feed.hpp"
#include "nexusfix/live/websocket_handler.hpp"
#include "nexusfix/recording/recording.hpp"

namespace nfx::market {
namespace {

TEST(FeedMetrics, the_documentation_has_every_row) {
  nfx::test::MetricTable table{"metric of a feed"};
  table.add("nfx_feed_live", "feed", "gauge", "1 while every book of the feed equals the venue's, otherwise 0.");
  table.add("nfx_feed_lag_seconds", "feed", "gauge", "Age of the newest event when the books had it.");
  table.add_counters<LiveCounters>("feed");
  table.add_counters<FeedBooksCounters>("feed");
  table.add_counters<FeedSocketCounters>("feed");
  table.add_counters<UdpCounters>("feed, line");
  table.add_counters<MoldCounters>("feed");
  table.add_counters<ItchCounters>("feed");
  table.add_counters<ItchFeedCounters>("feed");
  table.add_counters<WebsocketFeedCounters>("feed");
  table.add_counters<JsonFeedCounters>("feed");
  table.add_counters<FixHandlerCounters>("feed");
  table.add_counters<FixFeedCounters>("feed");
  table.add_counters<RecoveryCounters>("feed");
  table.add_counters<RecorderCounters>("feed");
  nfx::test::expect_table_in("docs/metrics.md", table.text());
}

}  // namespace
}  // namespace nfx::market
