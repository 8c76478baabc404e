// Messages of crypto venues: which are read, which are refused, and how a book follows numbered updates.
#include "nexusfix/market/json_feed.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <string>

#include "market/fix_support.hpp"
#include "market/json_fields.hpp"
#include "market/support.hpp"

namespace nfx::market {
namespace {

using test::at_ms;
using test::Books;

constexpr const char* spot_ticker =
    R"({"u":400900217,"s":"BNBUSDT","b":"25.35190000","B":"31.21000000","a":"25.36520000","A":"40.66000000"})";
constexpr const char* futures_ticker =
    R"({"e":"bookTicker","u":400900217,"E":1568014460893,"T":1568014460891,"s":"BNBUSDT","b":"25.35190000","B":"31.21000000","a":"25.36520000","A":"40.66000000"})";
constexpr const char* trade =
    R"({"e":"trade","E":1672515782136,"s":"BNBUSDT","t":12345,"p":"0.001","q":"100","T":1672515782136,"m":true,"M":true})";
constexpr const char* aggregate_trade =
    R"({"e":"aggTrade","E":1672515782136,"s":"BNBUSDT","a":5933014,"p":"0.001","q":"100","f":100,"l":105,"T":1672515782136,"m":false})";

std::string depth(std::uint64_t first, std::uint64_t last, const std::string& bids, const std::string& asks,
                  const std::string& more = "") {
  return R"({"e":"depthUpdate","E":1672515782136,"s":"BTCUSDT","U":)" + std::to_string(first) + R"(,"u":)" +
         std::to_string(last) + more + R"(,"b":[)" + bids + R"(],"a":[)" + asks + "]}";
}
std::string depth_snapshot(std::uint64_t number, const std::string& bids, const std::string& asks) {
  return R"({"lastUpdateId":)" + std::to_string(number) + R"(,"bids":[)" + bids + R"(],"asks":[)" + asks + "]}";
}

TEST(JsonReaderTest, a_build_without_simdjson_names_the_package) {
  if (has_json_reader()) {
    EXPECT_TRUE(make_json_reader({}));
    return;
  }
  try {
    (void)make_json_reader({});
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string_view{error.what()}.find("libsimdjson-dev"), std::string_view::npos);
  }
}

class JsonTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_json_reader()) GTEST_SKIP() << "needs libsimdjson-dev";
    reader = make_json_reader({.message_size = 4096, .levels = 8});
    feed = std::make_unique<JsonFeed>(JsonFeedOptions{.recovery = {.instruments = 3, .buffered_entries = 64},
                                                      .limits = {.message_size = 4096, .levels = 8}},
                                      books);
    ticker = *feed->add("BNBUSDT", JsonBook::ticker);
    btc = *feed->add("BTCUSDT", JsonBook::depth, 3);
  }
  JsonError send(const std::string& text) { return feed->message(std::string_view{text}, at_ms(1)); }

  JsonError snapshot(std::uint64_t number, const std::string& bids, const std::string& asks, Instant now) {
    const std::string text = depth_snapshot(number, bids, asks);
    return feed->snapshot(btc, std::string_view{text}, now);
  }

  std::unique_ptr<JsonReader> reader;
  Books books{3};
  std::unique_ptr<JsonFeed> feed;
  InstrumentIndex ticker{}, btc{};
};

void expect_equal(const JsonMessage& a, const JsonMessage& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.symbol, b.symbol);
  EXPECT_EQ(a.first, b.first);
  EXPECT_EQ(a.last, b.last);
  EXPECT_EQ(a.previous, b.previous);
  EXPECT_EQ(a.has_previous, b.has_previous);
  EXPECT_EQ(a.time_ns, b.time_ns);
  EXPECT_EQ(a.buyer_is_maker, b.buyer_is_maker);
  EXPECT_EQ(a.bid.price, b.bid.price);
  EXPECT_EQ(a.ask.quantity, b.ask.quantity);
  ASSERT_EQ(a.bids.size(), b.bids.size());
  ASSERT_EQ(a.asks.size(), b.asks.size());
  for (std::size_t i = 0; i < a.bids.size(); ++i) EXPECT_EQ(a.bids[i].price, b.bids[i].price);
}

TEST_F(JsonTest, the_scan_reads_the_shapes_that_venues_send_as_simdjson_does) {
  const auto other = make_json_reader({});
  for (const std::string& text :
       {std::string{spot_ticker}, std::string{futures_ticker}, std::string{trade}, std::string{aggregate_trade},
        depth(5, 7, R"(["1","2"],["3","4"])", R"(["5.5","6"])", R"(,"pu":4)"), depth_snapshot(7, R"(["1","2"])", ""),
        R"({"stream":"bnbusdt@bookTicker","data":)" + std::string{spot_ticker} + "}"}) {
    SCOPED_TRACE(text);
    JsonMessage fast, slow;
    EXPECT_EQ(reader->read(std::string_view{text}, fast), JsonError::none);
    EXPECT_EQ(reader->left_to_simdjson(), 0u);
    EXPECT_EQ(other->read_slowly(std::string_view{text}, slow), JsonError::none);
    expect_equal(fast, slow);
  }
}

TEST_F(JsonTest, white_space_escapes_and_another_order_are_read_by_simdjson) {
  JsonMessage message;
  EXPECT_EQ(
      reader->read(
          std::string_view{
              R"( { "A" : "4", "a" : "3", "B" : "2", "b":"\u0031", "extra":{"s":[1,2]}, "s" : "BNBUSDT", "u" : 7 } )"},
          message),
      JsonError::none);
  EXPECT_EQ(reader->left_to_simdjson(), 1u);
  EXPECT_EQ(message.kind, JsonKind::book_ticker);
  EXPECT_EQ(message.bid.price, Decimal{1});
  EXPECT_EQ(message.last, 7u);
}

TEST_F(JsonTest, answers_and_refusals_are_told_from_data) {
  JsonMessage message;
  EXPECT_EQ(reader->read(std::string_view{R"({"result":null,"id":1})"}, message), JsonError::none);
  EXPECT_EQ(message.kind, JsonKind::answer);
  EXPECT_EQ(reader->read(std::string_view{R"({"code":-1121,"msg":"Invalid symbol."})"}, message), JsonError::none);
  EXPECT_EQ(message.kind, JsonKind::refusal);
}

struct Bad {
  const char* text;
  JsonError error;
};

TEST_F(JsonTest, what_is_wrong_with_a_message_is_named) {
  constexpr Bad bad[] = {
      {"", JsonError::not_json},
      {"[]", JsonError::not_json},
      {"{", JsonError::not_json},
      {R"({"u":1,"s":"A")", JsonError::not_json},
      {R"({"u":1,"s":"BNBUSDT","b":"1","B":"1","a":"2","A":"1"}x)", JsonError::not_json},
      {R"({"u":1,"s":"BNBUSDT","b":"1","B":"1","a":"2","A":"1"}{})", JsonError::not_json},
      {"{\"u\":1,\"s\":\"BNB\xff\",\"b\":\"1\",\"B\":\"1\",\"a\":\"2\",\"A\":\"1\"}", JsonError::not_json},
      {R"({"result":nu,"id":1})", JsonError::not_json},
      {"{}", JsonError::other_message},
      {R"({"e":"kline","s":"BNBUSDT"})", JsonError::other_message},
      {R"({"u":1,"s":"BNBUSDT","b":"1","B":"1","a":"2"})", JsonError::missing_field},
      {R"({"u":1,"b":"1","B":"1","a":"2","A":"1"})", JsonError::missing_field},
      {R"({"u":"1","s":"BNBUSDT","b":"1","B":"1","a":"2","A":"1"})", JsonError::wrong_type},
      {R"({"u":1,"s":"BNBUSDT","b":1,"B":"1","a":"2","A":"1"})", JsonError::wrong_type},
      {R"({"u":1,"u":2,"s":"BNBUSDT","b":"1","B":"1","a":"2","A":"1"})", JsonError::repeated_key},
      {R"({"u":-1,"s":"BNBUSDT","b":"1","B":"1","a":"2","A":"1"})", JsonError::bad_number},
      {R"({"u":1.5,"s":"BNBUSDT","b":"1","B":"1","a":"2","A":"1"})", JsonError::bad_number},
      {R"({"u":99999999999999999999,"s":"BNBUSDT","b":"1","B":"1","a":"2","A":"1"})", JsonError::bad_number},
      {R"({"u":1,"s":"BNBUSDT","b":"1e5","B":"1","a":"2","A":"1"})", JsonError::bad_price},
      {R"({"u":1,"s":"BNBUSDT","b":"","B":"1","a":"2","A":"1"})", JsonError::bad_price},
      {R"({"u":1,"s":"BNBUSDT","b":"1","B":"x","a":"2","A":"1"})", JsonError::bad_quantity},
      {R"({"e":"depthUpdate","s":"BTCUSDT","U":2,"u":1,"b":[],"a":[]})", JsonError::bad_number},
      {R"({"e":"depthUpdate","s":"BTCUSDT","U":0,"u":1,"b":[],"a":[]})", JsonError::bad_number},
      {R"({"e":"depthUpdate","s":"BTCUSDT","U":1,"u":1,"pu":1,"b":[],"a":[]})", JsonError::bad_number},
      {R"({"e":"depthUpdate","s":"BTCUSDT","U":1,"u":1,"b":[["1"]],"a":[]})", JsonError::wrong_type},
      {R"({"e":"depthUpdate","s":"BTCUSDT","U":1,"u":1,"b":[["1","2","3"]],"a":[]})", JsonError::wrong_type},
      {R"({"e":"depthUpdate","s":"BTCUSDT","U":1,"u":1,"b":[[1,2]],"a":[]})", JsonError::wrong_type},
      {R"({"e":"depthUpdate","s":"BTCUSDT","U":1,"u":1,"b":{},"a":[]})", JsonError::wrong_type},
      {R"({"e":"depthUpdate","s":"BTCUSDT","U":1,"u":1,"b":[["1","2"],["1","2"],["1","2"],["1","2"],["1","2"],["1","2"],["1","2"],["1","2"],["1","2"]],"a":[]})",
       JsonError::too_many_levels},
  };
  for (const Bad& message : bad) {
    SCOPED_TRACE(message.text);
    JsonMessage out;
    EXPECT_EQ(to_string(reader->read(std::string_view{message.text}, out)), to_string(message.error));
  }
  JsonMessage out;
  EXPECT_EQ(reader->read(std::string_view{std::string(5000, ' ') + "{}"}, out), JsonError::too_large);
}

// The bytes after a message in its buffer, such as the message before it, differ in a replay.
TEST_F(JsonTest, bytes_after_a_wrong_message_do_not_matter) {
  const std::string text =
      R"({"lastUpdateId":158,"bids":[["4.00000000","431.00000000"]],"asks":[K"4.00000200","12.00000000"]]})";
  for (const char after : {'}', ']', ' ', '0', '"', '\0'}) {
    const std::string padded = text + std::string(json_padding, after);
    JsonMessage out;
    EXPECT_EQ(reader->read({padded.data(), text.size(), padded.size()}, out), JsonError::wrong_type) << after;
    EXPECT_EQ(reader->read(std::string_view{text}, out), JsonError::wrong_type) << after;
  }
}

TEST_F(JsonTest, padded_bytes_are_read_where_they_are) {
  std::string text = R"({ "u":1,"s":"BNBUSDT","b":"1","B":"1","a":"2","A":"1"})";
  const std::size_t size = text.size();
  text.append(json_padding, 'x');
  JsonMessage out;
  EXPECT_EQ(reader->read({text.data(), size, text.size()}, out), JsonError::none);
}

TEST_F(JsonTest, a_ticker_moves_the_best_prices_of_a_book) {
  EXPECT_EQ(feed->state(ticker), InstrumentState::recovering);
  EXPECT_EQ(send(spot_ticker), JsonError::none);
  EXPECT_EQ(feed->state(ticker), InstrumentState::live);
  EXPECT_EQ(books.levels[0]->best(Side::bid), (Level{Price{25'351'900'000}, 3'121'000'000, 0}));
  EXPECT_EQ(books.levels[0]->best(Side::ask), (Level{Price{25'365'200'000}, 4'066'000'000, 0}));
  EXPECT_TRUE(books.events.back().last());
  EXPECT_EQ(send(R"({"u":400900218,"s":"BNBUSDT","b":"25.40","B":"1","a":"25.50","A":"2"})"), JsonError::none);
  EXPECT_EQ(books.levels[0]->level_count(Side::bid), 1u);
  EXPECT_EQ(books.levels[0]->level_count(Side::ask), 1u);
  EXPECT_EQ(books.levels[0]->best(Side::bid)->price.nano, 25'400'000'000);
  // An older one, and a side without a price.
  EXPECT_EQ(send(spot_ticker), JsonError::none);
  EXPECT_EQ(feed->counters().old_tickers, 1u);
  EXPECT_EQ(send(R"({"u":400900219,"s":"BNBUSDT","b":"0.00","B":"0.00","a":"25.50","A":"2"})"), JsonError::none);
  EXPECT_EQ(books.levels[0]->level_count(Side::bid), 0u);
  EXPECT_EQ(books.levels[0]->level_count(Side::ask), 1u);
}

TEST_F(JsonTest, a_quantity_that_is_not_exact_in_the_instruments_scale_is_refused) {
  EXPECT_EQ(send(R"({"u":5,"s":"BNBUSDT","b":"1","B":"0.000000001","a":"2","A":"1"})"), JsonError::bad_quantity);
  EXPECT_EQ(send(R"({"u":5,"s":"BNBUSDT","b":"1","B":"0.000000010","a":"2","A":"1"})"), JsonError::none);
  EXPECT_EQ(books.levels[0]->best(Side::bid)->quantity, 1u);
}

TEST_F(JsonTest, the_first_update_after_a_snapshot_is_the_one_that_includes_the_next_number) {
  EXPECT_EQ(send(depth(95, 99, R"(["7","1"])", "")), JsonError::none);
  EXPECT_EQ(send(depth(100, 104, R"(["8","1"])", "")), JsonError::none);
  EXPECT_EQ(send(depth(105, 106, R"(["9","1.5"])", "")), JsonError::none);
  EXPECT_TRUE(books.events.empty());
  EXPECT_EQ(snapshot(102, R"(["5","1"])", R"(["11","1"])", at_ms(2)), JsonError::none);
  EXPECT_EQ(feed->state(btc), InstrumentState::live);
  EXPECT_EQ(books.text_of(1, Side::bid), "9x1500 8x1000 5x1000 ");
  EXPECT_EQ(books.text_of(1, Side::ask), "11x1000 ");
  EXPECT_EQ(send(depth(107, 107, R"(["9","0.000"])", "")), JsonError::none);
  EXPECT_EQ(books.text_of(1, Side::bid), "8x1000 5x1000 ");
}

TEST_F(JsonTest, a_snapshot_before_the_buffered_updates_is_refused_and_requested_again) {
  send(depth(100, 104, R"(["8","1"])", ""));
  feed->tick(at_ms(2).monotonic);
  EXPECT_EQ(books.requests.size(), 1u);
  EXPECT_EQ(snapshot(98, R"(["5","1"])", "", at_ms(2)), JsonError::none);
  EXPECT_EQ(feed->state(btc), InstrumentState::recovering);
  EXPECT_EQ(feed->recovery_counters().snapshots_too_old, 1u);
  EXPECT_TRUE(books.events.empty());
  feed->tick(at_ms(600).monotonic);
  EXPECT_EQ(books.requests.size(), 2u);
  EXPECT_EQ(snapshot(99, R"(["5","1"])", "", at_ms(2)), JsonError::none);
  EXPECT_EQ(feed->state(btc), InstrumentState::live);
  EXPECT_EQ(books.text_of(1, Side::bid), "8x1000 5x1000 ");
}

TEST_F(JsonTest, a_gap_stops_the_book_until_a_newer_snapshot) {
  snapshot(10, R"(["5","1"])", "", at_ms(2));
  send(depth(12, 13, R"(["6","1"])", ""));
  EXPECT_EQ(feed->state(btc), InstrumentState::recovering);
  EXPECT_EQ(books.events.back().flags & event_flag::recovering, event_flag::recovering);
  EXPECT_EQ(books.text_of(1, Side::bid), "5x1000 ");
  snapshot(12, R"(["4","1"])", "", at_ms(3));
  EXPECT_EQ(feed->state(btc), InstrumentState::live);
  EXPECT_EQ(books.text_of(1, Side::bid), "6x1000 4x1000 ");
}

TEST_F(JsonTest, futures_updates_follow_the_previous_number_that_they_name) {
  snapshot(10, R"(["5","1"])", "", at_ms(2));
  EXPECT_EQ(send(depth(14, 20, R"(["6","1"])", "", R"(,"pu":9)")), JsonError::none);
  EXPECT_EQ(send(depth(31, 40, R"(["7","1"])", "", R"(,"pu":20)")), JsonError::none);
  EXPECT_EQ(feed->state(btc), InstrumentState::live);
  EXPECT_EQ(books.text_of(1, Side::bid), "7x1000 6x1000 5x1000 ");
  EXPECT_EQ(send(depth(51, 60, R"(["8","1"])", "", R"(,"pu":50)")), JsonError::none);
  EXPECT_EQ(feed->state(btc), InstrumentState::recovering);
}

TEST_F(JsonTest, an_update_that_cannot_be_read_is_a_loss) {
  snapshot(10, R"(["5","1"])", "", at_ms(2));
  EXPECT_EQ(send(depth(11, 11, R"(["6","1"],["x","1"])", "")), JsonError::bad_price);
  EXPECT_EQ(feed->state(btc), InstrumentState::recovering);
  EXPECT_EQ(books.text_of(1, Side::bid), "5x1000 ");
  EXPECT_EQ(feed->count(JsonError::bad_price), 1u);
}

TEST_F(JsonTest, messages_of_the_other_kind_and_of_unknown_symbols_change_no_book) {
  EXPECT_EQ(send(R"({"u":5,"s":"BTCUSDT","b":"1","B":"1","a":"2","A":"1"})"), JsonError::none);
  EXPECT_EQ(send(R"({"u":5,"s":"ETHUSDT","b":"1","B":"1","a":"2","A":"1"})"), JsonError::unknown_symbol);
  EXPECT_EQ(feed->counters().other_book, 1u);
  EXPECT_TRUE(books.events.empty());
}

TEST_F(JsonTest, trades_have_the_side_of_the_aggressor_and_the_venues_number) {
  EXPECT_EQ(send(trade), JsonError::none);
  EXPECT_EQ(books.events.back().kind, EventKind::trade);
  EXPECT_EQ(books.events.back().side, Side::ask);
  EXPECT_EQ(books.events.back().other, 12345u);
  EXPECT_EQ(books.events.back().price.nano, 1'000'000);
  EXPECT_EQ(books.events.back().event_time.time_since_epoch().count(), 1'672'515'782'136'000'000);
  EXPECT_EQ(send(aggregate_trade), JsonError::none);
  EXPECT_EQ(books.events.back().side, Side::bid);
  EXPECT_EQ(books.events.back().other, 5933014u);
}

TEST_F(JsonTest, a_lost_connection_makes_every_book_wait_for_new_data) {
  send(spot_ticker);
  snapshot(10, R"(["5","1"])", "", at_ms(2));
  feed->disconnected(at_ms(3));
  EXPECT_EQ(feed->state(ticker), InstrumentState::recovering);
  EXPECT_EQ(feed->state(btc), InstrumentState::recovering);
  // Even numbers that are lower than before.
  snapshot(3, R"(["5","1"])", "", at_ms(4));
  EXPECT_EQ(feed->state(btc), InstrumentState::live);
}

}  // namespace
}  // namespace nfx::market
