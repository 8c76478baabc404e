// The path of market data: packets of an ITCH feed through the arbiter and the parser into books, with a gap that is
// filled; and from there to models, through the risk limits, to FIX orders and their reports, with all stages stamped.
// Also a recording in DBN, in pieces that end within records, into books.
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "checks.hpp"
#include "market/dbn_bytes.hpp"
#include "market/itch_generator.hpp"
#include "market/mold_packets.hpp"
#include "nexusfix/live/itch_handler.hpp"
#include "nexusfix/live/trader.hpp"
#include "nexusfix/market/dbn.hpp"
#include "nexusfix/market/order_book.hpp"
#include "nexusfix/strategy/models.hpp"
#include "nexusfix/strategy/order_messages.hpp"
#include "strategy/stages.hpp"

namespace nfx::test {
namespace {

using namespace std::chrono_literals;
using namespace nfx::market;
using market::test::Bytes;

constexpr std::uint16_t stocks = 100;

// Encodes orders; the venue's answer to each is there at the next event.
class AnsweringVenue : public NoSimulation {
 public:
  bool send(const strategy::Intent& intent, const strategy::OwnOrder& order, UtcTime now) noexcept {
    if (!messages_.message(intent, order, now)) return false;
    const bool is_new = intent.action == strategy::Action::place;
    answer_ = {.number = is_new ? order.number : order.change,
               .kind = is_new ? strategy::ReportKind::accepted : strategy::ReportKind::canceled};
    ++orders_;
    return true;
  }
  void reports(UtcTime, auto&& sink) noexcept {
    if (answer_.number != strategy::OrderNumber{}) sink(std::exchange(answer_, {}));
  }
  [[nodiscard]] std::uint64_t orders() const noexcept { return orders_; }

 private:
  strategy::OrderMessages messages_{{.symbol = "STCK", .price_scale = 4}};
  strategy::OwnOrders::VenueReport answer_{};
  std::uint64_t orders_ = 0;
};

struct Stamps : NoObserver {
  strategy::StageRecorder<> stages{{.pending = 1024}};

  void parsed(const Event& event) noexcept {
    if (stages.room() == 0) stages.collect({.ticks = cycle_count(), .utc = event.receive_time, .ns_per_tick = 1});
    stages.message_begins(event.receive_time, event.sequence);
  }
  void booked() noexcept { stages.reached(strategy::Stage::book); }
  void encoded() noexcept { stages.reached(strategy::Stage::encode); }
  void done() noexcept { stages.message_ends(); }
};

using Quotes = strategy::OnlyFor<strategy::Quoter>;
using ItchTrader = Trader<ItchHandlerOptions, OrderBooks, AnsweringVenue, Stamps, strategy::MicropriceModel, Quotes>;

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
  ItchHandlerOptions options;
  options.feed.mold.request_attempts = 1;
  options.feed.snapshot_login = {"user", "secret", "", 1};
  const TraderOptions limits{.risk = {.orders_per_second = 1'000'000, .burst = 100'000},
                             .instruments = std::vector<strategy::InstrumentLimits>(stocks + 1),
                             .books = {.orders = 1 << 16, .orders_expected = 1 << 16, .expected_from = 0}};
  const auto trader = std::make_unique<ItchTrader>(options, limits, AnsweringVenue{}, strategy::MicropriceModel{},
                                                   Quotes{InstrumentId{1}, strategy::Quoter{}});
  UtcTime now{1s};
  const auto take = [&](std::uint16_t line, const Bytes& packet) {
    trader->set_now({now, FeedClock::of(now)});
    trader->take({.kind = InputKind::datagram,
                  .line = line,
                  .at = now,
                  .bytes = {reinterpret_cast<const char*>(packet.data()), packet.size()}});
  };
  // Pages of the books are mapped, and instruments get their ladders, at first use.
  const std::size_t warm = packets.size() / 2;
  TrapCounts counts;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    now += 10us;
    if (i < warm) {
      take(ItchLines::a, packets[i]);
      continue;
    }
    const Trap trap;
    // Every tenth packet is late on both lines, so that it is a gap at first.
    const bool late = i % 10 == 0 && i + 1 < packets.size();
    if (late) take(ItchLines::a, packets[i + 1]);
    trader->take({.at = now});
    take(ItchLines::a, packets[i]);
    take(ItchLines::b, packets[i]);
    counts.add(trap.counts());
  }
  check(trader->state() == FeedState::live && trader->books().anomalies() == 0, "the books followed the feed");
  check_counts(counts, "an ITCH feed with gaps, its books, models and orders");
  check(trader->venue().orders() > 50, "the models sent orders");
}

}  // namespace nfx::test
