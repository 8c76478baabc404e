// A counterparty whose messages the test writes: how it logs on, and what it sends, receives and refuses.
#include "nexusfix/testing/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "nexusfix/engine/engine_counters.hpp"
#include "testing/recorder.hpp"

namespace nfx::testing {
namespace {

using Events = std::vector<std::string>;

std::vector<std::string> types(const std::vector<Received>& messages) {
  std::vector<std::string> result;
  for (const Received& each : messages) result.emplace_back(each.msg_type());
  return result;
}

struct PeerOfDesk : ::testing::Test {
  Network network;
  Recorder desk;
  TestEngine& engine = network.engine(plain_acceptor("DESK", "TRADER"), desk);
  Peer trader{network, "TRADER", "DESK"};

  bool send_news(std::string_view text) { return engine.session().send({.msg_type = "B", .body = text}).has_value(); }
};

TEST_F(PeerOfDesk, logs_on_and_out) {
  EXPECT_FALSE(trader.connected());
  trader.logon();
  EXPECT_TRUE(trader.connected() && trader.logged_on());
  EXPECT_EQ(trader.next_number(), SeqNum{2});
  EXPECT_EQ(types(trader.session_messages()), Events{"A"});
  trader.logout("done");
  EXPECT_FALSE(trader.connected() || trader.logged_on());
  EXPECT_EQ(types(trader.session_messages()), Events{"5"});
  EXPECT_EQ(desk.events, (Events{"logon TRADER", "logout done"}));
}

TEST_F(PeerOfDesk, sends_bodies_with_bars_or_with_soh) {
  trader.logon();
  trader.send({"D", "11=a|55=X"});
  trader.send({"D", "11=b|c\00155=X\001"});
  trader.send({"D"});
  network.run();
  EXPECT_EQ(desk.events, (Events{"logon TRADER", "D a", "D b|c", "D "}));
  EXPECT_EQ(trader.next_number(), SeqNum{5});
}

TEST_F(PeerOfDesk, keeps_what_it_has_returned_for_the_views_of_it) {
  trader.logon();
  ASSERT_TRUE(send_news("148=one\001") && send_news("148=two\001"));
  network.run();
  const std::string_view one = trader.receive()[Tag::Headline], two = trader.receive()[Tag::Headline];
  EXPECT_EQ(one, "one");
  EXPECT_EQ(two, "two");
}

TEST_F(PeerOfDesk, receives_each_message_once_and_session_messages_apart) {
  trader.logon();
  ASSERT_TRUE(send_news("148=one\001") && send_news("148=two\001") && send_news("148=three\001"));
  EXPECT_TRUE(trader.received().empty()) << "nothing happens before run()";
  network.run();
  const Received one = trader.receive();
  EXPECT_EQ(one.msg_type(), "B");
  EXPECT_EQ(one[Tag::Headline], "one");
  EXPECT_EQ(one[148], "one");
  EXPECT_EQ(one[Tag::Price], "");
  EXPECT_EQ(one.view().get_seq_num(Tag::MsgSeqNum), SeqNum{2});
  EXPECT_TRUE(one.text().contains("|148=one|"));
  EXPECT_EQ(trader.receive("B")[148], "two");
  const auto rest = trader.received();
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0][148], "three");
  EXPECT_TRUE(trader.received().empty());
  EXPECT_EQ(types(trader.session_messages()), Events{"A"});
}

TEST_F(PeerOfDesk, names_what_came_instead_of_the_expected_message) {
  trader.logon();
  EXPECT_TRUE(error_of([&] { std::ignore = trader.receive("8"); })
                  .starts_with("TRADER->DESK: no application message of type 8 has come; the last session message is "
                               "8=FIX.4.4|9="));
  ASSERT_TRUE(send_news("148=x\001"));
  network.run();
  EXPECT_TRUE(error_of([&] {
                std::ignore = trader.receive("8");
              }).starts_with("TRADER->DESK: the next message is not of type 8: 8=FIX.4.4|9="));
  EXPECT_EQ(trader.receive("B")[148], "x") << "it is still there";
}

TEST_F(PeerOfDesk, a_wrong_check_sum_is_ignored_and_the_next_message_leaves_a_gap) {
  trader.logon();
  trader.send({.msg_type = "D", .body = "11=garbled|", .wrong_check_sum = true});
  network.run();
  EXPECT_EQ(engine.session().counters().garbled, 1U);
  trader.session_messages();
  trader.send({"D", "11=next|"});
  network.run();
  const auto answers = trader.session_messages();
  ASSERT_EQ(types(answers), Events{"2"});
  EXPECT_EQ(answers[0][Tag::BeginSeqNo], "2");
  trader.send({.msg_type = "D", .body = "11=again|", .number = SeqNum{2}, .poss_dup = true});
  network.run();
  EXPECT_EQ(desk.events, (Events{"logon TRADER", "D again", "D next"}));
  EXPECT_EQ(trader.next_number(), SeqNum{4}) << "a number of the test's leaves the next one alone";
}

TEST_F(PeerOfDesk, a_number_that_is_too_low_ends_the_session) {
  trader.logon();
  trader.send({.msg_type = "D", .body = "11=a|", .number = SeqNum{1}});
  network.run();
  EXPECT_FALSE(trader.connected());
  EXPECT_TRUE(trader.session_messages().back()[Tag::Text].contains("MsgSeqNum"));
  EXPECT_TRUE(error_of([&] {
                trader.send({"D", "11=b|"});
              }).starts_with("TRADER->DESK: a message cannot be sent: the engine sent a Logout with the text \""));
}

TEST_F(PeerOfDesk, a_lost_connection_ends_the_session_and_the_next_logon_continues_its_numbers) {
  trader.logon();
  trader.send({"D", "11=last|"});
  trader.disconnect();
  network.run();
  EXPECT_EQ(desk.events, (Events{"logon TRADER", "D last", "logout connection lost"}));
  trader.logon();
  EXPECT_EQ(trader.next_number(), SeqNum{4});
  trader.disconnect();
  trader.logon("141=Y|");
  EXPECT_EQ(trader.next_number(), SeqNum{2});
  EXPECT_EQ(engine.session().next_inbound(), SeqNum{2});
  trader.set_next_number(SeqNum{9});
  trader.send({"D", "11=later|"});
  network.run();
  EXPECT_EQ(types(trader.session_messages()).back(), "2");
}

TEST_F(PeerOfDesk, answers_test_requests_unless_it_hangs) {
  trader.logon();
  network.advance(10min);
  EXPECT_TRUE(trader.logged_on());
  const auto messages = trader.session_messages();
  EXPECT_GE(std::ranges::count(messages, "1", &Received::msg_type), 10);
  trader.set_answering(false);
  network.advance(2min);
  EXPECT_FALSE(trader.connected());
  EXPECT_EQ(desk.events.size(), 2U);
}

TEST_F(PeerOfDesk, that_hangs_does_not_answer_a_logout) {
  trader.logon();
  trader.set_answering(false);
  engine.session().logout("bye");
  network.run();
  EXPECT_TRUE(trader.connected());
  network.advance(3s);
  EXPECT_FALSE(trader.connected());
}

TEST_F(PeerOfDesk, a_message_that_is_not_handled_now_comes_again) {
  int attempts = 0;
  desk.answer = [&](SessionHandle&, const MessageView&) { return ++attempts < 3 ? Handled::not_now : Handled::done; };
  trader.logon();
  trader.send({"D", "11=a|"});
  network.advance(1s);
  EXPECT_EQ(desk.events, (Events{"logon TRADER", "D a", "D a", "D a"}));
}

TEST_F(PeerOfDesk, bytes_are_sent_as_they_are) {
  trader.logon();
  trader.send_bytes("GET / HTTP/1.1\r\n\r\n");
  trader.send({"D", "11=a|"});
  network.run();
  EXPECT_EQ(desk.events.back(), "D a");
  EXPECT_EQ(engine.session().counters().garbled, 1U);
}

TEST_F(PeerOfDesk, a_logon_may_be_written_by_the_test) {
  trader.connect();
  network.run();
  trader.send({"A", "98=0|108=5|"});
  network.run();
  EXPECT_TRUE(trader.logged_on());
  trader.session_messages();
  network.advance(5s);
  EXPECT_EQ(types(trader.session_messages()), Events{"0"});
}

TEST_F(PeerOfDesk, misuse_is_an_error_that_says_what_to_do) {
  EXPECT_EQ(error_of([&] { trader.send({"D", "11=a|"}); }),
            "TRADER->DESK: a message cannot be sent: the peer has no connection");
  EXPECT_EQ(error_of([&] { trader.send_bytes("x"); }),
            "TRADER->DESK: bytes cannot be sent: the peer has no connection");
  EXPECT_EQ(error_of([&] { trader.logout(); }), "TRADER->DESK: the peer is not logged on: the peer has no connection");
  EXPECT_EQ(error_of([&] { std::ignore = trader.receive(); }),
            "TRADER->DESK: no application message has come; the peer has no connection");
  trader.logon();
  EXPECT_EQ(error_of([&] { trader.logon(); }), "TRADER->DESK: the peer is logged on");
  EXPECT_EQ(error_of([&] { trader.connect(); }), "TRADER->DESK: the peer has a connection");
  EXPECT_EQ(error_of([&] { trader.send({.msg_type = ""}); }),
            "TRADER->DESK: a message without MsgType(35): a field of its builder could not be written");
  EXPECT_EQ(error_of([&] { Received("8=FIX.4.4|"); }).substr(0, 14), "no FIX message");
}

TEST_F(PeerOfDesk, a_refused_logon_is_an_error_with_the_reason) {
  Peer stranger{network, "STRANGER", "DESK"};
  EXPECT_EQ(error_of([&] { stranger.logon(); }),
            "STRANGER->DESK: the Logon was refused: no such session; sessions: DESK->TRADER");
  Peer second{network, "TRADER", "DESK"};
  trader.logon();
  EXPECT_EQ(error_of([&] { second.logon(); }),
            "TRADER->DESK: the Logon was refused: the session has a connection already; sessions: DESK->TRADER");
}

TEST(Peers, log_on_with_the_fields_that_the_session_requires) {
  Network network;
  Recorder desk;
  SessionSettings session = plain_acceptor("DESK", "TRADER");
  session.session.username = "lee";
  session.session.password = "secret";
  network.engine(session, desk);
  Peer trader{network, "TRADER", "DESK"};
  EXPECT_EQ(error_of([&] { trader.logon("553=lee|554=guess|"); }),
            "TRADER->DESK: the Logon was refused: wrong Username or Password; sessions: DESK->TRADER");
  trader.set_next_number(SeqNum{1});
  trader.logon("553=lee|554=secret|");
  EXPECT_EQ(desk.events, Events{"logon TRADER"});
}

TEST(Peers, take_version_and_names_from_the_session) {
  Network network;
  Recorder desk;
  EngineConfig config;
  config.sessions = {plain_acceptor("DESK", "OLD"), plain_acceptor("DESK", "NEW"), plain_acceptor("DESK", "*")};
  config.sessions[0].session.begin_string = "FIX.4.2";
  config.sessions[0].session.target_sub_id = "FLOOR";
  config.sessions[1].session.begin_string = "FIXT.1.1";
  config.sessions[1].session.default_appl_ver_id = "9";
  config.sessions[2].is_template = true;
  network.engine(config, desk);
  Peer old{network, "OLD", "DESK"}, recent{network, "NEW", "DESK"}, any{network, "ANY", "DESK"},
      strict{network, "OLD", "DESK", {.begin_string = "FIX.4.4"}};
  old.logon();
  EXPECT_EQ(old.session_messages()[0].view().begin_string(), "FIX.4.2");
  recent.logon();
  EXPECT_EQ(recent.session_messages()[0][Tag::DefaultApplVerID], "9");
  any.logon();
  EXPECT_EQ(any.session_messages()[0][Tag::TargetCompID], "ANY");
  strict.logon();
  EXPECT_EQ(desk.events, (Events{"logon OLD", "logon NEW", "logon ANY", "logon OLD"})) << "the last by the template";
}

TEST(Peers, of_no_session_need_a_port_where_several_are_listened_at) {
  Network network;
  Recorder desk;
  Peer nobody{network, "X", "Y"};
  EXPECT_EQ(error_of([&] { nobody.connect(); }),
            "X->Y: no acceptor has this session; set PeerOptions::connect to a port; sessions: none");
  network.engine(plain_acceptor("A", "B", 9001), desk);
  network.engine(plain_acceptor("C", "D", 9002), desk);
  EXPECT_EQ(error_of([&] { nobody.connect(); }),
            "X->Y: no acceptor has this session; set PeerOptions::connect to a port; sessions: A->B, C->D");
  Peer at_port{network, "X", "Y", {.connect = 9002}}, nowhere{network, "X", "Y", {.connect = 9003}};
  at_port.connect();
  EXPECT_TRUE(at_port.connected());
  EXPECT_EQ(error_of([&] { nowhere.connect(); }), "X->Y: nobody listens at port 9003");
  EXPECT_FALSE(nowhere.connected());
}

TEST(Peers, that_listen_take_the_logon_of_an_initiator) {
  Network network;
  Recorder desk;
  Peer venue{network, "VENUE", "DESK", {.listen = default_port}};
  EXPECT_TRUE(error_of([&] {
                venue.logon();
              }).starts_with("VENUE->DESK: no engine has connected to port 9878: make this peer before the engine"));
  SessionSettings session = plain_initiator("DESK", "VENUE");
  session.session.begin_string = "FIX.4.3";
  TestEngine& engine = network.engine(session, desk);
  venue.logon();
  EXPECT_TRUE(engine.session().logged_on());
  std::ignore = engine.session().send({.msg_type = "D", .body = "11=a\001"});
  network.run();
  EXPECT_EQ(venue.receive("D").view().begin_string(), "FIX.4.3");
  venue.send({"8", "11=a|"});
  network.run();
  EXPECT_EQ(desk.events, (Events{"logon VENUE", "8 a"}));
  venue.disconnect();
  network.run();
  EXPECT_FALSE(engine.session().logged_on());
  network.advance(1s);
  venue.logon();
  EXPECT_TRUE(engine.session().logged_on());
}

TEST(Peers, that_listen_later_than_the_engine_connects_are_found_after_its_delay) {
  Network network;
  Recorder desk;
  TestEngine& engine = network.engine(plain_initiator("DESK", "VENUE"), desk);
  network.run();
  Peer venue{network, "VENUE", "DESK", {.listen = default_port}};
  network.advance(1s);
  venue.logon();
  EXPECT_TRUE(engine.session().logged_on());
  EXPECT_EQ(error_of([&] { Peer(network, "V", "D", {.listen = default_port}); }),
            "listen on venue:9878: Address already in use");
  EXPECT_EQ(error_of([&] { Peer(network, "V", "D", {.connect = 1, .listen = 2}); }),
            "V->D: a peer either connects or listens: PeerOptions has ports for both");
  EXPECT_EQ(error_of([&] { venue.connect(); }), "VENUE->DESK: this peer listens: the engine connects to it");
}

// A full network: the engine's send() reports it, and nothing is lost.
TEST(Peers, that_do_not_read_are_back_pressure_and_lose_nothing_when_they_read_again) {
  Network network{{.stream_buffer = 4096}};
  Recorder desk;
  SessionSettings session = plain_acceptor("DESK", "TRADER");
  session.send_buffer_size = 128 * 1024;
  TestEngine& engine = network.engine(session, desk);
  Peer trader{network, "TRADER", "DESK"};
  trader.logon();
  trader.set_reading(false);
  const std::string body = "148=" + std::string(1000, 'x') + soh;
  std::size_t sent = 0;
  std::optional<SendError> error;
  while (!error && sent < 1000) {
    const auto result = engine.session().send({.msg_type = "B", .body = body});
    if (result) {
      ++sent;
    } else {
      error = result.error();
    }
    network.run();
  }
  EXPECT_EQ(error, SendError::would_block);
  EXPECT_TRUE(trader.received().empty());
  trader.set_reading(true);
  network.run();
  const auto received = trader.received();
  ASSERT_EQ(received.size(), sent);
  for (std::size_t i = 0; i < sent; ++i) EXPECT_EQ(received[i].view().get_seq_num(Tag::MsgSeqNum), SeqNum{i + 2});
}

TEST(Peers, more_than_the_network_holds_arrives_as_the_engine_reads) {
  Network network{{.stream_buffer = 4096}};
  Recorder desk;
  network.engine(plain_acceptor("DESK", "TRADER"), desk);
  Peer trader{network, "TRADER", "DESK"};
  trader.logon();
  for (int i = 0; i < 1000; ++i) trader.send({"D", "11=" + std::to_string(i)});
  network.run();
  EXPECT_EQ(desk.events.size(), 1001U);
  EXPECT_EQ(desk.events.back(), "D 999");
}

TEST(Peers, may_be_moved_and_may_outlive_their_network) {
  std::optional<Network> network{std::in_place};
  Recorder desk;
  SessionSettings any = plain_acceptor("DESK", "*");
  any.is_template = true;
  network->engine(any, desk);
  std::vector<Peer> peers;
  for (const char* name : {"A", "B", "C"}) peers.emplace_back(*network, name, "DESK");
  for (Peer& each : peers) each.logon();
  peers.erase(peers.begin());
  network->run();
  EXPECT_EQ(desk.events, (Events{"logon A", "logon B", "logon C", "logout connection lost"}));
  network.reset();
  EXPECT_FALSE(peers[0].logged_on() && peers[0].received().size() > 1);
}

TEST(Peers, see_the_same_in_every_run) {
  const auto run = [] {
    Network network;
    Recorder desk;
    network.engine(plain_acceptor("DESK", "TRADER"), desk);
    Peer trader{network, "TRADER", "DESK"};
    trader.logon();
    for (int i = 0; i < 20; ++i) {
      trader.send({"D", "11=a|55=X|"});
      network.advance(7s);
    }
    std::string all;
    for (const Received& each : trader.session_messages()) all += each.bytes();
    return all;
  };
  EXPECT_EQ(run(), run());
}

}  // namespace
}  // namespace nfx::testing
