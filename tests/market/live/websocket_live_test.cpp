// A crypto venue and a subscriber on this host, plain and with TLS. The books equal the venue's, through gaps, broken
// connections and a venue that is too fast, and a replay of the recording has the same books after every event.
#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "base/clocks.hpp"
#include "live_support.hpp"
#include "market/websocket.hpp"
#include "nexusfix/live/live_feed.hpp"
#include "nexusfix/live/websocket_handler.hpp"
#include "publish/websocket_venue.hpp"
#include "recorded_feed.hpp"
#include "transport/tls_certificates.hpp"

namespace nfx::market {
namespace {

using namespace test;

constexpr FeedBooksOptions book_options{
    .shape = BookShape::by_level, .limits = {.instruments = 8}, .depth = 1024, .every = 500};

class Market {
 public:
  struct Options {
    std::uint64_t seed = 1;
    std::uint32_t names = 4;
    JsonBook book = JsonBook::depth;
    bool tls = false;
    bool subscribe = false;
    unsigned fragmented = 500;
    unsigned left_out = 0;
    std::size_t unsent = 8u << 20;
    int receive_buffer = 0;
    std::size_t receive_bytes = 64 * 1024;
    Duration lag_max{};
  };

  explicit Market(const Options& options) : options_(options) {
    WebsocketVenueOptions venue{.listen = {"127.0.0.1", 0}, .names = options.names, .seed = options.seed};
    venue.fragmented = options.fragmented;
    venue.left_out = options.left_out;
    venue.unsent = options.unsent;
    FeedTcpLine line;
    if (options.tls) {
      authority_.emplace(folder_);
      const nfx::testing::Authority::Files files = authority_->issue({});
      TlsOptions server, client;
      server.certificate = files.certificate;
      server.key = files.key;
      client.ca = authority_->file();
      venue.tls = std::make_shared<TlsContext>(server);
      line.socket.tls = std::make_shared<TlsContext>(client);
    }
    venue_.emplace(venue);
    line.server = {"localhost", venue_->port()};
    line.socket.receive_buffer = options.receive_buffer;
    FeedSocketsOptions sockets;
    sockets.tcp_receive_bytes = options.receive_bytes;
    line.line = WebsocketLines::stream;
    sockets.tcp.push_back(line);
    line.line = WebsocketLines::snapshot;
    sockets.tcp.push_back(line);
    sockets_.emplace(sockets);
    handler_.emplace(feed_options(), books_, *sockets_);
    live_.emplace(LiveFeedOptions{.lag_max = options.lag_max}, *sockets_, *handler_, books_.newest(),
                  &recorded_.recorder());
  }

  [[nodiscard]] WebsocketFeedOptions feed_options() const {
    WebsocketFeedOptions options;
    options.host = options.snapshot_host = "localhost";
    options.subscribe = options_.subscribe;
    for (std::uint32_t i = 0; i < options_.names; ++i) {
      options.instruments.push_back({.symbol = depth_name(i), .book = options_.book});
    }
    options.feed.recovery.retry_min = 5ms;
    options.retry_min = 1ms;
    options.retry_max = 20ms;
    return options;
  }

  void publish(unsigned count) {
    for (unsigned i = 0; i < count; ++i) venue_->publish(now_);
  }
  // The venue and the feed once each; a millisecond of their time.
  void turn() {
    now_ += 1ms;
    venue_->serve(Duration::zero());
    live_->poll(now_);
    recorded_.write({now_, FeedClock::of(now_)});
  }
  [[nodiscard]] bool wait_until_live() {
    return turn_until([this] { turn(); }, [this] { return live_->state() == FeedState::live; });
  }
  // All books are the venue's, and nothing is under way.
  [[nodiscard]] bool wait_until_equal() {
    return turn_until([this] { turn(); },
                      [this] {
                        return live_->state() == FeedState::live &&
                               books_.hash() == venue_->hash(options_.book == JsonBook::ticker);
                      });
  }
  void expect_same_in_replay() {
    test::expect_same_in_replay<WebsocketHandler>(
        recorded_, book_options, feed_options(), {books_, hashes_, *handler_}, [](const WebsocketHandler& handler) {
          return std::pair{handler.counters(), handler.feed().recovery_counters()};
        });
  }

  [[nodiscard]] WebsocketVenue& venue() { return *venue_; }
  [[nodiscard]] const FeedBooks& books() const { return books_; }
  [[nodiscard]] const WebsocketHandler& handler() const { return *handler_; }
  [[nodiscard]] const LiveFeed<WebsocketHandler>& live() const { return *live_; }
  [[nodiscard]] const FeedSockets& sockets() const { return *sockets_; }
  [[nodiscard]] std::size_t hashes() const { return hashes_.entries.size(); }

 private:
  Options options_;
  nfx::test::TemporaryFolder folder_;
  std::optional<nfx::testing::Authority> authority_;
  std::optional<WebsocketVenue> venue_;
  std::optional<FeedSockets> sockets_;
  RecordedFeed recorded_;
  HashLog hashes_;
  FeedBooks books_{book_options, &hashes_};
  std::optional<WebsocketHandler> handler_;
  std::optional<LiveFeed<WebsocketHandler>> live_;
  UtcTime now_ = read_utc();
};

void run(Market& market, unsigned turns) {
  ASSERT_TRUE(market.wait_until_live());
  for (unsigned i = 0; i < turns; ++i) {
    market.publish(4);
    market.turn();
  }
  ASSERT_TRUE(market.wait_until_equal());
}

class WebsocketLive : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_json_reader()) GTEST_SKIP() << "built without libsimdjson-dev";
  }
};

TEST_F(WebsocketLive, books_are_the_venues_and_a_replay_has_the_same) {
  Market market{{}};
  run(market, 500);
  if (HasFailure()) return;
  EXPECT_GT(market.hashes(), 5u);
  EXPECT_EQ(market.books().counters().misfits, 0u);
  EXPECT_EQ(market.handler().counters().unread, 0u);
  market.expect_same_in_replay();
}

TEST_F(WebsocketLive, with_tls_books_are_the_venues_and_a_replay_has_the_same) {
  Market market{{.tls = true}};
  run(market, 200);
  if (HasFailure()) return;
  EXPECT_EQ(market.sockets().last_failure(), "");
  market.expect_same_in_replay();
}

TEST_F(WebsocketLive, subscribed_by_a_message_books_are_the_venues_and_a_replay_has_the_same) {
  Market market{{.subscribe = true}};
  run(market, 200);
  if (HasFailure()) return;
  EXPECT_EQ(market.handler().feed().counters().answers, 1u);
  EXPECT_EQ(market.handler().feed().counters().refusals, 0u);
  EXPECT_GT(market.books().counters().trades, 0u);
  market.venue().cut_all();
  ASSERT_TRUE(turn_until([&] { market.turn(); }, [&] { return market.live().state() == FeedState::stale; }));
  run(market, 50);
  if (HasFailure()) return;
  EXPECT_EQ(market.handler().feed().counters().answers, 2u);
  market.expect_same_in_replay();
}

// Agrees to permessage-deflate, which was not offered.
struct DeflatingServer {
  void opened(ConnectionId) { peer = {}; }
  void received(ConnectionId id, std::string_view bytes) {
    request += bytes;
    peer.received(bytes);
    std::string_view target;
    if (peer.next(target) != WebsocketPeerEvent::upgrade) return;
    std::string answer = peer.answer();
    answer.insert(answer.size() - 2, "Sec-WebSocket-Extensions: permessage-deflate\r\n");
    append_frame(answer, WebsocketOpcode::text, "compressed");
    server.send(id, answer);
  }
  void closed(ConnectionId) {}

  StreamServer server{{.listen = {"127.0.0.1", 0}}};
  WebsocketPeer peer;
  std::string request;
};

TEST_F(WebsocketLive, permessage_deflate_is_not_offered_and_refused_over_a_real_socket) {
  DeflatingServer deflating;
  FeedTcpLine line;
  line.line = WebsocketLines::stream;
  line.server = {"127.0.0.1", deflating.server.port()};
  FeedSocketsOptions options;
  options.tcp.push_back(line);
  FeedSockets sockets{options};
  WebsocketFeedOptions feed;
  feed.host = feed.snapshot_host = "localhost";
  feed.instruments.push_back({.symbol = "BTCUSDT"});
  feed.retry_min = 1ms;
  FeedBooks books{book_options};
  WebsocketHandler handler{feed, books, sockets};
  LiveFeed<WebsocketHandler> live{{}, sockets, handler, books.newest(), nullptr};
  UtcTime now = read_utc();
  ASSERT_TRUE(turn_until(
      [&] {
        deflating.server.poll(deflating, Duration::zero());
        live.poll(now += 1ms);
      },
      [&] { return handler.counters().failed >= 2; }));
  EXPECT_EQ(handler.failure(), to_string(WebsocketError::extension));
  EXPECT_EQ(handler.counters().opened, 0u);
  EXPECT_EQ(handler.counters().messages, 0u);
  EXPECT_EQ(handler.state(), FeedState::waiting);
  EXPECT_FALSE(deflating.request.contains("Sec-WebSocket-Extensions"));
}

TEST_F(WebsocketLive, waits_longer_after_each_failure_and_up_to_half_of_it_less) {
  FeedBooks books{book_options};
  NoPorts ports;
  WebsocketFeedOptions options;
  options.host = options.snapshot_host = "localhost";
  options.instruments.push_back({.symbol = "BTCUSDT"});
  options.retry_min = 500ms;
  options.retry_max = 4s;
  std::set<Duration> first_waits;
  for (int client = 0; client < 20; ++client) {
    WebsocketHandler handler{options, books, ports};
    UtcTime now{1'700'000'000s + std::chrono::microseconds{client}};
    Duration longest = 500ms;
    for (int failure = 0; failure < 6; ++failure) {
      SCOPED_TRACE("client " + std::to_string(client) + ", failure " + std::to_string(failure));
      handler.take({.kind = InputKind::clock, .at = now});
      handler.take({.kind = InputKind::closed, .line = WebsocketLines::stream, .at = now});
      const Duration wait = handler.due_at() - FeedClock::of(now);
      EXPECT_GE(wait, longest / 2);
      EXPECT_LE(wait, longest);
      if (failure == 0) first_waits.insert(wait);
      now += wait;
      longest = std::min<Duration>(2 * longest, 4s);
    }
  }
  EXPECT_GT(first_waits.size(), 15u);
}

TEST_F(WebsocketLive, tickers_are_the_venues_best_prices) {
  Market market{{.names = 2, .book = JsonBook::ticker}};
  ASSERT_TRUE(turn_until([&] { market.turn(); }, [&] { return market.venue().subscribers() == 1; }));
  market.publish(100);
  run(market, 50);
  if (HasFailure()) return;
  EXPECT_EQ(market.venue().counters().snapshots, 0u);
  market.expect_same_in_replay();
}

TEST_F(WebsocketLive, gaps_are_repaired_by_snapshots) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Market market{{.seed = seed, .left_out = 100}};
    ASSERT_TRUE(market.wait_until_live());
    for (unsigned i = 0; i < 500; ++i) {
      market.publish(4);
      market.turn();
    }
    // A later update shows a gap at the end.
    ASSERT_TRUE(turn_until([&] { market.publish(1), market.turn(); },
                           [&] { return market.handler().feed().recovery_counters().gaps >= 4; }));
    ASSERT_TRUE(turn_until([&] { market.publish(1), market.turn(), market.turn(); },
                           [&] { return market.books().hash() == market.venue().hash(); }));
    EXPECT_GT(market.venue().counters().snapshots, 4u);
    market.expect_same_in_replay();
  }
}

TEST_F(WebsocketLive, a_broken_or_closed_connection_is_opened_again_and_the_books_are_stale_meanwhile) {
  Market market{{}};
  run(market, 50);
  if (HasFailure()) return;
  for (int i = 0; i < 3; ++i) {
    i == 1 ? market.venue().close_all() : market.venue().cut_all();
    ASSERT_TRUE(turn_until([&] { market.turn(); }, [&] { return market.live().state() == FeedState::stale; }));
    run(market, 50);
    if (HasFailure()) return;
  }
  EXPECT_EQ(market.handler().counters().opened, 4u);
  EXPECT_EQ(market.handler().counters().ended, 1u);
  EXPECT_TRUE(market.handler().closed_by_server());
  market.expect_same_in_replay();
}

TEST_F(WebsocketLive, answers_pings_and_pings_a_silent_venue) {
  Market market{{}};
  run(market, 1);
  if (HasFailure()) return;
  market.venue().ping_all();
  ASSERT_TRUE(turn_until([&] { market.turn(); }, [&] { return market.handler().counters().pings_received == 1; }));
  // An iteration is a millisecond of the feed's time.
  ASSERT_TRUE(turn_until([&] { market.turn(); }, [&] { return market.handler().counters().pings_sent >= 1; }));
  EXPECT_EQ(market.handler().counters().opened, 1u);
  market.expect_same_in_replay();
}

// By construction: in each iteration the venue sends many times what the feed reads in it, and one is a millisecond.
TEST_F(WebsocketLive, a_venue_at_twenty_times_the_rate_makes_the_books_stale_and_loses_a_bounded_subscriber) {
  Market market{{.unsent = 512 * 1024, .receive_buffer = 64 * 1024, .receive_bytes = 4096, .lag_max = 20ms}};
  ASSERT_TRUE(market.wait_until_live());
  bool was_outdated = false;
  for (unsigned i = 0; i < 400; ++i) {
    market.publish(400);
    market.turn();
    was_outdated |= market.live().outdated();
    if (market.live().outdated()) {
      ASSERT_NE(market.live().state(), FeedState::live);
    }
  }
  EXPECT_TRUE(was_outdated);
  EXPECT_GT(market.live().counters().became_outdated, 0u);
  EXPECT_GT(market.venue().slow_subscribers(), 0u);
  // The load is over: one update of each name after a while, and all is as the venue has it.
  ASSERT_TRUE(turn_until([&] { market.publish(1), market.turn(); },
                         [&] { return market.live().state() == FeedState::live && !market.live().outdated(); }));
  ASSERT_TRUE(market.wait_until_equal());
  market.expect_same_in_replay();
}

}  // namespace
}  // namespace nfx::market
