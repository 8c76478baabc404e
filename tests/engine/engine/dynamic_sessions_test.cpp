// Sessions that templates make, that are added and removed while the engine runs, and who may log on to them.
#include <gtest/gtest.h>

#include <memory>

#include "engine/loop_rig.hpp"

namespace nfx::test {
namespace {

class DynamicSessions : public ::testing::Test {
 protected:
  DynamicSessions() {
    SessionSettings pattern = acceptor("CLIENT-*");
    pattern.is_template = true;
    rig.venue.config.sessions = {pattern};
    rig.venue.config.max_dynamic_sessions = 2;
  }
  void log_on(RawPeer& peer, std::string_view more = {}) {
    peer.connect();
    rig.turn();
    peer.send(peer.logon(more));
    rig.turn(2);
    peer.read();
  }
  // An operator's command, which the loop takes in its next iteration.
  CommandOutcome command(std::size_t session, SessionCommandKind kind) {
    CommandOutcome outcome;
    const auto call = std::make_shared<LoopCall>(
        [&](OperatorRequests& requests) { outcome = requests.command(session, SessionCommand{.kind = kind}); });
    EXPECT_TRUE(rig.venue.loop->push(call));
    rig.turn();
    EXPECT_TRUE(call->wait(Duration::zero()));
    return outcome;
  }

  LoopRig rig;
  RecordingApplication& application = rig.venue.application;
};

TEST_F(DynamicSessions, template_makes_a_session_for_whoever_fits) {
  rig.venue.start();
  RawPeer one{rig.network, rig.clock, "CLIENT-1"};
  log_on(one);
  ASSERT_EQ(application.added, (std::vector<std::size_t>{1}));
  EXPECT_TRUE(rig.venue.session(1).logged_on());
  EXPECT_EQ(rig.venue.session(1).config().target_comp_id, "CLIENT-1");
  EXPECT_EQ(one.all(Tag::MsgType), (std::vector<std::string>{"A"}));
  EXPECT_EQ(rig.venue.loop->find(0), nullptr) << "the template itself is not a session";
}

TEST_F(DynamicSessions, session_of_a_template_keeps_its_numbers_between_connections) {
  rig.venue.start();
  RawPeer one{rig.network, rig.clock, "CLIENT-1"};
  log_on(one);
  one.close();
  rig.turn(2);
  log_on(one);
  EXPECT_EQ(one.all(Tag::MsgSeqNum), (std::vector<std::string>{"2"}));
  EXPECT_EQ(application.added.size(), 1U);
}

TEST_F(DynamicSessions, template_takes_nobody_else) {
  rig.venue.start();
  RawPeer stranger{rig.network, rig.clock, "SOMEBODY"};
  log_on(stranger);
  EXPECT_TRUE(stranger.closed);
  EXPECT_TRUE(stranger.received.empty());
  EXPECT_TRUE(application.added.empty());
}

TEST_F(DynamicSessions, configured_session_goes_before_the_template) {
  rig.venue.config.sessions.push_back(acceptor("CLIENT-1"));
  rig.venue.start();
  RawPeer one{rig.network, rig.clock, "CLIENT-1"};
  log_on(one);
  EXPECT_TRUE(rig.venue.session(1).logged_on());
  EXPECT_TRUE(application.added.empty());
}

TEST_F(DynamicSessions, application_decides_who_may_log_on_before_a_session_exists) {
  std::vector<std::string> asked;
  application.when_logon_requested = [&](const LogonRequest& request) {
    asked.push_back(request.session.target_comp_id + ' ' + std::string{request.message.get_view(Tag::Password)} + ' ' +
                    std::string{request.peer} + (request.is_new ? " new" : " known"));
    return request.message.get_view(Tag::Password) == "secret";
  };
  rig.venue.start();
  RawPeer one{rig.network, rig.clock, "CLIENT-1"};
  log_on(one, field(554, "guess"));
  EXPECT_TRUE(one.closed);
  EXPECT_TRUE(one.received.empty());
  EXPECT_TRUE(application.added.empty());
  EXPECT_EQ(rig.venue.loop->counters().application, 1U);
  one.seq = 1;
  log_on(one, field(554, "secret"));
  EXPECT_TRUE(rig.venue.session(1).logged_on());
  one.close();
  rig.turn(2);
  log_on(one, field(554, "secret"));
  EXPECT_EQ(asked, (std::vector<std::string>{"CLIENT-1 guess loopback new", "CLIENT-1 secret loopback new",
                                             "CLIENT-1 secret loopback known"}));
}

TEST_F(DynamicSessions, refused_logon_leaves_no_trace_in_a_known_session) {
  rig.venue.config.sessions = {acceptor("CLIENT-1")};
  rig.venue.config.sessions[0].next_inbound = SeqNum{5};
  rig.venue.config.sessions[0].next_outbound = SeqNum{7};
  application.when_logon_requested = [](const LogonRequest&) { return false; };
  rig.venue.start();
  RawPeer one{rig.network, rig.clock, "CLIENT-1"};
  log_on(one, field(141, "Y"));
  EXPECT_TRUE(one.closed);
  EXPECT_EQ(rig.venue.session().next_inbound(), SeqNum{5});
  EXPECT_EQ(rig.venue.session().next_outbound(), SeqNum{7});
}

TEST_F(DynamicSessions, are_limited_in_number_and_a_removed_one_makes_room) {
  rig.venue.start();
  RawPeer one{rig.network, rig.clock, "CLIENT-1"}, two{rig.network, rig.clock, "CLIENT-2"},
      three{rig.network, rig.clock, "CLIENT-3"};
  log_on(one);
  log_on(two);
  log_on(three);
  EXPECT_TRUE(three.closed);
  EXPECT_EQ(rig.venue.loop->counters().too_many_sessions, 1U);
  EXPECT_TRUE(rig.venue.loop->remove(1, "good bye"));
  rig.turn(2);
  one.read();
  EXPECT_EQ(one.all(Tag::MsgType), (std::vector<std::string>{"A", "5"}));
  EXPECT_EQ(one.all(Tag::Text).back(), "good bye");
  one.send(one.next(msg_type::logout));
  rig.turn(3);
  EXPECT_EQ(application.removed, (std::vector<std::size_t>{1}));
  EXPECT_EQ(rig.venue.loop->find(1), nullptr);
  three.seq = 1;
  log_on(three);
  EXPECT_EQ(application.added, (std::vector<std::size_t>{1, 2, 3}));
  EXPECT_TRUE(rig.venue.session(3).logged_on());
}

TEST_F(DynamicSessions, added_acceptor_listens_and_added_initiator_connects) {
  rig.venue.start();
  rig.trader.config.sessions = {initiator("CLIENT-9", 9009)};  // no acceptor listens there yet
  rig.trader.start();
  rig.turn(2);
  const std::size_t id = rig.venue.loop->add(acceptor("OTHER", 9001));
  rig.turn(2);
  EXPECT_EQ(application.added, (std::vector<std::size_t>{id}));
  const std::size_t other = rig.trader.loop->add(initiator("OTHER", 9001));
  rig.turn(6);
  EXPECT_TRUE(rig.venue.session(id).logged_on());
  EXPECT_TRUE(rig.trader.session(other).logged_on());
  ASSERT_TRUE(rig.trader.session(other).send({.msg_type = "D", .body = std::string_view{order(1)}}).has_value());
  rig.turn(3);
  EXPECT_EQ(application.at(id).orders, (std::vector<std::string>{"1"}));
}

TEST_F(DynamicSessions, one_that_exists_already_is_not_added_again) {
  rig.venue.config.sessions.push_back(acceptor("CLIENT-1"));
  rig.venue.start();
  EXPECT_THROW(rig.venue.loop->add(acceptor("CLIENT-1")), ConfigError);
  rig.venue.loop->add(acceptor("CLIENT-2"));
  EXPECT_THROW(rig.venue.loop->add(acceptor("CLIENT-2")), ConfigError);
  rig.venue.loop->add(acceptor("CLIENT-3"));
  EXPECT_THROW(rig.venue.loop->add(acceptor("CLIENT-4")), ConfigError) << "max_dynamic_sessions is 2";
}

TEST_F(DynamicSessions, one_whose_store_cannot_be_opened_takes_neither_a_name_nor_room) {
  rig.venue.start();
  SessionSettings on_disk = acceptor("CLIENT-1");
  on_disk.store_kind = StoreKind::journal;
  for (int i = 0; i < 3; ++i) EXPECT_THROW(rig.venue.loop->add(on_disk), StoreError) << "these stores have no disk";
  EXPECT_NO_THROW(rig.venue.loop->add(acceptor("CLIENT-1")));
  EXPECT_NO_THROW(rig.venue.loop->add(acceptor("CLIENT-2")));
}

TEST_F(DynamicSessions, removed_one_disturbs_no_neighbour) {
  rig.venue.start();
  RawPeer one{rig.network, rig.clock, "CLIENT-1"}, two{rig.network, rig.clock, "CLIENT-2"};
  log_on(one);
  log_on(two);
  rig.venue.loop->remove(1, {});
  rig.turn();
  one.close();
  two.send(two.next("D", order(7)));
  rig.turn(3);
  EXPECT_EQ(application.removed, (std::vector<std::size_t>{1}));
  EXPECT_EQ(application.at(2).orders, (std::vector<std::string>{"7"}));
  rig.pass(40s, 5s);
  EXPECT_TRUE(application.at(2).logouts.empty());
}

TEST_F(DynamicSessions, removal_of_a_session_that_is_not_connected_is_immediate) {
  rig.venue.config.sessions.push_back(acceptor("CLIENT-1"));
  rig.venue.start();
  EXPECT_TRUE(rig.venue.loop->remove(1, {}));
  EXPECT_FALSE(rig.venue.loop->remove(77, {}));
  rig.turn(2);
  EXPECT_EQ(application.removed, (std::vector<std::size_t>{1}));
  EXPECT_EQ(rig.venue.loop->add(acceptor("CLIENT-1")), 2U) << "its name is free, its number is not";
}

TEST_F(DynamicSessions, only_allowed_addresses_may_log_on) {
  rig.venue.config.sessions = {acceptor("CLIENT-1")};
  rig.venue.config.sessions[0].allowed_addresses = {"192.0.2.1"};
  rig.venue.start();
  RawPeer one{rig.network, rig.clock, "CLIENT-1"};
  log_on(one);
  EXPECT_TRUE(one.closed) << "the loopback network has no address at all";
}

TEST_F(DynamicSessions, wrong_passwords_make_nothing_and_take_no_place) {
  rig.venue.config.sessions[0].session.password = "secret";
  rig.venue.start();
  for (int i = 0; i < 270; ++i) {
    RawPeer stranger{rig.network, rig.clock, "CLIENT-" + std::to_string(i)};
    log_on(stranger, field(554, "guess"));
    EXPECT_TRUE(stranger.closed);
    EXPECT_TRUE(stranger.received.empty());
  }
  EXPECT_TRUE(application.added.empty());
  EXPECT_EQ(rig.venue.loop->counters().credentials, 270U);
  EXPECT_EQ(rig.venue.loop->counters().too_many_sessions, 0U);
  RawPeer one{rig.network, rig.clock, "CLIENT-1"};
  log_on(one, field(554, "secret"));
  EXPECT_EQ(application.added, (std::vector<std::size_t>{1}));
  EXPECT_TRUE(rig.venue.session(1).logged_on());
}

TEST_F(DynamicSessions, terms_that_are_refused_are_answered_and_make_nothing) {
  rig.venue.start();
  RawPeer one{rig.network, rig.clock, "CLIENT-1"};
  one.connect();
  rig.turn();
  one.send(one.next(msg_type::logon, field(98, "0") + field(108, "0")));
  rig.turn(2);
  one.read();
  EXPECT_EQ(one.all(Tag::MsgType), (std::vector<std::string>{"5"}));
  EXPECT_EQ(one.all(Tag::Text),
            (std::vector<std::string>{"HeartBtInt(108)=0: must be above 0, as allow_no_heartbeats is not set here"}));
  EXPECT_EQ(one.all(Tag::MsgSeqNum), (std::vector<std::string>{"1"}));
  one.read();
  EXPECT_TRUE(one.closed);
  one.seq = 7;  // our number is not known without the store
  one.connect();
  rig.turn();
  one.send(one.next(msg_type::logon, field(98, "0") + field(108, "0")));
  rig.turn(2);
  one.read();
  EXPECT_TRUE(one.closed);
  EXPECT_TRUE(one.received.empty());
  EXPECT_TRUE(application.added.empty());
}

TEST_F(DynamicSessions, session_whose_first_logon_fails_goes_again) {
  rig.venue.config.max_dynamic_sessions = 1;
  rig.venue.config.sessions[0].session.send_next_expected_seq_num = true;
  rig.venue.start();
  RawPeer one{rig.network, rig.clock, "CLIENT-1"}, two{rig.network, rig.clock, "CLIENT-2"};
  log_on(one, field(789, "5"));
  EXPECT_EQ(
      one.all(Tag::Text),
      (std::vector<std::string>{"Tag 789 (NextExpectedMsgSeqNum) is higher than expected. Expected 1, Received 5"}));
  rig.turn();
  EXPECT_EQ(application.removed, (std::vector<std::size_t>{1}));
  EXPECT_EQ(rig.venue.loop->counters().dynamic_failed, 1U);
  log_on(two, field(789, "1"));
  EXPECT_TRUE(rig.venue.session(2).logged_on());
}

TEST_F(DynamicSessions, without_a_journal_keep_their_numbers_until_their_place_is_needed) {
  rig.venue.config.dynamic_session_idle = 60s;
  rig.venue.start();
  RawPeer one{rig.network, rig.clock, "CLIENT-1"}, two{rig.network, rig.clock, "CLIENT-2"},
      three{rig.network, rig.clock, "CLIENT-3"};
  log_on(one);
  log_on(two);
  one.close();
  rig.turn(2);
  log_on(three);
  EXPECT_TRUE(three.closed) << "the first has not been gone for long enough";
  rig.pass(70s, 10s);
  two.read();
  EXPECT_TRUE(application.removed.empty());
  three.seq = 1;
  log_on(three);
  EXPECT_EQ(application.removed, (std::vector<std::size_t>{1}));
  EXPECT_TRUE(rig.venue.session(3).logged_on());
  EXPECT_EQ(rig.venue.loop->counters().dynamic_idle, 1U);
}

TEST_F(DynamicSessions, that_an_operator_has_held_stay_held_when_their_place_is_needed) {
  rig.venue.config.max_dynamic_sessions = 1;
  rig.venue.config.dynamic_session_idle = 60s;
  rig.venue.start();
  RawPeer one{rig.network, rig.clock, "CLIENT-1"}, two{rig.network, rig.clock, "CLIENT-2"};
  log_on(one);
  EXPECT_TRUE(command(1, SessionCommandKind::hold));
  one.close();
  rig.turn(2);
  rig.pass(120s, 10s);
  log_on(two);
  EXPECT_TRUE(two.closed);
  EXPECT_TRUE(application.removed.empty());
  log_on(one);
  EXPECT_EQ(application.added, (std::vector<std::size_t>{1}));
  const auto sent = rig.venue.session(1).send({.msg_type = "8", .body = std::string_view{order(1)}});
  ASSERT_FALSE(sent.has_value());
  EXPECT_EQ(sent.error(), SendError::on_hold);
}

TEST_F(DynamicSessions, that_an_operator_has_removed_are_not_made_again_until_they_are_added) {
  rig.venue.start();
  RawPeer one{rig.network, rig.clock, "CLIENT-1"}, two{rig.network, rig.clock, "CLIENT-2"};
  log_on(one);
  EXPECT_TRUE(command(1, SessionCommandKind::remove));
  one.close();
  rig.turn(3);
  EXPECT_EQ(application.removed, (std::vector<std::size_t>{1}));
  one.seq = 1;
  log_on(one);
  EXPECT_TRUE(one.closed);
  EXPECT_EQ(application.added, (std::vector<std::size_t>{1}));
  EXPECT_EQ(rig.venue.loop->counters().disabled, 1U);
  log_on(two);
  EXPECT_TRUE(rig.venue.session(2).logged_on()) << "others are made as before";
  const std::size_t added = rig.venue.loop->add(acceptor("CLIENT-1"));
  rig.turn();
  one.seq = 1;
  log_on(one);
  EXPECT_TRUE(rig.venue.session(added).logged_on());
  EXPECT_TRUE(rig.venue.loop->remove(added, {}));
  one.close();
  rig.turn(3);
  one.seq = 1;
  log_on(one);
  EXPECT_FALSE(one.closed) << "the program has removed it, and its template makes it again";
}

TEST_F(DynamicSessions, that_were_removed_are_remembered_up_to_a_number) {
  rig.venue.start();
  const auto remove_one = [&](std::size_t i) {
    RawPeer peer{rig.network, rig.clock, "CLIENT-" + std::to_string(i)};
    log_on(peer);
    const std::size_t number = application.added.back();
    EXPECT_TRUE(command(number, SessionCommandKind::remove));
    peer.close();
    rig.turn(3);
    return number;
  };
  for (std::size_t i = 0; i < SessionTable::most_removed; ++i) static_cast<void>(remove_one(i));
  RawPeer first{rig.network, rig.clock, "CLIENT-0"};
  log_on(first);
  EXPECT_TRUE(first.closed);
  const std::size_t last = remove_one(SessionTable::most_removed);
  EXPECT_EQ(application.count(Notice::operator_command, last), 2U) << "that the first one is forgotten, and its own";
  first.seq = 1;
  log_on(first);
  EXPECT_FALSE(first.closed);
}

TEST_F(DynamicSessions, names_with_an_arrow_in_them_are_not_taken_for_each_other) {
  rig.venue.config.sessions[0].session.sender_comp_id = "*";
  rig.venue.config.sessions[0].session.target_comp_id = "*";
  rig.venue.start();
  RawPeer squatter{rig.network, rig.clock, "B", {}, "V->A"}, owner{rig.network, rig.clock, "A->B", {}, "V"};
  log_on(squatter);
  log_on(owner);
  EXPECT_FALSE(squatter.closed);
  EXPECT_FALSE(owner.closed);
  EXPECT_EQ(application.added.size(), 2U);
}

// A second connection of the same peer, whose first one may be dead.
class SecondLogon : public ::testing::Test {
 protected:
  SecondLogon() {
    rig.venue.config.sessions = {acceptor("TRADER")};
    rig.venue.config.sessions[0].session.password = "secret";
  }
  void start() {
    rig.venue.start();
    log_on(first, "secret");
    ASSERT_TRUE(rig.venue.session().logged_on());
    rig.pass(5s);  // in which nothing arrives
    second.seq = 2;
  }
  void log_on(RawPeer& peer, std::string_view password) {
    peer.connect();
    rig.turn();
    peer.send(peer.logon(field(554, password)));
    rig.turn(2);
    peer.read();
  }

  LoopRig rig;
  RawPeer first{rig.network, rig.clock}, second{rig.network, rig.clock};
  RecordingApplication& application = rig.venue.application;
};

TEST_F(SecondLogon, takes_the_session_over_when_the_first_connection_does_not_answer) {
  start();
  log_on(second, "secret");
  EXPECT_EQ(application.count(Notice::second_logon), 1);
  rig.pass(4900ms);
  second.read();
  EXPECT_FALSE(second.closed);
  EXPECT_TRUE(second.received.empty());
  rig.pass(300ms);
  rig.turn(2);
  second.read();
  EXPECT_EQ(second.all(Tag::MsgType), (std::vector<std::string>{"A"}));
  EXPECT_TRUE(rig.venue.session().logged_on());
  first.read();
  first.read();
  EXPECT_TRUE(first.closed);
  EXPECT_EQ(first.all(Tag::MsgType), (std::vector<std::string>{"A", "1"}));
  EXPECT_EQ(rig.venue.loop->counters().takeovers, 1U);
}

TEST_F(SecondLogon, is_refused_while_the_first_connection_answers) {
  start();
  log_on(second, "secret");
  first.read();
  ASSERT_EQ(first.all(Tag::MsgType).back(), "1");
  first.send(first.next("0", field(112, "TEST")));
  rig.pass(300ms);
  second.read();
  EXPECT_TRUE(second.closed);
  EXPECT_TRUE(second.received.empty());
  EXPECT_TRUE(rig.venue.session().logged_on());
  rig.pass(10s);
  EXPECT_TRUE(application.at().logouts.empty());
  EXPECT_EQ(rig.venue.loop->counters().takeovers, 0U);
  EXPECT_EQ(rig.venue.loop->counters().already_connected, 1U);
}

TEST_F(SecondLogon, causes_no_more_than_one_test_request_within_the_time_to_answer) {
  start();
  for (int i = 0; i < 20; ++i) {
    second.seq = 2;
    log_on(second, "secret");
    first.read();
    if (i == 0) first.send(first.next("0", field(112, "TEST")));
    rig.pass(200ms);
    second.read();
    EXPECT_TRUE(second.closed);
  }
  EXPECT_EQ(std::ranges::count(first.all(Tag::MsgType), "1"), 1);
  EXPECT_EQ(application.count(Notice::second_logon), 1U);
  rig.pass(2s);
  second.seq = 3;
  log_on(second, "secret");
  EXPECT_EQ(application.count(Notice::second_logon), 2U);
}

TEST_F(SecondLogon, of_somebody_else_causes_nothing) {
  start();
  log_on(second, "guess");
  EXPECT_TRUE(second.closed);
  first.read();
  EXPECT_EQ(first.all(Tag::MsgType), (std::vector<std::string>{"A"}));
  EXPECT_EQ(application.count(Notice::second_logon), 0);
}

TEST_F(SecondLogon, whose_number_would_be_refused_causes_nothing) {
  start();
  second.seq = 1;
  log_on(second, "secret");
  EXPECT_TRUE(second.closed);
  first.read();
  EXPECT_EQ(first.all(Tag::MsgType), (std::vector<std::string>{"A"}));
}

TEST_F(SecondLogon, a_third_is_refused_while_the_second_waits) {
  start();
  RawPeer third{rig.network, rig.clock};
  third.seq = 2;
  log_on(second, "secret");
  log_on(third, "secret");
  EXPECT_TRUE(third.closed);
  EXPECT_FALSE(second.closed);
}

TEST_F(SecondLogon, that_was_closed_while_it_waited_leaves_the_session_to_the_next) {
  rig.venue.config.pending_logon_timeout = 2s;
  start();
  log_on(second, "secret");
  rig.pass(6s);
  second.read();
  EXPECT_TRUE(second.closed);
  EXPECT_FALSE(rig.venue.session().logged_on());
  EXPECT_EQ(rig.venue.loop->counters().takeovers, 0U);
  second.seq = 2;
  log_on(second, "secret");
  EXPECT_TRUE(rig.venue.session().logged_on());
}

TEST_F(SecondLogon, is_refused_at_once_while_the_first_connection_is_in_use) {
  start();
  first.send(first.next("0"));
  rig.pass(4s);
  log_on(second, "secret");
  EXPECT_TRUE(second.closed);
  first.read();
  EXPECT_EQ(first.all(Tag::MsgType), (std::vector<std::string>{"A"}));
}

TEST_F(SecondLogon, is_refused_at_once_where_nothing_is_to_be_taken_over) {
  rig.venue.config.sessions[0].session.takeover_timeout = 0s;
  start();
  log_on(second, "secret");
  EXPECT_TRUE(second.closed);
  first.read();
  EXPECT_EQ(first.all(Tag::MsgType), (std::vector<std::string>{"A"}));
}

}  // namespace
}  // namespace nfx::test
