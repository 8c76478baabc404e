// A peer that reads nothing: its connection is ended after the time allowed.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "engine/loop_rig.hpp"

namespace nfx::test {
namespace {

TEST(SlowConsumer, is_cut_when_it_has_read_nothing_for_the_time_allowed) {
  LoopbackOptions small;
  small.stream_buffer = 4096;
  LoopRig rig{small};
  SessionSettings settings = acceptor();
  settings.slow_consumer = SlowConsumer::disconnect;
  settings.slow_consumer_timeout = 5s;
  rig.venue.config.sessions = {settings};
  rig.venue.start();
  RawPeer peer{rig.network, rig.clock, "TRADER", small};
  peer.connect();
  peer.send(peer.logon());
  rig.turn(4);
  ASSERT_TRUE(rig.venue.session().logged_on());
  for (int i = 0; i < 100; ++i) {
    static_cast<void>(rig.venue.session().send(
        {.msg_type = "8", .body = std::string_view{field(58, std::string(200, 'x'))}, .header_fields = {}}));
  }
  rig.turn(2);
  rig.pass(4s);
  EXPECT_TRUE(rig.venue.session().logged_on());
  rig.pass(2s);
  EXPECT_FALSE(rig.venue.session().logged_on());
  EXPECT_EQ(std::ranges::count(rig.venue.application.at(0).notices, Notice::slow_consumer), 1);
}

}  // namespace
}  // namespace nfx::test
