// From the events of a feed to the models and their orders, run to completion: books, pipeline, with a stamp at each
// stage; and the handlers of datagrams before it. What `nfx t2m` runs on its poll thread and what its benchmark times.
// Thread: one owner. Cost: no allocation after construction but for the first use of memory. Lifetime: stages, orders
// and schedule outlive it. Errors: what the network does is the handler's state(), what the books could not apply is
// anomalies().
//
// Orders is what sends: bool send(const Intent&, const OwnOrder&, Instant now); it stamps encode and send.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "nexusfix/live/live_feed.hpp"
#include "nexusfix/market/dbn.hpp"
#include "nexusfix/market/feed_books.hpp"
#include "nexusfix/market/itch_feed.hpp"
#include "nexusfix/market/order_book.hpp"
#include "nexusfix/strategy/pipeline.hpp"
#include "strategy/stages.hpp"
#include "t2m/messages.hpp"

namespace nfx::app::t2m {

struct PathOptions {
  FeedKind feed = FeedKind::itch;
  std::uint16_t names = 1;
  UtcTime midnight{};
  std::uint32_t orders_expected = 1u << 14;
};

template <class Stages, class Orders, class... Models>
class MarketPath {
 public:
  // `schedule` is of a feed whose events do not state when they were due, or which has other events too; null: none.
  MarketPath(const PathOptions& options, Stages& stages, Orders& orders, const strategy::PipelineOptions& pipeline,
             Schedule* schedule, Models... models)
      : feed_(options.feed),
        stages_(stages),
        orders_(orders),
        schedule_(schedule),
        books_({.instruments = options.names + 1u,
                .orders = 1u << 20,
                .levels = 1u << 16,
                .orders_expected = options.orders_expected,
                .orders_unique = row_of(options.feed).orders_unique}),
        pipeline_(pipeline, std::move(models)...) {
    if (options.feed == FeedKind::ws) {
      for (std::uint32_t i = 0; i < options.names; ++i)
        tickers_.push_back(std::make_unique<nfx::market::LevelBook>(ticker_depth));
    }
    if (options.feed == FeedKind::itch) {
      nfx::market::ItchFeedOptions itch;
      itch.midnight = options.midnight;
      itch.mold.buffered_messages = 1u << 12;
      itch.mold.request_attempts = 1;
      itch.snapshot_login = {"none", "none", "", 1};
      itch_ = std::make_unique<nfx::market::ItchFeed<MarketPath>>(itch, *this);
    }
    if (options.feed == FeedKind::dbn) {
      dbn_ = std::make_unique<nfx::market::DbnReader>();
      (void)dbn_->read(dbn_beginning(), [](const nfx::market::Event&) { return true; });
      NFX_ASSERT(dbn_->metadata());
    }
  }
  MarketPath(const MarketPath&) = delete;
  MarketPath& operator=(const MarketPath&) = delete;

  // A datagram of ITCH or DBN that the kernel stamped. `now`: of this poll.
  [[gnu::always_inline]] void packet(std::span<const std::byte> bytes, UtcTime kernel, Instant now) {
    input_begins(kernel, now);
    if (itch_ != nullptr) return itch_->packet(nfx::market::MoldLine::a, bytes, {kernel, now.monotonic});
    (void)dbn_->read(bytes, [this](const nfx::market::Event& each) {
      follow(each.sequence);
      event(each);
      return true;
    });
  }
  void tick(Instant now) {
    if (itch_ != nullptr) itch_->tick(now);
  }

  // What the kernel stamped is given to the handler of another feed, which is in this state.
  void input_begins(UtcTime kernel, Instant now, nfx::market::FeedState state = nfx::market::FeedState::live) {
    kernel_ = kernel;
    now_ = now;
    other_state_ = state;
    begun_ = identified_ = false;
  }
  // Its next message is there as a whole, and is not read yet.
  void framed() {
    stages_.message_begins(kernel_, 0);
    stages_.reached(strategy::Stage::frame);
    begun_ = true;
  }

  // A message that no feed, book or model sees: what the kernel and the read alone take.
  void unread(UtcTime kernel, std::uint64_t number) noexcept {
    stages_.message_begins(kernel, number);
    stages_.reached(strategy::Stage::model);
    stages_.message_ends();
    if (number <= last_) ++misfits_;
    last_ = number;
    ++scheduled_;
  }
  // ... and it is not as it was sent.
  void count_misfit() noexcept { ++misfits_; }

  [[nodiscard]] nfx::market::FeedState state() const noexcept {
    return itch_ != nullptr ? itch_->state() : dbn_ != nullptr ? dbn_state_ : other_state_;
  }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  // The last message of the run that came, and how many did.
  [[nodiscard]] std::uint64_t last_sequence() const noexcept { return last_; }
  [[nodiscard]] std::uint64_t scheduled() const noexcept { return scheduled_; }
  [[nodiscard]] strategy::Pipeline<Models...>& pipeline() noexcept { return pipeline_; }
  [[nodiscard]] const nfx::market::OrderBooks& books() const noexcept { return books_; }
  // The best prices of a websocket's instrument.
  [[nodiscard]] const nfx::market::LevelBook& ticker(std::uint16_t instrument) const noexcept {
    return *tickers_[instrument];
  }

  // Of all books.
  [[nodiscard]] std::uint64_t anomalies() const noexcept {
    std::uint64_t sum = books_.anomalies() + misfits_;
    for (const auto& each : tickers_) sum += each->anomalies();
    return sum;
  }
  [[nodiscard]] std::uint64_t book_hash() const noexcept {
    std::uint64_t sum = 0;
    const auto add = [&sum](std::uint64_t hash) { sum = sum * 0x9E37'79B9'7F4A'7C15 + hash; };
    for (const auto& each : tickers_) add(each->hash());
    for (std::uint32_t i = 0; tickers_.empty() && i < books_.instruments(); ++i)
      add(books_.book(nfx::market::InstrumentIndex{i}).hash());
    return sum;
  }
  // LiveFeed compares it with the clock. A run of a few seconds is not outdated: its latencies show what waits.
  [[nodiscard]] static nfx::market::NewestEvent newest() noexcept { return {}; }

  // What handlers call. A message of the exchange's may have several events; the last one is marked.
  [[gnu::always_inline]] void event(const nfx::market::Event& event) {
    if (!identified_) {
      identify(event);
      stages_.reached(strategy::Stage::parse);
    }
    ++events_;
    const auto index = nfx::market::InstrumentIndex{std::to_underlying(event.instrument)};
    if (tickers_.empty()) {
      books_.apply(index, event);
      if (event.last()) ask(books_.book(index), index, event);
    } else {
      nfx::market::LevelBook& book = *tickers_[std::to_underlying(index)];
      book.apply(event);
      if (event.last()) ask(book, index, event);
    }
  }
  void request(const nfx::market::MoldRequest&) {}
  void snapshot_connect() {}
  void snapshot_send(std::span<const std::byte>) {}
  void snapshot_close() {}

 private:
  static constexpr std::uint32_t ticker_depth = 4;  // a price of a side, and the one that takes its place

  [[gnu::always_inline]] void identify(const nfx::market::Event& event) noexcept {
    Schedule::Found found{event.sequence, event.event_time};
    if (schedule_ != nullptr)
      found = feed_ == FeedKind::ws ? schedule_->numbered(event.sequence) : schedule_->due_at(event.event_time);
    if (begun_) {
      stages_.message_is(found.number, found.due);
    } else {
      stages_.message_begins(kernel_, found.number, found.due);
    }
    identified_ = true;
    if (found.number == 0) return;
    last_ = found.number;
    ++scheduled_;
  }

  template <class Book>
  [[gnu::always_inline]] void ask(const Book& book, nfx::market::InstrumentIndex index,
                                  const nfx::market::Event& event) {
    stages_.reached(strategy::Stage::book);
    bool modelled = false;
    pipeline_.on(book, index, event, state(), now_,
                 [&](const strategy::Intent& intent, const strategy::OwnOrder& order) {
                   if (!std::exchange(modelled, true)) stages_.reached(strategy::Stage::model);
                   return orders_.send(intent, order, now_);
                 });
    if (!modelled) stages_.reached(strategy::Stage::model);
    stages_.message_ends();
    begun_ = identified_ = false;
  }

  // A datagram that is missing makes everything after it doubtful.
  void follow(std::uint64_t sequence) noexcept {
    if (dbn_state_ == nfx::market::FeedState::waiting) dbn_state_ = nfx::market::FeedState::live;
    if (last_ != 0 && sequence != last_ && sequence != last_ + 1) dbn_state_ = nfx::market::FeedState::stale;
  }

  FeedKind feed_;
  Stages& stages_;
  Orders& orders_;
  Schedule* schedule_;
  std::unique_ptr<nfx::market::ItchFeed<MarketPath>> itch_;
  std::unique_ptr<nfx::market::DbnReader> dbn_;
  nfx::market::FeedState dbn_state_ = nfx::market::FeedState::waiting;
  nfx::market::FeedState other_state_ = nfx::market::FeedState::waiting;
  nfx::market::OrderBooks books_;
  std::vector<std::unique_ptr<nfx::market::LevelBook>> tickers_;  // of a feed of best prices, in place of books_
  strategy::Pipeline<Models...> pipeline_;
  UtcTime kernel_{};
  Instant now_{};
  bool begun_ = false;       // a message has its first stamp
  bool identified_ = false;  // ... and its number
  std::uint64_t events_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t scheduled_ = 0;
  std::uint64_t misfits_ = 0;
};

}  // namespace nfx::app::t2m
