// Which requests of a websocket's peer the venue grants, and which it refuses.
#include "publish/websocket_venue.hpp"

#include <gtest/gtest.h>

#include <string>

namespace nfx::market {
namespace {

// A text frame, masked with zeros.
std::string frame_of(const std::string& text) {
  std::string frame{"\x81\xFE", 2};
  frame += static_cast<char>(text.size() >> 8);
  frame += static_cast<char>(text.size());
  return frame + std::string(4, '\0') + text;
}

std::string subscription(const std::string& stream, std::size_t times) {
  std::string text = R"({"method":"SUBSCRIBE","params":[)";
  for (std::size_t i = 0; i < times; ++i) text += (i == 0 ? "\"" : ",\"") + stream + std::to_string(i) + '"';
  return text + R"(],"id":1})";
}

class Venue : public ::testing::Test {
 protected:
  Venue() {
    venue.opened(peer);
    venue.received(peer,
                   "GET /stream HTTP/1.1\r\nHost: venue\r\nUpgrade: websocket\r\n"
                   "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
  }
  static constexpr ConnectionId peer{(std::uint64_t{1} << 32) | 1};
  WebsocketVenue venue{{.listen = {"127.0.0.1", 0}}};
};

TEST_F(Venue, takes_subscriptions_up_to_a_bound_of_each_connection) {
  EXPECT_EQ(venue.counters().subscribers, 1U);
  const std::string request = frame_of(subscription(std::string(90, 'x'), 100));
  for (int i = 0; i < 6; ++i) venue.received(peer, request);
  EXPECT_EQ(venue.counters().refused_requests, 0U);
  for (int i = 0; i < 10; ++i) venue.received(peer, request);
  EXPECT_EQ(venue.counters().refused_requests, 9U) << "64 KiB have seven of them";
  EXPECT_EQ(venue.subscribers(), 1U);
}

TEST_F(Venue, refuses_what_is_no_subscription) {
  venue.received(peer, frame_of(std::string(200, 'x')));
  EXPECT_EQ(venue.counters().refused_requests, 1U);
  EXPECT_EQ(venue.subscribers(), 1U);
}

}  // namespace
}  // namespace nfx::market
