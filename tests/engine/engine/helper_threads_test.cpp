// The helper threads, as many as configured: which journal goes to which flusher, in what order jobs are run, and that
// an engine has them all.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <latch>
#include <map>
#include <set>
#include <thread>
#include <tuple>

#include "engine/engine_helpers.hpp"
#include "engine/histogram_text.hpp"
#include "engine/loop_rig.hpp"
#include "log/log_folder.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/engine/observer.hpp"
#include "store/memory_disk.hpp"

namespace nfx::test {
namespace {

SessionSettings journalled(std::string peer, int flusher = -1) {
  SessionSettings settings = acceptor(std::move(peer));
  settings.store_kind = StoreKind::journal;
  settings.journal.directory = "/store";
  settings.journal.ring_directory = "/ring";
  settings.journal.segment_size = 64 * 1024;
  settings.journal.ring_size = 64 * 1024;
  settings.flusher = flusher;
  return settings;
}

std::vector<std::size_t> journals(JournalStores& stores) {
  std::vector<std::size_t> counts;
  for (std::uint32_t i = 0; i < stores.flushers(); ++i) counts.push_back(stores.flusher(i).journals());
  return counts;
}

TEST(JournalStores, give_each_journal_to_the_flusher_with_the_fewest_the_first_of_them) {
  MemoryDisk disk;
  JournalStores stores{disk, {}, {.flushers = 3, .workers = 0}};
  const UtcTime now = engine_test_start().utc;
  std::vector<SessionStore> open;
  const std::vector<std::vector<std::size_t>> after{{1, 0, 0}, {1, 1, 0}, {1, 1, 1}, {2, 1, 1}};
  for (std::size_t i = 0; i < after.size(); ++i) {
    open.push_back(stores.open(journalled("P" + std::to_string(i)), now));
    EXPECT_EQ(journals(stores), after[i]);
  }
  stores.close("any", std::move(open[2]));
  EXPECT_EQ(journals(stores), (std::vector<std::size_t>{2, 1, 0}));
  open.push_back(stores.open(journalled("LATER"), now));
  EXPECT_EQ(journals(stores), (std::vector<std::size_t>{2, 1, 1}));
  open.clear();
  EXPECT_EQ(journals(stores), (std::vector<std::size_t>{0, 0, 0}));
}

// The files have no record yet when a process is killed before its flusher wrote for the first time.
TEST(JournalStores, keep_the_numbers_of_a_process_that_was_killed_before_it_wrote_to_the_disk) {
  const UtcTime now = engine_test_start().utc;
  struct Numbers {
    unsigned in, out;
  };
  constexpr Numbers none{0, 0};
  const auto after = [&](Numbers configured, Numbers used) {
    MemoryDisk disk;
    SessionSettings settings = journalled("PEER");
    settings.next_inbound = SeqNum{configured.in};
    settings.next_outbound = SeqNum{configured.out};
    {
      JournalStores stores{disk, {}};
      SessionStore store = stores.open(settings, now);
      if (used.out != 0) store.set_next_outbound(SeqNum{used.out}, now);
      if (used.in != 0) store.set_next_inbound(SeqNum{used.in}, now);
      disk.die_now();
    }
    disk.kill();
    JournalStores stores{disk, {}};
    const SessionStore store = stores.open(settings, now + 1s);
    return std::pair{value(store.next_inbound()), value(store.next_outbound())};
  };
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(after({1, 1}, none), Pair(1, 1));
  EXPECT_EQ(after({1, 1}, {2, 2}), Pair(2, 2));
  EXPECT_EQ(after({1, 1}, {2, 0}), Pair(2, 1));
  EXPECT_EQ(after({500, 600}, none), Pair(500, 600));
  EXPECT_EQ(after({500, 600}, {501, 601}), Pair(501, 601));
}

TEST(JournalStores, give_a_journal_to_the_flusher_that_its_settings_name) {
  MemoryDisk disk;
  JournalStores stores{disk, {}, {.flushers = 2, .workers = 0}};
  const UtcTime now = engine_test_start().utc;
  const SessionStore a = stores.open(journalled("A", 1), now), b = stores.open(journalled("B", 1), now);
  EXPECT_EQ(journals(stores), (std::vector<std::size_t>{0, 2}));
  const SessionStore c = stores.open(journalled("C"), now);
  EXPECT_EQ(journals(stores), (std::vector<std::size_t>{1, 2}));
}

TEST(JournalStores, run_the_jobs_of_one_session_in_order_whatever_worker_has_them) {
  MemoryDisk disk;
  JournalStores stores{disk, {}, {.flushers = 1, .workers = 4}};
  std::map<std::string, std::vector<int>> done;
  std::map<std::string, std::set<std::uint32_t>> workers;
  std::uint32_t running = 0;
  for (int number = 0; number < 5; ++number) {
    for (const char* session : {"A", "B", "C", "D", "E", "F"}) {
      ASSERT_TRUE(stores.later(session, [&, session, number] {
        done[session].push_back(number);
        workers[session].insert(running);
      }));
    }
  }
  stores.end_jobs();
  EXPECT_FALSE(stores.later("A", [] {}));
  for (; running < stores.workers(); ++running) stores.run_jobs(running);
  for (const auto& [session, numbers] : done) {
    EXPECT_EQ(numbers, (std::vector{0, 1, 2, 3, 4})) << session;
    EXPECT_EQ(workers[session].size(), 1U) << session;
  }
  EXPECT_EQ(done.size(), 6U);
}

TEST(JournalStores, open_a_journal_again_once_another_thread_has_closed_it) {
  MemoryDisk disk;
  JournalStores stores{disk, {}, {.flushers = 1, .workers = 1}};
  const UtcTime now = engine_test_start().utc;
  const SessionSettings settings = journalled("A");
  const std::string name = identity(settings.session);
  SessionStore first = stores.open(settings, now);
  first.set_next_inbound(SeqNum{7}, now);
  stores.close(name, std::move(first));
  auto again = std::async(std::launch::async, [&] { return stores.open(settings, now).next_inbound(); });
  EXPECT_EQ(again.wait_for(20ms), std::future_status::timeout) << "it does not fail";
  stores.end_jobs();
  stores.run_jobs();  // the work of a job thread
  EXPECT_EQ(again.get(), SeqNum{7});
}

TEST(JournalStores, run_jobs_on_a_thread_that_sleeps_and_on_one_that_spins) {
  for (const IdleMode idle : {IdleMode::block, IdleMode::spin}) {
    MemoryDisk disk;
    JournalStores stores{disk, {}, {.flushers = 1, .workers = 1}};
    HelperWatch watch;
    std::jthread worker{[&] { stores.run_jobs(0, idle, &watch); }};
    for (int i = 0; i < 3; ++i) {
      std::latch done{1};
      ASSERT_TRUE(stores.later("A", [&] { done.count_down(); }));
      done.wait();
    }
    stores.end_jobs();
    worker.join();
    EXPECT_GT(watch.longest_turn(), Duration::zero());
  }
}

TEST(HelperWatch, tells_the_longest_turn_and_the_longest_gap_of_a_thread_that_spins) {
  HelperWatch watch;
  const MonotonicTime begin{100s};
  watch.turn_began(begin);
  watch.turn_ended(begin + 3ms, true);
  EXPECT_EQ(watch.longest_turn(), Duration{3ms});
  watch.turn_began(begin + 7ms);
  EXPECT_EQ(watch.worst_gap(), Duration{7ms});
  watch.turn_ended(begin + 8ms, false);
  watch.turn_began(begin + 1s);
  EXPECT_EQ(watch.worst_gap(), Duration{7ms}) << "a thread that slept has lost nothing";
  EXPECT_EQ(watch.longest_turn(), Duration{3ms});
}

TEST(HelperThreads, are_one_of_each_unless_the_placement_says_how_many) {
  EngineConfig config;
  config.sessions = {acceptor()};
  config.placement.role(ThreadRole::flusher).threads = 3;
  config.placement.role(ThreadRole::flusher).wait = ThreadWait::spin;
  EXPECT_EQ(helper_threads(config, ThreadRole::flusher).threads, 1U) << "[placement] is off";
  EXPECT_FALSE(helper_threads(config, ThreadRole::flusher).asked_for);
  config.placement.enabled = true;
  EXPECT_EQ(helper_threads(config, ThreadRole::flusher).threads, 3U);
  EXPECT_EQ(helper_threads(config, ThreadRole::flusher).idle, IdleMode::spin);
  EXPECT_TRUE(helper_threads(config, ThreadRole::flusher).asked_for);
  EXPECT_EQ(helper_threads(config, ThreadRole::deferred).threads, 1U);
  EXPECT_EQ(helper_threads(config, ThreadRole::deferred).idle, IdleMode::block);
}

std::set<std::string> names_of_threads() {
  std::set<std::string> names;
  for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
    std::ifstream in{task.path() / "comm"};
    std::string name;
    if (std::getline(in, name)) names.insert(name);
  }
  return names;
}

// Sends one report to every session that logs on, and counts what comes.
class Reporting final : public Application, public Observer {
 public:
  explicit Reporting(std::ptrdiff_t expected = 0) : all_there(expected) {}
  void on_logon(SessionHandle& session) override {
    if (session.config().role == Role::acceptor) std::ignore = session.send({.msg_type = "8", .body = "11=1\x01"});
  }
  Handled on_message(SessionHandle&, const MessageView&) override {
    all_there.count_down();
    return Handled::done;
  }
  void on_metrics(MetricsPage& page) override { page.counter({"own_total", "Of the program."}, 77); }
  std::latch all_there;
};

TEST(Engine, runs_as_many_flushers_and_workers_as_configured_and_all_of_them_flush) {
  const LogFolder folder;
  EngineConfig config;
  config.placement.enabled = true;
  config.placement.role(ThreadRole::flusher).threads = 2;
  config.placement.role(ThreadRole::deferred).threads = 2;
  config.log.metrics_file = folder.path() / "nfx.prom";
  for (const char* peer : {"A", "B"}) {
    SessionSettings settings = journalled(peer);
    settings.listen = {"127.0.0.1", 0};
    settings.journal.directory = folder.path() / "store";
    settings.journal.ring_directory = "/dev/shm";
    settings.journal.segment_size = settings.journal.ring_size = 256 * 1024;
    settings.journal.durability = Durability::group;
    config.sessions.push_back(settings);
  }
  Reporting at_venue, at_trader{2};
  {
    Engine venue{config, at_venue};
    venue.start();
    EngineConfig trader_config;
    for (const char* peer : {"A", "B"}) {
      trader_config.sessions.push_back(initiator(peer));
      trader_config.sessions.back().connect = {*venue.local_endpoint(0)};
    }
    Engine trader{trader_config, at_trader};
    std::jthread venue_thread{[&] { venue.run(); }};
    std::jthread trader_thread{[&] { trader.run(); }};
    at_trader.all_there.wait();  // nothing is sent before it is synced: both were flushed
    const std::set<std::string> names = names_of_threads();
    std::set<std::string> reported;
    for (const ThreadReport& each : venue.thread_reports()) reported.insert(each.name);
    for (const char* name : {"nfx-flush-0", "nfx-flush-1", "nfx-defer-0", "nfx-defer-1", "nfx-log-0", "nfx-poll-0"}) {
      EXPECT_TRUE(names.contains(name)) << name;
      EXPECT_TRUE(reported.contains(name)) << name;
    }
    trader.stop();
    trader_thread.join();
    venue.stop();
    venue_thread.join();
    for (const std::size_t id : {0U, 1U}) EXPECT_GT(venue.session(id)->journal()->counters().syncs, 0U);
  }
  const std::string metrics = folder.text("nfx.prom");
  EXPECT_NE(metrics.find("nfx_flusher_journals{thread=\"nfx-flush-0\"} "), std::string::npos) << metrics;
  EXPECT_NE(metrics.find("\nown_total 77\n"), std::string::npos) << metrics;
  for (const char* name : {"nfx-flush-0", "nfx-flush-1", "nfx-defer-0", "nfx-defer-1"}) {
    EXPECT_NE(metrics.find("nfx_helper_longest_turn_seconds{thread=\"" + std::string{name} + "\"} "), std::string::npos)
        << metrics;
  }
  for (const char* name : {"nfx-flush-0", "nfx-flush-1"}) {
    const std::string label = "thread=\"" + std::string{name} + '"';
    EXPECT_GT(read_histogram(metrics, "nfx_flusher_sync_seconds", label).count, 0U) << metrics;
  }
  // As of the last snapshot that was requested from the poll thread, perhaps before the first bytes.
  EXPECT_FALSE(read_histogram(metrics, "nfx_poll_handling_seconds", "thread=\"nfx-poll-0\"").buckets.empty())
      << metrics;
}

TEST(Engine, runs_the_helpers_that_are_asked_for_before_anybody_needs_them) {
  EngineConfig config;
  config.sessions = {acceptor()};
  config.sessions[0].listen = {"127.0.0.1", 0};
  config.placement.enabled = true;
  config.placement.role(ThreadRole::flusher).threads = 3;
  Reporting application;
  const Engine engine{config, application};
  std::vector<std::string> names;
  for (const ThreadReport& each : engine.thread_reports()) names.push_back(each.name);
  EXPECT_EQ(names, (std::vector<std::string>{"nfx-defer-0", "nfx-flush-0", "nfx-flush-1", "nfx-flush-2"}))
      << "the poll thread has not begun";
}

TEST(Placement, plans_a_handshake_thread_for_an_engine_with_tls_alone) {
  EngineConfig config;
  config.sessions = {acceptor()};
  EXPECT_EQ(placement_request(config).role(ThreadRole::handshake).threads, 0U);
  config.sessions[0].tls_enabled = true;
  EXPECT_EQ(placement_request(config).role(ThreadRole::handshake).threads, 1U);
  config.placement.role(ThreadRole::handshake).threads = 2;
  EXPECT_EQ(placement_request(config).role(ThreadRole::handshake).threads, 2U);
}

}  // namespace
}  // namespace nfx::test
