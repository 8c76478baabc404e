// Messages of other threads: every result that submit() and on_submitted() can have, messages held until the Logon, and
// the order of all of them.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <tuple>

#include "engine/loop_rig.hpp"
#include "nexusfix/engine/engine.hpp"

namespace nfx::test {
namespace {

constexpr SubmitOptions keep_and_report{.while_logged_off = WhileLoggedOff::keep, .report = true};

class Results final : public RecordingApplication {
 public:
  void on_submitted(const Submitted& submitted) override { results.push_back(submitted); }
  std::vector<Submitted> results;
};

class SubmitTest : public ::testing::Test {
 protected:
  SubmitTest() { config.sessions = {acceptor()}; }
  void start() {
    check_config(config);
    loop.emplace(config, 0, transport, clock, application);
    loop->start();
  }
  void turn(int times = 2) {
    for (int i = 0; i < times; ++i) {
      loop->turn(0ns);
      peer.read();
    }
  }
  void log_on() {
    peer.connect();
    turn();
    peer.send(peer.logon());
    turn();
    ASSERT_TRUE(loop->find(0)->logged_on());
  }
  SubmitResult submit(std::size_t number, SubmitOptions options = {}) {
    return loop->submit(0, {.msg_type = "8", .body = std::string_view{order(number)}}, options);
  }
  // ClOrdID of what the peer received, apart from session messages.
  std::vector<std::string> received() {
    std::vector<std::string> ids;
    for (const std::string& each : peer.all(Tag::ClOrdID)) {
      if (!each.empty()) ids.push_back(each);
    }
    return ids;
  }

  LoopbackNetwork network;
  ManualClock clock{engine_test_start()};
  EngineConfig config;
  LoopbackTransport transport{network, {}};
  Results application;
  std::optional<LoopbackLoop> loop;
  RawPeer peer{network, clock};
};

TEST_F(SubmitTest, reports_the_sequence_number_only_where_it_was_requested) {
  start();
  log_on();
  EXPECT_EQ(submit(1).ticket, 1U);
  EXPECT_EQ(submit(2, {.report = true}).ticket, 2U);
  turn();
  EXPECT_EQ(received(), (std::vector<std::string>{"1", "2"}));
  ASSERT_EQ(application.results.size(), 1U);
  EXPECT_EQ(application.results[0].session, 0U);
  EXPECT_EQ(application.results[0].ticket, 2U);
  EXPECT_EQ(application.results[0].result, SeqNum{3});
  EXPECT_EQ(loop->counters().submitted, 2U);
}

TEST_F(SubmitTest, passes_header_fields_on) {
  start();
  log_on();
  EXPECT_TRUE(loop->submit(
      0, {.msg_type = "8", .body = std::string_view{order(1)}, .header_fields = std::string_view{field(97, "Y")}}));
  turn();
  EXPECT_EQ(RawPeer::get(peer.messages().back(), Tag::PossResend), "Y");
}

TEST_F(SubmitTest, a_message_that_is_no_application_message_is_reported_and_noticed) {
  start();
  log_on();
  EXPECT_TRUE(loop->submit(0, {.msg_type = "A", .body = ""}, {.report = true}));
  turn();
  ASSERT_EQ(application.results.size(), 1U);
  EXPECT_EQ(application.results[0].result, std::unexpected(SendError::bad_message));
  EXPECT_EQ(application.count(Notice::not_sent), 1U);
  EXPECT_EQ(loop->counters().submit_unsent, 1U);
}

TEST_F(SubmitTest, a_body_that_is_no_fields_and_one_without_required_fields_are_not_sent) {
  start();
  log_on();
  for (const char* body : {"garbage\x01",
                           "11=1\x01"
                           "garbage\x01",
                           "11=1\x01"
                           "10=000\x01",
                           "11=\x01", "11=1"})
    EXPECT_TRUE(loop->submit(0, {.msg_type = "8", .body = body}, {.report = true}));
  EXPECT_TRUE(loop->submit(0, {.msg_type = "8\x01", .body = "11=1\x01"}, keep_and_report));
  EXPECT_TRUE(loop->submit(0, {.msg_type = "8", .body = "11=1\x01", .incomplete = true}, {.report = true}));
  turn();
  ASSERT_EQ(application.results.size(), 7U);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_EQ(application.results[i].result, std::unexpected(SendError::bad_message)) << i;
  EXPECT_EQ(application.results[6].result, std::unexpected(SendError::incomplete));
  EXPECT_TRUE(received().empty());
}

TEST_F(SubmitTest, refuses_what_is_not_to_be_kept_while_logged_off) {
  start();
  EXPECT_EQ(submit(1).status, SubmitStatus::not_logged_on);
  log_on();
  EXPECT_TRUE(submit(2));
  turn();
  peer.send(peer.next("5"));
  turn();
  EXPECT_EQ(submit(3).status, SubmitStatus::not_logged_on);
  EXPECT_EQ(loop->counters().submit_not_logged_on, 2U);
}

TEST_F(SubmitTest, sends_what_is_kept_after_the_logon_in_order_and_before_what_comes_later) {
  start();
  for (std::size_t i = 1; i <= 20; ++i) EXPECT_TRUE(submit(i, keep_and_report));
  turn();
  EXPECT_TRUE(application.results.empty());
  application.when_logged_on = [this](SessionHandle&) {
    EXPECT_TRUE(submit(21));
    EXPECT_TRUE(submit(22, keep_and_report));
  };
  log_on();
  turn();
  std::vector<std::string> all;
  for (std::size_t i = 1; i <= 22; ++i) all.push_back(std::to_string(i));
  EXPECT_EQ(received(), all);
  ASSERT_EQ(application.results.size(), 21U);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(application.results[i].ticket, i + 1);
    EXPECT_EQ(application.results[i].result, SeqNum{i + 2});
  }
  EXPECT_EQ(loop->counters().submit_kept, 20U);
  EXPECT_EQ(loop->counters().submit_unsent, 0U);
}

TEST_F(SubmitTest, keeps_no_more_than_submit_keep_bytes_and_takes_more_when_it_is_sent) {
  config.submit_keep_bytes = 64 * 1024;
  start();
  std::size_t kept = 0;
  while (submit(kept + 1, keep_and_report)) {
    if (++kept % 100 == 0) turn(1);  // the queue is another bound
  }
  EXPECT_EQ(kept, 512U) << "128 bytes each";
  EXPECT_EQ(submit(9999, keep_and_report).status, SubmitStatus::full);
  EXPECT_EQ(loop->counters().submit_full, 2U);
  log_on();
  turn();
  EXPECT_EQ(received().size(), kept);
  EXPECT_EQ(application.results.size(), kept);
  EXPECT_TRUE(submit(kept + 1, keep_and_report));
}

// With the smallest send buffer that a configuration may have for its longest message.
TEST_F(SubmitTest, sends_the_longest_message_that_may_be_kept_and_what_comes_after_it) {
  config.max_message_size = 32 * 1024;
  config.submit_keep_bytes = 256 * 1024;
  config.sessions[0].send_buffer_size = 64 * 1024;
  start();
  const auto submit_text = [this](std::size_t size) {
    const std::string body = "58=" + std::string(size, 'x') + '\001';
    return loop->submit(0, {.msg_type = "B", .body = body}, keep_and_report).status;
  };
  std::size_t longest = config.max_message_size - 5;  // with the type, and the field around it
  EXPECT_EQ(submit_text(longest + 1), SubmitStatus::too_long);
  EXPECT_EQ(submit_text(longest), SubmitStatus::queued);
  EXPECT_EQ(submit_text(longest), SubmitStatus::queued);
  EXPECT_TRUE(submit(3, keep_and_report));
  turn();
  log_on();
  turn(6);
  ASSERT_EQ(application.results.size(), 3U);
  for (const Submitted& each : application.results) EXPECT_TRUE(each.result.has_value());
  EXPECT_EQ(received(), (std::vector<std::string>{"3"}));
}

TEST_F(SubmitTest, reports_what_is_kept_as_not_sent_when_the_engine_stops) {
  start();
  EXPECT_TRUE(submit(1, keep_and_report));
  turn();
  loop->request_stop();
  turn();
  ASSERT_EQ(application.results.size(), 1U);
  EXPECT_EQ(application.results[0].result, std::unexpected(SendError::not_logged_on));
  EXPECT_EQ(application.count(Notice::not_sent), 1U);
  EXPECT_TRUE(loop->finished());
  EXPECT_EQ(submit(2, keep_and_report).status, SubmitStatus::not_logged_on) << "nobody would report it";
}

TEST_F(SubmitTest, reports_what_is_kept_as_not_sent_when_the_session_is_removed) {
  start();
  EXPECT_TRUE(submit(1, keep_and_report));
  turn();
  EXPECT_TRUE(loop->remove(0, "gone"));
  EXPECT_TRUE(submit(2, keep_and_report)) << "it still exists";
  turn();
  ASSERT_EQ(application.results.size(), 2U);
  EXPECT_EQ(application.results[1].result, std::unexpected(SendError::not_logged_on));
  EXPECT_EQ(submit(3, keep_and_report).status, SubmitStatus::unknown_session);
}

TEST_F(SubmitTest, finds_sessions_that_come_and_go) {
  start();
  const SessionId first{.begin_string = "FIX.4.4", .sender_comp_id = "VENUE", .target_comp_id = "TRADER"};
  SessionId second = first;
  second.target_comp_id = "SECOND";
  EXPECT_EQ(loop->find(first), 0U);
  EXPECT_EQ(loop->find(second), std::nullopt);
  const std::size_t number = loop->add(acceptor("SECOND"));
  EXPECT_EQ(loop->find(second), number);
  turn();
  EXPECT_TRUE(loop->remove(number, "gone"));
  turn();
  EXPECT_EQ(loop->find(second), std::nullopt);
}

// Each thread's messages in its order, each once.
class Receiver final : public Application {
 public:
  Receiver(std::size_t threads, std::uint64_t each) : next_(threads, 1), each_(each) {}
  Handled on_message(SessionHandle&, const MessageView& message) override {
    const auto thread = static_cast<std::size_t>(*message.get_int(Tag::Account));
    if (message.get_int(Tag::ClOrdID) != static_cast<std::int64_t>(next_.at(thread)++)) in_order = false;
    if (++received_ != next_.size() * each_) return Handled::done;
    const std::lock_guard lock{mutex_};
    all_ = true;
    changed_.notify_all();
    return Handled::done;
  }
  void wait_for_all() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return all_; });
  }
  std::atomic<bool> in_order{true};

 private:
  std::vector<std::uint64_t> next_;
  std::uint64_t each_;
  std::uint64_t received_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool all_ = false;
};

class Reporting final : public Application {
 public:
  Handled on_message(SessionHandle&, const MessageView&) override { return Handled::done; }
  void on_submitted(const Submitted& submitted) override {
    if (submitted.ticket != ++reported) in_order = false;
    if (!submitted.result || value(*submitted.result) != submitted.ticket + 1) all_sent = false;
  }
  std::atomic<std::uint64_t> reported{0};
  std::atomic<bool> in_order{true};
  std::atomic<bool> all_sent{true};
};

// Every result that a thread can be given. NFX_SUBMIT_MESSAGES makes it longer.
TEST(Submit, loses_and_reorders_nothing_of_four_threads_and_reports_every_message) {
  constexpr std::uint64_t between_wrong_ones = 100;  // messages
  constexpr std::size_t threads = 4;
  const char* const wanted = std::getenv("NFX_SUBMIT_MESSAGES");
  const std::uint64_t each = (wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 8000) / threads;
  Receiver receiver{threads, each};
  Reporting reporting;
  EngineConfig venue_config, trader_config;
  venue_config.sessions = {acceptor()};
  venue_config.sessions[0].listen = {"127.0.0.1", 0};
  Engine venue{venue_config, receiver};
  venue.start();
  trader_config.sessions = {initiator(), acceptor("NOBODY")};
  trader_config.sessions[1].listen = {"127.0.0.1", 0};
  const std::string too_long(trader_config.submit_queue_bytes / 4 + 1, ' ');
  trader_config.sessions[0].connect = {*venue.local_endpoint(0)};
  Engine trader{trader_config, reporting};
  const auto session =
      trader.find_session({.begin_string = "FIX.4.4", .sender_comp_id = "TRADER", .target_comp_id = "VENUE"});
  ASSERT_EQ(session, 0U);
  std::array<std::atomic<std::uint64_t>, 5> results{};
  {
    std::jthread venue_thread{[&] { venue.run(); }};
    std::jthread trader_thread{[&] { trader.run(); }};
    {
      std::vector<std::jthread> producers;
      for (std::size_t thread = 0; thread < threads; ++thread) {
        producers.emplace_back([&, thread] {
          for (std::uint64_t number = 1; number <= each;) {
            const std::string body = field(1, std::to_string(thread)) + order(number);
            const SubmitResult result = trader.submit(*session, {.msg_type = "D", .body = body}, keep_and_report);
            ++results.at(static_cast<std::size_t>(result.status));
            if (!result) {
              std::this_thread::yield();
              continue;
            }
            if (++number % between_wrong_ones != 0) continue;
            for (const auto& [to, text, options] :
                 {std::tuple{*session, std::string_view{too_long}, keep_and_report},
                  std::tuple{std::size_t{99}, std::string_view{body}, keep_and_report},
                  std::tuple{std::size_t{1}, std::string_view{body}, SubmitOptions{}}}) {
              ++results.at(
                  static_cast<std::size_t>(trader.submit(to, {.msg_type = "D", .body = text}, options).status));
            }
          }
        });
      }
    }
    receiver.wait_for_all();
    trader.stop();
    venue.stop();
  }
  EXPECT_TRUE(receiver.in_order);
  EXPECT_TRUE(reporting.in_order);
  EXPECT_TRUE(reporting.all_sent);
  EXPECT_EQ(reporting.reported, threads * each);
  EXPECT_EQ(results[0], threads * each);
  const PollLoopCounters counters = trader.counters();
  EXPECT_EQ(counters.submitted, threads * each);
  EXPECT_EQ(counters.submit_full, results[1]);
  EXPECT_EQ(counters.submit_unsent, 0U);
  const std::uint64_t wrong_ones = threads * (each / between_wrong_ones);
  EXPECT_EQ(results[2], wrong_ones) << "too long";
  EXPECT_EQ(results[3], wrong_ones) << "an unknown session";
  EXPECT_EQ(results[4], wrong_ones) << "not logged on";
  const auto of = [&](SubmitStatus status) {
    return static_cast<unsigned long long>(results[static_cast<std::size_t>(status)]);
  };
  std::printf(
      "queued %llu, full %llu, too long %llu, unknown session %llu, not logged on %llu; held until the Logon %llu\n",
      of(SubmitStatus::queued), of(SubmitStatus::full), of(SubmitStatus::too_long), of(SubmitStatus::unknown_session),
      of(SubmitStatus::not_logged_on), static_cast<unsigned long long>(counters.submit_kept));
}

}  // namespace
}  // namespace nfx::test
