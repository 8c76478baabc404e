// The guarantee of the feeds by FIX and websocket: after construction no message allocates, whatever it is.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/count_allocations.hpp"
#include "market/fix_support.hpp"
#include "market/websocket.hpp"
#include "nexusfix/market/fix_feed.hpp"
#include "nexusfix/market/json_feed.hpp"

namespace nfx::market {
namespace {

class Counted final : public FeedOutput {
 public:
  void event(const Event&) noexcept override { ++events; }
  void request_snapshot(InstrumentIndex) noexcept override { ++requests; }
  std::size_t events = 0;
  std::size_t requests = 0;
};

TEST(FeedAllocation, fix_messages_allocate_nothing_in_sequence_after_a_gap_or_with_an_error) {
  Counted out;
  FixFeed feed{{.recovery = {.instruments = 2, .buffered_entries = 64}, .entries = 32, .orders = 64}, out};
  ASSERT_TRUE(feed.add("A") && feed.add("B"));
  std::vector<test::FixText> texts(9);
  const MessageView* const messages[] = {
      &texts[0]("W", "55=A|83=5|268=2|269=0|270=10|271=3|269=1|270=11|271=1|"),
      &texts[1]("X", "268=1|279=0|269=0|55=A|1023=1|270=10.5|271=7|83=6|"),
      &texts[2]("X", "268=1|279=0|269=0|55=A|1023=1|270=10.7|271=7|83=9|"),
      &texts[3]("W", "55=A|83=8|268=2|269=0|270=10|271=3|269=1|270=11|271=1|"),
      &texts[4]("W", "55=B|268=2|269=0|278=17|270=10|271=3|269=0|278=a-longer-identifier-of-order|270=9|271=3|"),
      &texts[5]("X", "268=2|279=1|269=0|55=B|278=17|271=4|279=2|269=0|278=a-longer-identifier-of-order|"),
      &texts[6]("X", "268=9|279=1|269=0|55=B|278=17|270=x|"),
      &texts[7]("Y", "262=nfx-0-1|281=0|"),
      &texts[8]("f", "55=A|326=2|")};
  const std::size_t before = nfx::test::allocations;
  EXPECT_GT(before, 0u);
  for (int i = 0; i < 100; ++i) {
    for (const MessageView* message : messages) (void)feed.message(*message, test::at_ms(i));
    feed.tick(test::at_ms(i * 1000).monotonic);
    feed.disconnected(test::at_ms(i));
  }
  EXPECT_EQ(nfx::test::allocations, before);
  EXPECT_GT(out.events, 1000u);
  EXPECT_GT(out.requests, 0u);
}

TEST(FeedAllocation, json_messages_allocate_nothing_by_the_scan_or_by_simdjson) {
  if (!has_json_reader()) GTEST_SKIP() << "needs libsimdjson-dev";
  Counted out;
  JsonFeed feed{{.recovery = {.instruments = 2, .buffered_entries = 64}, .limits = {.message_size = 4096, .levels = 8}},
                out};
  ASSERT_TRUE(feed.add("BNBUSDT", JsonBook::ticker) && feed.add("BTCUSDT", JsonBook::depth));
  constexpr std::string_view messages[] = {
      R"({"u":400900217,"s":"BNBUSDT","b":"25.35190000","B":"31.21","a":"25.36520000","A":"40.66"})",
      R"({ "u":400900218, "s":"BNBUSDT","b":"25.35190000","B":"31.21","a":"25.36\u0030","A":"40.66", "x":{"y":[1,2]}})",
      R"({"e":"depthUpdate","E":1672515782136,"s":"BTCUSDT","U":9,"u":12,"b":[["1","2"]],"a":[["3","4"]]})",
      R"({"e":"depthUpdate","E":1672515782136,"s":"BTCUSDT","U":20,"u":22,"b":[["1","2"]],"a":[["3","4"]]})",
      R"({"e":"trade","s":"BNBUSDT","t":12345,"p":"0.001","q":"100","m":true})",
      R"({"result":null,"id":1})",
      "not json"};
  constexpr std::string_view snapshot = R"({"lastUpdateId":10,"bids":[["4","43"]],"asks":[["5","12"]]})";
  const std::size_t before = nfx::test::allocations;
  EXPECT_GT(before, 0u);
  for (int i = 0; i < 100; ++i) {
    for (const std::string_view message : messages) (void)feed.message(message, test::at_ms(i));
    (void)feed.snapshot(InstrumentIndex{1}, snapshot, test::at_ms(i));
    feed.tick(test::at_ms(i * 1000).monotonic);
    feed.disconnected(test::at_ms(i));
  }
  EXPECT_EQ(nfx::test::allocations, before);
  EXPECT_GT(out.events, 500u);
}

TEST(FeedAllocation, a_websocket_allocates_nothing_from_its_handshake_to_its_close) {
  WebsocketClient client{{.message_size = 1000}};
  WebsocketRequest request{.host = "a"};
  std::memcpy(request.key.data(), "the sample nonce", 16);
  const std::string bytes =
      "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n\x81\x02hi\x01\x01x\x89\x01p\x80\x01y\x88\x02\x03\xE8";
  const std::size_t before = nfx::test::allocations;
  std::size_t events = 0;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(client.connect(request));
    std::memcpy(client.space().data(), bytes.data(), bytes.size());
    client.received(bytes.size());
    while (client.next({1, 2, 3, 4}).kind != WebsocketEventKind::none) ++events;
    client.sent(client.to_send().size());
  }
  EXPECT_EQ(nfx::test::allocations, before);
  EXPECT_EQ(events, 500u);
}

}  // namespace
}  // namespace nfx::market
