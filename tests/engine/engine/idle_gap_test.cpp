// The time that a busy-polling poll thread reports as taken by the host does not include the application's own work.
#include <gtest/gtest.h>

#include "engine/thread_watch.hpp"
#include "engine/venue_and_peer.hpp"

namespace nfx::test {
namespace {

class IdleGapOfALoop : public VenueAndPeer {
 protected:
  IdleGapOfALoop() { rig.venue.start(); }

  // One busy-polling iteration, as a poll thread has it.
  void iterate() {
    const std::size_t work = rig.venue.loop->turn(0ns);
    const TurnTimes& times = rig.venue.loop->turn_times();
    gap.turn_began(times.began);
    gap.turn_ended(times.idle_from, work == 0);
  }

  IdleGap gap;
};

TEST_F(IdleGapOfALoop, is_the_time_that_the_host_took_after_the_poll) {
  iterate();
  rig.clock.advance(2us);
  iterate();
  rig.clock.advance(70us);
  iterate();
  rig.clock.advance(3us);
  iterate();
  EXPECT_EQ(gap.worst(), Duration{70us});
}

TEST_F(IdleGapOfALoop, leaves_out_what_on_turn_takes) {
  rig.venue.application.when_turn = [this] { rig.clock.advance(5ms); };
  for (int i = 0; i < 10; ++i) {
    iterate();
    rig.clock.advance(2us);
  }
  EXPECT_EQ(gap.worst(), Duration{2us});
}

TEST_F(IdleGapOfALoop, leaves_out_what_on_turn_takes_before_a_message_is_received) {
  log_on();
  iterate();
  rig.clock.advance(2us);
  rig.venue.application.when_turn = [this] { rig.clock.advance(5ms); };
  peer.send(peer.next("D", order(1)));
  iterate();
  EXPECT_EQ(rig.venue.application.at().orders.size(), 1U);
  EXPECT_EQ(gap.worst(), Duration{2us});
}

TEST_F(IdleGapOfALoop, has_no_part_in_an_iteration_that_found_something) {
  log_on();
  iterate();
  peer.send(peer.next("D", order(1)));
  iterate();
  rig.clock.advance(1ms);
  iterate();
  EXPECT_EQ(gap.worst(), Duration::zero());
}

}  // namespace
}  // namespace nfx::test
