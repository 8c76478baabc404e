// Which connection gets a place if there are too many, and which one is closed for it.
#include "transport/connection_places.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/seeded.hpp"

namespace nfx {
namespace {

PeerAddress host(std::string_view text) { return PeerAddress::of_host(text); }

class ConnectionPlacesTest : public ::testing::Test {
 protected:
  // Takes a place for the address, and returns the evicted address; empty if none was evicted.
  std::string enter(const std::string& from, bool known = false) {
    const auto decision = places.decide(host(from), known, [](std::uint32_t) { return true; });
    EXPECT_TRUE(decision.possible);
    std::string evicted;
    if (decision.evict) {
      evicted = addresses.at(*decision.evict);
      places.release(*decision.evict);
    }
    last = places.take(host(from), known);
    addresses[last] = from;
    return evicted;
  }

  ConnectionPlaces places{{.unknown = 6, .per_address = 3, .per_network = 4, .known = 2}};
  std::map<std::uint32_t, std::string> addresses;
  std::uint32_t last = 0;
};

TEST(PeerAddress, is_the_same_however_it_is_written_and_has_no_port) {
  EXPECT_EQ(PeerAddress::of_peer("192.0.2.7:51234"), host("192.0.2.7"));
  EXPECT_EQ(PeerAddress::of_peer("[::ffff:192.0.2.7]:1"), host("192.0.2.7"));
  EXPECT_EQ(PeerAddress::of_peer("[2001:db8:0:0::7]:1"), host("2001:db8::7"));
  for (const std::string_view none : {"", "loopback", "unknown", "venue:9000", ":1", "1.2.3:4", "[]:5"})
    EXPECT_TRUE(PeerAddress::of_peer(none).is_none()) << none;
  EXPECT_TRUE(PeerAddress::of_host(std::string_view{"192.0.2.7\0x", 11}).is_none());
  EXPECT_TRUE(host(std::string(1000, '1')).is_none());
}

TEST(PeerAddress, network_is_the_first_24_bits_of_ipv4_and_64_of_ipv6) {
  EXPECT_EQ(host("192.0.2.7").network(), host("192.0.2.250").network());
  EXPECT_NE(host("192.0.2.7").network(), host("192.0.3.7").network());
  EXPECT_EQ(host("2001:db8:1:2::7").network(), host("2001:db8:1:2:ffff::1").network());
  EXPECT_NE(host("2001:db8:1:2::7").network(), host("2001:db8:1:3::7").network());
}

TEST_F(ConnectionPlacesTest, address_at_its_limit_evicts_its_own_oldest_connection) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(enter("10.0.0.1"), "");
  enter("10.0.1.1");
  EXPECT_EQ(enter("10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(places.used(), 4U);
}

TEST_F(ConnectionPlacesTest, network_at_its_limit_evicts_from_its_address_with_the_most) {
  enter("10.0.0.2");
  for (int i = 0; i < 3; ++i) enter("10.0.0.1");
  EXPECT_EQ(enter("10.0.0.3"), "10.0.0.1");
  EXPECT_EQ(enter("10.0.1.3"), "") << "another network";
}

TEST_F(ConnectionPlacesTest, when_all_places_are_taken_the_network_with_the_most_loses_one) {
  enter("10.0.9.1");
  enter("10.0.8.1");
  for (int i = 0; i < 4; ++i) enter("10.0.0." + std::to_string(i));
  EXPECT_EQ(enter("10.0.7.1"), "10.0.0.0");
  EXPECT_EQ(enter("10.0.6.1"), "10.0.0.1");
}

TEST_F(ConnectionPlacesTest, silent_connections_go_before_those_that_have_sent_something) {
  enter("10.0.0.1");
  places.heard(last);
  enter("10.0.1.1");
  enter("10.0.2.1");
  for (int i = 3; i < 6; ++i) enter("10.0." + std::to_string(i) + ".1");
  EXPECT_EQ(enter("10.0.6.1"), "10.0.1.1") << "the oldest has sent something";
}

TEST_F(ConnectionPlacesTest, known_addresses_have_places_that_others_cannot_take) {
  for (int i = 0; i < 6; ++i) enter("10.0." + std::to_string(i) + ".1");
  EXPECT_EQ(enter("10.1.0.1", true), "");
  EXPECT_EQ(enter("10.1.0.1", true), "");
  EXPECT_EQ(enter("10.0.7.1"), "10.0.0.1") << "evicts among the unknown";
  EXPECT_EQ(enter("10.1.0.2", true), "10.1.0.1") << "evicts among the known";
}

TEST_F(ConnectionPlacesTest, connection_that_may_not_be_evicted_stays_and_the_new_one_is_refused) {
  for (int i = 0; i < 3; ++i) enter("10.0.0.1");
  const auto decision = places.decide(host("10.0.0.1"), false, [](std::uint32_t) { return false; });
  EXPECT_FALSE(decision.possible);
  EXPECT_FALSE(decision.evict);
}

// In any sequence of connections, the limits hold, and a new one always gets a place.
TEST_F(ConnectionPlacesTest, keeps_its_limits_whoever_comes_and_goes) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  std::map<std::uint32_t, std::string> there;
  for (int step = 0; step < 20'000; ++step) {
    if (!there.empty() && random.below(3) == 0) {
      const auto at = std::next(there.begin(), static_cast<std::ptrdiff_t>(random.below(there.size())));
      places.release(at->first);
      there.erase(at);
      continue;
    }
    const bool known = random.below(4) == 0;
    const std::string from =
        (known ? "10.1." : "10.0.") + std::to_string(random.below(4)) + "." + std::to_string(random.below(3));
    const auto decision = places.decide(host(from), known, [](std::uint32_t) { return true; });
    ASSERT_TRUE(decision.possible);
    if (decision.evict) {
      ASSERT_EQ(there.erase(*decision.evict), 1U);
      places.release(*decision.evict);
    }
    ASSERT_TRUE(there.emplace(places.take(host(from), known), from).second);
    std::map<std::string, int> of_address, of_network;
    int unknown = 0;
    for (const auto& [place, address] : there) {
      if (address.starts_with("10.1.")) continue;
      ++unknown;
      EXPECT_LE(++of_address[address], 3);
      EXPECT_LE(++of_network[address.substr(0, address.rfind('.'))], 4);
    }
    EXPECT_LE(unknown, 6);
    ASSERT_LE(static_cast<int>(there.size()) - unknown, 2);
    ASSERT_EQ(places.used(), there.size());
  }
}

}  // namespace
}  // namespace nfx
