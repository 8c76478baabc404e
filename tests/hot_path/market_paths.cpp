// The path of market data: packets of an ITCH feed through the arbiter and the parser into books, with a gap that is
// filled; and from there to models, through the risk limits, to FIX orders and their reports, with all stages stamped.
// Also a recording in DBN, in pieces that end within records, into books.
#include <memory>
#include <random>
#include <vector>

#include "checks.hpp"
#include "market/dbn_bytes.hpp"
#include "market/itch_generator.hpp"
#include "market/mold_packets.hpp"
#include "nexusfix/market/dbn.hpp"
#include "nexusfix/market/itch_feed.hpp"
#include "nexusfix/market/order_book.hpp"
#include "nexusfix/strategy/models.hpp"
#include "nexusfix/strategy/order_messages.hpp"
#include "nexusfix/strategy/pipeline.hpp"
#include "strategy/stages.hpp"

namespace nfx::test {
namespace {

using namespace std::chrono_literals;
using namespace nfx::market;
using market::test::Bytes;

constexpr std::uint16_t stocks = 100;

struct Books {
  OrderBooks books{{.instruments = stocks + 1, .orders = 1 << 16, .orders_expected = 1 << 16, .expected_from = 0}};
  std::uint64_t requests = 0;
  std::uint64_t connects = 0;

  strategy::Pipeline<strategy::MicropriceModel, strategy::OnlyFor<strategy::Quoter>> pipeline{
      {.risk = {.orders_per_second = 1'000'000, .burst = 100'000},
       .instruments = std::vector<strategy::InstrumentLimits>(stocks + 1)},
      strategy::MicropriceModel{},
      {InstrumentId{1}, strategy::Quoter{}}};
  strategy::OrderMessages messages{{.symbol = "STCK", .price_scale = 4}};
  strategy::StageRecorder<> stages{{.pending = 1024}};
  Instant now{};
  std::uint64_t orders = 0;

  void event(const Event& event) {
    stages.message_begins(event.receive_time, event.sequence);
    const auto index = InstrumentIndex{std::to_underlying(event.instrument)};
    books.apply(index, event);
    stages.reached(strategy::Stage::book);
    strategy::OwnOrders::VenueReport answer{};
    pipeline.on(books.book(index), index, event, FeedState::live, now,
                [&](const strategy::Intent& intent, const strategy::OwnOrder& order) {
                  const bool is_new = intent.action == strategy::Action::place;
                  if (!messages.message(intent, order, now.utc)) return false;
                  stages.reached(strategy::Stage::encode);
                  answer = {.number = is_new ? order.number : order.change,
                            .kind = is_new ? strategy::ReportKind::accepted : strategy::ReportKind::canceled};
                  return true;
                });
    stages.message_ends();
    if (answer.number != strategy::OrderNumber{}) {
      ++orders;
      pipeline.report(answer);
    }
    if (stages.room() == 0) stages.collect({.ticks = cycle_count(), .utc = now.utc, .ns_per_tick = 1});
  }
  void request(const MoldRequest&) { ++requests; }
  void snapshot_connect() { ++connects; }
  void snapshot_send(std::span<const std::byte>) {}
  void snapshot_close() {}
};

std::vector<Bytes> packets_of_a_day(const MoldSession& session) {
  ItchGenerator day{{.seed = 5, .messages = 60'000, .stocks = stocks}};
  std::vector<Bytes> packets;
  std::uint64_t sequence = 1;
  for (bool over = false; !over;) {
    std::vector<Bytes> messages;
    while (messages.size() < 20 && !over) {
      const auto message = day.next();
      over = message.empty();
      if (!over) messages.emplace_back(message.begin(), message.end());
    }
    if (messages.empty()) break;
    packets.push_back(market::test::mold_packet(session, sequence, messages));
    sequence += messages.size();
  }
  return packets;
}

// Each order is added, modified, partly and wholly canceled; some prices are far from the best.
std::vector<std::byte> dbn_day() {
  market::test::DbnBytes day{3};
  std::mt19937_64 random{7};
  std::vector<market::test::DbnRecord> open;
  for (std::uint32_t i = 1; i <= 60'000; ++i) {
    const std::size_t place = open.empty() ? 0 : random() % open.size();
    const std::uint64_t choice = open.empty() ? 0 : random() % 10;
    if (choice < 4 || open.size() < 100) {
      const bool bid = random() % 2 == 0;
      const auto away = static_cast<std::int64_t>(random() % (random() % 20 == 0 ? 500 : 20));
      open.push_back({.order = i,
                      .price = (bid ? 10'000 - away : 10'001 + away) * 250'000'000,
                      .size = 2,
                      .action = 'A',
                      .side = bid ? 'B' : 'A',
                      .sequence = i});
      day.add(open.back());
      continue;
    }
    market::test::DbnRecord record = open[place];
    record.sequence = i;
    record.action = choice < 6 ? 'M' : choice < 7 ? 'T' : 'C';
    if (choice < 6) record.size = open[place].size = static_cast<std::uint32_t>(1 + random() % 9);
    const bool part = choice == 9 && record.size > 1;
    if (part) {
      record.size = 1;
      --open[place].size;
    } else if (choice >= 7) {
      open[place] = open.back();
      open.pop_back();
    }
    day.add(record);
  }
  return std::move(day.bytes);
}

void check_dbn() {
  struct Sink {
    OrderBooks books{{.orders = 1 << 16, .levels = 1 << 12, .orders_expected = 1 << 16, .expected_from = 0}};
    std::uint64_t events = 0;
    bool operator()(const Event& event) {
      ++events;
      books.apply(InstrumentIndex{0}, event);
      return true;
    }
    void expect(InstrumentId, OrderId id, Side side, Price price) { books.expect(InstrumentIndex{0}, id, side, price); }
  };
  const std::vector<std::byte> day = dbn_day();
  const auto sink = std::make_unique<Sink>();
  DbnReader reader;
  TrapCounts counts;
  constexpr std::size_t piece = 10'000;
  for (std::size_t at = 0; at < day.size(); at += piece) {
    const auto bytes = std::span{day}.subspan(at, std::min(piece, day.size() - at));
    if (at < day.size() / 2) {
      (void)reader.read(bytes, *sink);
      continue;
    }
    const Trap trap;
    (void)reader.read(bytes, *sink);
    counts.add(trap.counts());
  }
  check(reader.finish() && sink->events == 60'000 && sink->books.anomalies() == 0 && sink->books.orders() > 100,
        "the books followed the recording");
  check_counts(counts, "a recording in DBN to the books");
}

}  // namespace

void check_market_paths() {
  check_dbn();
  const MoldSession session = market::test::session_of("HOT");
  const std::vector<Bytes> packets = packets_of_a_day(session);
  const auto all = std::make_unique<Books>();
  Books& books = *all;
  ItchFeedOptions options;
  options.mold.request_attempts = 1;
  options.snapshot_login = {"user", "secret", "", 1};
  auto feed = std::make_unique<ItchFeed<Books>>(options, books);
  Instant now{UtcTime{1s}, MonotonicTime{1s}};
  // Pages of the books are mapped, and instruments get their ladders, at first use.
  const std::size_t warm = packets.size() / 2;
  TrapCounts counts;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    now.monotonic += 10us;
    books.now = now;
    if (i < warm) {
      feed->packet(MoldLine::a, packets[i], now);
      continue;
    }
    const Trap trap;
    // Every tenth packet is late on both lines, so that it is a gap at first.
    const bool late = i % 10 == 0 && i + 1 < packets.size();
    if (late) feed->packet(MoldLine::a, packets[i + 1], now);
    feed->tick(now);
    feed->packet(MoldLine::a, packets[i], now);
    feed->packet(MoldLine::b, packets[i], now);
    counts.add(trap.counts());
  }
  check(feed->state() == FeedState::live && books.books.anomalies() == 0, "the books followed the feed");
  check_counts(counts, "an ITCH feed with gaps, its books, models and orders");
  check(books.orders > 50, "the models sent orders");
}

}  // namespace nfx::test
