// Work under way on an engine's other threads when it ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "engine/session_stores.hpp"
#include "log/log_folder.hpp"
#include "nexusfix/engine/authenticator.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/engine/observer.hpp"
#include "store/journal_reader.hpp"
#include "transport/tcp_testing.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;

class Silent : public Application, public Observer, public Authenticator {
 public:
  Handled on_message(SessionHandle&, const MessageView&) override { return Handled::done; }
};

// Signals when a Logon has come, just before the journal of its session is opened.
class Doorman final : public Silent {
 public:
  bool on_logon_request(const LogonRequest&) override {
    came.count_down();
    return true;
  }
  void on_removed(SessionHandle&) override { removed = true; }
  std::latch came{1};
  bool removed = false;  // read when the engine has ended
};

SessionSettings acceptor_for(std::string peer) {
  SessionSettings settings;
  settings.session.role = Role::acceptor;
  settings.session.sender_comp_id = "VENUE";
  settings.session.target_comp_id = std::move(peer);
  settings.listen = {"127.0.0.1", 0};
  return settings;
}

TEST(EngineThreads, engine_that_ends_waits_for_the_journal_that_a_logon_has_asked_for) {
  const LogFolder folder;
  SessionSettings any = acceptor_for("CLIENT-*");
  any.is_template = true;
  any.store_kind = StoreKind::journal;
  any.journal.directory = folder.path() / "journals";
  any.journal.ring_directory = folder.path() / "rings";
  any.journal.segment_size = 8 * 1024 * 1024;
  any.journal.ring_size = 64 * 1024;
  any.journal.retain_messages = 1024;
  Doorman doorman;
  EngineConfig config;
  config.max_message_size = 8192;
  config.sessions = {any};
  auto venue = std::make_unique<Engine>(config, doorman);
  venue->start();
  SessionSettings client;
  client.session.role = Role::initiator;
  client.session.sender_comp_id = "CLIENT-1";
  client.session.target_comp_id = "VENUE";
  client.connect = {*venue->local_endpoint(0)};
  Silent silent;
  EngineConfig client_config;
  client_config.sessions = {client};
  Engine trader{client_config, silent};
  std::jthread venue_thread{[&] { venue->run(); }};
  std::jthread trader_thread{[&] { trader.run(); }};
  doorman.came.wait();
  venue->stop();
  venue_thread.join();
  venue.reset();
  trader.stop();
  trader_thread.join();
  // The journal was opened and closed again, and removed where the engine ended before the session had handled its
  // first Logon. The next one may have it, and finds it in order.
  EXPECT_EQ(list_sessions(posix_disk(), any.journal.directory).size(), doorman.removed ? 0U : 1U);
  JournalStores stores{posix_disk(), {}, {}};
  SessionSettings one = any;
  one.session.target_comp_id = "CLIENT-1";
  const SessionStore store = stores.open(one, UtcTime{});
  ASSERT_NE(store.journal(), nullptr);
  EXPECT_TRUE(store.journal()->recovery().clean);
}

// Answers, or sends one order after the other until it has enough answers.
class PingPong final : public Silent {
 public:
  explicit PingPong(std::uint64_t orders = 0) : orders_(orders) {}
  void on_logon(SessionHandle& session) override {
    if (orders_ != 0) send(session);
  }
  Handled on_message(SessionHandle& session, const MessageView&) override {
    if (orders_ == 0 || ++answers < orders_) send(session);
    return Handled::done;
  }
  std::atomic<std::uint64_t> answers{0};

 private:
  static void send(SessionHandle& session) {
    static_cast<void>(session.send({.msg_type = "D", .body = "11=1\x01", .header_fields = {}}));
  }
  const std::uint64_t orders_;
};

// Under the thread sanitizer: the poll thread records meanwhile.
TEST(EngineThreads, engine_latencies_can_be_read_while_its_thread_records) {
  constexpr std::uint64_t orders = 2000;
  PingPong venue_side, trader_side{orders};
  EngineConfig config;
  config.sessions = {acceptor_for("A")};
  Engine venue{config, venue_side};
  venue.start();
  SessionSettings client;
  client.session.role = Role::initiator;
  client.session.sender_comp_id = "A";
  client.session.target_comp_id = "VENUE";
  client.connect = {*venue.local_endpoint(0)};
  EngineConfig client_config;
  client_config.sessions = {client};
  Engine trader{client_config, trader_side};
  std::jthread venue_thread{[&] { venue.run(); }};
  std::jthread trader_thread{[&] { trader.run(); }};
  const auto deadline = std::chrono::steady_clock::now() + 10min;
  std::uint64_t before = 0;
  while (trader_side.answers < orders && std::chrono::steady_clock::now() < deadline) {
    const LatencyReport report = venue.latency();
    const std::uint64_t now = report.threads.at(0).stages[LatencyStage::in_application].count();
    ASSERT_GE(now, before);
    before = now;
    static_cast<void>(venue.latency(LatencyWindow::second));
    static_cast<void>(venue.slowest(LatencyWindow::second));
  }
  venue.stop();
  venue_thread.join();
  trader.stop();
  trader_thread.join();
  const LatencyReport all = venue.latency();
  ASSERT_EQ(all.sessions.size(), 1U);
  const LatencySet& stages = all.sessions[0].stages;
  EXPECT_EQ(stages[LatencyStage::read_to_application].count(), orders);
  EXPECT_EQ(stages[LatencyStage::in_application].count(), orders);
  EXPECT_EQ(stages[LatencyStage::commit_to_socket].count(), orders);
  EXPECT_EQ(stages[LatencyStage::request_to_answer].count(), orders);
  EXPECT_EQ(stages[LatencyStage::send_to_commit].count(), orders / 16);
  EXPECT_GE(stages[LatencyStage::request_to_answer].percentile(50),
            stages[LatencyStage::in_application].percentile(50));
  EXPECT_FALSE(venue.slowest(LatencyWindow::since_start).empty());
  EXPECT_NE(hdr_log_text(all).find("Tag=FIX.4.4:VENUE->A/in_application,"), std::string::npos);
}

// Its cause is what docs/latency.md says for the numbers beside it: another task may take the CPU from the callback.
TEST(EngineThreads, a_busy_callback_is_among_the_slowest_moments_with_the_counters_of_its_time) {
  class Busy final : public Application {
   public:
    Handled on_message(SessionHandle& session, const MessageView&) override {
      const auto end = std::chrono::steady_clock::now() + 3ms;
      while (std::chrono::steady_clock::now() < end) {
      }
      return session.send({.msg_type = "8", .body = "11=1\x01", .header_fields = {}});
    }
  } busy;
  PingPong trader_side{UINT64_MAX};
  EngineConfig config;
  config.sessions = {acceptor_for("A")};
  Engine venue{config, busy};
  venue.start();
  SessionSettings client;
  client.session.role = Role::initiator;
  client.session.sender_comp_id = "A";
  client.session.target_comp_id = "VENUE";
  client.connect = {*venue.local_endpoint(0)};
  EngineConfig client_config;
  client_config.sessions = {client};
  Engine trader{client_config, trader_side};
  std::jthread venue_thread{[&] { venue.run(); }};
  std::jthread trader_thread{[&] { trader.run(); }};
  const auto deadline = std::chrono::steady_clock::now() + 10min;
  std::vector<SlowMoment> moments;
  // Not one that began before the first sample.
  const auto of_callback = [](const SlowMoment& each) {
    return each.stage == LatencyStage::in_application && each.host.between >= each.took;
  };
  while (std::ranges::none_of(moments, of_callback) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
    moments = venue.slowest(LatencyWindow::since_start);
  }
  venue.stop();
  venue_thread.join();
  trader.stop();
  trader_thread.join();
  const auto moment = std::ranges::find_if(moments, of_callback);
  ASSERT_NE(moment, moments.end());
  EXPECT_GE(moment->took, Duration{3ms});
  EXPECT_EQ(moment->session, "FIX.4.4:VENUE->A");
  const SlowCause expected = moment->host.waited >= moment->took / 2   ? SlowCause::scheduler
                             : moment->host.stolen >= moment->took / 2 ? SlowCause::steal
                                                                       : SlowCause::application;
  EXPECT_EQ(moment->cause, expected) << to_string(*moment);
}

// Under the thread sanitizer: the poll threads count meanwhile.
TEST(EngineThreads, engine_counters_can_be_read_while_its_threads_count) {
  Silent silent;
  EngineConfig config;
  config.poll_threads = 2;
  config.sessions = {acceptor_for("A"), acceptor_for("B")};
  config.sessions[1].listen.host = "127.0.0.2";
  config.sessions[1].poll_thread = 1;
  Engine venue{config, silent};
  venue.start();
  const std::uint16_t port = venue.local_endpoint(0)->port;
  std::jthread serving{[&] { venue.run(); }};
  constexpr std::uint64_t clients = 20;
  const auto deadline = std::chrono::steady_clock::now() + 10min;
  std::uint64_t before = 0;
  const auto read = [&] {
    const std::uint64_t now = venue.counters().pending_accepted;
    EXPECT_GE(now, before);
    before = now;
  };
  for (std::uint64_t i = 0; i < clients; ++i) {
    const testing::RawClient client{port};
    read();
  }
  while (before < clients && std::chrono::steady_clock::now() < deadline) read();
  EXPECT_EQ(before, clients);
  venue.stop();
  serving.join();
  EXPECT_EQ(venue.counters().pending_accepted, clients);
}

}  // namespace
}  // namespace nfx
