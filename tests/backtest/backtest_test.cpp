// A market maker trades live at the demonstration's venue, over TCP, and records everything it receives. A backtest on
// the recording has the same orders, each with the same number, side, price and quantity, and the same position.
//
// Live trading and recording run on one thread: the venue makes its next step when both sides have handled everything,
// so that a slow host changes no order. All latencies are then shorter than the time between two steps, like in the
// backtest, which has no delay.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "demo/venue_process.hpp"
#include "live/recorded_feed.hpp"
#include "market/fix_venue.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/live/trader.hpp"
#include "nexusfix/strategy/models.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;
using market::test::RecordedFeed;
using strategy::QueueModel;

constexpr int steps = 1500;

const market::TraderOptions options{.instrument = {"ALFA"},
                                    .risk = {.orders_per_second = 1000, .burst = 1000, .max_event_age = 1s},
                                    .limits = {.max_position = 100},
                                    .own_orders_by_number = true};

struct Outcome {
  std::vector<std::string> orders;
  std::int64_t position = 0;
  std::uint64_t books = 0;
};
// Orders as text, so that differences are readable.
Outcome outcome_of(const auto& maker) {
  Outcome outcome{.orders = {}, .position = maker.position(), .books = maker.books().hash()};
  for (const auto& [number, intent] : maker.sent()) outcome.orders.push_back(to_text(number, intent));
  return outcome;
}

Outcome trade_live(std::uint64_t seed, RecordedFeed& recorded) {
  app::market::FixVenue venue{{.listen = {"127.0.0.1", 0}, .seed = seed, .names = 1}};
  market::Trader maker{options, market::FixSessionVenue{{.symbol = "ALFA"}}, strategy::Quoter{}};
  market::FixSessionTrader live{maker, &recorded.recorder()};
  EngineConfig config;
  config.sessions = {app::demo::demo_session(Role::initiator)};
  config.sessions[0].socket.timestamps = true;
  config.sessions[0].connect = {{"127.0.0.1", venue.port()}};
  market::make_room_for_snapshots(config);
  Engine engine{config, live};

  const auto both = [&] {
    venue.serve(Duration::zero());
    engine.turn(Duration::zero());
  };
  const auto quiet = [&] {
    const SessionHandle *const own = maker.venue().session(), *const other = venue.engine().session(1);
    return own != nullptr && other != nullptr && own->next_inbound() == other->next_outbound() &&
           other->next_inbound() == own->next_outbound();
  };
  const bool is_live =
      market::test::turn_until(both, [&] { return quiet() && maker.handler().state() == market::FeedState::live; });
  EXPECT_TRUE(is_live);
  for (int step = 0; is_live && step < steps; ++step) {
    venue.step(read_utc());
    do both();
    while (!quiet());
    if (step % 64 == 0) recorded.write(read_clocks());
  }
  EXPECT_EQ(recorded.recorder().counters().dropped, 0U);
  const Outcome outcome = outcome_of(maker);
  recorded.end();
  return outcome;
}

Outcome test_back(const RecordedFeed& recorded, QueueModel queue, bool fills_by_trade = true) {
  strategy::SimulatedVenue venue{
      {.to_venue = Duration::zero(), .from_venue = Duration::zero(), .queue = queue, .fills_by_trade = fills_by_trade}};
  market::Trader maker{options, venue, strategy::Quoter{}};
  const auto scan = backtest(maker, recorded.recording());
  EXPECT_EQ(scan.end, market::RecordingEnd::closed) << scan.reason;
  return outcome_of(maker);
}

class Backtest : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Backtest, agrees_with_live_trading_to_the_order) {
  RecordedFeed recorded;
  const Outcome live = trade_live(GetParam(), recorded);
  const Outcome again = test_back(recorded, QueueModel::by_order);
  EXPECT_GT(live.orders.size(), 100U);
  EXPECT_EQ(again.orders, live.orders);
  EXPECT_EQ(again.position, live.position);
  EXPECT_EQ(again.books, live.books);
  EXPECT_EQ(test_back(recorded, QueueModel::by_order).orders, again.orders) << "it is the same each time";
}

INSTANTIATE_TEST_SUITE_P(seeds, Backtest, testing::Range(std::uint64_t{1}, std::uint64_t{9}),
                         [](const auto& each) { return "seed_" + std::to_string(each.param); });

// The comparison detects a wrongly simulated venue.
TEST(BacktestVenue, disagrees_when_it_is_simulated_otherwise) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    RecordedFeed recorded;
    const Outcome live = trade_live(seed, recorded);
    EXPECT_NE(test_back(recorded, QueueModel::by_order, false).orders, live.orders) << "seed " << seed;
  }
}

}  // namespace
}  // namespace nfx
