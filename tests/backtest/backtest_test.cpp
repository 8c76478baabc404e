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
#include "nexusfix/live/session_trader.hpp"
#include "nexusfix/strategy/models.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;
using market::test::RecordedFeed;
using strategy::QueueModel;

constexpr int steps = 1500;

const market::FixHandlerOptions feed{.instruments = {{"ALFA"}}};
const market::TraderOptions options{.risk = {.orders_per_second = 1000, .burst = 1000, .max_event_age = 1s},
                                    .instruments = {{.max_position = 100}},
                                    .own_orders_by_number = true};

struct Outcome {
  std::vector<std::string> orders;
  std::int64_t position = 0;
  std::uint64_t books = 0;
};
// Orders as text, so that differences are readable.
Outcome outcome_of(const auto& maker) {
  Outcome outcome{.orders = {}, .position = maker.position(), .books = maker.book_hash()};
  for (const auto& [number, intent] : maker.sent()) outcome.orders.push_back(to_text(number, intent));
  return outcome;
}

EngineConfig config_of(std::uint16_t port) {
  EngineConfig config;
  config.sessions = {app::demo::demo_session(Role::initiator)};
  config.sessions[0].socket.timestamps = true;
  config.sessions[0].connect = {{"127.0.0.1", port}};
  market::make_room_for_snapshots(config);
  return config;
}

// Both sides in this thread. The market moves when each has handled everything.
class Live {
 public:
  Live(std::uint64_t seed, market::Recorder* recorder, const market::SessionTraderOptions& with = {})
      : venue{{.listen = {"127.0.0.1", 0}, .seed = seed, .names = 1}},
        application{maker, recorder, with},
        engine{config_of(venue.port()), application} {
    is_live = market::test::turn_until([this] { both(); },
                                       [this] { return quiet() && maker.state() == market::FeedState::live; });
    EXPECT_TRUE(is_live);
  }
  void step(UtcTime at = read_utc()) {
    venue.step(at);
    do both();
    while (!quiet());
  }
  void both() {
    venue.serve(Duration::zero());
    engine.turn(Duration::zero());
  }
  [[nodiscard]] bool quiet() {
    const SessionHandle *const own = maker.venue().session(), *const other = venue.engine().session(1);
    return own != nullptr && other != nullptr && own->next_inbound() == other->next_outbound() &&
           other->next_inbound() == own->next_outbound();
  }
  [[nodiscard]] std::uint64_t cancels() { return maker.pipeline().gate().counters().cancels; }

  app::market::FixVenue venue;
  market::Trader<market::FixHandlerOptions, market::OrderBooks, market::FixSessionVenue, market::NoObserver,
                 strategy::Quoter>
      maker{feed, options, market::FixSessionVenue{{.symbol = "ALFA"}}, strategy::Quoter{}};
  market::SessionTrader<decltype(maker)> application;
  Engine engine;
  bool is_live = false;
};

Outcome trade_live(std::uint64_t seed, RecordedFeed& recorded) {
  Live live{seed, &recorded.recorder()};
  for (int step = 0; live.is_live && step < steps; ++step) {
    live.step();
    if (step % 64 == 0) recorded.write(read_clocks());
  }
  EXPECT_EQ(recorded.recorder().counters().dropped, 0U);
  const Outcome outcome = outcome_of(live.maker);
  recorded.end();
  return outcome;
}

Outcome test_back(const RecordedFeed& recorded, QueueModel queue, bool fills_by_trade = true) {
  strategy::SimulatedVenue venue{
      {.to_venue = Duration::zero(), .from_venue = Duration::zero(), .queue = queue, .fills_by_trade = fills_by_trade}};
  market::Trader maker{feed, options, venue, strategy::Quoter{}};
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

// In a market that does not become empty on one side, where the model itself cancels.
void trade_until_orders_are_open(Live& live) {
  for (int step = 0; step < 300; ++step) live.step();
  for (int step = 0; step < steps && live.maker.open_orders() < 2; ++step) live.step();
  ASSERT_EQ(live.maker.open_orders(), 2U) << "a bid and an ask";
}

TEST(SessionTrader, cancels_its_orders_and_then_logs_out_when_the_engine_is_to_stop) {
  Live live{1, nullptr};
  ASSERT_NO_FATAL_FAILURE(trade_until_orders_are_open(live));
  const std::uint64_t before = live.cancels();
  live.engine.stop();
  EXPECT_FALSE(live.engine.stopping()) << "the session is needed for the cancels";
  ASSERT_TRUE(market::test::turn_until([&] { live.both(); }, [&] { return live.engine.finished(); }));
  EXPECT_EQ(live.maker.open_orders(), 0U);
  EXPECT_GE(live.cancels(), before + 1);
  EXPECT_EQ(live.maker.pipeline().orders().unknown_reports(), 0U);
}

// The venue reads nothing from then on.
TEST(SessionTrader, does_not_wait_for_ever_for_its_cancels) {
  Live live{1, nullptr, {.stop_timeout = 50ms}};
  ASSERT_NO_FATAL_FAILURE(trade_until_orders_are_open(live));
  const MonotonicTime begin = read_monotonic();
  live.engine.stop();
  ASSERT_TRUE(market::test::turn_until([&] { live.engine.turn(1ms); }, [&] { return live.engine.stopping(); }));
  EXPECT_GE(read_monotonic() - begin, Duration{50ms});
  EXPECT_NE(live.maker.open_orders(), 0U);
}

TEST(SessionTrader, leaves_its_orders_where_the_program_wants_that) {
  Live live{1, nullptr, {.cancel_when_stale = false, .stop_timeout = Duration::zero()}};
  ASSERT_NO_FATAL_FAILURE(trade_until_orders_are_open(live));
  live.engine.stop();
  EXPECT_TRUE(live.engine.stopping());
}

// The newest event is a minute old: the books are not current, until the venue publishes what the trader does.
std::uint64_t cancels_in_ten_stale_steps(Live& live) {
  const std::uint64_t before = live.cancels();
  for (int step = 0; step < 10; ++step) live.step(read_utc() - 1min);
  EXPECT_GE(live.application.feed().counters().became_outdated, 1U);
  return live.cancels() - before;
}

TEST(SessionTrader, cancels_its_orders_when_the_feed_becomes_stale_unless_the_program_wants_to_do_that) {
  Live live{1, nullptr, {.cancel_retry = Duration::zero()}}, other{1, nullptr, {.cancel_when_stale = false}};
  for (Live* const each : {&live, &other}) ASSERT_NO_FATAL_FAILURE(trade_until_orders_are_open(*each));
  EXPECT_GE(cancels_in_ten_stale_steps(live), 1U);
  EXPECT_EQ(cancels_in_ten_stale_steps(other), 0U);
}

TEST(SessionTrader, sends_no_orders_on_books_of_the_past) {
  Live live{1, nullptr};
  ASSERT_NO_FATAL_FAILURE(trade_until_orders_are_open(live));
  const auto orders = [&] {
    const strategy::RiskCounters& counters = live.maker.pipeline().gate().counters();
    return counters.orders + counters.replacements;
  };
  const std::uint64_t before = orders();
  live.maker.set_outdated(true);
  for (int step = 0; step < 100; ++step) live.step();
  EXPECT_EQ(orders(), before);
  EXPECT_GT(live.maker.pipeline().gate().counters().gap, 0U);
  live.maker.set_outdated(false);
  for (int step = 0; step < 100; ++step) live.step();
  EXPECT_GT(orders(), before);
}

// The recording also has the session's reports: the same orders, one by one, without a simulated venue.
TEST(SessionTrader, a_replay_of_its_recording_has_the_same_orders) {
  RecordedFeed recorded;
  Outcome live_outcome;
  {
    Live live{3, &recorded.recorder()};
    for (int step = 0; step < 300; ++step) live.step(step == 200 ? read_utc() - 1min : read_utc());
    live.engine.stop();
    ASSERT_TRUE(market::test::turn_until([&] { live.both(); }, [&] { return live.engine.finished(); }));
    live_outcome = outcome_of(live.maker);
  }
  recorded.end();
  market::Trader again{feed, options, market::ReplayVenue{}, strategy::Quoter{}};
  market::TraderReplay replay{again};
  (void)market::read_recording(recorded.recording(), [&](const market::RecordedPacket& packet) {
    replay.take(packet);
    return true;
  });
  const Outcome outcome = outcome_of(again);
  EXPECT_GT(outcome.orders.size(), 20U);
  EXPECT_EQ(outcome.orders, live_outcome.orders);
  EXPECT_EQ(outcome.position, live_outcome.position);
}

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
