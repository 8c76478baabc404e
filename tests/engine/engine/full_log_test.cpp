// A log's queue that is full while sessions continue: [log] when_full determines what happens to the next line.
#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <iterator>
#include <latch>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "config/config_text.hpp"
#include "engine/engine_logs.hpp"
#include "engine/loop_rig.hpp"
#include "log/log_folder.hpp"

namespace nfx::test {
namespace {

// A venue whose log is configured by a file; its thread begins when the test starts it.
class FullLog : public ::testing::Test {
 protected:
  void start(const std::string& keys) {
    const EngineConfig file =
        parsed("[log]\ndirectory = \"" + folder.path().string() + "\"\nevents = false\nqueue_bytes = 65536\n" + keys +
               "[[session]]\nsender_comp_id = \"A\"\ntarget_comp_id = \"B\"\n"
               "listen = \"127.0.0.1:1\"\ndictionary = \"none\"\n");
    rig.venue.config.log = file.log;
    rig.venue.config.max_message_size = 4096;
    rig.venue.config.sessions = {acceptor()};
    rig.trader.config.sessions = {initiator()};
    logs.emplace(rig.venue.config, [](std::string_view text) { ADD_FAILURE() << text; });
    rig.venue.config.log = {};
    check_config(rig.venue.config);
    rig.venue.loop.emplace(rig.venue.config, 0, rig.venue.transport, rig.clock, rig.venue.application);
    rig.venue.loop->log_to({logs->message_lane(0), std::nullopt, {}});
    logs->name(0, "VENUE");
    rig.venue.loop->start();
    rig.trader.start();
    rig.turn(4);
    ASSERT_TRUE(rig.venue.session().logged_on());
  }
  void begin() {
    logs->begin([] {}, IdleMode::block, {}, [](MetricsPage&) {});
  }
  // Reports from 1 to `last`, each of some 500 bytes.
  void send(std::size_t last) {
    for (std::size_t i = 1; i <= last; ++i) {
      ASSERT_TRUE(rig.venue.session().send({.msg_type = "8",
                                            .body = std::string_view{order(i) + field(58, std::string(400, 'x'))},
                                            .header_fields = {}}));
      rig.turn(2);
    }
    EXPECT_EQ(rig.trader.application.at(0).orders.size(), last) << "the session continues whatever happens to its log";
  }
  // Everything is written; what the log has of the reports, in its order.
  std::string written() {
    logs->end([] {});
    logs.reset();
    return folder.text();
  }
  static std::vector<std::string> reports_in(const std::string& text) {
    std::vector<std::string> numbers;
    for (std::size_t at = text.find("|11="); at != std::string::npos; at = text.find("|11=", at + 1))
      numbers.push_back(text.substr(at + 4, text.find('|', at + 1) - at - 4));
    return numbers;
  }
  static std::vector<std::string> numbers_to(std::size_t last) {
    std::vector<std::string> numbers;
    for (std::size_t i = 1; i <= last; ++i) numbers.push_back(std::to_string(i));
    return numbers;
  }

  const LogFolder folder;
  LoopRig rig;
  std::optional<EngineLogs> logs;
};

TEST_F(FullLog, that_drops_says_how_many_messages_are_missing_and_where) {
  start("");
  send(300);
  begin();
  const std::string text = written();
  const auto kept = reports_in(text);
  ASSERT_LT(kept.size(), 300U);
  EXPECT_EQ(kept, numbers_to(kept.size())) << "there was space for the first ones";
  EXPECT_NE(
      text.find(' ' + std::to_string(300 - kept.size()) + " messages were not logged here: the log's queue was full"),
      std::string::npos)
      << text.substr(text.size() - 300);
}

TEST_F(FullLog, that_spills_has_every_message_in_order) {
  start("when_full = \"spill\"\nspill_bytes = 1048576\n");
  send(300);
  begin();
  const std::string text = written();
  EXPECT_EQ(reports_in(text), numbers_to(300));
  EXPECT_EQ(text.find("were not logged"), std::string::npos);
}

TEST_F(FullLog, that_spills_drops_only_beyond_the_spill) {
  start("when_full = \"spill\"\nspill_bytes = 65536\n");
  send(400);
  begin();
  const std::string text = written();
  const auto kept = reports_in(text);
  ASSERT_GT(kept.size(), 150U);
  ASSERT_LT(kept.size(), 400U);
  EXPECT_EQ(kept, numbers_to(kept.size()));
  EXPECT_NE(text.find(' ' + std::to_string(400 - kept.size()) + " messages were not logged here"), std::string::npos);
}

TEST_F(FullLog, that_blocks_waits_for_a_log_that_is_behind_and_misses_nothing) {
  start("when_full = \"block\"\nblock_limit_us = 1000000\n");
  // Its thread begins when the queue is nearly full, and has a lot to catch up with.
  std::latch nearly{1};
  rig.trader.application.when_message = [&](SessionHandle&, const MessageView& message) {
    if (message.get_view(Tag::ClOrdID) == "90") nearly.count_down();
  };
  std::jthread late{[&] {
    nearly.wait();
    begin();
  }};
  send(2000);
  late.join();
  const std::string text = written();
  EXPECT_EQ(reports_in(text), numbers_to(2000));
}

TEST_F(FullLog, that_blocks_gives_up_at_its_limit_and_counts_what_is_missing) {
  start("when_full = \"block\"\nblock_limit_us = 1\nmetrics_file = \"" + (folder.path() / "nfx.prom").string() +
        "\"\n");
  send(300);
  begin();
  const std::string text = written();
  const auto kept = reports_in(text);
  ASSERT_LT(kept.size(), 300U);
  const std::string missing = std::to_string(300 - kept.size());
  EXPECT_NE(text.find(' ' + missing + " messages were not logged here"), std::string::npos);
  EXPECT_NE(text.find("nfx_log_blocked_total{log=\"messages\"} " + missing + '\n'), std::string::npos);
  EXPECT_NE(text.find("nfx_log_dropped_total{log=\"messages\"} " + missing + '\n'), std::string::npos);
}

TEST(LogThread, reports_an_iteration_that_fails_counts_it_and_continues) {
  const LogFolder folder;
  EngineConfig config;
  config.log.metrics_file = folder.path() / "metrics.prom";
  std::promise<std::string> alert;
  EngineLogs logs{config, [&](std::string_view text) { alert.set_value(std::string{text}); }};
  bool failed = false;
  logs.begin([] {}, IdleMode::block, {},
             [&](MetricsPage&) {
               if (!std::exchange(failed, true)) throw std::runtime_error("no memory");
             });
  EXPECT_EQ(alert.get_future().get(), "the thread that writes logs and metrics: no memory; it tries again");
  logs.end([] {});
  std::ifstream in{config.log.metrics_file};
  const std::string page{std::istreambuf_iterator<char>{in}, {}};
  const std::size_t row = page.find("\nnfx_log_thread_failed_total{");
  ASSERT_NE(row, std::string::npos) << page;
  EXPECT_EQ(page.substr(page.find("} ", row), 4), "} 1\n");
}

}  // namespace
}  // namespace nfx::test
