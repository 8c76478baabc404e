// Every way to be refused leaves its trace: a callback with reason, address and names, and a counter; floods of them
// are bounded, and connections from elsewhere cannot keep a peer out.
#include <gtest/gtest.h>

#include <deque>
#include <functional>

#include "engine/loop_rig.hpp"
#include "nexusfix/session/schedule.hpp"

namespace nfx::test {
namespace {

struct WayToBeRefused {
  LogonRefusalReason reason;
  std::function<void(EngineConfig&)> configure;
  std::function<void(LoopRig&, RawPeer&)> act;
  std::string names = "FIX.4.4 TRADER VENUE";  // as claimed; "  " when there was no Logon
  bool has_session = true;
};

void send_logon(LoopRig& rig, RawPeer& peer, std::string_view more = {}) {
  peer.connect(9000, "10.0.0.1");
  rig.turn();
  peer.send(peer.logon(more));
  rig.turn(3);
  peer.read();
}

void send_first(LoopRig& rig, RawPeer& peer, std::string_view bytes) {
  peer.connect(9000, "10.0.0.1");
  rig.turn();
  peer.send(bytes);
  rig.turn(3);
  peer.read();
}

constexpr auto as_it_is = [](EngineConfig&) {};
constexpr auto log_on = [](LoopRig& rig, RawPeer& peer) { send_logon(rig, peer); };

SessionSettings template_for(std::string names) {
  SessionSettings any = acceptor(std::move(names));
  any.is_template = true;
  return any;
}

// Ten times, which is the burst of a rate of one.
void log_on_and_off(LoopRig& rig) {
  for (int i = 0; i < 10; ++i) {
    RawPeer other{rig.network, rig.clock};
    send_logon(rig, other, field(141, "Y"));
    ASSERT_TRUE(rig.venue.session().logged_on()) << i;
    other.close();
    rig.turn(2);
    ASSERT_FALSE(rig.venue.session().logged_on()) << i;
  }
}

const WayToBeRefused ways[] = {
    {LogonRefusalReason::address_not_allowed,
     [](EngineConfig& config) { config.sessions[0].allowed_addresses = {"10.0.0.2"}; },
     [](LoopRig& rig, RawPeer& peer) {
       peer.connect(9000, "10.0.0.1");
       rig.turn(2);
       peer.read();
       EXPECT_TRUE(peer.closed) << "before it sent anything";
     },
     "  ", false},
    {LogonRefusalReason::address_not_allowed,
     [](EngineConfig& config) {
       config.sessions[0].allowed_addresses = {"10.0.0.2"};
       config.sessions.push_back(acceptor("OTHER"));
       config.sessions[1].allowed_addresses = {"10.0.0.1"};
     },
     log_on},
    {LogonRefusalReason::held_off, [](EngineConfig& config) { config.hold_off = 10s; },
     [](LoopRig& rig, RawPeer& peer) {
       send_logon(rig, peer);
       ASSERT_TRUE(rig.venue.session().logged_on());
       for (int i = 0; i < 1100 && !peer.closed; ++i) {
         std::string order_bytes = peer.message("D", order(1), 99);
         order_bytes[order_bytes.size() - 2] ^= 1;
         peer.send(order_bytes);
         rig.turn();
         peer.read();
       }
       ASSERT_TRUE(rig.venue.application.refusals.empty()) << "too many invalid messages are a notice";
       peer.connect(9000, "10.0.0.1");
       rig.turn();
       peer.read();
     },
     "  ", false},
    {LogonRefusalReason::evicted, [](EngineConfig& config) { config.max_pending_logons = 1; },
     [](LoopRig& rig, RawPeer& peer) {
       RawPeer other{rig.network, rig.clock};
       peer.connect(9000, "10.0.0.1");
       rig.turn();
       other.connect(9000, "10.0.0.2");
       rig.turn();
       peer.read();
     },
     "  ", false},
    {LogonRefusalReason::logon_timeout, as_it_is,
     [](LoopRig& rig, RawPeer& peer) {
       peer.connect(9000, "10.0.0.1");
       rig.turn();
       rig.pass(10s);
       peer.read();
     },
     "  ", false},
    {LogonRefusalReason::not_fix, as_it_is,
     [](LoopRig& rig, RawPeer& peer) { send_first(rig, peer, "GET / HTTP/1.1\r\n\r\n"); }, "  ", false},
    {LogonRefusalReason::too_long, [](EngineConfig& config) { config.pending_logon_bytes = 512; },
     [](LoopRig& rig, RawPeer& peer) { send_logon(rig, peer, field(58, std::string(600, 'x'))); }, "  ", false},
    {LogonRefusalReason::not_a_logon, as_it_is,
     [](LoopRig& rig, RawPeer& peer) { send_first(rig, peer, peer.next("D", order(1))); }, "FIX.4.4 TRADER VENUE",
     false},
    {LogonRefusalReason::unknown_session,
     [](EngineConfig& config) { config.sessions[0].session.target_comp_id = "SOMEBODY"; }, log_on,
     "FIX.4.4 TRADER VENUE", false},
    {LogonRefusalReason::not_owner,
     [](EngineConfig& config) {
       config.sessions[0].store_kind = StoreKind::journal;
       config.sessions[0].journal.durability = Durability::replicated;
       config.sessions[0].journal.directory = "store";
       config.cluster.servers = {"nats://127.0.0.1"};
       config.cluster.gateways = {config.cluster.gateway = "a"};
       config.sessions.push_back(acceptor("OTHER"));
     },
     log_on, "FIX.4.4 TRADER VENUE", false},
    {LogonRefusalReason::disabled, as_it_is,
     [](LoopRig& rig, RawPeer& peer) {
       rig.venue.session().logout({});
       send_logon(rig, peer);
     }},
    {LogonRefusalReason::already_connected, as_it_is,
     [](LoopRig& rig, RawPeer& peer) {
       RawPeer other{rig.network, rig.clock};
       send_logon(rig, other);
       ASSERT_TRUE(rig.venue.session().logged_on());
       send_logon(rig, peer);
       EXPECT_TRUE(rig.venue.session().logged_on());
     }},
    {LogonRefusalReason::application, as_it_is,
     [](LoopRig& rig, RawPeer& peer) {
       rig.venue.application.when_logon_requested = [](const LogonRequest&) { return false; };
       send_logon(rig, peer);
     }},
    {LogonRefusalReason::outside_schedule,
     [](EngineConfig& config) {
       ScheduleConfig times;
       times.start_time = 13h;
       times.end_time = 14h;
       config.sessions[0].schedule = std::make_shared<Schedule>(times);
     },
     log_on},
    {LogonRefusalReason::outside_schedule,
     [](EngineConfig& config) {
       ScheduleConfig times;
       times.start_time = 13h;
       times.end_time = 14h;
       config.sessions = {template_for("TRADE*")};
       config.sessions[0].schedule = std::make_shared<Schedule>(times);
     },
     log_on, "FIX.4.4 TRADER VENUE", false},
    {LogonRefusalReason::store,
     [](EngineConfig& config) {
       config.sessions = {template_for("TRADE*")};
       config.sessions[0].store_kind = StoreKind::journal;  // the rig has memory alone
       config.sessions[0].journal.directory = "nowhere";
     },
     log_on, "FIX.4.4 TRADER VENUE", false},
    {LogonRefusalReason::too_many_sessions,
     [](EngineConfig& config) {
       config.sessions = {template_for("*")};
       config.max_dynamic_sessions = 1;
     },
     [](LoopRig& rig, RawPeer& peer) {
       RawPeer other{rig.network, rig.clock, "OTHER"};
       send_logon(rig, other);
       send_logon(rig, peer);
     },
     "FIX.4.4 TRADER VENUE", false},
    {LogonRefusalReason::credentials, [](EngineConfig& config) { config.sessions[0].session.password = "secret"; },
     log_on},
    {LogonRefusalReason::malformed, as_it_is,
     [](LoopRig& rig, RawPeer& peer) { send_first(rig, peer, peer.next(msg_type::logon, field(98, "0"))); }},
    {LogonRefusalReason::sending_time, as_it_is,
     [](LoopRig& rig, RawPeer& peer) {
       const std::string logon = peer.logon();
       rig.clock.advance(10min);
       send_first(rig, peer, logon);
     }},
    {LogonRefusalReason::terms, as_it_is,
     [](LoopRig& rig, RawPeer& peer) {
       send_first(rig, peer, peer.next(msg_type::logon, field(98, "0") + field(108, "-1")));
       EXPECT_FALSE(peer.received.empty()) << "a Logout with the text";
     }},
    {LogonRefusalReason::sequence_number, [](EngineConfig& config) { config.sessions[0].next_inbound = SeqNum{5}; },
     [](LoopRig& rig, RawPeer& peer) {
       send_logon(rig, peer);
       EXPECT_EQ(peer.all(Tag::Text), (std::vector<std::string>{"MsgSeqNum too low, expecting 5 but received 1"}));
     }},
    {LogonRefusalReason::too_many_resets,
     [](EngineConfig& config) { config.sessions[0].session.max_resets_per_hour = 1; },
     [](LoopRig& rig, RawPeer& peer) {
       send_logon(rig, peer);
       for (int i = 0; i < 2; ++i) {
         peer.seq = 1;
         peer.send(peer.logon(field(141, "Y")));
         rig.turn(2);
         peer.read();
       }
     }},
    {LogonRefusalReason::too_many_logons, [](EngineConfig& config) { config.sessions[0].max_logon_rate = 1; },
     [](LoopRig& rig, RawPeer& peer) {
       log_on_and_off(rig);
       send_logon(rig, peer);
       EXPECT_TRUE(peer.received.empty());
     }},
    {LogonRefusalReason::too_many_logons, [](EngineConfig& config) { config.max_logons_per_address = 1; },
     [](LoopRig& rig, RawPeer& peer) {
       log_on_and_off(rig);
       send_logon(rig, peer);
     },
     "FIX.4.4 TRADER VENUE", false},
    {LogonRefusalReason::credentials,
     [](EngineConfig& config) {
       config.sessions = {template_for("TRADE*")};
       config.sessions[0].session.password = "secret";
     },
     log_on, "FIX.4.4 TRADER VENUE", false},
    {LogonRefusalReason::second_logon, as_it_is,
     [](LoopRig& rig, RawPeer& peer) {
       send_logon(rig, peer);
       ASSERT_TRUE(rig.venue.session().logged_on());
       peer.send(peer.logon());
       rig.turn(2);
       peer.read();
     }},
    {LogonRefusalReason::second_logon, as_it_is,
     [](LoopRig& rig, RawPeer& peer) {
       send_logon(rig, peer);
       peer.seq = 1;
       peer.send(peer.logon());
       rig.turn(2);
       peer.read();
     }},
    {LogonRefusalReason::stopping, as_it_is,
     [](LoopRig& rig, RawPeer& peer) {
       peer.connect(9000, "10.0.0.1");
       rig.turn();
       rig.venue.loop->request_stop();
       rig.turn();
       peer.read();
     },
     "  ", false},
};

TEST(RefusedLogon, each_way_is_reported_once_with_reason_address_and_names_and_counted) {
  std::size_t number = 0;
  for (const WayToBeRefused& way : ways) {
    SCOPED_TRACE("way " + std::to_string(number++) + ": " + std::string{row_of(way.reason).name});
    LoopRig rig;
    rig.venue.config.sessions = {acceptor()};
    way.configure(rig.venue.config);
    rig.venue.start();
    RawPeer peer{rig.network, rig.clock};
    way.act(rig, peer);
    peer.read();  // after a Logout, the end
    EXPECT_TRUE(peer.closed);
    ASSERT_EQ(rig.venue.application.refusals.size(), 1U);
    const auto& refusal = rig.venue.application.refusals[0];
    EXPECT_EQ(row_of(refusal.reason).name, row_of(way.reason).name);
    EXPECT_EQ(refusal.peer, "10.0.0.1:4711");
    EXPECT_EQ(refusal.names, way.names);
    EXPECT_EQ(refusal.has_session, way.has_session);
    EXPECT_EQ(refusal.count, 1U);
    EXPECT_EQ(refusal.time, rig.clock.now().utc);
    EXPECT_EQ(rig.venue.loop->counters().*row_of(way.reason).counter, 1U);
  }
}

TEST(RefusedLogon, for_the_rate_of_the_session_is_over_when_a_second_has_passed) {
  LoopRig rig;
  rig.venue.config.sessions = {acceptor()};
  rig.venue.config.sessions[0].max_logon_rate = 1;
  rig.venue.start();
  log_on_and_off(rig);
  rig.pass(1s);
  RawPeer peer{rig.network, rig.clock};
  send_logon(rig, peer, field(141, "Y"));
  EXPECT_TRUE(rig.venue.session().logged_on());
}

// Or whoever knows the names could keep the peer out.
TEST(RefusedLogon, with_a_wrong_password_does_not_count_for_the_rate_of_the_session) {
  LoopRig rig;
  rig.venue.config.sessions = {acceptor()};
  rig.venue.config.sessions[0].max_logon_rate = 1;
  rig.venue.config.sessions[0].session.password = "secret";
  rig.venue.start();
  for (int i = 0; i < 100; ++i) {
    RawPeer stranger{rig.network, rig.clock};
    send_logon(rig, stranger, field(554, "guess"));
    ASSERT_TRUE(stranger.closed);
  }
  RawPeer peer{rig.network, rig.clock};
  send_logon(rig, peer, field(554, "secret"));
  EXPECT_TRUE(rig.venue.session().logged_on());
}

// A client that resets at each Logon and reconnects every ten seconds, for more than an hour.
TEST(RefusedLogon, is_not_what_a_client_gets_that_resets_every_ten_seconds) {
  LoopRig rig;
  rig.venue.config.sessions = {acceptor()};
  rig.venue.start();
  for (int i = 0; i < 400; ++i) {
    RawPeer peer{rig.network, rig.clock};
    send_logon(rig, peer, field(141, "Y"));
    ASSERT_TRUE(rig.venue.session().logged_on()) << i;
    peer.close();
    rig.clock.advance(10s);
    rig.turn(2);
  }
  EXPECT_TRUE(rig.venue.application.refusals.empty());
}

TEST(RefusedLogon, every_reason_but_those_of_transports_has_a_way_to_it) {
  for (const LogonRefusalRow& row : logon_refusal_rows) {
    const bool elsewhere = row.reason == LogonRefusalReason::none || row.reason == LogonRefusalReason::tls_handshake ||
                           row.reason == LogonRefusalReason::no_memory ||           // only where there is none
                           row.reason == LogonRefusalReason::certificate ||         // tls_engine_test.cpp
                           row.reason == LogonRefusalReason::too_many_connections;  // logon_gate_test.cpp
    EXPECT_NE(std::ranges::find(ways, row.reason, &WayToBeRefused::reason) != std::end(ways), elsewhere) << row.name;
  }
}

TEST(RefusedLogon, flood_is_reported_a_few_times_and_then_as_a_number_a_second) {
  LoopRig rig;
  rig.venue.config.sessions = {acceptor("SOMEBODY")};
  rig.venue.config.max_refusal_reports = 3;
  rig.venue.start();
  constexpr std::size_t flood = 500;
  for (std::size_t i = 0; i < flood; ++i) {
    RawPeer peer{rig.network, rig.clock};
    send_logon(rig, peer);
    EXPECT_TRUE(peer.closed);
  }
  const auto& refusals = rig.venue.application.refusals;
  ASSERT_EQ(refusals.size(), 3U);
  EXPECT_LE(rig.venue.loop->until_next_deadline(), 1s);
  rig.pass(1s);
  ASSERT_EQ(refusals.size(), 4U);
  EXPECT_EQ(refusals[3].reason, LogonRefusalReason::unknown_session);
  EXPECT_EQ(refusals[3].count, flood - 3);
  EXPECT_EQ(refusals[3].peer, "10.0.0.1:4711");
  EXPECT_EQ(rig.venue.loop->counters().unknown_session, flood);
  rig.pass(5s);
  EXPECT_EQ(refusals.size(), 4U);
  EXPECT_EQ(rig.venue.loop->until_next_deadline(), Duration::max());
}

TEST(RefusedLogon, as_a_line_has_nothing_unprintable_and_is_bounded) {
  const std::string long_name(1000, 'x');
  const LogonRefusal refusal{.reason = LogonRefusalReason::unknown_session,
                             .peer = "192.0.2.7:51234",
                             .begin_string = "FIX.4.4",
                             .sender_comp_id = "EVIL\x1b[2J\n",
                             .target_comp_id = long_name,
                             .text = "why\r\n"};
  const std::string line = to_string(refusal);
  EXPECT_TRUE(line.starts_with("unknown_session: no such session (why")) << line;
  EXPECT_TRUE(line.ends_with("from 192.0.2.7:51234")) << line;
  EXPECT_EQ(std::ranges::count_if(line, [](char c) { return static_cast<unsigned char>(c) < 0x20; }), 0) << line;
  EXPECT_LT(line.size(), 300U);
  EXPECT_EQ(to_string({.reason = LogonRefusalReason::not_fix, .peer = "192.0.2.7:5", .count = 12}),
            "not_fix: the first bytes are not a FIX message, 12 more within a second, the last from 192.0.2.7:5");
}

// Silent connections from many addresses, reopened immediately after each close. A peer that sends its Logon in the
// iteration after its connect always logs on, whether its address is known or not.
TEST(SilentConnections, cannot_keep_a_peer_out_however_many_they_are) {
  for (const int networks : {1, 4, 64}) {
    SCOPED_TRACE(networks);
    LoopRig rig{LoopbackOptions{.stream_buffer = 4096, .max_connections = 1024}};
    rig.venue.config.sessions = {acceptor()};
    rig.venue.start();
    std::deque<RawPeer> silent;
    std::vector<std::string> froms;
    const auto open = [&](RawPeer& each, std::size_t i) {
      each.connect(9000,
                   "10.1." + std::to_string(i % static_cast<std::size_t>(networks)) + "." + std::to_string(1 + i % 50));
    };
    for (std::size_t i = 0; i < 200; ++i) {
      silent.emplace_back(rig.network, rig.clock, "X", LoopbackOptions{.stream_buffer = 4096, .max_connections = 4});
      open(silent.back(), i);
      if (i % 50 == 49) rig.turn();
    }
    RawPeer peer{rig.network, rig.clock};
    for (int round = 0; round < 10; ++round) {
      for (std::size_t i = 0; i < silent.size(); ++i) {
        silent[i].read();
        if (silent[i].closed && i % 10 == static_cast<std::size_t>(round)) open(silent[i], i);
      }
      peer.connect(9000, "10.2.0.1");
      rig.turn();
      peer.send(peer.logon());
      rig.turn(2);
      peer.read();
      ASSERT_TRUE(rig.venue.session().logged_on()) << "round " << round;
      peer.send(peer.next(msg_type::logout));
      rig.turn(2);
      for (int i = 0; i < 3; ++i) peer.read();
      ASSERT_TRUE(peer.closed);
    }
    EXPECT_GT(rig.venue.loop->counters().evicted, 100U);
  }
}

TEST(SilentConnections, of_addresses_that_no_session_allows_take_no_place) {
  LoopRig rig{LoopbackOptions{.stream_buffer = 4096, .max_connections = 1024}};
  rig.venue.config.sessions = {acceptor()};
  rig.venue.config.sessions[0].allowed_addresses = {"10.2.0.1"};
  rig.venue.config.max_pending_known_logons = 1;
  rig.venue.start();
  std::deque<RawPeer> silent;
  for (std::size_t i = 0; i < 100; ++i) {
    silent.emplace_back(rig.network, rig.clock, "X", LoopbackOptions{.stream_buffer = 4096, .max_connections = 4});
    silent.back().connect(9000, "10.1.0." + std::to_string(i));
  }
  rig.turn();
  for (RawPeer& each : silent) {
    each.read();
    EXPECT_TRUE(each.closed);
  }
  EXPECT_EQ(rig.venue.loop->counters().address_not_allowed, 100U);
  EXPECT_EQ(rig.venue.loop->until_next_deadline() <= 1s, true) << "the number of the others is due";
  RawPeer peer{rig.network, rig.clock};
  peer.connect(9000, "10.2.0.1");
  rig.turn();
  peer.send(peer.logon());
  rig.turn(2);
  EXPECT_TRUE(rig.venue.session().logged_on());
}

}  // namespace
}  // namespace nfx::test
