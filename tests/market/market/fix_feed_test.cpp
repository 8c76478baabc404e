// FIX market data: entries to events, recovery, and what a peer can send.
#include "nexusfix/market/fix_feed.hpp"

#include <gtest/gtest.h>

#include "market/fix_support.hpp"
#include "market/support.hpp"

namespace nfx::market {
namespace {

using test::at_ms;
using test::Books;
using test::whole;

class FixFeedTest : public testing::Test {
 protected:
  FixFeedTest()
      : feed({.recovery = {.instruments = 2, .buffered_entries = 64}, .entries = 16, .depth = 4, .orders = 8}, books) {
    a = *feed.add("A");
    b = *feed.add("B", 3);
  }
  FixFeedError send(std::string_view type, const std::string& body) {
    return feed.message(text(type, body), at_ms(now));
  }
  FixFeedError x(const std::string& entries) { return send("X", entries); }

  Books books{2};
  FixFeed feed;
  test::FixText text;
  InstrumentIndex a, b;
  std::int64_t now = 0;
};

constexpr const char* two_levels = "55=A|83=5|268=3|269=0|270=10|271=3|269=0|270=9|271=4|269=1|270=11|271=1|";

TEST_F(FixFeedTest, a_snapshot_fills_the_book_and_makes_the_instrument_live) {
  EXPECT_EQ(feed.state(a), InstrumentState::recovering);
  EXPECT_EQ(send("W", two_levels), FixFeedError::none);
  EXPECT_EQ(feed.state(a), InstrumentState::live);
  EXPECT_EQ(feed.state(b), InstrumentState::recovering);
  EXPECT_EQ(books.text_of(0, Side::bid), "10x3 9x4 ");
  EXPECT_EQ(books.text_of(0, Side::ask), "11x1 ");
  EXPECT_EQ(books.levels[0]->state(), BookState::live);
  ASSERT_EQ(books.events.size(), 5u);
  EXPECT_FALSE(books.events[3].last());
  EXPECT_TRUE(books.events[4].last());
  EXPECT_EQ(books.events[4].flags & event_flag::snapshot, event_flag::snapshot);
}

TEST_F(FixFeedTest, positions_move_the_levels_after_them_and_depth_drops_the_last) {
  send("W", two_levels);
  EXPECT_EQ(x("268=1|279=0|269=0|55=A|1023=1|270=12|271=7|83=6|"), FixFeedError::none);
  EXPECT_EQ(x("268=2|279=0|269=0|55=A|1023=4|270=8|271=1|83=7|279=0|269=0|1023=3|270=9.5|271=2|83=8|"),
            FixFeedError::none);
  EXPECT_EQ(books.text_of(0, Side::bid), "12x7 10x3 9x2 9x4 ");
  // Without a price, by position alone.
  EXPECT_EQ(x("268=1|279=2|269=0|55=A|1023=2|83=9|"), FixFeedError::none);
  EXPECT_EQ(books.text_of(0, Side::bid), "12x7 9x2 9x4 ");
  EXPECT_EQ(x("268=1|279=1|269=0|55=A|1023=1|271=1|83=10|"), FixFeedError::none);
  EXPECT_EQ(x("268=1|279=5|269=0|55=A|1023=1|270=11|271=5|83=11|"), FixFeedError::none);
  EXPECT_EQ(books.text_of(0, Side::bid), "11x5 9x2 9x4 ");
  EXPECT_EQ(x("268=1|279=3|269=0|55=A|1023=2|83=12|"), FixFeedError::none);
  EXPECT_EQ(books.text_of(0, Side::bid), "9x4 ");
  EXPECT_EQ(x("268=1|279=4|269=0|55=A|1023=1|83=13|"), FixFeedError::none);
  EXPECT_EQ(books.text_of(0, Side::bid), "");
  EXPECT_EQ(feed.state(a), InstrumentState::live);
  EXPECT_EQ(feed.counters().misfits, 0u);
}

TEST_F(FixFeedTest, a_level_out_of_order_does_not_fit_and_a_snapshot_repairs_it) {
  send("W", two_levels);
  EXPECT_EQ(x("268=1|279=0|269=0|55=A|1023=1|270=9.5|271=7|83=6|"), FixFeedError::none);
  EXPECT_EQ(feed.state(a), InstrumentState::recovering);
  EXPECT_EQ(feed.counters().misfits, 1u);
  EXPECT_EQ(books.events.back().flags & event_flag::recovering, event_flag::recovering);
  EXPECT_EQ(books.text_of(0, Side::bid), "10x3 9x4 ");
  // Buffered until the snapshot connects to it.
  EXPECT_EQ(x("268=1|279=0|269=0|55=A|1023=1|270=13|271=1|83=7|"), FixFeedError::none);
  EXPECT_EQ(send("W", "55=A|83=6|268=1|269=0|270=12|271=7|"), FixFeedError::none);
  EXPECT_EQ(feed.state(a), InstrumentState::live);
  EXPECT_EQ(books.text_of(0, Side::bid), "13x1 12x7 ");
}

TEST_F(FixFeedTest, orders_are_known_by_their_identifiers) {
  EXPECT_EQ(send("W", "55=A|268=2|269=0|278=17|270=10|271=3|269=0|278=x1|270=10|271=4|"), FixFeedError::none);
  EXPECT_EQ(books.orders.book(a).orders(), 2u);
  EXPECT_EQ(books.orders.find(a, OrderId{17})->quantity, 3u);
  // Only what changed, and by the symbol of the entry before.
  EXPECT_EQ(x("268=2|279=1|269=0|55=A|278=17|271=2|279=1|269=0|278=x1|270=9|"), FixFeedError::none);
  EXPECT_EQ(books.orders.find(a, OrderId{17})->quantity, 2u);
  EXPECT_EQ(books.orders.find(a, OrderId{std::uint64_t{1} << 63})->price, whole(9));
  EXPECT_EQ(x("268=1|279=1|269=0|55=A|278=18|280=17|270=11|"), FixFeedError::none);
  EXPECT_FALSE(books.orders.find(a, OrderId{17}));
  EXPECT_EQ(books.orders.find(a, OrderId{18})->price, whole(11));
  EXPECT_EQ(x("268=1|279=2|55=A|278=18|"), FixFeedError::none);
  EXPECT_EQ(books.orders.book(a).orders(), 1u);
  EXPECT_EQ(feed.state(a), InstrumentState::live);
  EXPECT_EQ(books.orders.anomalies(), 0u);
}

TEST_F(FixFeedTest, unknown_identifiers_are_counted_and_a_change_of_one_needs_a_snapshot) {
  send("W", "55=A|268=1|269=0|278=17|270=10|271=3|");
  EXPECT_EQ(x("268=1|279=2|269=0|55=A|278=99|"), FixFeedError::none);
  EXPECT_EQ(feed.state(a), InstrumentState::live);
  EXPECT_EQ(x("268=1|279=1|269=0|55=A|278=99|271=4|"), FixFeedError::none);
  EXPECT_EQ(feed.state(a), InstrumentState::recovering);
  EXPECT_EQ(feed.counters().unknown_ids, 2u);
}

TEST_F(FixFeedTest, a_known_identifier_cannot_be_added_again_nor_change_sides) {
  send("W", "55=A|268=1|269=0|278=17|270=10|271=3|");
  x("268=1|279=0|269=0|55=A|278=17|270=10|271=3|");
  EXPECT_EQ(feed.state(a), InstrumentState::recovering);
  send("W", "55=A|268=1|269=0|278=17|270=10|271=3|");
  EXPECT_EQ(feed.state(a), InstrumentState::live);
  x("268=1|279=1|269=1|55=A|278=17|270=10|271=3|");
  EXPECT_EQ(feed.state(a), InstrumentState::recovering);
}

TEST_F(FixFeedTest, a_full_table_of_orders_is_counted_and_the_book_needs_a_snapshot) {
  std::string entries = "55=A|268=9|";
  for (int i = 1; i <= 9; ++i) entries += "269=0|278=" + std::to_string(i) + "|270=10|271=3|";
  send("W", entries);
  EXPECT_EQ(feed.counters().table_full, 1u);
  EXPECT_EQ(feed.state(a), InstrumentState::recovering);
  EXPECT_EQ(books.levels[0]->state(), BookState::recovering);
}

TEST_F(FixFeedTest, a_gap_is_filled_by_the_late_update_without_a_snapshot) {
  send("W", two_levels);
  x("268=1|279=0|269=1|55=A|270=13|271=7|83=7|");
  EXPECT_EQ(feed.state(a), InstrumentState::recovering);
  x("268=1|279=0|269=1|55=A|270=14|271=8|83=8|");
  EXPECT_EQ(books.text_of(0, Side::ask), "11x1 ");
  x("268=1|279=0|269=1|55=A|270=12|271=6|83=6|");
  EXPECT_EQ(feed.state(a), InstrumentState::live);
  EXPECT_EQ(books.text_of(0, Side::ask), "11x1 12x6 13x7 14x8 ");
  EXPECT_EQ(feed.recovery_counters().gaps, 1u);
  EXPECT_EQ(feed.recovery_counters().late, 1u);
}

TEST_F(FixFeedTest, a_snapshot_older_than_the_buffered_updates_is_refused) {
  send("W", two_levels);
  x("268=1|279=0|269=1|55=A|270=13|271=7|83=9|");
  EXPECT_EQ(send("W", "55=A|83=7|268=1|269=0|270=1|271=1|"), FixFeedError::none);
  EXPECT_EQ(feed.state(a), InstrumentState::recovering);
  EXPECT_EQ(books.text_of(0, Side::bid), "10x3 9x4 ");
  EXPECT_EQ(feed.recovery_counters().snapshots_too_old, 1u);
  send("W", "55=A|83=8|268=1|269=0|270=1|271=1|");
  EXPECT_EQ(feed.state(a), InstrumentState::live);
  EXPECT_EQ(books.text_of(0, Side::ask), "13x7 ");
}

TEST_F(FixFeedTest, repeated_updates_and_snapshots_that_are_not_needed_change_nothing) {
  send("W", two_levels);
  x("268=1|279=0|269=1|55=A|270=12|271=7|83=6|");
  x("268=1|279=2|269=1|55=A|270=11|83=5|");
  send("W", two_levels);
  EXPECT_EQ(books.text_of(0, Side::ask), "11x1 12x7 ");
  EXPECT_EQ(feed.recovery_counters().duplicates, 1u);
  EXPECT_EQ(feed.recovery_counters().snapshots_not_needed, 1u);
}

TEST_F(FixFeedTest, requests_are_repeated_later_and_later_and_the_state_becomes_stale) {
  feed.tick(at_ms(0).monotonic);
  EXPECT_EQ(books.requests.size(), 2u);
  feed.tick(at_ms(499).monotonic);
  EXPECT_EQ(books.requests.size(), 2u);
  feed.tick(at_ms(500).monotonic);
  EXPECT_EQ(books.requests.size(), 4u);
  feed.tick(at_ms(1499).monotonic);
  EXPECT_EQ(books.requests.size(), 4u);
  feed.tick(at_ms(1500).monotonic);
  EXPECT_EQ(books.requests.size(), 6u);
  EXPECT_EQ(feed.state(a), InstrumentState::recovering);
  feed.tick(at_ms(10'000).monotonic);
  EXPECT_EQ(feed.state(a), InstrumentState::stale);
  const std::size_t before = books.requests.size();
  for (std::int64_t second = 11; second < 3611; ++second) feed.tick(at_ms(second * 1000).monotonic);
  EXPECT_LE(books.requests.size() - before, 2u * 123);
  send("W", two_levels);
  EXPECT_EQ(feed.state(a), InstrumentState::live);
}

TEST_F(FixFeedTest, a_refused_request_makes_the_instrument_stale_and_is_repeated_after_retry_max) {
  std::array<char, 256> buffer;
  FieldWriter writer{buffer};
  ASSERT_TRUE(feed.write_request(writer, b));
  std::string body{writer.view()};
  EXPECT_EQ(body,
            "262=nfx-1-1\x01"
            "263=1\x01"
            "264=0\x01"
            "265=1\x01"
            "267=3\x01"
            "269=0\x01"
            "269=1\x01"
            "269=2\x01"
            "146=1\x01"
            "55=B\x01");
  feed.tick(at_ms(0).monotonic);
  EXPECT_EQ(send("Y", "262=nfx-1-1|281=0|"), FixFeedError::rejected);
  EXPECT_EQ(feed.reject().instrument, b);
  EXPECT_EQ(feed.reject().reason, '0');
  EXPECT_EQ(feed.state(b), InstrumentState::stale);
  EXPECT_EQ(feed.state(a), InstrumentState::recovering);
  books.requests.clear();
  feed.tick(at_ms(29'999).monotonic);
  EXPECT_EQ(std::ranges::count(books.requests, b), 0);
  feed.tick(at_ms(30'000).monotonic);
  EXPECT_EQ(std::ranges::count(books.requests, b), 1);
}

TEST_F(FixFeedTest, a_request_after_the_first_data_is_for_a_snapshot_alone) {
  send("W", two_levels);
  std::array<char, 256> buffer;
  FieldWriter writer{buffer};
  ASSERT_TRUE(feed.write_request(writer, a, {.depth = 10, .by_order = true, .types = "01"}));
  EXPECT_EQ(std::string{writer.view()},
            "262=nfx-0-1\x01"
            "263=0\x01"
            "264=10\x01"
            "266=N\x01"
            "267=2\x01"
            "269=0\x01"
            "269=1\x01"
            "146=1\x01"
            "55=A\x01");
  feed.disconnected(at_ms(1));
  EXPECT_EQ(feed.state(a), InstrumentState::recovering);
  writer.clear();
  ASSERT_TRUE(feed.write_request(writer, a));
  EXPECT_NE(std::string{writer.view()}.find("263=1"), std::string::npos);
}

TEST_F(FixFeedTest, without_numbers_increments_before_the_snapshot_are_dropped) {
  x("268=1|279=0|269=1|55=A|270=12|271=7|");
  EXPECT_EQ(feed.recovery_counters().dropped, 1u);
  send("W", "55=A|268=1|269=1|270=11|271=1|");
  x("268=1|279=0|269=1|55=A|270=12|271=7|");
  EXPECT_EQ(books.text_of(0, Side::ask), "11x1 12x7 ");
}

TEST_F(FixFeedTest, quantities_have_the_scale_of_their_instrument) {
  EXPECT_EQ(send("W", "55=B|268=1|269=1|270=0.000000001|271=1.25|"), FixFeedError::none);
  EXPECT_EQ(books.levels[1]->best(Side::ask)->quantity, 1250u);
  EXPECT_EQ(books.levels[1]->best(Side::ask)->price.nano, 1);
  EXPECT_EQ(send("W", "55=B|268=1|269=1|270=1|271=1.2345|"), FixFeedError::bad_size);
  EXPECT_EQ(send("W", "55=A|268=1|269=1|270=1|271=1.5|"), FixFeedError::bad_size);
}

TEST_F(FixFeedTest, trades_are_events_and_statistics_are_counted) {
  send("W", two_levels);
  EXPECT_EQ(x("268=3|279=0|269=2|55=A|270=10|271=2|2446=2|272=20260102|273=10:00:00.5|83=6|279=0|269=B|271=99|83=7|279="
              "0|269=4|270=5|83=8|"),
            FixFeedError::none);
  const Event& trade = books.events.back();
  EXPECT_EQ(trade.kind, EventKind::trade);
  EXPECT_EQ(trade.price, whole(10));
  EXPECT_EQ(trade.quantity, 2u);
  EXPECT_EQ(trade.side, Side::ask);
  EXPECT_EQ(trade.event_time, parse_utc_timestamp("20260102-10:00:00.5")->time);
  EXPECT_EQ(feed.counters().statistics, 2u);
  EXPECT_EQ(feed.position(a), 8u);
}

TEST_F(FixFeedTest, an_empty_book_begins_the_numbers_again) {
  send("W", two_levels);
  EXPECT_EQ(x("268=2|279=0|269=J|55=A|83=1|279=0|269=0|270=5|271=5|83=2|"), FixFeedError::none);
  EXPECT_EQ(books.text_of(0, Side::bid), "5x5 ");
  EXPECT_EQ(books.text_of(0, Side::ask), "");
  EXPECT_EQ(feed.state(a), InstrumentState::live);
  EXPECT_EQ(x("268=1|279=0|269=J|"), FixFeedError::none);
  EXPECT_EQ(books.text_of(0, Side::bid), "");
  EXPECT_EQ(feed.state(b), InstrumentState::live);
}

TEST_F(FixFeedTest, numbers_that_begin_again_without_notice_are_noticed) {
  FixFeed small({.recovery = {.instruments = 1, .old_updates_max = 3}}, books);
  const auto index = *small.add("A");
  small.message(text("W", two_levels), at_ms(0));
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(small.state(index), InstrumentState::live);
    small.message(text("X", "268=1|279=0|269=1|55=A|270=12|271=7|83=" + std::to_string(i) + "|"), at_ms(0));
  }
  EXPECT_EQ(small.state(index), InstrumentState::recovering);
  EXPECT_EQ(small.recovery_counters().renumbered, 1u);
  small.message(text("W", "55=A|83=3|268=1|269=1|270=11|271=1|"), at_ms(0));
  EXPECT_EQ(small.state(index), InstrumentState::live);
}

TEST_F(FixFeedTest, security_status_is_an_event) {
  EXPECT_EQ(send("f", "55=A|326=2|"), FixFeedError::none);
  EXPECT_EQ(books.levels[0]->status(), TradingStatus::halted);
  EXPECT_EQ(send("f", "55=A|326=17|"), FixFeedError::none);
  EXPECT_EQ(books.levels[0]->status(), TradingStatus::trading);
  EXPECT_EQ(send("f", "55=Q|326=17|"), FixFeedError::unknown_symbol);
}

struct BadMessage {
  const char* type;
  const char* body;
  FixFeedError error;
};

TEST_F(FixFeedTest, what_cannot_be_read_changes_no_book_and_needs_a_snapshot) {
  constexpr BadMessage bad[] = {
      {"X", "55=A|", FixFeedError::no_entries},
      {"X", "268=2|279=0|269=0|55=A|270=10|271=1|83=6|", FixFeedError::wrong_entry_count},
      {"X", "268=0|279=0|269=0|55=A|270=10|271=1|83=6|", FixFeedError::wrong_entry_count},
      {"X", "268=-1|279=0|269=0|55=A|270=10|271=1|83=6|", FixFeedError::wrong_entry_count},
      {"X", "268=999999999999|279=0|269=0|55=A|270=10|271=1|83=6|", FixFeedError::wrong_entry_count},
      {"X", "268=1|279=0|269=0|270=10|271=1|83=6|", FixFeedError::no_symbol},
      {"X", "268=1|279=6|269=0|55=A|270=10|271=1|83=6|", FixFeedError::bad_action},
      {"X", "268=1|269=0|55=A|270=10|271=1|83=6|", FixFeedError::bad_action},
      {"X", "268=1|279=0|55=A|270=10|271=1|83=6|", FixFeedError::no_entry_type},
      {"X", "268=1|279=0|269=0|55=A|271=1|83=6|", FixFeedError::bad_price},
      {"X", "268=1|279=0|269=0|55=A|270=1e5|271=1|83=6|", FixFeedError::bad_price},
      {"X", "268=1|279=0|269=0|55=A|270=99999999999999999|271=1|83=6|", FixFeedError::bad_price},
      {"X", "268=1|279=0|269=0|55=A|270=0.0000000001|271=1|83=6|", FixFeedError::bad_price},
      {"X", "268=1|279=0|269=0|55=A|270=10|271=-1|83=6|", FixFeedError::bad_size},
      {"X", "268=1|279=0|269=0|55=A|270=10|83=6|", FixFeedError::bad_size},
      {"X", "268=1|279=0|269=0|55=A|270=10|271=1|83=0|", FixFeedError::bad_sequence},
      {"X", "268=1|279=0|269=0|55=A|270=10|271=1|83=x|", FixFeedError::bad_sequence},
      {"X", "268=1|279=0|269=0|55=A|270=10|271=1|1023=0|83=6|", FixFeedError::bad_position},
      {"X", "268=1|279=0|269=0|55=A|270=10|270=11|271=1|83=6|", FixFeedError::repeated_field},
      {"X", "268=1|279=0|269=0|55=A|278=01234567890123456789012345678901|270=10|271=1|83=6|", FixFeedError::bad_id},
  };
  for (const BadMessage& message : bad) {
    SCOPED_TRACE(message.body);
    feed.disconnected(at_ms(0));
    ASSERT_EQ(send("W", two_levels), FixFeedError::none);
    ASSERT_EQ(feed.state(a), InstrumentState::live);
    const std::uint64_t before = feed.count(message.error);
    EXPECT_EQ(send(message.type, message.body), message.error);
    EXPECT_EQ(feed.count(message.error), before + 1);
    EXPECT_EQ(feed.state(a), InstrumentState::recovering);
    EXPECT_EQ(books.text_of(0, Side::bid), "10x3 9x4 ");
    EXPECT_EQ(books.text_of(0, Side::ask), "11x1 ");
  }
}

TEST_F(FixFeedTest, a_bad_entry_is_a_loss_for_every_instrument_of_its_message) {
  send("W", two_levels);
  send("W", "55=B|83=5|268=0|");
  EXPECT_EQ(x("268=2|279=0|269=0|55=A|270=x|271=1|83=6|279=0|269=0|55=B|270=10|271=1|83=6|"), FixFeedError::bad_price);
  EXPECT_EQ(feed.state(a), InstrumentState::recovering);
  EXPECT_EQ(feed.state(b), InstrumentState::recovering);
}

TEST_F(FixFeedTest, a_bad_snapshot_is_refused_and_the_live_book_stays) {
  send("W", two_levels);
  EXPECT_EQ(send("W", "55=A|83=9|268=1|269=0|270=x|271=3|"), FixFeedError::bad_price);
  EXPECT_EQ(send("W", "55=A|83=9|268=2|269=0|270=1|271=3|"), FixFeedError::wrong_entry_count);
  EXPECT_EQ(send("W", "83=9|268=1|269=0|270=1|271=3|"), FixFeedError::no_symbol);
  EXPECT_EQ(send("W", "55=Q|83=9|268=1|269=0|270=1|271=3|"), FixFeedError::unknown_symbol);
  EXPECT_EQ(feed.state(a), InstrumentState::live);
  EXPECT_EQ(books.text_of(0, Side::bid), "10x3 9x4 ");
}

TEST_F(FixFeedTest, more_entries_than_the_bound_are_an_error) {
  send("W", two_levels);
  std::string entries = "268=17|";
  for (int i = 0; i < 17; ++i) entries += "279=0|269=0|55=A|270=" + std::to_string(i + 1) + "|271=1|";
  EXPECT_EQ(x(entries), FixFeedError::too_many_entries);
  EXPECT_EQ(feed.state(a), InstrumentState::recovering);
}

TEST_F(FixFeedTest, unknown_symbols_are_left_out_and_the_others_used) {
  send("W", two_levels);
  EXPECT_EQ(
      x("268=3|279=0|269=0|55=Q|270=1|271=1|83=6|279=0|269=0|270=1|271=1|83=7|279=0|269=1|55=A|270=12|271=1|83=6|"),
      FixFeedError::unknown_symbol);
  EXPECT_EQ(feed.counters().unknown_symbols, 2u);
  EXPECT_EQ(books.text_of(0, Side::ask), "11x1 12x1 ");
}

TEST_F(FixFeedTest, updates_beyond_the_buffer_are_dropped_and_the_snapshot_has_to_include_them) {
  send("W", two_levels);
  for (int i = 7; i <= 71; ++i) {
    x("268=1|279=0|269=1|55=A|270=" + std::to_string(i + 10) + "|271=7|83=" + std::to_string(i) + "|");
  }
  EXPECT_EQ(feed.recovery_counters().dropped, 1u);
  send("W", "55=A|83=70|268=1|269=1|270=11|271=1|");
  EXPECT_EQ(feed.state(a), InstrumentState::recovering);
  send("W", "55=A|83=71|268=1|269=1|270=11|271=1|");
  EXPECT_EQ(feed.state(a), InstrumentState::live);
}

}  // namespace
}  // namespace nfx::market
