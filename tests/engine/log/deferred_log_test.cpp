// Order, bounds and outages of deferred logs.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <sstream>
#include <thread>

#include "log/event_log.hpp"
#include "log/message_log.hpp"
#include "log_folder.hpp"
#include "nexusfix/concurrent/worker_thread.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;

constexpr UtcTime noon = UtcTime{std::chrono::sys_days{std::chrono::year{2024} / 3 / 15}} + 12h;

DeferredLogOptions log_in(const LogFolder& folder) {
  LogFileOptions file;
  file.folder = folder.path();
  DeferredLogOptions options;
  options.target = file;
  options.lane_bytes = 64 * 1024;
  options.longest_record = 4096;
  return options;
}

MessageLogOptions messages_in(const LogFolder& folder) {
  MessageLogOptions options;
  options.log = log_in(folder);
  return options;
}

// A queue that holds exactly eight short messages.
MessageLogOptions small_messages_in(const LogFolder& folder) {
  MessageLogOptions options = messages_in(folder);
  options.log.lane_bytes = 8 * 64;
  options.log.longest_record = 100;
  return options;
}

TEST(MessageLog, writes_a_line_with_time_direction_session_and_message) {
  const LogFolder folder;
  MessageLog log{messages_in(folder)};
  log.name_session(7, "FIX.4.4:ME->YOU");
  MessageLog::Lane lane = log.lane(0);
  lane.record(7, LogDirection::in, noon + 1ns,
              "8=FIX.4.4\x01"
              "35=A\x01"
              "554=geheim\x01");
  lane.record(9, LogDirection::out, noon + 2s, "8=FIX.4.4\x01");
  EXPECT_TRUE(log.has_work());
  EXPECT_EQ(log.step(noon), 2U);
  EXPECT_FALSE(log.has_work());
  EXPECT_EQ(folder.text(),
            "20240315-12:00:00.000000001 in  FIX.4.4:ME->YOU 8=FIX.4.4|35=A|554=***|\n"
            "20240315-12:00:02.000000000 out session 9 8=FIX.4.4|\n");
  EXPECT_EQ(log.counters().written, 2U);
}

TEST(MessageLog, name_that_a_peer_has_chosen_adds_no_line_and_no_control_character) {
  const LogFolder folder;
  MessageLog log{messages_in(folder)};
  log.name_session(7, "FIX.4.4:ME->\n\x1b[2J\xc2\x9bYOU");
  log.lane(0).record(7, LogDirection::in, noon, "8=FIX.4.4\x01");
  EXPECT_EQ(log.step(noon), 1U);
  EXPECT_EQ(folder.text(), "20240315-12:00:00.000000000 in  FIX.4.4:ME->\\x0a\\x1b[2J\\xc2\\x9bYOU 8=FIX.4.4|\n");
}

TEST(MessageLog, writes_what_quickfix_writes) {
  const LogFolder folder;
  MessageLogOptions options = messages_in(folder);
  options.format = MessageLogFormat::quickfix;
  options.text = {.separator = Separator::raw, .show_secrets = false};
  options.log.fraction_digits = 3;
  MessageLog log{options};
  log.lane(0).record(7, LogDirection::in, noon + 25ms,
                     "8=FIX.4.4\x01"
                     "35=0\x01");
  log.step(noon);
  EXPECT_EQ(folder.text(),
            "20240315-12:00:00.025 : 8=FIX.4.4\x01"
            "35=0\x01\n");
}

std::string of_type(std::string_view type) {
  return "8=FIX.4.4\x01"
         "9=5\x01"
         "35=" +
         std::string{type} + "\x01";
}

TEST(MessageLog, counts_heartbeats_beyond_their_rate_and_states_how_many_there_were) {
  const LogFolder folder;
  MessageLogOptions options = messages_in(folder);
  options.log.fraction_digits = 0;
  options.session_message_rate = 2;
  MessageLog log{options};
  log.name_session(7, "FLOOD");
  log.name_session(8, "OTHER");
  MessageLog::Lane lane = log.lane(0);
  for (int i = 0; i < 5; ++i) lane.record(7, LogDirection::in, noon, of_type("0"));
  lane.record(7, LogDirection::in, noon, of_type("1"));
  lane.record(7, LogDirection::in, noon, of_type("D"));
  lane.record(8, LogDirection::in, noon, of_type("0"));
  lane.record(7, LogDirection::in, noon + 1s, of_type("0"));
  log.step(noon + 1s);
  const std::string line = "20240315-12:00:00 in  FLOOD 8=FIX.4.4|9=5|35=";
  EXPECT_EQ(folder.text(), line + "0|\n" + line + "0|\n" + line + "D|\n" +
                               "20240315-12:00:00 in  OTHER 8=FIX.4.4|9=5|35=0|\n" +
                               "20240315-12:00:01 4 messages of FLOOD were counted, not written: 3 Heartbeat, 1 "
                               "TestRequest; session_message_rate is 2 a second\n" +
                               "20240315-12:00:01 in  FLOOD 8=FIX.4.4|9=5|35=0|\n");
  EXPECT_EQ(log.counters().omitted, 4U);
  EXPECT_EQ(log.counters().written, 5U);
}

TEST(MessageLog, states_what_it_counted_when_no_message_follows_and_when_it_ends) {
  const LogFolder folder;
  MessageLogOptions options = messages_in(folder);
  options.log.fraction_digits = 0;
  options.session_message_rate = 1;
  {
    MessageLog log{options};
    MessageLog::Lane lane = log.lane(0);
    for (int i = 0; i < 3; ++i) lane.record(7, LogDirection::in, noon, of_type("0"));
    log.step(noon);
    EXPECT_EQ(folder.text().find("counted"), std::string::npos);
    log.step(noon + 1s);
    EXPECT_NE(folder.text().find("12:00:01 2 messages of session 7 were counted"), std::string::npos) << folder.text();
    for (int i = 0; i < 4; ++i) lane.record(7, LogDirection::in, noon + 2s, of_type("5"));
  }
  EXPECT_NE(folder.text().find("12:00:02 3 messages of session 7 were counted, not written: 3 Logout;"),
            std::string::npos)
      << folder.text();
}

TEST(MessageLog, leaves_the_history_of_other_sessions_when_one_fills_its_files) {
  const LogFolder folder;
  MessageLogOptions options = messages_in(folder);
  std::get<LogFileOptions>(options.log.target).max_bytes = 16 * 1024;
  std::get<LogFileOptions>(options.log.target).keep_files = 3;
  options.log.busy_target = std::get<LogFileOptions>(options.log.target);
  options.log.busy_target->name = "messages-busy";
  MessageLog log{options};
  log.name_session(1, "QUIET");
  log.name_session(2, "BUSY");
  MessageLog::Lane lane = log.lane(0);
  for (int i = 0; i < 20; ++i) lane.record(1, LogDirection::in, noon, "quiet " + std::to_string(i));
  log.step(noon);
  for (int i = 0; i < 3000; ++i) {
    lane.record(2, LogDirection::in, noon, "busy " + std::to_string(i) + std::string(100, 'x'));
    if (i % 100 == 99) log.step(noon);
  }
  lane.record(1, LogDirection::in, noon, "quiet at last");
  log.step(noon);
  const std::string first = folder.text("messages-20240315-0001.log");
  for (int i = 0; i < 20; ++i) EXPECT_NE(first.find("quiet " + std::to_string(i) + "\n"), std::string::npos) << i;
  EXPECT_NE(first.find("quiet at last\n"), std::string::npos);
  EXPECT_NE(first.find("more of BUSY is in messages-busy-*.log: it has filled half of this file"), std::string::npos);
  const std::vector<std::string> files = folder.files();
  const auto of_busy = [](const std::string& name) { return name.starts_with("messages-busy-"); };
  EXPECT_EQ(std::ranges::count_if(files, of_busy), 3) << "a session removes its own history";
  ASSERT_TRUE(of_busy(files.back()));
  EXPECT_NE(folder.text(files.back()).find("busy 2999x"), std::string::npos);
  EXPECT_EQ(log.counters().written, 3021U);
}

TEST(MessageLog, gives_a_session_that_is_alone_all_of_its_files) {
  const LogFolder folder;
  MessageLogOptions options = messages_in(folder);
  std::get<LogFileOptions>(options.log.target).max_bytes = 4096;
  options.log.busy_target = std::get<LogFileOptions>(options.log.target);
  options.log.busy_target->name = "messages-busy";
  MessageLog log{options};
  log.name_session(2, "ALONE");
  for (int i = 0; i < 100; ++i) log.lane(0).record(2, LogDirection::in, noon, std::string(100, 'x'));
  log.step(noon);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "messages-20240315-0002.log"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "messages-busy-20240315-0001.log"));
}

TEST(MessageLog, merges_its_lanes_by_time) {
  const LogFolder folder;
  MessageLogOptions options = messages_in(folder);
  options.log.lanes = 3;
  options.log.fraction_digits = 0;
  MessageLog log{options};
  for (std::uint32_t i = 0; i < 9; ++i) {
    log.lane(i % 3).record(i, LogDirection::in, noon + std::chrono::seconds{i}, std::to_string(i));
  }
  log.step(noon);
  std::string expected;
  for (int i = 0; i < 9; ++i) {
    const std::string n = std::to_string(i);
    expected += "20240315-12:00:0" + n + " in  session " + n + " " + n + "\n";
  }
  EXPECT_EQ(folder.text(), expected);
}

TEST(MessageLog, forgets_a_name_only_when_what_was_recorded_before_is_written) {
  const LogFolder folder;
  MessageLog log{messages_in(folder)};
  log.name_session(1, "ONE");
  log.lane(0).record(1, LogDirection::in, noon, "a");
  log.forget_session(1);
  log.step(noon);
  log.lane(0).record(1, LogDirection::in, noon, "b");
  log.step(noon);
  EXPECT_NE(folder.text().find("ONE a\n"), std::string::npos) << folder.text();
  EXPECT_NE(folder.text().find("session 1 b\n"), std::string::npos) << folder.text();
}

TEST(MessageLog, says_in_the_place_of_a_gap_how_many_messages_are_missing) {
  const LogFolder folder;
  MessageLogOptions options = small_messages_in(folder);
  options.log.fraction_digits = 0;
  MessageLog log{options};
  MessageLog::Lane lane = log.lane(0);
  for (int i = 0; i < 11; ++i) lane.record(1, LogDirection::in, noon, std::to_string(i));
  EXPECT_EQ(log.counters().dropped, 3U);
  log.step(noon);
  lane.record(1, LogDirection::in, noon + 1s, "after");
  log.step(noon);
  const std::string text = folder.text();
  const std::string gap =
      "in  session 1 7\n20240315-12:00:00 3 messages were not logged here: the log's queue was full\n"
      "20240315-12:00:01 in  session 1 after\n";
  EXPECT_NE(text.find(gap), std::string::npos) << text;
  EXPECT_EQ(text.find("not logged"), text.rfind("not logged"));
}

TEST(MessageLog, tells_of_a_gap_between_two_messages_of_the_same_step) {
  const LogFolder folder;
  MessageLogOptions options = small_messages_in(folder);
  options.log.lanes = 2;
  MessageLog log{options};
  for (int i = 0; i < 10; ++i) log.lane(0).record(1, LogDirection::in, noon, "before");
  // Removing a record from the front frees space for the next one after the gap, without the queue ever being empty.
  log.step(noon);
  log.lane(0).record(1, LogDirection::in, noon, "behind");
  log.step(noon);
  const std::string text = folder.text();
  const auto gap = text.find(" 2 messages were not logged here");
  ASSERT_NE(gap, std::string::npos) << text;
  EXPECT_LT(text.rfind("before"), gap);
  EXPECT_GT(text.find("behind"), gap);
}

TEST(MessageLog, cuts_what_is_too_long_and_says_by_how_much) {
  const LogFolder folder;
  MessageLog log{small_messages_in(folder)};
  log.lane(0).record(1, LogDirection::in, noon, std::string(120, 'x'));
  log.step(noon);
  EXPECT_NE(folder.text().find(std::string(100, 'x') + " [20 more bytes were not logged]\n"), std::string::npos);
  EXPECT_EQ(log.counters().cut, 1U);
}

TEST(MessageLog, reports_a_file_that_cannot_be_opened_before_there_is_a_message) {
  const LogFolder folder;
  MessageLogOptions options = messages_in(folder);
  std::vector<std::string> reports;
  options.log.on_failure = [&](std::string_view text) { reports.emplace_back(text); };
  std::string name;
  {
    MessageLog log{options};
    log.open_file(noon);
    EXPECT_TRUE(reports.empty());
    ASSERT_EQ(folder.files().size(), 1U);
    name = folder.files()[0];
  }
  std::filesystem::remove(folder.path() / name);
  std::filesystem::create_directory(folder.path() / name);
  MessageLog log{options};
  log.open_file(noon);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_NE(reports[0].find(name), std::string::npos) << reports[0];
}

TEST(MessageLog, reports_a_file_that_others_could_read) {
  const LogFolder folder;
  MessageLogOptions options = messages_in(folder);
  std::vector<std::string> reports;
  options.log.on_failure = [&](std::string_view text) { reports.emplace_back(text); };
  std::make_unique<MessageLog>(options)->open_file(noon);
  ASSERT_EQ(folder.files().size(), 1U);
  std::filesystem::permissions(folder.path() / folder.files()[0], std::filesystem::perms{0666});
  MessageLog log{options};
  log.open_file(noon);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_NE(reports[0].find("mode changed from 0666"), std::string::npos) << reports[0];
}

TEST(MessageLog, reports_a_failing_disk_once_and_says_later_what_is_missing) {
  const LogFolder folder;
  MessageLogOptions options = messages_in(folder);
  options.log.fraction_digits = 0;
  std::vector<std::string> reports;
  options.log.on_failure = [&](std::string_view text) { reports.emplace_back(text); };
  MessageLog log{options};
  MessageLog::Lane lane = log.lane(0);
  lane.record(1, LogDirection::in, noon, "good");
  log.step(noon);
  const auto length = static_cast<rlim_t>(folder.text().size());
  {
    // Space for one more line, and the start of a second.
    const FullDisk full{length + length + 5};
    for (int i = 0; i < 3; ++i) lane.record(1, LogDirection::in, noon, "also");
    log.step(noon);
    EXPECT_EQ(log.counters().lost, 2U);
    for (int second = 0; second < 5; ++second) {
      lane.record(1, LogDirection::in, noon, "lost");
      log.step(noon + std::chrono::seconds{second});
    }
    EXPECT_EQ(log.counters().lost, 7U);
  }
  log.step(noon + 6s);
  lane.record(1, LogDirection::in, noon + 7s, "again");
  log.step(noon + 7s);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_NE(reports[0].find("messages-20240315-0001.log: File too large"), std::string::npos) << reports[0];
  EXPECT_EQ(folder.text(),
            "20240315-12:00:00 in  session 1 good\n"
            "20240315-12:00:00 in  session 1 also\n"
            "20240\n"
            "20240315-12:00:06 7 messages were not logged here: the log could not be written\n"
            "20240315-12:00:07 in  session 1 again\n");
  EXPECT_EQ(log.counters().outages, 1U);
  EXPECT_EQ(log.counters().written, 3U);
}

TEST(MessageLog, begins_a_file_with_the_first_message_of_a_day) {
  const LogFolder folder;
  MessageLogOptions options = messages_in(folder);
  options.log.fraction_digits = 0;
  MessageLog log{options};
  for (int i = 0; i < 4; ++i) log.lane(0).record(1, LogDirection::in, noon + i * 8h, std::to_string(i));
  log.step(noon);
  EXPECT_EQ(folder.text("messages-20240315-0001.log"),
            "20240315-12:00:00 in  session 1 0\n20240315-20:00:00 in  session 1 1\n");
  EXPECT_EQ(folder.text("messages-20240316-0001.log"),
            "20240316-04:00:00 in  session 1 2\n20240316-12:00:00 in  session 1 3\n");
}

TEST(MessageLog, writes_what_was_recorded_before_it_is_destroyed) {
  const LogFolder folder;
  {
    MessageLog log{messages_in(folder)};
    log.lane(0).record(1, LogDirection::out, noon, "last words");
  }
  EXPECT_NE(folder.text().find("last words\n"), std::string::npos);
}

TEST(MessageLog, has_every_message_of_several_threads_or_counts_it) {
  constexpr std::uint32_t threads = 3;
  constexpr int each = 5000;
  const LogFolder folder;
  MessageLogOptions options = messages_in(folder);
  WakeSignal signal;
  options.log.lanes = threads;
  options.log.worker = &signal;
  MessageLog log{options};
  WorkerOptions worker_options;
  worker_options.longest_sleep = 1ms;
  WorkerThread worker(signal, {.step = [&] { return log.step(noon); }, .has_work = [&] { return log.has_work(); }},
                      worker_options);
  std::vector<std::thread> recorders;
  for (std::uint32_t t = 0; t < threads; ++t) {
    recorders.emplace_back([&log, t] {
      MessageLog::Lane lane = log.lane(t);
      for (int i = 0; i < each; ++i) lane.record(t, LogDirection::in, noon + std::chrono::nanoseconds{i}, "58=x\x01");
    });
  }
  for (std::thread& recorder : recorders) recorder.join();
  worker.stop();
  const DeferredLogCounters counters = log.counters();
  EXPECT_EQ(counters.recorded + counters.dropped, std::uint64_t{threads} * each);
  EXPECT_EQ(counters.written, counters.recorded);
  const std::string text = folder.text();
  std::uint64_t lines = 0;
  for (std::size_t at = text.find(" 58=x|\n"); at != std::string::npos; at = text.find(" 58=x|\n", at + 1)) ++lines;
  EXPECT_EQ(lines, counters.written);
  EXPECT_EQ(counters.dropped == 0, text.find("were not logged here") == std::string::npos);
}

TEST(MessageLog, that_spills_keeps_the_order_while_the_worker_catches_up) {
  const LogFolder folder;
  MessageLogOptions options = small_messages_in(folder);
  options.log.full = {.when_full = WhenFull::spill, .block_limit = 0ms, .spill_bytes = 16 * 64};
  constexpr int messages = 20'000;
  DeferredLogCounters counters;
  {
    MessageLog log{options};
    log.name_session(0, "S");
    WakeSignal wake;
    WorkerThread worker{wake, {.step = [&] { return log.step(noon); }, .has_work = [&] { return log.has_work(); }}};
    MessageLog::Lane lane = log.lane(0);
    for (int i = 0; i < messages; ++i) lane.record(0, LogDirection::in, noon, std::to_string(i));
    worker.stop();
    while (log.step(noon) != 0) {
    }
    counters = log.counters();
  }
  EXPECT_EQ(counters.recorded + counters.dropped, static_cast<std::uint64_t>(messages));
  EXPECT_EQ(counters.written, counters.recorded);
  EXPECT_GT(counters.spilled, 0U);
  std::istringstream lines{folder.text()};
  int next = 0, missing = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t name = line.find(" in  S ");
    if (name == std::string::npos) {
      const int count = std::stoi(line.substr(line.find(' ') + 1));
      next += count;
      missing += count;
      continue;
    }
    ASSERT_EQ(line.substr(name + 7), std::to_string(next));
    ++next;
  }
  EXPECT_EQ(next, messages);
  EXPECT_EQ(static_cast<std::uint64_t>(missing), counters.dropped);
}

TEST(MessageLog, that_blocks_counts_its_waits_and_drops_at_the_limit) {
  const LogFolder folder;
  MessageLogOptions options = small_messages_in(folder);
  options.log.full = {.when_full = WhenFull::block, .block_limit = 1us, .spill_bytes = 0};
  MessageLog log{options};
  MessageLog::Lane lane = log.lane(0);
  for (int i = 0; i < 10; ++i) lane.record(0, LogDirection::in, noon, "x");
  EXPECT_EQ(log.counters().blocked, 2U);
  EXPECT_EQ(log.counters().dropped, 2U);
  EXPECT_EQ(log.counters().spilled, 0U);
}

TEST(EventLog, writes_sessions_the_engine_and_what_the_network_says) {
  const LogFolder folder;
  DeferredLogOptions options = log_in(folder);
  options.fraction_digits = 3;
  EventLog log{options};
  log.name_session(0, "FIX.4.4:ME->YOU");
  log.lane(0).record(0, noon, "logged on, next in 1");
  log.lane(0).record(0, noon + 1ms, "logged out", "bye\nfake line");
  log.record(no_log_session, noon + 2ms, "placement: poll0 on CPU 2");
  log.step(noon);
  EXPECT_EQ(folder.text(),
            "20240315-12:00:00.000 FIX.4.4:ME->YOU logged on, next in 1\n"
            "20240315-12:00:00.001 FIX.4.4:ME->YOU logged out: bye\\x0afake line\n"
            "20240315-12:00:00.002 placement: poll0 on CPU 2\n");
}

TEST(EventLog, writes_to_an_open_file_descriptor_and_leaves_it_open) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(::pipe(pipe_ends.data()), 0);
  DeferredLogOptions options;
  options.target = pipe_ends[1];
  options.fraction_digits = 0;
  {
    EventLog log{options};
    log.record(no_log_session, noon, "hello");
    log.record(no_log_session, noon + 24h, "hello");
  }
  EXPECT_EQ(::write(pipe_ends[1], "!", 1), 1);
  std::array<char, 100> text{};
  const auto size = ::read(pipe_ends[0], text.data(), text.size());
  ASSERT_GT(size, 0);
  EXPECT_EQ((std::string{text.data(), static_cast<std::size_t>(size)}),
            "20240315-12:00:00 hello\n20240316-12:00:00 hello\n!");
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

TEST(EventLog, takes_events_of_several_threads_without_lanes) {
  const LogFolder folder;
  EventLog log{log_in(folder)};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) log.record(no_log_session, noon, "x");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(log.step(noon), 300U);
}

}  // namespace
}  // namespace nfx
