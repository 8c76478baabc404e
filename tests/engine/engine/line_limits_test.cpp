// Lines that a peer causes are limited per kind and second.
#include "engine/line_limits.hpp"

#include <gtest/gtest.h>

#include "engine/venue_and_peer.hpp"

namespace nfx::test {
namespace {

constexpr MonotonicTime start{100h};

TEST(LineLimit, lets_the_first_line_through_and_one_each_second_with_the_number_omitted) {
  LineLimit limit;
  EXPECT_TRUE(limit.take(start));
  EXPECT_EQ(limit.due(), MonotonicTime::max()) << "nothing was omitted";
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(limit.take(start + 1ms));
  EXPECT_EQ(limit.due(), start + 1s);
  EXPECT_TRUE(limit.take(start + 1s));
  EXPECT_EQ(limit.take_omitted(), 1000U);
  EXPECT_EQ(limit.due(), MonotonicTime::max());
}

class Flood : public VenueAndPeer {
 protected:
  Flood() { rig.venue.start(); }
};

TEST_F(Flood, of_garbled_messages_is_one_notice_and_then_one_with_their_number_each_second) {
  log_on();
  for (int second = 0; second < 3; ++second) {
    for (int i = 0; i < 50; ++i) {
      peer.send(peer.garbled("D", order(1)));
      rig.pass(20ms, 20ms);
    }
  }
  EXPECT_EQ(session().counters().garbled, 150U);
  const std::size_t lines = rig.venue.application.count(Notice::garbled_message);
  EXPECT_GE(lines, 3U);
  EXPECT_LE(lines, 4U);
  EXPECT_GE(session().counters().notices_omitted, 150U - lines);
}

TEST_F(Flood, that_stopped_has_its_number_reported_a_second_later) {
  log_on();
  for (int i = 0; i < 50; ++i) peer.send(peer.garbled("D", order(1)));
  rig.turn(2);
  ASSERT_EQ(rig.venue.application.count(Notice::garbled_message), 1U);
  EXPECT_LE(rig.venue.loop->until_next_deadline(), 1s);
  rig.pass(1s, 10ms);
  EXPECT_EQ(rig.venue.application.count(Notice::garbled_message), 2U);
  rig.pass(5s, 10ms);
  EXPECT_EQ(rig.venue.application.count(Notice::garbled_message), 2U);
}

TEST_F(Flood, of_rejects_is_no_flood_of_lines_and_all_reach_the_application) {
  log_on();
  for (std::size_t i = 0; i < 100; ++i) peer.send(peer.next(msg_type::reject, field(45, "1")));
  rig.turn(3);
  EXPECT_EQ(rig.venue.application.at().rejects, 100U);
}

}  // namespace
}  // namespace nfx::test
