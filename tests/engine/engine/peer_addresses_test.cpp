// Addresses that misbehave are held off, and resends without end are slowed.
#include "engine/peer_addresses.hpp"

#include <gtest/gtest.h>

#include "engine/venue_and_peer.hpp"

namespace nfx::test {
namespace {

constexpr MonotonicTime start{100h};

PeerAddress at(std::string_view peer) { return PeerAddress::of_peer(peer); }

TEST(PeerAddresses, are_held_off_for_the_time_set_whatever_their_port) {
  PeerAddresses addresses{{.hold_off = 10s, .max_invalid_logons = 10}};
  EXPECT_FALSE(addresses.is_held_off(at("192.0.2.7:1"), start));
  addresses.hold_off(at("192.0.2.7:1"), start);
  EXPECT_TRUE(addresses.is_held_off(at("192.0.2.7:2"), start + 9999ms));
  EXPECT_FALSE(addresses.is_held_off(at("192.0.2.70:1"), start));
  EXPECT_FALSE(addresses.is_held_off(at("192.0.2.7:1"), start + 10s));
}

TEST(PeerAddresses, are_held_off_for_connections_that_do_not_begin_with_fix) {
  PeerAddresses addresses{{.hold_off = 10s, .max_invalid_logons = 2}};
  for (int i = 0; i < 20; ++i) addresses.count_invalid_logon(at("[2001:db8::1]:7"), start);
  EXPECT_FALSE(addresses.is_held_off(at("[2001:db8::1]:8"), start));
  addresses.count_invalid_logon(at("[2001:db8::1]:9"), start);
  EXPECT_TRUE(addresses.is_held_off(at("[2001:db8::1]:8"), start));
}

TEST(PeerAddresses, are_never_held_off_without_a_time) {
  PeerAddresses addresses{{.hold_off = 0s, .max_invalid_logons = 1}};
  addresses.hold_off(at("192.0.2.7:1"), start);
  for (int i = 0; i < 100; ++i) addresses.count_invalid_logon(at("192.0.2.7:1"), start);
  EXPECT_FALSE(addresses.is_held_off(at("192.0.2.7:1"), start));
}

TEST(PeerAddresses, may_log_on_at_a_rate_with_ten_seconds_of_it_in_one_burst) {
  PeerAddresses addresses{{.max_logons = 2}};
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(addresses.take_logon(at("192.0.2.7:1"), start)) << i;
  EXPECT_FALSE(addresses.take_logon(at("192.0.2.7:2"), start));
  EXPECT_TRUE(addresses.take_logon(at("192.0.2.8:1"), start));
  EXPECT_TRUE(addresses.take_logon(at("192.0.2.7:1"), start + 500ms));
  EXPECT_FALSE(addresses.take_logon(at("192.0.2.7:1"), start + 500ms));
  EXPECT_FALSE(addresses.is_held_off(at("192.0.2.7:1"), start));
}

TEST(PeerAddresses, whose_logons_are_counted_are_bounded_and_have_no_limit_without_a_rate) {
  PeerAddresses addresses{{.max_logons = 1}};
  for (std::size_t i = 0; i < 3 * PeerAddresses::capacity; ++i)
    EXPECT_TRUE(
        addresses.take_logon(at("10.0." + std::to_string(i / 256) + "." + std::to_string(i % 256) + ":1"), start));
  PeerAddresses unlimited{{}};
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(unlimited.take_logon(at("192.0.2.7:1"), start));
}

TEST(PeerAddresses, stay_bounded_and_keep_those_held_off) {
  PeerAddresses addresses{{.hold_off = 1h, .max_invalid_logons = 10}};
  addresses.hold_off(at("192.0.2.7:1"), start);
  for (std::size_t i = 0; i < 3 * PeerAddresses::capacity; ++i) {
    addresses.count_invalid_logon(at("10.0." + std::to_string(i / 256) + "." + std::to_string(i % 256) + ":1"),
                                  start + Duration{1} * static_cast<std::int64_t>(i));
  }
  EXPECT_EQ(addresses.size(), PeerAddresses::capacity);
  EXPECT_TRUE(addresses.is_held_off(at("192.0.2.7:1"), start + 1s));
}

TEST(PeerAddresses, replace_the_one_used_least_recently) {
  PeerAddresses addresses{{.hold_off = 1s, .max_invalid_logons = 10, .max_known = 2}};
  for (const char* each : {"192.0.2.1:1", "192.0.2.2:1", "192.0.2.1:1", "192.0.2.3:1"}) addresses.remember(at(each));
  EXPECT_TRUE(addresses.is_known(at("192.0.2.1:1")));
  EXPECT_FALSE(addresses.is_known(at("192.0.2.2:1")));
  for (std::size_t i = 0; i < PeerAddresses::capacity; ++i)
    addresses.hold_off(at("10.0." + std::to_string(i / 256) + "." + std::to_string(i % 256) + ":1"), start);
  addresses.hold_off(at("10.0.0.0:1"), start);
  addresses.hold_off(at("192.0.2.7:1"), start);
  EXPECT_TRUE(addresses.is_held_off(at("10.0.0.0:1"), start));
  EXPECT_FALSE(addresses.is_held_off(at("10.0.0.1:1"), start));
  EXPECT_EQ(addresses.size(), PeerAddresses::capacity);
}

TEST(PeerAddresses, that_logged_on_stay_known_however_many_misbehave) {
  PeerAddresses addresses{{.hold_off = 1h, .max_invalid_logons = 1, .max_known = 1}};
  addresses.remember(at("192.0.2.7:1"));
  for (std::size_t i = 0; i < 2 * PeerAddresses::capacity; ++i)
    addresses.hold_off(at("10.0." + std::to_string(i / 256) + "." + std::to_string(i % 256) + ":1"), start);
  EXPECT_TRUE(addresses.is_known(at("192.0.2.7:2")));
  EXPECT_FALSE(addresses.is_held_off(at("192.0.2.7:2"), start));
}

TEST(PeerAddresses, of_one_ipv6_subnet_are_the_same_address) {
  PeerAddresses addresses{{.hold_off = 10s, .max_invalid_logons = 2, .max_known = 2}};
  for (int i = 0; i < 21; ++i) addresses.count_invalid_logon(at("[2001:db8::" + std::to_string(i) + ":1]:7"), start);
  EXPECT_TRUE(addresses.is_held_off(at("[2001:db8:0:0:ffff::9]:8"), start));
  EXPECT_FALSE(addresses.is_held_off(at("[2001:db8:0:1::1]:8"), start));
  EXPECT_EQ(addresses.size(), 1U);
  addresses.remember(at("192.0.2.7:1"));
  for (int i = 0; i < 9; ++i) addresses.remember(at("[2001:db8::" + std::to_string(i) + "]:7"));
  EXPECT_TRUE(addresses.is_known(at("192.0.2.7:2"))) << "one subnet takes one place";
  EXPECT_TRUE(addresses.is_known(at("[2001:db8::abcd]:7")));
}

TEST(PeerAddresses, of_ipv4_and_the_ipv6_loopback_are_addresses_of_their_own) {
  PeerAddresses addresses{{.hold_off = 10s, .max_invalid_logons = 2}};
  addresses.hold_off(at("[::1]:7"), start);
  addresses.hold_off(at("[::ffff:192.0.2.7]:7"), start);
  EXPECT_TRUE(addresses.is_held_off(at("[::1]:8"), start));
  EXPECT_TRUE(addresses.is_held_off(at("192.0.2.7:8"), start));
  EXPECT_FALSE(addresses.is_held_off(at("192.0.2.8:8"), start));
}

class InvalidFlood : public VenueAndPeer {
 protected:
  InvalidFlood() { rig.venue.start(); }
};

TEST_F(InvalidFlood, of_garbled_messages_ends_the_connection_and_holds_the_address_off) {
  log_on("192.0.2.7");
  for (int i = 0; i < 1100; ++i) {
    peer.send(peer.garbled("D", order(1)));
    if (i % 50 == 0) rig.turn();
  }
  rig.turn(2);
  for (int i = 0; i < 3; ++i) peer.read();  // the answers before the end
  EXPECT_TRUE(peer.closed);
  EXPECT_EQ(session().counters().invalid_disconnects, 1U);
  EXPECT_EQ(rig.venue.application.count(Notice::too_many_invalid), 1U);
  log_on("192.0.2.7");
  EXPECT_TRUE(peer.closed) << "held off";
  EXPECT_EQ(rig.venue.loop->counters().held_off, 1U);
  rig.pass(10s, 1s);
  log_on("192.0.2.7");
  EXPECT_TRUE(session().logged_on());
}

TEST_F(InvalidFlood, of_connections_with_garbage_before_a_logon_holds_their_address_off) {
  for (int i = 0; i < 150; ++i) {
    peer.connect(9000, "192.0.2.7");
    rig.turn();
    peer.send(peer.garbled("D", order(1)));
    rig.turn();
    peer.read();
    ASSERT_TRUE(peer.closed);
  }
  EXPECT_EQ(rig.venue.loop->counters().held_off, 150U - 101U);
}

TEST(ResendFlood, is_counted_while_it_is_slowed) {
  LoopRig rig;
  rig.venue.config.sessions = {acceptor()};
  rig.venue.config.sessions[0].session.repeated_resend_rate = 10'000;
  rig.venue.start();
  RawPeer peer{rig.network, rig.clock};
  peer.connect();
  rig.turn();
  peer.send(peer.logon());
  rig.turn(2);
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(
        rig.venue.session().send({.msg_type = "8", .body = std::string_view{field(58, std::string(3000, 'x'))}}));
  std::size_t received = 0;
  for (int i = 0; i < 200; ++i) {
    peer.send(peer.next(msg_type::resend_request, field(7, std::to_string(1 + i % 2)) + field(16, "0")));
    rig.pass(10ms, 10ms);
    peer.received.clear();
    peer.read();
    received += peer.received.size();
  }
  EXPECT_TRUE(rig.venue.session().logged_on());
  EXPECT_GT(rig.venue.session().counters().resends_slowed, 0U);
  EXPECT_LE(received, 3U * 61'000 + 11U * 10'000) << "once live, twice resent, the burst and two seconds";
  EXPECT_EQ(rig.venue.application.count(Notice::resend_slowed), 1U);
}

}  // namespace
}  // namespace nfx::test
