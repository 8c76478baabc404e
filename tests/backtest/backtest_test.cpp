// The market maker trades live at the demonstration's venue, over TCP, and records what it receives. A backtest on the
// recording has the same orders, each with the same number, side, price and quantity, and the same position.
//
// Live and recording are one thread: the venue does its next step when both sides have handled everything, so that a
// slow host changes no order. What takes time on the way is then less than the time between two steps, as the backtest
// has it, without a delay.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "market/fix_venue.hpp"
#include "market_maker.hpp"
#include "nexusfix/base/clocks.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/store/journal_flusher.hpp"

namespace nfx {
namespace {

using strategy::QueueModel;

constexpr int steps = 1500;

class Folder {
 public:
  explicit Folder(std::uint64_t seed)
      : path_(std::filesystem::temp_directory_path() /
              ("nfx-backtest-" + std::to_string(::getpid()) + "-" + std::to_string(seed))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct Outcome {
  std::vector<std::string> orders;
  std::int64_t position = 0;
  std::uint64_t books = 0;
};
// Orders as people read them, so that a difference is shown as one.
Outcome outcome_of(const Maker& maker) {
  Outcome outcome{
      .orders = {}, .position = maker.pipeline.orders().exposure(Maker::only).position, .books = maker.books.hash()};
  for (const auto& [number, intent] : maker.sent) outcome.orders.push_back(to_text(number, intent));
  return outcome;
}

Outcome trade_live(std::uint64_t seed, const std::filesystem::path& folder) {
  app::market::FixVenue venue{{.listen = {"127.0.0.1", 0}, .seed = seed, .names = 1}};
  JournalFlusher flusher;
  market::Recorder recorder{
      posix_disk(), {.folder = (folder / "day").string(), .ring_directory = folder.string()}, flusher, read_utc()};
  market::FixSessionPorts ports;
  Maker maker{"ALFA", ports};
  market::FixSessionTrader live{{.orders = {.symbol = "ALFA"},
                                 .report = [&](const auto& report) { maker.pipeline.report(report); },
                                 .recorder = &recorder},
                                ports,
                                maker.handler,
                                maker.books};
  maker.now = &live.now();
  maker.send = [&](const auto& intent, const auto& order) { return live.send(intent, order); };
  EngineConfig config;
  SessionSettings session;
  session.session.role = Role::initiator;
  session.session.sender_comp_id = "MAKER";
  session.session.target_comp_id = "VENUE";
  session.session.timestamp_digits = 6;
  session.socket.timestamps = true;
  session.connect = {{"127.0.0.1", venue.port()}};
  config.sessions = {session};
  market::make_room_for_snapshots(config);
  Engine engine{config, live};

  const auto both = [&] {
    venue.serve(Duration::zero());
    engine.turn(Duration::zero());
  };
  const auto quiet = [&] {
    const SessionHandle* const other = venue.engine().session(1);
    return live.session() != nullptr && other != nullptr && live.session()->next_inbound() == other->next_outbound() &&
           other->next_inbound() == live.session()->next_outbound();
  };
  const auto begin = read_monotonic();
  while (!quiet() || maker.handler.state() != market::FeedState::live) {
    both();
    if (read_monotonic() - begin > std::chrono::seconds{30}) {
      ADD_FAILURE() << "the feed is not live";
      return {};
    }
  }
  for (int step = 0; step < steps; ++step) {
    venue.step(read_utc());
    do both();
    while (!quiet());
    if (step % 64 == 0) flusher.turn(read_clocks());
  }
  EXPECT_EQ(recorder.counters().dropped, 0U);
  return outcome_of(maker);
}

Outcome test_back(const std::filesystem::path& folder, QueueModel queue, bool fills_by_trade = true) {
  market::NoPorts ports;
  Maker maker{"ALFA", ports};
  const auto scan = backtest(
      maker, {.folder = folder / "day", .ring_directory = folder},
      {.to_venue = Duration::zero(), .from_venue = Duration::zero(), .queue = queue, .fills_by_trade = fills_by_trade});
  EXPECT_EQ(scan.end, market::RecordingEnd::closed) << scan.reason;
  return outcome_of(maker);
}

class Backtest : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Backtest, agrees_with_live_trading_to_the_order) {
  const Folder folder{GetParam()};
  const Outcome live = trade_live(GetParam(), folder.path());
  const Outcome again = test_back(folder.path(), QueueModel::by_order);
  EXPECT_GT(live.orders.size(), 100U);
  EXPECT_EQ(again.orders, live.orders);
  EXPECT_EQ(again.position, live.position);
  EXPECT_EQ(again.books, live.books);
  EXPECT_EQ(test_back(folder.path(), QueueModel::by_order).orders, again.orders) << "it is the same each time";
}

INSTANTIATE_TEST_SUITE_P(seeds, Backtest, testing::Range(std::uint64_t{1}, std::uint64_t{9}),
                         [](const auto& each) { return "seed_" + std::to_string(each.param); });

// The comparison finds a venue that is simulated wrongly.
TEST(BacktestVenue, disagrees_when_it_is_simulated_otherwise) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const Folder folder{seed + 100};
    const Outcome live = trade_live(seed, folder.path());
    EXPECT_NE(test_back(folder.path(), QueueModel::by_order, false).orders, live.orders) << "seed " << seed;
  }
}

}  // namespace
}  // namespace nfx
