// Engines on a network in memory: the effects of run() and advance(), and the calls they refuse.
#include "nexusfix/testing/network.hpp"

#include <gtest/gtest.h>

#include <tuple>

#include "config/schedule_config.hpp"
#include "nexusfix/engine/engine_counters.hpp"
#include "testing/recorder.hpp"

namespace nfx::testing {
namespace {

using Events = std::vector<std::string>;

// An acceptor and an initiator, each with its application.
struct PairOfEngines : ::testing::Test {
  Network network;
  Recorder venue_application, trader_application;
  TestEngine& venue = network.engine(plain_acceptor("VENUE", "TRADER"), venue_application);
  TestEngine& trader = network.engine(plain_initiator("TRADER", "VENUE"), trader_application);
};

TEST_F(PairOfEngines, log_on_and_exchange_messages_while_no_time_passes) {
  venue_application.answer = [](SessionHandle& session, const MessageView& order) {
    auto report = session.create("8");
    report.append(Tag::ClOrdID, order.get_view(Tag::ClOrdID));
    return Handled{report.send()};
  };
  const UtcTime begin = network.now();
  EXPECT_EQ(begin, UtcTime{std::chrono::sys_days{std::chrono::year{2024} / 3 / 15} + 12h});
  network.run();
  ASSERT_TRUE(venue.session().logged_on() && trader.session().logged_on());
  std::ignore = trader.session().send({.msg_type = "D", .body = "11=a\00155=X\001"});
  EXPECT_EQ(venue_application.events, Events{"logon TRADER"}) << "nothing happens before run()";
  network.run();
  EXPECT_EQ(venue_application.events, (Events{"logon TRADER", "D a"}));
  EXPECT_EQ(trader_application.events, (Events{"logon VENUE", "8 a"}));
  EXPECT_EQ(network.now(), begin);
}

TEST_F(PairOfEngines, connect_again_after_a_lost_connection_once_the_delay_is_over) {
  network.run();
  venue.session().drop_connection();
  network.run();
  EXPECT_FALSE(trader.session().logged_on());
  EXPECT_EQ(trader_application.events.back(), "logout connection lost");
  network.advance(1s);
  EXPECT_TRUE(trader.session().logged_on());
  EXPECT_EQ(trader.session().next_outbound(), SeqNum{3}) << "two Logons";
}

TEST_F(PairOfEngines, stay_logged_on_for_days) {
  network.advance(std::chrono::days{3});
  EXPECT_TRUE(trader.session().logged_on());
  EXPECT_EQ(trader.session().counters().logons, 1U);
  EXPECT_GT(trader.session().counters().messages_out, 3U * 24 * 60);
}

TEST_F(PairOfEngines, stop_logs_out_and_finishes) {
  network.run();
  venue.stop();
  EXPECT_FALSE(venue.finished());
  network.run();
  EXPECT_TRUE(venue.finished());
  EXPECT_EQ(venue_application.events.back(), "logout logged out");
}

TEST_F(PairOfEngines, submitted_messages_leave_in_the_next_run) {
  EXPECT_EQ(trader.submit(0, {.msg_type = "D", .body = "11=early\001"}).status, SubmitStatus::not_logged_on);
  network.run();
  EXPECT_TRUE(trader.submit(0, {.msg_type = "D", .body = "11=a\001"}, {.report = true}));
  network.run();
  EXPECT_EQ(venue_application.events.back(), "D a");
  EXPECT_EQ(trader_application.events.back(), "submitted 2");
}

TEST_F(PairOfEngines, that_never_stop_answering_are_an_error_that_names_the_session) {
  const auto answer = [](SessionHandle& session, const MessageView&) {
    return Handled{session.send({.msg_type = "B", .body = "148=more\001"})};
  };
  venue_application.answer = trader_application.answer = answer;
  network.run();
  std::ignore = trader.session().send({.msg_type = "B", .body = "148=first\001"});
  const std::string error = error_of([&] { network.run(); });
  EXPECT_TRUE(error.starts_with("run(): still busy after 100000 rounds: in the last half of them FIX.4.4:")) << error;
  EXPECT_TRUE(error.contains("does its application answer an answer, or send in every on_turn()?")) << error;
}

TEST_F(PairOfEngines, have_the_sessions_of_their_configuration_alone) {
  EXPECT_EQ(error_of([&] { std::ignore = venue.session(1); }), "session(1): no such session; the configuration has 1");
}

TEST_F(PairOfEngines, the_clock_moves_forward_only) {
  const UtcTime begin = network.now();
  EXPECT_EQ(error_of([&] { network.advance(-1ns); }), "advance: the clock moves forward only");
  EXPECT_EQ(error_of([&] { network.advance_to(begin - 1s); }), "advance: the clock moves forward only");
  EXPECT_EQ(error_of([&] { network.advance(Duration::max()); }), "advance: more than 20 years");
  EXPECT_EQ(network.now(), begin);
  network.advance_to(begin + 90s);
  EXPECT_EQ(network.now(), begin + 90s);
}

TEST(OnTurn, is_called_when_it_asks_to_be) {
  Network network;
  Recorder application;
  std::vector<UtcTime> calls;
  UtcTime due = network.now();
  application.turn = [&](Instant now) {
    if (now.utc >= due) {
      calls.push_back(now.utc);
      due += 10ms;
    }
    return due - now.utc;
  };
  network.engine(plain_acceptor("VENUE", "TRADER"), application);
  network.advance(1s);
  ASSERT_EQ(calls.size(), 101U);
  for (std::size_t i = 1; i < calls.size(); ++i) EXPECT_EQ(calls[i] - calls[i - 1], 10ms);
}

TEST(OnTurn, that_never_wants_to_wait_does_not_keep_run_from_returning) {
  Network network;
  Recorder application;
  std::size_t calls = 0;
  application.turn = [&](Instant) {
    ++calls;
    return Duration::zero();
  };
  network.engine(plain_acceptor("VENUE", "TRADER"), application);
  network.run();
  EXPECT_GT(calls, 1U);
  calls = 0;
  network.advance(10ms);
  EXPECT_GE(calls, 10U) << "once a millisecond at least";
}

TEST(OnTurn, that_sends_in_every_iteration_is_an_error) {
  Network network{{.max_rounds = 1000}};
  Recorder venue, trader;
  SessionHandle* session = nullptr;
  trader.turn = [&](Instant) {
    if (session != nullptr) std::ignore = session->send({.msg_type = "B", .body = "148=x\001"});
    return Duration::max();
  };
  network.engine(plain_acceptor("VENUE", "TRADER"), venue);
  TestEngine& engine = network.engine(plain_initiator("TRADER", "VENUE"), trader);
  network.run();
  session = &engine.session();
  EXPECT_TRUE(error_of([&] { network.run(); }).starts_with("run(): still busy after 1000 rounds: in the last half"));
}

TEST(Callbacks, that_run_the_network_are_an_error_of_the_run_that_called_them) {
  const std::function<void(Network&, Peer&, Recorder&)> calls[] = {
      [](Network& network, Peer&, Recorder&) { network.run(); },
      [](Network& network, Peer&, Recorder&) { network.advance(1s); },
      [](Network& network, Peer&, Recorder& desk) { network.engine(plain_acceptor("OTHER", "TRADER", 9001), desk); },
      [](Network&, Peer& trader, Recorder&) { trader.logout(); },
  };
  for (const auto& call : calls) {
    Network network;
    Recorder desk;
    network.engine(plain_acceptor("DESK", "TRADER"), desk);
    Peer trader{network, "TRADER", "DESK"};
    trader.logon();
    desk.answer = [&](SessionHandle&, const MessageView&) {
      call(network, trader, desk);
      return Handled::done;
    };
    trader.send({"D", "11=a|"});
    EXPECT_EQ(error_of([&] { network.run(); }),
              "a callback called run(), advance(), engine() or a function of a peer that runs the network: call it in "
              "the test");
  }
}

TEST(Schedules, begin_and_end_a_session) {
  Network network;
  Recorder venue_application, trader_application;
  SessionSettings session = plain_initiator("TRADER", "VENUE");
  ScheduleTexts hour;
  hour.start_time = "13:00:00";
  hour.end_time = "14:00:00";
  session.schedule = make_schedule(hour);
  network.engine(plain_acceptor("VENUE", "TRADER"), venue_application);
  TestEngine& trader = network.engine(session, trader_application);
  network.advance_to(network.now() + 59min);
  EXPECT_FALSE(trader.session().logged_on());
  network.advance(2min);
  EXPECT_TRUE(trader.session().logged_on());
  network.advance(1h);
  EXPECT_FALSE(trader.session().logged_on());
}

TEST(Configurations, of_production_run_with_their_messages_in_memory_on_one_thread) {
  EngineConfig config;
  config.poll_threads = 3;
  for (const char* peer : {"A", "B", "C"}) {
    config.sessions.push_back(plain_acceptor("VENUE", peer));
    config.sessions.back().poll_thread = static_cast<std::uint32_t>(config.sessions.size() - 1);
    config.sessions.back().store_kind = StoreKind::journal;
    config.sessions.back().journal.directory = "/nonexistent/store";
  }
  config.log.directory = "/nonexistent/log";
  config.placement.enabled = true;
  Network network;
  Recorder application, other;
  TestEngine& venue = network.engine(config, application);
  network.engine(plain_initiator("C", "VENUE"), other);
  network.run();
  EXPECT_TRUE(venue.session(2).logged_on());
  EXPECT_EQ(venue.session(2).journal(), nullptr);
}

TEST(Configurations, of_a_file_run_as_they_are) {
  Network network;
  Recorder desk, trader;
  TestEngine& engine = network.engine(load_config(NFX_SOURCE_DIR "/examples/desk.toml"), desk);
  network.engine(load_config(NFX_SOURCE_DIR "/examples/trader.toml"), trader);
  network.run();
  EXPECT_TRUE(engine.session().logged_on());
}

TEST(Configurations, with_tls_are_refused) {
  Network network;
  Recorder application;
  SessionSettings session = plain_acceptor("VENUE", "TRADER");
  session.tls_enabled = true;
  EXPECT_EQ(error_of([&] { network.engine(session, application); }),
            "VENUE->TRADER: this network has no TLS: set tls_enabled = false for the test");
  session.tls_enabled = false;
  network.engine(session, application);
}

std::string config_error_of(Network& network, EngineConfig config, Application& application) {
  try {
    network.engine(std::move(config), application);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

TEST(Configurations, that_listen_where_another_engine_does_are_refused) {
  Network network;
  Recorder one, two;
  network.engine(plain_acceptor("ONE", "TRADER"), one);
  EngineConfig config;
  config.sessions = {plain_acceptor("TWO", "TRADER")};
  EXPECT_TRUE(config_error_of(network, config, two).contains("localhost:9878"));
  config.sessions = {plain_acceptor("TWO", "TRADER", 9879)};
  EXPECT_EQ(config_error_of(network, config, two), "");
  network.run();
}

TEST(Configurations, that_no_engine_would_start_with_are_refused) {
  Network network;
  Recorder application;
  EngineConfig config;
  config.sessions = {plain_acceptor("VENUE", "")};
  EXPECT_TRUE(config_error_of(network, config, application).contains("target_comp_id"));
  EXPECT_THROW(Network({.max_rounds = 0}), TestError);
}

}  // namespace
}  // namespace nfx::testing
