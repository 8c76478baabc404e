// A venue that publishes its order books by FIX, and a subscriber, two engines on this host. The subscriber's books
// equal the venue's, also when increments are left out, and a replay of the recording has the same books after every
// event.
#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "base/clocks.hpp"
#include "live_support.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/live/fix_handler.hpp"
#include "publish/fix_publisher.hpp"
#include "recorded_feed.hpp"

namespace nfx::market {
namespace {

using namespace test;

const std::vector<std::string> symbols{"ALFA", "BRAV", "CHAR"};
constexpr FeedBooksOptions book_options{
    .limits = {.instruments = 8, .orders = 1u << 16, .levels = 1u << 14, .orders_expected = 1u << 10}, .every = 500};

// Random orders in three books, published to subscribers.
class Venue final : public Application {
 public:
  Venue(std::uint64_t seed, unsigned left_out)
      : random_(seed), publisher_({.symbols = symbols, .left_out = left_out, .seed = seed}) {}

  void on_logon(SessionHandle&) override {}
  void on_logout(SessionHandle& session, std::string_view) override { publisher_.on_logout(session); }
  Handled on_message(SessionHandle& session, const MessageView& message) override {
    EXPECT_TRUE(publisher_.on_message(session, message));
    return Handled::done;
  }

  void step(UtcTime at) {
    for (int i = 0; i < 4; ++i) change(at);
    publisher_.flush();
  }
  [[nodiscard]] const FixPublisher& publisher() const { return publisher_; }

 private:
  std::uint64_t below(std::uint64_t most) { return random_() % most; }

  void change(UtcTime at) {
    const std::uint64_t what = below(10);
    if (orders_.size() < 5 || (what < 5 && orders_.size() < 200)) {
      FixPublisher::Order order;
      order.symbol = static_cast<std::uint32_t>(below(symbols.size()));
      order.id = OrderId{++next_};
      order.side = below(2) == 0 ? Side::bid : Side::ask;
      const auto cents = static_cast<std::int64_t>(order.side == Side::bid ? 10'000 - below(50) : 10'001 + below(50));
      order.price = {cents * 10'000'000};
      order.quantity = 2 + below(1000);
      orders_.push_back(order);
      return publisher_.added(order, at);
    }
    FixPublisher::Order& order = orders_[below(orders_.size())];
    if (what < 8 && order.quantity > 1) {
      order.quantity -= 1;
      publisher_.traded({order.symbol, {}, opposite(order.side), order.price, 1}, at);
      return publisher_.changed(order, at);
    }
    publisher_.removed(order, at);
    order = orders_.back();
    orders_.pop_back();
  }

  std::mt19937_64 random_;
  FixPublisher publisher_;
  std::vector<FixPublisher::Order> orders_;
  std::uint64_t next_ = 0;
};

SessionSettings session_of(Role role) {
  SessionSettings settings;
  settings.session.role = role;
  settings.session.sender_comp_id = role == Role::acceptor ? "VENUE" : "DESK";
  settings.session.target_comp_id = role == Role::acceptor ? "DESK" : "VENUE";
  settings.session.timestamp_digits = 6;
  settings.session.reset_on_logon = true;
  return settings;
}

EngineConfig config_of(const SessionSettings& session) {
  EngineConfig config;
  config.idle = IdleMode::spin;
  config.max_fields = 32768;
  config.max_message_size = 1u << 20;
  config.sessions = {session};
  config.sessions[0].send_buffer_size = 4u << 20;
  return config;
}

class Market {
 public:
  explicit Market(std::uint64_t seed, unsigned left_out = 0, bool small_buffers = false, Duration lag_max = 10s)
      : feed_({.lag_max = lag_max}, ports_, handler_, books_.newest(), &recorded_.recorder()), venue_(seed, left_out) {
    SessionSettings acceptor = session_of(Role::acceptor), initiator = session_of(Role::initiator);
    if (small_buffers) {
      acceptor.socket.send_buffer = 16 * 1024;
      initiator.socket.receive_buffer = 16 * 1024;
    }
    acceptor.listen = {"127.0.0.1", 0};
    EngineConfig venue_config = config_of(acceptor);
    if (small_buffers) {
      venue_config.max_message_size = 128 * 1024;
      venue_config.sessions[0].send_buffer_size = 256 * 1024;
    }
    venue_engine_.emplace(venue_config, venue_);
    venue_engine_->start();
    initiator.connect = {{"127.0.0.1", venue_engine_->local_endpoint(0)->port}};
    initiator.reconnect_delay = initiator.reconnect_delay_max = 1ms;
    engine_.emplace(config_of(initiator), feed_);
    engine_->start();
  }
  ~Market() { stop(); }

  // Logs out, which is recorded.
  void stop() {
    if (std::exchange(stopped_, true)) return;
    venue_engine_->stop();
    engine_->stop();
    EXPECT_TRUE(turn_until([this] { turn(); }, [this] { return venue_engine_->finished() && engine_->finished(); }));
  }

  void turn() {
    venue_engine_->turn(Duration::zero());
    engine_->turn(Duration::zero());
    recorded_.write(read_clocks());
  }
  void run(unsigned steps) {
    ASSERT_TRUE(turn_until([this] { turn(); }, [this] { return feed_.state() == FeedState::live; }));
    for (unsigned i = 0; i < steps; ++i) {
      venue_.step(read_utc());
      turn();
    }
  }
  [[nodiscard]] bool wait_until_equal(bool publish = false) {
    return turn_until(
        [&] {
          if (publish) venue_.step(read_utc());
          for (int i = 0; i < 20; ++i) turn();
        },
        [this] { return feed_.state() == FeedState::live && books_.hash() == venue_.publisher().books().hash(); });
  }
  // The venue alone: `steps` steps, each sent immediately.
  void flood(unsigned steps) {
    for (unsigned i = 0; i < steps; ++i) {
      venue_.step(read_utc());
      venue_engine_->turn(Duration::zero());
    }
  }
  void cut() { engine_->session(0)->drop_connection(); }
  void request(std::string_view body) { EXPECT_TRUE(engine_->session(0)->send({.msg_type = "V", .body = body})); }
  void expect_same_in_replay() {
    stop();
    test::expect_same_in_replay<FixHandler>(
        recorded_, book_options, options(), {books_, hashes_, handler_},
        [](const FixHandler& handler) { return std::pair{handler.counters(), handler.feed().recovery_counters()}; });
  }
  static FixHandlerOptions options() {
    FixHandlerOptions options;
    for (const std::string& symbol : symbols) options.instruments.push_back({symbol, 0});
    options.feed.recovery.retry_min = 5ms;
    return options;
  }

  [[nodiscard]] Venue& venue() { return venue_; }
  [[nodiscard]] FixSessionFeed<FixHandler>& feed() { return feed_; }
  [[nodiscard]] const FixHandler& handler() const { return handler_; }
  [[nodiscard]] const FeedBooks& books() const { return books_; }
  [[nodiscard]] std::size_t hashes() const { return hashes_.entries.size(); }

 private:
  RecordedFeed recorded_;
  HashLog hashes_;
  FeedBooks books_{book_options, &hashes_};
  FixSessionPorts ports_;
  FixHandler handler_{options(), books_, ports_};
  FixSessionFeed<FixHandler> feed_;
  Venue venue_;
  std::optional<Engine> venue_engine_;
  std::optional<Engine> engine_;
  bool stopped_ = false;
};

TEST(FixLive, books_are_the_venues_and_a_replay_has_the_same) {
  Market market{1};
  market.run(1000);
  if (HasFailure()) return;
  ASSERT_TRUE(market.wait_until_equal());
  EXPECT_GT(market.hashes(), 5u);
  EXPECT_EQ(market.books().counters().misfits, 0u);
  EXPECT_EQ(market.handler().counters().unread, 0u);
  EXPECT_GT(market.books().counters().trades, 0u);
  market.expect_same_in_replay();
}

TEST(FixLive, increments_that_are_left_out_are_repaired_by_snapshots) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Market market{seed, 200};
    market.run(500);
    if (HasFailure()) return;
    ASSERT_TRUE(market.wait_until_equal(true));
    EXPECT_GT(market.handler().feed().recovery_counters().gaps, 0u);
    EXPECT_GT(market.venue().publisher().counters().snapshots, symbols.size());
    market.expect_same_in_replay();
  }
}

TEST(FixLive, a_symbol_that_a_request_has_several_times_is_one_snapshot) {
  Market market{1};
  market.run(10);
  if (HasFailure()) return;
  const FixPublisherCounters before = market.venue().publisher().counters();
  market.request(
      "262=again\x01"
      "263=0\x01"
      "264=0\x01"
      "146=4\x01"
      "55=ALFA\x01"
      "55=BRAV\x01"
      "55=ALFA\x01"
      "55=ALFA\x01");
  ASSERT_TRUE(turn_until([&] { market.turn(); },
                         [&] { return market.venue().publisher().counters().requests > before.requests; }));
  EXPECT_EQ(market.venue().publisher().counters().snapshots - before.snapshots, 2U);
  ASSERT_TRUE(market.wait_until_equal());
}

TEST(FixLive, after_a_lost_connection_the_books_are_stale_and_then_the_venues_again) {
  Market market{1};
  market.run(100);
  if (HasFailure()) return;
  market.cut();
  ASSERT_TRUE(turn_until([&] { market.turn(); }, [&] { return market.feed().state() == FeedState::stale; }));
  market.run(100);
  if (HasFailure()) return;
  ASSERT_TRUE(market.wait_until_equal());
  EXPECT_EQ(market.handler().counters().logons, 2u);
  market.expect_same_in_replay();
}

// By construction: the venue publishes 20 times what the subscriber reads in one iteration, 64 KiB at most.
TEST(FixLive, a_venue_at_twenty_times_the_rate_leaves_gaps_that_are_counted_and_repaired) {
  Market market{1, 0, true};
  market.run(10);
  if (HasFailure()) return;
  bool was_live_with_gap = false;
  for (int i = 0; i < 15; ++i) {
    market.flood(3000);
    market.turn();
    const bool gap = market.handler().feed().waiting() != 0;
    was_live_with_gap |= gap && market.feed().state() == FeedState::live;
  }
  EXPECT_GT(market.venue().publisher().counters().unsent, 0u);
  EXPECT_FALSE(was_live_with_gap);
  ASSERT_TRUE(market.wait_until_equal(true));
  EXPECT_GT(market.handler().feed().recovery_counters().gaps, 0u);
  market.expect_same_in_replay();
}

// The same load: what the subscriber reads in one iteration is the oldest that waits in the buffers, while the venue
// publishes for many times as long.
TEST(FixLive, books_that_are_behind_the_venue_are_stale_until_they_have_caught_up) {
  Market market{1, 0, true, 5ms};
  market.run(10);
  if (HasFailure()) return;
  bool was_outdated = false;
  for (int i = 0; i < 15; ++i) {
    market.flood(3000);
    market.turn();
    if (!market.feed().lag().outdated()) continue;
    was_outdated = true;
    ASSERT_NE(market.feed().state(), FeedState::live);
    ASSERT_GT(market.feed().lag().lag(), 2ms);
  }
  EXPECT_TRUE(was_outdated);
  EXPECT_GT(market.feed().counters().became_outdated, 0u);
  ASSERT_TRUE(market.wait_until_equal(true));
  EXPECT_FALSE(market.feed().lag().outdated());
  EXPECT_LE(market.feed().lag().lag(), 5ms);
  market.expect_same_in_replay();
}

}  // namespace
}  // namespace nfx::market
