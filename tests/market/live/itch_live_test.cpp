// A day of ITCH over multicast on this host: the subscriber's books equal the publisher's, with and without faults of
// the lines, and a replay of its recording has the same books after every event.
#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>

#include "base/clocks.hpp"
#include "live_support.hpp"
#include "market/itch_generator.hpp"
#include "nexusfix/live/itch_handler.hpp"
#include "nexusfix/live/live_feed.hpp"
#include "publish/itch_publisher.hpp"
#include "recorded_feed.hpp"

namespace nfx::market {
namespace {

using namespace test;

constexpr BookLimits small_books{
    .instruments = 1000, .orders = 1u << 18, .levels = 1u << 16, .orders_expected = 1u << 10, .orders_unique = true};
constexpr FeedBooksOptions book_options{.limits = small_books, .every = 1000};

ItchFeedOptions feed_options() {
  ItchFeedOptions options;
  options.midnight = std::chrono::floor<std::chrono::days>(read_utc());
  options.mold.buffered_messages = 4096;
  options.retry_min = 5ms;
  return options;
}

// For this process alone, because tests run at the same time.
std::string group(int line) { return "239.255." + std::to_string(::getpid() % 250 + 1) + "." + std::to_string(line); }

// Receiver first: the kernel chooses its ports.
class Day {
 public:
  struct Options {
    std::uint64_t seed = 1;
    std::uint64_t messages = 20'000;
    LineFaults faults{};
    bool requests = true;
    bool snapshots = true;
    int receive_buffer = 4 << 20;
    std::uint32_t batch = 64;
    std::size_t history = 1u << 20;
  };

  explicit Day(const Options& options)
      : generator_({.seed = options.seed, .messages = options.messages, .stocks = 20, .resting_orders = 40}) {
    FeedSocketsOptions sockets = line_options(options);
    // The publisher needs the ports of the lines, and the feed needs the ports of the publisher's servers. So the
    // lines' ports are found first, with sockets that are closed again.
    std::vector<UdpAddress> lines;
    {
      const FeedSockets probe_a{sockets};
      for (const UdpLine& line : const_cast<FeedSockets&>(probe_a).udp()->lines()) lines.push_back(line.address);
    }
    for (std::size_t i = 0; i < 2; ++i) sockets.udp[i].udp.address = lines[i];
    ItchPublisherOptions publisher;
    publisher.lines = {lines[0], lines[1]};
    publisher.faults = {options.faults, options.faults};
    publisher.seed = options.seed;
    publisher.session = "T" + std::to_string(::getpid() % 1'000'000'000);
    if (options.requests) publisher.requests = UdpAddress{"127.0.0.1", 0, ""};
    if (options.snapshots) publisher.snapshots = Endpoint{"127.0.0.1", 0};
    publisher.midnight = feed_options().midnight;
    publisher.history = options.history;
    publisher.heartbeat = 5ms;
    publisher.books.limits = small_books;
    publisher_.emplace(publisher);
    sockets.udp.push_back(
        {ItchLines::request,
         {"request", {"127.0.0.1", 0, ""}, 0},
         UdpAddress{"127.0.0.1", options.requests ? publisher_->request_port() : std::uint16_t{9}, ""}});
    FeedTcpLine snapshot;
    snapshot.line = ItchLines::snapshot;
    snapshot.server = {"127.0.0.1", options.snapshots ? publisher_->snapshot_port() : std::uint16_t{9}};
    sockets.tcp.push_back(snapshot);
    sockets_.emplace(sockets);
    handler_.emplace(ItchHandlerOptions{feed_options()}, books_, *sockets_);
    live_.emplace(LiveFeedOptions{.lag_max = 50ms}, *sockets_, *handler_, books_.newest(), &recorded_.recorder());
  }

  // Publishes up to `count` messages; false at the end of the day.
  bool publish(unsigned count) {
    const Instant now = read_clocks();
    for (unsigned i = 0; i < count; ++i) {
      const auto message = generator_.next();
      if (message.empty()) return false;
      publisher_->add(message, now.utc);
    }
    publisher_->flush(now.monotonic);
    return true;
  }
  void serve() { publisher_->serve(read_monotonic()); }
  void poll() {
    live_->poll(read_utc());
    recorded_.write(read_clocks());
  }
  void run() {
    while (publish(40)) {
      serve();
      poll();
    }
    publisher_->end(read_monotonic());
  }
  [[nodiscard]] bool finish() {
    return turn_until([this] { serve(), poll(); }, [this] { return live_->state() == FeedState::ended; });
  }
  // A replay has the same books after every thousand events and at the end.
  void expect_same_in_replay() {
    using Handler = ItchHandler<FeedBooks>;
    test::expect_same_in_replay<Handler>(recorded_, book_options, ItchHandlerOptions{feed_options()},
                                         {books_, hashes_, *handler_},
                                         [](const Handler& handler) { return handler.feed().arbiter().counters(); });
  }

  [[nodiscard]] ItchPublisher& publisher() { return *publisher_; }
  [[nodiscard]] const FeedBooks& books() const { return books_; }
  [[nodiscard]] const LiveFeed<ItchHandler<FeedBooks>>& live() const { return *live_; }
  [[nodiscard]] const ItchHandler<FeedBooks>& handler() const { return *handler_; }
  [[nodiscard]] FeedSockets& sockets() { return *sockets_; }
  [[nodiscard]] const std::vector<std::pair<std::uint64_t, std::uint64_t>>& hashes() const { return hashes_.entries; }

 private:
  static FeedSocketsOptions line_options(const Options& options) {
    FeedSocketsOptions sockets;
    sockets.receive.batch = options.batch;
    sockets.udp.push_back({ItchLines::a, {"A", {group(1), 0, "lo"}, options.receive_buffer}, {}});
    sockets.udp.push_back({ItchLines::b, {"B", {group(2), 0, "lo"}, options.receive_buffer}, {}});
    return sockets;
  }

  ItchGenerator generator_;
  std::optional<ItchPublisher> publisher_;
  std::optional<FeedSockets> sockets_;
  RecordedFeed recorded_;
  HashLog hashes_;
  FeedBooks books_{book_options, &hashes_};
  std::optional<ItchHandler<FeedBooks>> handler_;
  std::optional<LiveFeed<ItchHandler<FeedBooks>>> live_;
};

class ItchLive : public ::testing::Test {
 protected:
  void SetUp() override {
    UdpReceiver receiver{{{"A", {group(3), 0, "lo"}, 0}}};
    UdpSender sender{receiver.lines()[0].address};
    if (sender.send("x") != UdpSent::sent) GTEST_SKIP() << "the loopback interface of this host takes no multicast";
  }
};

TEST_F(ItchLive, books_over_two_multicast_lines_are_the_publishers_and_a_replay_has_the_same) {
  Day day{{}};
  day.run();
  ASSERT_TRUE(day.finish());
  EXPECT_EQ(day.books().hash(), day.publisher().books().hash());
  EXPECT_EQ(day.books().counters().misfits, 0u);
  EXPECT_GT(day.hashes().size(), 10u);
  day.expect_same_in_replay();
}

TEST_F(ItchLive, lost_repeated_and_reordered_packets_of_both_lines_are_requested_again) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Day day{{.seed = seed, .faults = {.lost = 2000, .duplicated = 300, .reordered = 300}}};
    day.run();
    ASSERT_TRUE(day.finish());
    EXPECT_EQ(day.books().hash(), day.publisher().books().hash());
    EXPECT_GT(day.publisher().counters().requests, 0u);
    EXPECT_EQ(day.books().counters().misfits, 0u);
    day.expect_same_in_replay();
  }
}

TEST_F(ItchLive, without_a_request_server_a_snapshot_repairs_the_books_and_a_replay_has_the_same) {
  Day day{{.faults = {.lost = 2000}, .requests = false}};
  day.run();
  ASSERT_TRUE(day.finish());
  EXPECT_EQ(day.books().hash(), day.publisher().books().hash());
  EXPECT_GT(day.publisher().counters().snapshots, 0u);
  EXPECT_GT(day.handler().feed().counters().snapshots_loaded, 0u);
  day.expect_same_in_replay();
}

// By construction, without a clock: each iteration brings 20 times as many packets as the feed takes in it.
TEST_F(ItchLive, a_feed_at_twenty_times_the_rate_is_bounded_counted_and_stale_and_recovers_afterwards) {
  Day day{{.messages = 60'000, .receive_buffer = 64 * 1024, .batch = 1, .history = 64}};
  bool was_stale = false;
  while (day.publish(25)) {
    for (int i = 1; i < 20 && day.publish(25); ++i) continue;
    day.serve();
    day.poll();
    was_stale |= day.live().state() == FeedState::stale;
    // The state is never live while messages that are known of are missing.
    const MoldArbiter& arbiter = day.handler().feed().arbiter();
    if (day.live().state() == FeedState::live) {
      ASSERT_EQ(arbiter.next_sequence(), arbiter.end_sequence());
    }
  }
  EXPECT_TRUE(was_stale);
  std::uint64_t drops = 0;
  for (std::uint16_t line = 0; line < 2; ++line) {
    day.sockets().udp()->read_drops(line);
    drops += day.sockets().udp()->counters(line).kernel_drops;
  }
  EXPECT_GT(drops, 0u);
  EXPECT_GT(day.handler().feed().arbiter().counters().stale, 0u);
  day.publisher().end(read_monotonic());
  ASSERT_TRUE(day.finish());
  EXPECT_EQ(day.books().hash(), day.publisher().books().hash());
  day.expect_same_in_replay();
}

}  // namespace
}  // namespace nfx::market
