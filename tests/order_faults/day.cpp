// One day: the feed's bytes through feed, books and pipeline, a venue that answers at random, and the oracle.
#include "order_faults/day.hpp"

#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "market/itch_generator.hpp"
#include "market/mold_packets.hpp"
#include "nexusfix/market/itch_feed.hpp"
#include "nexusfix/market/order_book.hpp"
#include "nexusfix/strategy/models.hpp"
#include "nexusfix/strategy/order_messages.hpp"
#include "nexusfix/strategy/pipeline.hpp"
#include "order_faults/oracle.hpp"

namespace nfx::order_faults {
namespace {

using namespace nfx::market;
using namespace nfx::strategy;
using market::test::Bytes;
using namespace std::chrono_literals;

constexpr std::uint16_t stocks = 3;

class Random {
 public:
  explicit Random(std::uint64_t seed) : generator_(seed) {}
  std::uint64_t below(std::uint64_t limit) { return generator_() % limit; }
  bool one_in(std::uint64_t many) { return below(many) == 0; }

 private:
  std::mt19937_64 generator_;
};

// Wants anything at any time, mostly near the best prices.
class RandomModel {
 public:
  explicit RandomModel(Random& random) : random_(&random) {}

  template <ReadableBook Book>
  std::optional<Intent> on(const Book& book, const Event&) noexcept {
    if (!random_->one_in(3)) return std::nullopt;
    const auto near = book.best(random_->one_in(2) ? Side::bid : Side::ask);
    const std::int64_t tick = 10'000'000;
    Price price = near ? near->price : Price{100 * tick};
    const auto away = static_cast<std::int64_t>(random_->below(random_->one_in(8) ? 400 : 20));
    price.nano += random_->one_in(2) ? away * tick : -away * tick;
    if (random_->one_in(20)) price.nano += 1'000'000;  // off the tick
    price.nano = std::max<std::int64_t>(price.nano, tick);
    const std::uint64_t dice = random_->below(10);
    return Intent{.price = price,
                  .quantity = random_->below(random_->one_in(10) ? 400 : 60),
                  .action = dice < 5   ? Action::place
                            : dice < 8 ? Action::replace
                                       : Action::cancel,
                  .side = random_->one_in(50)  ? Side::none
                          : random_->one_in(2) ? Side::bid
                                               : Side::ask,
                  .slot = static_cast<std::uint8_t>(random_->below(model_slots))};
  }

 private:
  Random* random_;
};

// The book as seen by the gate, with a check removed.
struct PlantedBook {
  OrderBook book;
  Plant plant;
  [[nodiscard]] std::optional<Level> best(Side side) const { return book.best(side); }
  [[nodiscard]] BookState state() const { return plant == Plant::stale ? BookState::live : book.state(); }
  [[nodiscard]] TradingStatus status() const { return plant == Plant::status ? TradingStatus::trading : book.status(); }
};

RiskLimits limits_of(Random& random) {
  return {.orders_per_second = static_cast<std::uint32_t>(20 + random.below(3000)),
          .burst = static_cast<std::uint32_t>(2 + random.below(30)),
          .max_event_age = Duration{50ms}};
}

std::vector<InstrumentLimits> instruments_of(Random& random) {
  std::vector<InstrumentLimits> all;
  for (std::size_t i = 0; i <= stocks; ++i) {
    all.push_back({.tick = Price{10'000'000},
                   .collar = Price{static_cast<std::int64_t>(50 + random.below(200)) * 10'000'000},
                   .max_quantity = 40 + random.below(100),
                   .max_position = 100 + random.below(400)});
  }
  return all;
}

PipelineOptions weakened(RiskLimits risk, std::vector<InstrumentLimits> instruments, Plant plant) {
  if (plant == Plant::rate) risk.orders_per_second = 0;
  if (plant == Plant::age) risk.max_event_age = Duration{1h};
  for (InstrumentLimits& each : instruments) {
    if (plant == Plant::collar) each.collar.nano *= 2;
    if (plant == Plant::tick) each.tick.nano = 100'000;
    if (plant == Plant::size) each.max_quantity *= 2;
    if (plant == Plant::position) each.max_position *= 2;
  }
  return {.risk = risk, .instruments = std::move(instruments), .orders = 6};
}

class Day {
 public:
  Day(std::uint64_t seed, Plant plant)
      : random_(seed),
        plant_(plant),
        limits_(limits_of(random_)),
        instruments_(instruments_of(random_)),
        oracle_(limits_, instruments_),
        pipeline_(weakened(limits_, instruments_, plant), RandomModel{random_}, OnlyFor{InstrumentId{1}, Quoter{}},
                  RandomModel{random_}),
        books_({.instruments = stocks + 1, .orders = 1 << 14, .levels = 1 << 12, .orders_expected = 1 << 12}),
        feed_(std::make_unique<ItchFeed<Day>>(feed_options(), *this)) {
    for (std::size_t i = 0; i <= stocks; ++i) {
      messages_.push_back(std::make_unique<OrderMessages>(
          OrderMessageOptions{.symbol = "S" + std::to_string(i), .account = "A", .price_scale = 4}));
    }
    kill_at_ = random_.one_in(2) ? 200 + random_.below(3000) : UINT64_MAX;
  }

  DayResult run(std::uint64_t seed);

  // Called by ItchFeed.
  void event(const Event& event);
  void request(const MoldRequest&) {}
  void snapshot_connect() {}
  void snapshot_send(std::span<const std::byte>) {}
  void snapshot_close() {}

 private:
  static ItchFeedOptions feed_options() {
    ItchFeedOptions options;
    options.mold.request_attempts = 1;
    options.mold.buffered_messages = 1024;
    options.mold.gap_timeout = Duration{20ms};
    options.snapshot_login = {"user", "secret", "", 1};
    return options;
  }
  void deliver(const Bytes& packet, std::uint64_t first, std::size_t count);
  void plant_in_book(InstrumentIndex index);
  void apply(InstrumentIndex index, const Event& event);
  bool send(const Intent& intent, const OwnOrder& order, const Event* event);
  void answer();
  void answer_one(std::uint64_t number);
  void tell(std::uint64_t number, ReportKind kind, Quantity quantity = 0) {
    pipeline_.report(
        {.number = OrderNumber{number}, .kind = kind, .price = Price{1'000'000'000}, .quantity = quantity});
  }
  void find(const std::string& what) {
    if (result_.finding.empty()) result_.finding = what + ", after " + std::to_string(result_.events) + " events";
  }
  [[nodiscard]] Instant processing() const { return {now_.utc + lag_, now_.monotonic + lag_}; }

  Random random_;
  Plant plant_;
  RiskLimits limits_;
  std::vector<InstrumentLimits> instruments_;
  Oracle oracle_;
  Pipeline<RandomModel, OnlyFor<Quoter>, RandomModel> pipeline_;
  OrderBooks books_;
  std::array<PlainBook, stocks + 1> plain_;
  std::vector<std::unique_ptr<OrderMessages>> messages_;
  std::unique_ptr<ItchFeed<Day>> feed_;
  std::deque<std::uint64_t> unanswered_;
  std::uint64_t kill_at_ = 0;
  bool killed_ = false;
  Instant now_{UtcTime{1s}, MonotonicTime{1s}};
  Duration lag_{};               // delay of the thread after the receipt
  std::vector<bool> delivered_;  // by sequence number
  std::uint64_t announced_ = 0;  // one past the highest delivered
  DayResult result_;
};

void Day::event(const Event& event) {
  ++result_.events;
  const auto index = InstrumentIndex{std::to_underlying(event.instrument)};
  if (std::to_underlying(index) > stocks) return;
  if (result_.events == kill_at_) {
    killed_ = true;
    if (plant_ != Plant::kill) pipeline_.gate().kill();
  }
  apply(index, event);
  if (random_.one_in(1500)) plant_in_book(index);
  const FeedState feed = plant_ == Plant::gap ? FeedState::live : feed_->state();
  const PlantedBook book{books_.book(index), plant_};
  pipeline_.on(book, index, event, feed, processing(),
               [&](const Intent& intent, const OwnOrder& order) { return send(intent, order, &event); });
  if (random_.one_in(3)) answer();
}

void Day::apply(InstrumentIndex index, const Event& event) {
  books_.apply(index, event);
  plain_[std::to_underlying(index)].apply(event);
}

// An event that does not fit, a halt, or the end of either.
void Day::plant_in_book(InstrumentIndex index) {
  Event event;
  switch (random_.below(4)) {
    case 0:
      event.kind = EventKind::remove;
      event.order = OrderId{~std::uint64_t{0} - random_.below(100)};
      break;
    case 1: event.kind = EventKind::clear; break;
    default:
      event.kind = EventKind::status;
      event.status = random_.one_in(2) ? TradingStatus::halted : TradingStatus::trading;
  }
  apply(index, event);
}

bool Day::send(const Intent& intent, const OwnOrder& order, const Event* event) {
  const auto outgoing = messages_[std::to_underlying(order.instrument)]->message(intent, order, now_.utc);
  if (!outgoing || random_.one_in(30)) return false;
  Sent sent;
  if (!read_sent(outgoing->msg_type, outgoing->body, sent)) {
    find("a message that cannot be read: " + std::string{outgoing->body});
    return true;
  }
  Truth truth{.book = &plain_[sent.instrument], .gap = false, .killed = killed_, .now = processing()};
  if (event != nullptr) truth.received = event->receive_time;
  for (std::uint64_t i = 1; i < announced_; ++i) truth.gap |= !delivered_[i];
  const std::string wrong = oracle_.judge(sent, truth);
  if (!wrong.empty()) find(wrong);
  ++result_.sent;
  unanswered_.push_back(sent.number);
  return true;
}

// The venue handles the oldest request, or changes an open order by itself.
void Day::answer() {
  if (random_.one_in(5000)) {
    killed_ = true;
    if (plant_ != Plant::kill) tell(999'999'999, ReportKind::filled, 5);
    return;
  }
  if (!unanswered_.empty() && !random_.one_in(4)) {
    const std::uint64_t number = unanswered_.front();
    unanswered_.pop_front();
    return answer_one(number);
  }
  if (oracle_.orders().empty()) return;
  auto open = oracle_.orders().begin();
  std::advance(open, random_.below(oracle_.orders().size()));
  const auto [number, order] = *open;
  for (const std::uint64_t waiting : unanswered_) {
    if (waiting == number) return;  // the venue does not have it yet
  }
  if (random_.one_in(6) && order.change == 0) {
    oracle_.canceled(number);
    return tell(number, ReportKind::canceled);
  }
  if (order.filled >= order.quantity) return;
  const std::uint64_t part = 1 + random_.below(order.quantity - order.filled);
  oracle_.filled(number, part);
  tell(number, ReportKind::filled, part);
}

void Day::answer_one(std::uint64_t number) {
  const std::uint64_t own = oracle_.order_of(number);
  if (own == 0) return tell(number, ReportKind::change_rejected);  // it has ended meanwhile
  const auto order = oracle_.orders().at(own);
  if (own == number) {
    if (!random_.one_in(8)) return tell(number, ReportKind::accepted);
    oracle_.rejected(number);
    return tell(number, ReportKind::rejected);
  }
  if (random_.one_in(6) || (!order.canceling && order.new_quantity <= order.filled)) {
    oracle_.rejected(number);
    return tell(number, ReportKind::change_rejected);
  }
  if (order.canceling) {
    oracle_.canceled(number);
    return tell(number, ReportKind::canceled);
  }
  oracle_.replaced(number);
  tell(number, ReportKind::replaced);
}

void Day::deliver(const Bytes& packet, std::uint64_t first, std::size_t count) {
  for (std::uint64_t i = first; i < first + count; ++i) delivered_[i] = true;
  announced_ = std::max<std::uint64_t>(announced_, first + count);
  lag_ = random_.one_in(40) ? Duration{200ms} : Duration{100us};
  feed_->packet(MoldLine::a, packet, now_);
}

DayResult Day::run(std::uint64_t seed) {
  ItchGenerator generator{{.seed = seed, .messages = 1500, .stocks = stocks, .resting_orders = 20}};
  struct Packet {
    Bytes bytes;
    std::uint64_t first;
    std::size_t count;
    MonotonicTime due;
  };
  std::vector<Packet> late;
  std::uint64_t sequence = 1;
  for (bool over = false; !over && result_.finding.empty();) {
    std::vector<Bytes> messages;
    for (std::size_t left = 1 + random_.below(5); left > 0 && !over; --left) {
      const auto message = generator.next();
      over = message.empty();
      if (!over) messages.emplace_back(message.begin(), message.end());
    }
    if (messages.empty()) break;
    const Duration pause{static_cast<std::int64_t>(random_.one_in(3) ? random_.below(3'000'000) : 1000)};
    now_ = {now_.utc + pause, now_.monotonic + pause};
    Packet packet{market::test::mold_packet(market::test::session_of("FAULTS"), sequence, messages),
                  sequence,
                  messages.size(),
                  {}};
    sequence += messages.size();
    delivered_.resize(sequence + 1);
    if (packet.first > 20 && random_.one_in(150)) {
      packet.due = now_.monotonic + Duration{static_cast<std::int64_t>(random_.below(40'000'000))};
      late.push_back(std::move(packet));
    } else {
      deliver(packet.bytes, packet.first, packet.count);
    }
    std::erase_if(late, [&](const Packet& each) {
      if (each.due > now_.monotonic) return false;
      deliver(each.bytes, each.first, each.count);
      return true;
    });
    feed_->tick(now_);
    if (random_.one_in(100)) {
      pipeline_.cancel_all(processing(),
                           [&](const Intent& intent, const OwnOrder& order) { return send(intent, order, nullptr); });
    }
  }
  result_.counters = pipeline_.gate().counters();
  return std::move(result_);
}

}  // namespace

DayResult run_day(std::uint64_t seed, Plant plant) { return std::make_unique<Day>(seed, plant)->run(seed); }

}  // namespace nfx::order_faults
