// A feed as a whole: lines, requests and snapshots, and the books that come of them.
#include "nexusfix/market/itch_feed.hpp"

#include <gtest/gtest.h>

#include "itch_reference.hpp"
#include "mold_packets.hpp"

namespace nfx::market {
namespace {

using namespace std::chrono_literals;
using test::Bytes;

const MoldSession today = test::session_of("TODAY");

Bytes bytes_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

Bytes directory(std::uint16_t locate) {
  itch::Message<itch::StockDirectory> message{locate, 0};
  return bytes_of(message.set(itch::StockDirectory::stock, "ACME").bytes());
}
Bytes add(std::uint64_t order, char side, std::uint32_t price) {
  itch::Message<itch::AddOrder> message{1, 1000};
  message.set(itch::AddOrder::order, order).set(itch::AddOrder::side, side).set(itch::AddOrder::price, price);
  return bytes_of(message.set(itch::AddOrder::shares, 100).bytes());
}

// The messages of the day are the directory and adds: message n adds order n.
Bytes message(std::uint64_t sequence) {
  return sequence == 1 ? directory(1) : add(sequence, 'B', static_cast<std::uint32_t>(10'000 * sequence));
}

struct World {
  struct Output {
    World& world;
    void event(const Event& event) {
      world.kinds.push_back(event.kind);
      world.flags |= event.flags;
      world.books.apply(InstrumentIndex{std::to_underlying(event.instrument)}, event);
    }
    void request(const MoldRequest& wanted) { world.requests.push_back(wanted); }
    void snapshot_connect() { ++world.connects; }
    void snapshot_send(std::span<const std::byte> bytes) { world.sent = bytes_of(bytes); }
    void snapshot_close() { ++world.closes; }
    void view(itch::View<itch::BrokenTrade>) { ++world.breaks; }
  };

  explicit World() : output{*this}, feed{options(), output} {}

  static ItchFeedOptions options() {
    ItchFeedOptions made;
    made.mold.buffered_messages = 16;
    made.mold.request_attempts = 1;
    made.snapshot_login = {"user", "secret", "", 1};
    return made;
  }
  [[nodiscard]] Instant instant() const { return {UtcTime{now.time_since_epoch()}, now}; }

  void lines(std::uint64_t first, std::uint64_t last) {
    std::vector<Bytes> messages;
    for (std::uint64_t i = first; i <= last; ++i) messages.push_back(message(i));
    feed.packet(MoldLine::a, test::mold_packet(today, first, messages), instant());
  }
  void wait(Duration time) {
    for (; time > Duration::zero(); time -= 1ms) {
      now += 1ms;
      feed.tick(instant());
    }
  }
  void from_server(const Bytes& bytes) { feed.received(bytes, instant()); }
  void send_sequenced(const Bytes& bytes) { from_server(test::soup_packet('S', bytes)); }
  // A gap that is not filled.
  void lose_messages() {
    lines(1, 2);
    lines(5, 6);
    wait(30ms);
  }
  // The server's answer up to, but without, `next`.
  void load(std::uint64_t next) {
    from_server(test::soup_login_accepted("SNAP", 1));
    for (std::uint64_t i = 1; i < next; ++i) send_sequenced(message(i));
    send_sequenced(test::glimpse_end_message(next));
  }
  [[nodiscard]] std::uint32_t orders() const { return books.book(InstrumentIndex{1}).orders(); }

  Output output;
  OrderBooks books{{.instruments = 4, .orders = 1024, .levels = 1024, .orders_expected = 64, .expected_from = 0}};
  MonotonicTime now{1000s};
  std::vector<EventKind> kinds;
  std::uint8_t flags = 0;
  std::vector<MoldRequest> requests;
  Bytes sent;
  unsigned connects = 0, closes = 0, breaks = 0;
  ItchFeed<Output> feed;
};

TEST(ItchFeed, gives_events_of_both_lines_once) {
  World world;
  world.lines(1, 5);
  world.lines(1, 5);
  EXPECT_EQ(world.orders(), 4U);
  EXPECT_EQ(world.feed.state(), FeedState::live);
  EXPECT_EQ(world.books.anomalies(), 0U);
  EXPECT_EQ(world.feed.directory().find("ACME"), 1);
}

TEST(ItchFeed, gives_views_to_an_output_that_takes_them) {
  World world;
  const std::vector<Bytes> messages{bytes_of(itch::Message<itch::BrokenTrade>{1, 0}.bytes())};
  world.feed.packet(MoldLine::a, test::mold_packet(today, 1, messages), world.instant());
  EXPECT_EQ(world.breaks, 1U);
}

TEST(ItchFeed, loads_a_snapshot_into_empty_books_and_then_gives_what_was_buffered) {
  World world;
  world.lose_messages();
  EXPECT_EQ(world.requests.size(), 1U);
  EXPECT_EQ(world.connects, 1U);
  EXPECT_EQ(world.feed.state(), FeedState::stale);
  world.feed.connected(world.instant());
  EXPECT_EQ(world.sent.size(), soup::login_request_size);
  world.lines(7, 8);
  world.kinds.clear();
  world.load(6);
  EXPECT_EQ(world.kinds, (std::vector<EventKind>{EventKind::snapshot_begin, EventKind::add, EventKind::add,
                                                 EventKind::add, EventKind::add, EventKind::snapshot_end,
                                                 EventKind::add, EventKind::add, EventKind::add}));
  EXPECT_NE(world.flags & event_flag::snapshot, 0);
  EXPECT_EQ(world.feed.state(), FeedState::live);
  EXPECT_EQ(world.orders(), 7U);
  EXPECT_EQ(world.books.anomalies(), 0U);
  EXPECT_EQ(world.sent, test::soup_packet('O')) << "it logs out";
  EXPECT_EQ(world.closes, 1U);
  EXPECT_EQ(world.books.book(InstrumentIndex{1}).state(), BookState::live);
  EXPECT_EQ(world.feed.counters(), (ItchFeedCounters{.snapshots_tried = 1, .snapshots_loaded = 1}));
}

TEST(ItchFeed, refuses_a_snapshot_that_is_older_than_the_buffer_and_loads_another_one) {
  World world;
  world.lose_messages();
  world.feed.connected(world.instant());
  world.load(2);
  EXPECT_EQ(world.feed.state(), FeedState::stale);
  EXPECT_EQ(world.feed.counters().snapshots_refused, 1U);
  EXPECT_EQ(world.connects, 1U);
  world.wait(100ms);
  EXPECT_EQ(world.connects, 2U);
  world.feed.connected(world.instant());
  world.load(7);
  EXPECT_EQ(world.feed.state(), FeedState::live);
  EXPECT_EQ(world.orders(), 5U);
  EXPECT_EQ(world.books.anomalies(), 0U);
}

TEST(ItchFeed, begins_again_when_the_server_dies_in_the_middle_and_waits_longer_each_time) {
  World world;
  world.lose_messages();
  world.feed.connected(world.instant());
  world.from_server(test::soup_login_accepted("SNAP", 1));
  world.send_sequenced(message(1));
  world.send_sequenced(message(2));
  world.feed.disconnected(world.instant());
  EXPECT_EQ(world.feed.counters().snapshots_failed, 1U);
  // Messages that come late do not help any more: the books were emptied.
  world.lines(3, 4);
  EXPECT_EQ(world.feed.state(), FeedState::stale);
  world.wait(99ms);
  EXPECT_EQ(world.connects, 1U);
  world.wait(1ms);
  EXPECT_EQ(world.connects, 2U);
  world.feed.disconnected(world.instant());
  world.wait(199ms);
  EXPECT_EQ(world.connects, 2U);
  world.wait(1ms);
  EXPECT_EQ(world.connects, 3U);
  world.feed.connected(world.instant());
  world.load(5);
  EXPECT_EQ(world.feed.state(), FeedState::live);
  EXPECT_EQ(world.orders(), 5U);
}

TEST(ItchFeed, gives_a_server_up_that_does_not_connect_or_goes_silent_or_refuses) {
  World world;
  world.lose_messages();
  world.wait(3s);
  EXPECT_EQ(world.feed.counters().snapshots_failed, 1U);
  EXPECT_EQ(world.closes, 1U);
  world.wait(100ms);
  EXPECT_EQ(world.connects, 2U);
  world.feed.connected(world.instant());
  world.wait(2999ms);
  EXPECT_EQ(world.feed.counters().snapshots_failed, 1U);
  world.wait(1ms);
  EXPECT_EQ(world.feed.counters().snapshots_failed, 2U);
  EXPECT_EQ(world.feed.snapshot_failure(), SoupFailure::silence);
  world.wait(200ms);
  world.feed.connected(world.instant());
  world.from_server(test::soup_packet('J', test::bytes_of("A")));
  EXPECT_EQ(world.feed.counters().snapshots_failed, 3U);
  EXPECT_EQ(world.feed.snapshot_failure(), SoupFailure::not_authorised);
}

TEST(ItchFeed, wants_no_snapshot_when_the_missing_messages_come_while_it_connects) {
  World world;
  world.lose_messages();
  EXPECT_EQ(world.connects, 1U);
  world.lines(3, 4);
  EXPECT_EQ(world.feed.state(), FeedState::live);
  world.wait(1ms);
  EXPECT_EQ(world.closes, 1U);
  world.feed.connected(world.instant());
  EXPECT_TRUE(world.sent.empty());
  EXPECT_EQ(world.orders(), 5U);
}

TEST(ItchFeed, empties_the_books_when_a_new_session_begins) {
  World world;
  world.lines(1, 5);
  world.feed.packet(MoldLine::a, test::mold_heartbeat(today, 6, mold_end_of_session), world.instant());
  EXPECT_EQ(world.feed.state(), FeedState::ended);
  const std::vector<Bytes> first{directory(2)};
  world.feed.packet(MoldLine::a, test::mold_packet(test::session_of("NEXT"), 1, first), world.instant());
  EXPECT_EQ(world.feed.state(), FeedState::live);
  EXPECT_EQ(world.orders(), 0U);
  EXPECT_EQ(world.feed.directory().at(1).symbol(), "");
  EXPECT_EQ(world.feed.directory().at(2).symbol(), "ACME");
}

TEST(ItchFeed, joins_in_the_middle_of_a_day_by_a_snapshot) {
  World world;
  world.lines(100, 100);
  world.lines(101, 102);
  world.wait(1ms);
  EXPECT_EQ(world.connects, 1U);
  world.feed.connected(world.instant());
  world.load(102);
  EXPECT_EQ(world.feed.state(), FeedState::live);
  EXPECT_EQ(world.orders(), 101U);
}

}  // namespace
}  // namespace nfx::market
