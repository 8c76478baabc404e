// Callbacks that throw: that session is logged out, everything else continues, and session and store agree.
#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>

#include "engine/loop_rig.hpp"
#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/engine/observer.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "transport/tls_certificates.hpp"

namespace nfx::test {
namespace {

// Throws in the callback of this name, for the session with the peer TRADER where it has one.
class Throwing final : public RecordingApplication {
 public:
  std::string in;
  bool any = false;  // instead, an exception that is not a std::exception
  std::size_t thrown = 0;
  std::vector<std::string> failures;  // of callbacks without a session
  std::vector<std::string> notices;

  void on_logon(SessionHandle& session) override {
    RecordingApplication::on_logon(session), at_end("on_logon", session);
  }
  Handled on_message(SessionHandle& session, const MessageView& message) override {
    const Handled result = RecordingApplication::on_message(session, message);
    at_end("on_message", session);
    return result;
  }
  void on_violations(SessionHandle& session, const MessageView&, const ValidationReport&) override {
    at_end("on_violations", session);
  }
  void on_reject(SessionHandle& session, const MessageView&) override { at_end("on_reject", session); }
  void on_logout(SessionHandle& session, std::string_view reason) override {
    RecordingApplication::on_logout(session, reason), at_end("on_logout", session);
  }
  void on_cancel(SessionHandle& session, std::string_view reason) override {
    RecordingApplication::on_cancel(session, reason), at_end("on_cancel", session);
  }
  void on_added(SessionHandle& session) override { at_end("on_added", session); }
  void on_removed(SessionHandle& session) override { at_end("on_removed", session); }
  bool on_resend(SessionHandle& session, const MessageView&) override { return at_end("on_resend", session), true; }
  void on_session_message(SessionHandle& session, const MessageView&) override {
    at_end("on_session_message", session);
  }
  void on_session_message_sending(SessionHandle& session, SessionMessage&) override {
    at_end("on_session_message_sending", session);
  }
  void on_traffic(SessionHandle& session, Direction direction, std::string_view) override {
    at_end(direction == Direction::in ? "on_traffic in" : "on_traffic out", session);
  }
  void on_notice(SessionHandle& session, Notice notice, SeqNum, std::string_view text) override {
    if (notice == Notice::callback_threw) notices.emplace_back(text);
    at_end("on_notice", session);
  }
  bool on_logon_request(const LogonRequest&) override { return at_end("on_logon_request"), true; }
  void on_logon_refused(const LogonRefusal& refusal) override {
    RecordingApplication::on_logon_refused(refusal), at_end("on_logon_refused");
  }
  void on_submitted(const Submitted&) override { at_end("on_submitted"); }
  void on_session_up(SessionHandle& session) override { at_end("on_session_up", session); }
  void on_session_down(SessionHandle& session, std::string_view) override { at_end("on_session_down", session); }
  void on_cancel_due(SessionHandle& session, std::string_view) override { at_end("on_cancel_due", session); }
  void on_alert(AlertKind kind, std::string_view text) override {
    if (kind != AlertKind::callback) return at_end("on_alert");
    failures.emplace_back(text);
    if (in == "on_turn and on_alert") throw std::runtime_error("twice");
  }
  Duration on_turn(Instant) override {
    at_end(in == "on_turn and on_alert" ? in : "on_turn");
    return Duration::max();
  }

 private:
  void at_end(std::string_view callback) {
    if (callback != in) return;
    ++thrown;
    if (any) throw 7;  // NOLINT: what a program may do
    throw std::runtime_error("position 17 is not known");
  }
  void at_end(std::string_view callback, const SessionHandle& session) {
    if (session.config().target_comp_id == "TRADER") at_end(callback);
  }
};

class CallbackExceptions : public ::testing::Test {
 protected:
  CallbackExceptions() { config.sessions = {acceptor("TRADER"), acceptor("OTHER")}; }

  void start(SessionStores& stores = memory_stores()) {
    check_config(config);
    loop.emplace(config, 0, transport, clock, application, stores);
    loop->start();
  }
  void turn(int times = 2) {
    for (int i = 0; i < times; ++i) {
      loop->turn(0ns);
      trader.read();
      other.read();
    }
  }
  void log_on(RawPeer& peer, std::string_view more = {}) {
    peer.connect();
    turn();
    peer.send(peer.logon(more));
    turn();
  }
  void log_both_on() {
    start();
    log_on(trader);
    log_on(other);
    ASSERT_TRUE(loop->find(0)->logged_on());
    ASSERT_TRUE(loop->find(1)->logged_on());
  }
  void serve_a_template() {
    SessionSettings pattern = acceptor("*");
    pattern.is_template = true;
    config.sessions = {pattern};
  }
  // Its first session, of the trader, has the only place, and its callback throws.
  void start_with_a_template_whose_first_session_fails() {
    serve_a_template();
    config.max_dynamic_sessions = 1;
    config.dynamic_session_idle = 60s;
    start();
    log_on(trader);
    application.in = "on_message";
    trader.send(trader.next("D", order(1)));
    turn();
  }
  // In one read.
  void send_orders(std::size_t count) {
    std::string bytes;
    for (std::size_t i = 1; i <= count; ++i) bytes += trader.next("D", order(i));
    trader.send(bytes);
    turn();
  }
  // The peer read a Logout without the exception's text, and its connection is closed.
  void expect_logged_out() {
    EXPECT_TRUE(trader.closed);
    ASSERT_FALSE(trader.messages().empty());
    EXPECT_EQ(RawPeer::get(trader.messages().back(), Tag::MsgType), "5");
    EXPECT_EQ(RawPeer::get(trader.messages().back(), Tag::Text), "internal error");
    EXPECT_EQ(trader.received.find("position 17"), std::string::npos);
    EXPECT_FALSE(loop->find(0)->logged_on());
  }
  void expect_noticed(std::string_view callback) {
    ASSERT_FALSE(application.notices.empty());
    EXPECT_EQ(application.notices.front(), std::string{callback} + ": position 17 is not known");
    EXPECT_EQ(loop->find(0)->counters().callback_exceptions, application.thrown);
  }
  // The other session has noticed nothing.
  void expect_the_other_goes_on() {
    const std::size_t before = application.at(1).orders.size();
    other.send(other.next("D", order(1)));
    turn();
    EXPECT_EQ(application.at(1).orders.size(), before + 1);
    EXPECT_TRUE(loop->find(1)->logged_on());
  }

  LoopbackNetwork network;
  ManualClock clock{engine_test_start()};
  EngineConfig config;
  LoopbackTransport transport{network, {}};
  Throwing application;
  std::optional<LoopbackLoop> loop;
  RawPeer trader{network, clock, "TRADER"};
  RawPeer other{network, clock, "OTHER"};
};

TEST_F(CallbackExceptions, on_message_consumes_its_message_and_none_after_it) {
  log_both_on();
  application.in = "on_message";
  send_orders(3);
  expect_logged_out();
  expect_noticed("on_message");
  EXPECT_EQ(application.at(0).orders, (std::vector<std::string>{"1"}));
  EXPECT_EQ(loop->find(0)->next_inbound(), SeqNum{3}) << "the Logon and the order";
  EXPECT_EQ(loop->find(0)->next_outbound(), SeqNum{3}) << "the Logon and the Logout";
  expect_the_other_goes_on();
}

TEST_F(CallbackExceptions, a_session_stays_logged_out_until_the_program_logs_it_on) {
  log_both_on();
  application.in = "on_message";
  send_orders(2);
  trader.seq = 3;  // what was not consumed comes again after the Logon
  application.in = "";
  log_on(trader);
  EXPECT_TRUE(trader.closed);
  EXPECT_EQ(application.refusals.back().reason, LogonRefusalReason::disabled);
  loop->find(0)->logon();
  trader.seq = 4;
  log_on(trader);
  ASSERT_TRUE(loop->find(0)->logged_on());
  EXPECT_EQ(trader.all(Tag::MsgType).back(), "2") << "a request for the order that was not consumed";
  trader.send(trader.message("D", field(43, "Y") + field(122, "20240315-12:00:00.000") + order(2), 3));
  turn();
  EXPECT_EQ(application.at(0).orders, (std::vector<std::string>{"1", "2"}));
}

TEST_F(CallbackExceptions, what_is_no_std_exception_is_handled_the_same) {
  log_both_on();
  application.in = "on_message";
  application.any = true;
  trader.send(trader.next("D", order(1)));
  turn();
  expect_logged_out();
  EXPECT_EQ(application.notices, (std::vector<std::string>{"on_message: an exception that is not a std::exception"}));
}

TEST_F(CallbackExceptions, on_logon_logs_out_again) {
  start();
  log_on(other);
  application.in = "on_logon";
  log_on(trader);
  expect_logged_out();
  expect_noticed("on_logon");
  expect_the_other_goes_on();
}

TEST_F(CallbackExceptions, on_reject) {
  log_both_on();
  application.in = "on_reject";
  trader.send(trader.next("3", field(45, "1")));
  turn();
  expect_logged_out();
  expect_noticed("on_reject");
  EXPECT_EQ(loop->find(0)->next_inbound(), SeqNum{3});
  expect_the_other_goes_on();
}

TEST_F(CallbackExceptions, on_violations_is_followed_by_on_message) {
  for (SessionSettings& each : config.sessions) {
    each.dictionary = std::make_shared<const Dictionary>(load_dictionary(NFX_SOURCE_DIR "/dictionaries/FIX44.xml"));
    each.session.dictionary = each.dictionary.get();
    each.session.validation = ValidationPolicy{{}, ValidationMode::lenient};
  }
  log_both_on();
  application.in = "on_violations";
  trader.send(trader.next("D", order(1)));
  turn();
  EXPECT_EQ(application.thrown, 1U);
  expect_logged_out();
  expect_noticed("on_violations");
  EXPECT_EQ(application.at(0).orders, (std::vector<std::string>{"1"}));
}

TEST_F(CallbackExceptions, on_session_message_of_a_logon_and_of_a_resend_request) {
  start();
  log_on(other);
  application.in = "on_session_message";
  log_on(trader);
  expect_logged_out();
  expect_noticed("on_session_message");
  EXPECT_EQ(trader.all(Tag::MsgType), (std::vector<std::string>{"A", "5"}));
  application.in = "";
  loop->find(0)->logon();
  log_on(trader);
  std::ignore = loop->find(0)->send({.msg_type = "8", .body = std::string_view{order(1)}});
  turn();
  application.in = "on_session_message";
  trader.send(trader.next("2", field(7, "1") + field(16, "0")));
  turn();
  expect_logged_out();
  expect_the_other_goes_on();
}

TEST_F(CallbackExceptions, on_session_message_sending_sends_the_message_and_logs_out) {
  log_both_on();
  application.in = "on_session_message_sending";
  trader.send(trader.next("1", field(112, "are you there")));
  turn();
  expect_logged_out();
  EXPECT_EQ(trader.all(Tag::MsgType), (std::vector<std::string>{"A", "0", "5"}));
  EXPECT_EQ(application.notices.front(), "on_session_message_sending: position 17 is not known");
  expect_the_other_goes_on();
}

TEST_F(CallbackExceptions, on_session_message_sending_of_a_logon_sends_no_logon) {
  log_both_on();
  trader.send(trader.next("5"));
  turn();
  application.in = "on_session_message_sending";
  log_on(trader);
  expect_noticed("on_session_message_sending");
  EXPECT_TRUE(trader.closed);
  EXPECT_TRUE(trader.received.empty());
  expect_the_other_goes_on();
}

TEST_F(CallbackExceptions, on_logout) {
  log_both_on();
  application.in = "on_logout";
  trader.send(trader.next("5"));
  turn();
  expect_noticed("on_logout");
  EXPECT_TRUE(trader.closed);
  application.in = "";
  log_on(trader);
  EXPECT_EQ(application.refusals.back().reason, LogonRefusalReason::disabled);
  expect_the_other_goes_on();
}

TEST_F(CallbackExceptions, on_session_up_is_followed_by_on_logon) {
  start();
  log_on(other);
  application.in = "on_session_up";
  log_on(trader);
  EXPECT_EQ(application.at(0).logons, 1U);
  expect_logged_out();
  expect_noticed("on_session_up");
  expect_the_other_goes_on();
}

TEST_F(CallbackExceptions, on_session_down_is_followed_by_on_logout) {
  log_both_on();
  application.in = "on_session_down";
  trader.send(trader.next("5"));
  turn();
  EXPECT_EQ(application.at(0).logouts.size(), 1U);
  expect_noticed("on_session_down");
  EXPECT_TRUE(trader.closed);
  expect_the_other_goes_on();
}

TEST_F(CallbackExceptions, on_cancel_due_is_followed_by_on_cancel) {
  config.sessions[0].cancel_on_disconnect = true;
  log_both_on();
  application.in = "on_cancel_due";
  trader.close();
  turn(3);
  EXPECT_EQ(application.thrown, 1U);
  EXPECT_EQ(application.at(0).cancels.size(), 1U);
  expect_noticed("on_cancel_due");
  expect_the_other_goes_on();
}

TEST_F(CallbackExceptions, on_cancel) {
  config.sessions[0].cancel_on_disconnect = true;
  log_both_on();
  application.in = "on_cancel";
  trader.close();
  turn(3);
  EXPECT_EQ(application.thrown, 1U);
  expect_noticed("on_cancel");
  clock.advance(10s);
  turn(3);
  EXPECT_EQ(application.thrown, 1U) << "once for each end";
  expect_the_other_goes_on();
}

TEST_F(CallbackExceptions, on_traffic_of_what_is_received_delivers_the_message_and_logs_out) {
  log_both_on();
  application.in = "on_traffic in";
  trader.send(trader.next("D", order(1)));
  turn();
  EXPECT_EQ(application.at(0).orders, (std::vector<std::string>{"1"}));
  expect_logged_out();
  expect_noticed("on_traffic");
  expect_the_other_goes_on();
}

TEST_F(CallbackExceptions, on_traffic_of_what_is_sent_stores_the_message_and_logs_out) {
  log_both_on();
  application.in = "on_traffic out";
  EXPECT_EQ(loop->find(0)->send({.msg_type = "8", .body = std::string_view{order(1)}}), SeqNum{2});
  turn();
  expect_logged_out();
  EXPECT_EQ(trader.all(Tag::MsgType), (std::vector<std::string>{"A", "8", "5"}));
  EXPECT_EQ(application.thrown, 2U) << "of the Logout again";
  EXPECT_EQ(loop->find(0)->next_outbound(), SeqNum{4});
  application.in = "";
  loop->find(0)->logon();
  log_on(trader);
  trader.send(trader.next("2", field(7, "1") + field(16, "0")));
  turn(4);
  ASSERT_TRUE(loop->find(0)->logged_on());
  EXPECT_NE(trader.received.find("\00111=1\001"), std::string::npos) << "it was stored";
  expect_the_other_goes_on();
}

TEST_F(CallbackExceptions, on_resend_sends_the_message_again_and_logs_out) {
  log_both_on();
  std::ignore = loop->find(0)->send({.msg_type = "8", .body = std::string_view{order(1)}});
  turn();
  application.in = "on_resend";
  trader.send(trader.next("2", field(7, "1") + field(16, "0")));
  turn();
  expect_logged_out();
  expect_noticed("on_resend");
  EXPECT_EQ(std::ranges::count(trader.all(Tag::ClOrdID), "1"), 2);
  expect_the_other_goes_on();
}

TEST_F(CallbackExceptions, on_notice_gets_no_notice_of_its_own_failure) {
  log_both_on();
  application.in = "on_notice";
  trader.send(trader.garbled("D"));
  turn();
  EXPECT_EQ(application.thrown, 1U);
  EXPECT_EQ(application.failures, (std::vector<std::string>{"on_notice: position 17 is not known"}));
  EXPECT_TRUE(application.notices.empty());
  expect_logged_out();
  expect_the_other_goes_on();
}

TEST_F(CallbackExceptions, on_added_and_on_removed) {
  serve_a_template();
  start();
  application.in = "on_added";
  log_on(trader);
  EXPECT_EQ(application.thrown, 1U);
  EXPECT_TRUE(trader.closed);
  EXPECT_NE(trader.received.find("internal error"), std::string::npos);
  application.in = "on_removed";
  EXPECT_TRUE(loop->remove(1, "gone"));
  turn();
  EXPECT_EQ(application.thrown, 2U);
  EXPECT_EQ(loop->find(1), nullptr) << "it is removed all the same";
  log_on(other);
  EXPECT_TRUE(loop->find(2)->logged_on());
}

TEST_F(CallbackExceptions, a_session_of_a_template_whose_callback_threw_leaves_its_place_as_an_idle_one_does) {
  start_with_a_template_whose_first_session_fails();
  EXPECT_TRUE(trader.closed);
  clock.advance(61s);
  turn();
  log_on(other);
  EXPECT_EQ(loop->find(1), nullptr);
  ASSERT_NE(loop->find(2), nullptr);
  EXPECT_TRUE(loop->find(2)->logged_on());
}

TEST_F(CallbackExceptions, a_session_of_a_template_that_the_program_logged_out_afterwards_stays) {
  start_with_a_template_whose_first_session_fails();
  ASSERT_NE(loop->find(1), nullptr);
  loop->find(1)->logon();
  loop->find(1)->logout("not today");
  clock.advance(61s);
  turn();
  log_on(other);
  EXPECT_TRUE(other.closed);
  EXPECT_NE(loop->find(1), nullptr);
}

TEST_F(CallbackExceptions, on_logon_request_lets_nobody_in) {
  start();
  log_on(other);
  application.in = "on_logon_request";
  log_on(trader);
  EXPECT_TRUE(trader.closed);
  EXPECT_TRUE(trader.received.empty());
  ASSERT_EQ(application.refusals.size(), 1U);
  EXPECT_EQ(application.refusals[0].reason, LogonRefusalReason::application);
  EXPECT_EQ(application.refusals[0].text, "on_logon_request threw an exception");
  EXPECT_EQ(application.failures, (std::vector<std::string>{"on_logon_request: position 17 is not known"}));
  EXPECT_EQ(loop->counters().callback_exceptions, 1U);
  application.in = "";
  trader.seq = 1;
  log_on(trader);
  EXPECT_TRUE(loop->find(0)->logged_on()) << "the session itself is not switched off";
  expect_the_other_goes_on();
}

TEST_F(CallbackExceptions, on_logon_refused) {
  start();
  log_on(other);
  application.in = "on_logon_refused";
  RawPeer stranger{network, clock, "STRANGER"};
  log_on(stranger);
  EXPECT_EQ(application.failures, (std::vector<std::string>{"on_logon_refused: position 17 is not known"}));
  expect_the_other_goes_on();
}

TEST_F(CallbackExceptions, on_alert_of_a_store) {
  SessionSettings pattern = acceptor("*");
  pattern.is_template = true;
  pattern.store_kind = StoreKind::journal;  // which these stores do not have
  pattern.journal.directory = "nowhere";
  config.sessions = {acceptor("ANOTHER"), acceptor("OTHER"), pattern};
  start();
  log_on(other);
  application.in = "on_alert";
  log_on(trader);
  EXPECT_EQ(application.failures, (std::vector<std::string>{"on_alert: position 17 is not known"}));
  EXPECT_TRUE(trader.closed);
  expect_the_other_goes_on();
}

TEST_F(CallbackExceptions, on_turn_is_called_again_and_reported_once_per_second) {
  log_both_on();
  application.in = "on_turn";
  turn(10);
  EXPECT_EQ(application.thrown, 10U);
  EXPECT_EQ(application.failures, (std::vector<std::string>{"on_turn: position 17 is not known"}));
  EXPECT_EQ(loop->counters().callback_exceptions, 10U);
  clock.advance(1100ms);
  turn(1);
  EXPECT_EQ(application.failures.size(), 2U);
  expect_the_other_goes_on();
  EXPECT_TRUE(loop->find(0)->logged_on());
}

TEST_F(CallbackExceptions, on_submitted) {
  log_both_on();
  application.in = "on_submitted";
  EXPECT_TRUE(loop->submit(0, {.msg_type = "8", .body = std::string_view{order(1)}}, {.report = true}));
  turn();
  EXPECT_EQ(application.failures, (std::vector<std::string>{"on_submitted: position 17 is not known"}));
  EXPECT_TRUE(loop->find(0)->logged_on());
  EXPECT_EQ(trader.all(Tag::MsgType).back(), "8");
}

TEST_F(CallbackExceptions, on_alert_of_a_callback) {
  log_both_on();
  application.in = "on_turn and on_alert";
  turn();
  EXPECT_EQ(application.failures.size(), 1U);
  expect_the_other_goes_on();
}

TEST_F(CallbackExceptions, a_session_that_does_not_reset_keeps_its_numbers_with_reset_on_error) {
  config.sessions[0].session.reset_on_error = true;
  log_both_on();
  application.in = "on_message";
  trader.send(trader.next("D", order(1)));
  turn();
  EXPECT_EQ(loop->find(0)->next_inbound(), SeqNum{3});
}

// Callbacks that no poll thread calls.
class ThrowingElsewhere final : public Application, public Observer {
 public:
  Handled on_message(SessionHandle&, const MessageView&) override { return Handled::done; }
  void on_metrics(MetricsPage&) override { throw std::runtime_error("no numbers"); }
  void on_alert(AlertKind kind, std::string_view text) override {
    if (kind == AlertKind::log) throw std::runtime_error("no log");
    if (kind == AlertKind::placement) throw std::runtime_error("no place");
    const std::lock_guard lock{mutex_};
    failures_.emplace(text);
    changed_.notify_all();
  }
  void wait_for(const std::string& failure) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return failures_.contains(failure); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> failures_;
};

EngineConfig one_venue() {
  EngineConfig config;
  config.sessions = {acceptor()};
  config.sessions[0].listen = {"127.0.0.1", 0};
  return config;
}

TEST(CallbackExceptionsElsewhere, on_metrics_and_on_alert_of_a_log_are_counted_and_the_engine_goes_on) {
  const test::TemporaryFolder folder;
  ThrowingElsewhere application;
  EngineConfig config = one_venue();
  config.log.metrics_file = folder.file("metrics.prom");
  config.log.directory = folder.file("log");
  {
    RecordingApplication first;
    Engine engine{config, first};
    engine.turn(Duration::zero());
  }
  // Which the next start corrects, with an alert.
  for (const auto& each : std::filesystem::directory_iterator{folder.file("log")})
    std::filesystem::permissions(each, std::filesystem::perms{0666});
  {
    Engine engine{config, application};
    engine.turn(Duration::zero());
    application.wait_for("on_metrics: no numbers");
    EXPECT_GE(engine.counters().callback_exceptions, 1U);
    engine.turn(Duration::zero());
    EXPECT_FALSE(engine.finished());
  }
  application.wait_for("on_alert: no log");
}

TEST(CallbackExceptionsElsewhere, on_alert_of_the_placement_is_counted_and_the_engine_goes_on) {
  const CpuSet all = CpuAffinity::get();
  if (all.size() < 2) GTEST_SKIP() << "needs two CPUs: one stays for housekeeping";
  ThrowingElsewhere application;
  EngineConfig config = one_venue();
  config.idle = IdleMode::spin;
  config.placement.check_interval = std::chrono::milliseconds{1};
  config.placement.enabled = true;
  std::jthread poll{[&] {
    Engine engine{config, application};
    engine.turn(Duration::zero());
    ASSERT_TRUE(CpuAffinity::set(all));
    application.wait_for("on_alert: no place");
    EXPECT_GE(engine.counters().callback_exceptions, 1U);
    engine.turn(Duration::zero());
  }};
}

}  // namespace
}  // namespace nfx::test
