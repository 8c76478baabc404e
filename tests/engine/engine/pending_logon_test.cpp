// Connections that have not logged on yet: few, small, and for a limited time.
#include <gtest/gtest.h>

#include "engine/loop_rig.hpp"
#include "wire/wrong_checksum.hpp"

namespace nfx::test {
namespace {

class PendingLogon : public ::testing::Test {
 protected:
  PendingLogon() {
    rig.venue.config.sessions = {acceptor()};
    rig.venue.config.max_pending_logons = 3;
    rig.venue.config.pending_logon_timeout = 2s;
    rig.venue.config.pending_logon_bytes = 512;
    rig.venue.start();
  }
  void connect(RawPeer& who) {
    who.connect();
    rig.turn();
    who.read();
  }
  bool closed(RawPeer& who) {
    rig.turn();
    who.read();
    return who.closed;
  }

  LoopRig rig;
  RawPeer peer{rig.network, rig.clock};
};

TEST_F(PendingLogon, beyond_the_limit_the_oldest_silent_connection_is_closed_for_a_new_one) {
  RawPeer first{rig.network, rig.clock}, second{rig.network, rig.clock}, third{rig.network, rig.clock};
  for (RawPeer* each : {&first, &second, &third}) connect(*each);
  first.send("8=FIX");
  rig.turn();
  connect(peer);
  EXPECT_FALSE(closed(peer));
  EXPECT_FALSE(closed(first)) << "it has begun its Logon";
  EXPECT_TRUE(closed(second));
  EXPECT_EQ(rig.venue.loop->counters().evicted, 1U);
  EXPECT_EQ(rig.venue.loop->counters().pending_accepted, 4U);
  peer.send(peer.logon());
  EXPECT_FALSE(closed(peer));
  EXPECT_TRUE(rig.venue.session().logged_on());
}

TEST_F(PendingLogon, is_closed_exactly_when_its_time_is_over) {
  connect(peer);
  RawPeer later{rig.network, rig.clock};
  rig.clock.advance(500ms);
  connect(later);
  EXPECT_LE(rig.venue.loop->until_next_deadline(), 1500ms);
  rig.clock.advance(1500ms - 1ns);
  EXPECT_FALSE(closed(peer));
  rig.clock.advance(1ns);
  EXPECT_TRUE(closed(peer));
  EXPECT_FALSE(closed(later));
  EXPECT_EQ(rig.venue.loop->counters().logon_timeout, 1U);
  rig.clock.advance(500ms);
  EXPECT_TRUE(closed(later));
  EXPECT_EQ(rig.venue.loop->until_next_deadline(), Duration::max());
}

TEST_F(PendingLogon, gains_no_time_by_sending_slowly) {
  connect(peer);
  const std::string logon = peer.logon();
  for (int i = 0; i < 19; ++i) {
    peer.send(logon.substr(static_cast<std::size_t>(i), 1));
    rig.clock.advance(100ms);
    EXPECT_FALSE(closed(peer));
  }
  rig.clock.advance(100ms);
  EXPECT_TRUE(closed(peer));
}

TEST_F(PendingLogon, may_come_one_byte_at_a_time) {
  connect(peer);
  for (const char c : peer.logon()) {
    ASSERT_FALSE(rig.venue.session().logged_on());
    peer.send({&c, 1});
    rig.turn();
  }
  EXPECT_TRUE(rig.venue.session().logged_on());
}

TEST_F(PendingLogon, may_have_messages_right_behind_it) {
  connect(peer);
  std::string all = peer.logon();
  for (std::size_t i = 0; i < 40; ++i) all += peer.next("D", order(i));  // beyond the small buffer, too
  ASSERT_GT(all.size(), 4 * rig.venue.config.pending_logon_bytes);
  ASSERT_EQ(peer.send(all), all.size());
  rig.turn();
  EXPECT_EQ(rig.venue.application.at().orders.size(), 40U);
  EXPECT_EQ(rig.venue.session().next_inbound(), SeqNum{42});
}

TEST_F(PendingLogon, may_have_messages_behind_it_wherever_the_segments_end) {
  for (std::size_t cut = 1; cut < 400; cut += 7) {
    LoopRig own;
    own.venue.config.sessions = {acceptor()};
    own.venue.config.pending_logon_bytes = 256;
    own.venue.start();
    RawPeer cutter{own.network, own.clock};
    cutter.connect();
    own.turn();
    std::string all = cutter.logon();
    for (std::size_t i = 0; i < 5; ++i) all += cutter.next("D", order(i));
    cutter.send(all.substr(0, cut));
    own.turn();
    cutter.send(all.substr(cut));
    own.turn();
    ASSERT_EQ(own.venue.application.at().orders.size(), 5U) << "cut at " << cut;
  }
}

TEST_F(PendingLogon, longer_than_its_buffer_is_closed) {
  connect(peer);
  peer.send(peer.next(msg_type::logon, field(98, "0") + field(108, "30") + field(58, std::string(600, 'x'))));
  EXPECT_TRUE(closed(peer));
  EXPECT_EQ(peer.received, "");
  EXPECT_EQ(rig.venue.loop->counters().too_long, 1U);
}

TEST_F(PendingLogon, that_fits_its_buffer_to_the_byte_is_taken) {
  connect(peer);
  std::string logon = peer.message(msg_type::logon, field(98, "0") + field(108, "30") + field(58, "x"), 1);
  const std::size_t more = 512 - logon.size();
  logon = peer.message(msg_type::logon, field(98, "0") + field(108, "30") + field(58, std::string(more + 1, 'x')), 1);
  if (logon.size() == 513) {  // BodyLength may have gained a digit
    logon = peer.message(msg_type::logon, field(98, "0") + field(108, "30") + field(58, std::string(more, 'x')), 1);
  }
  ASSERT_EQ(logon.size(), 512U);
  peer.send(logon);
  rig.turn();
  EXPECT_TRUE(rig.venue.session().logged_on());
}

TEST_F(PendingLogon, that_is_something_else_is_closed_without_an_answer) {
  const std::string order_first = peer.message("D", order(1), 1);
  const std::string broken = with_wrong_checksum(peer.message(msg_type::logon, field(98, "0") + field(108, "30"), 1));
  const std::string cases[] = {"GET / HTTP/1.1\r\n\r\n", std::string(600, '\0'), order_first, broken,
                               "8=FIX.4.4\x01"
                               "35=A\x01"};
  std::uint64_t rejected = 0;
  for (const std::string& bytes : cases) {
    connect(peer);
    peer.send(bytes);
    EXPECT_TRUE(closed(peer)) << bytes;
    EXPECT_EQ(peer.received, "");
    EXPECT_EQ(sum(rig.venue.loop->counters()), ++rejected);
  }
  EXPECT_EQ(rig.venue.application.at().orders.size(), 0U);
}

}  // namespace
}  // namespace nfx::test
