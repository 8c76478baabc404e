// From a datagram to the models and their orders, run to completion: feed, books, pipeline, with a stamp at each stage.
// What `nfx t2m` runs on its poll thread and what its benchmark times.
// Thread: one owner. Cost: no allocation after construction but for the first use of memory. Lifetime: stages and
// orders outlive it. Errors: what the network does is state(), what the books could not apply is anomalies().
//
// Orders is what sends: bool send(const Intent&, const OwnOrder&, Instant now); it stamps encode and send.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "nexusfix/market/dbn.hpp"
#include "nexusfix/market/itch_feed.hpp"
#include "nexusfix/market/order_book.hpp"
#include "nexusfix/strategy/pipeline.hpp"
#include "nexusfix/strategy/stages.hpp"
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
  MarketPath(const PathOptions& options, Stages& stages, Orders& orders, const strategy::PipelineOptions& pipeline,
             Models... models)
      : stages_(stages),
        orders_(orders),
        books_({.instruments = options.names + 1u,
                .orders = 1u << 20,
                .levels = 1u << 16,
                .orders_expected = options.orders_expected,
                .orders_unique = true}),
        pipeline_(pipeline, std::move(models)...) {
    if (options.feed == FeedKind::itch) {
      market::ItchFeedOptions itch;
      itch.midnight = options.midnight;
      itch.mold.buffered_messages = 1u << 12;
      itch.mold.request_attempts = 1;
      itch.snapshot_login = {"none", "none", "", 1};
      itch_ = std::make_unique<market::ItchFeed<MarketPath>>(itch, *this);
      return;
    }
    dbn_ = std::make_unique<market::DbnReader>();
    (void)dbn_->read(dbn_beginning(), [](const market::Event&) { return true; });
    NFX_ASSERT(dbn_->metadata());
  }
  MarketPath(const MarketPath&) = delete;
  MarketPath& operator=(const MarketPath&) = delete;

  // A datagram that the kernel stamped. `now`: of this poll.
  [[gnu::always_inline]] void packet(std::span<const std::byte> bytes, UtcTime kernel, Instant now) {
    kernel_ = kernel;
    now_ = now;
    if (itch_ != nullptr) return itch_->packet(market::MoldLine::a, bytes, {kernel, now.monotonic});
    (void)dbn_->read(bytes, [this](const market::Event& each) {
      follow(each.sequence);
      event(each);
      return true;
    });
  }
  void tick(Instant now) {
    if (itch_ != nullptr) itch_->tick(now);
  }

  [[nodiscard]] market::FeedState state() const noexcept { return itch_ != nullptr ? itch_->state() : dbn_state_; }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  [[nodiscard]] std::uint64_t last_sequence() const noexcept { return last_; }
  [[nodiscard]] const market::OrderBooks& books() const noexcept { return books_; }
  [[nodiscard]] strategy::Pipeline<Models...>& pipeline() noexcept { return pipeline_; }

  // What ItchFeed calls.
  [[gnu::always_inline]] void event(const market::Event& event) {
    stages_.message_begins(kernel_, event.sequence, event.event_time);
    stages_.reached(strategy::Stage::parse);
    const auto index = market::InstrumentIndex{std::to_underlying(event.instrument)};
    books_.apply(index, event);
    stages_.reached(strategy::Stage::book);
    ++events_;
    last_ = event.sequence;
    bool modelled = false;
    pipeline_.on(books_.book(index), index, event, state(), now_,
                 [&](const strategy::Intent& intent, const strategy::OwnOrder& order) {
                   if (!std::exchange(modelled, true)) stages_.reached(strategy::Stage::model);
                   return orders_.send(intent, order, now_);
                 });
    if (!modelled) stages_.reached(strategy::Stage::model);
    stages_.message_ends();
  }
  void request(const market::MoldRequest&) {}
  void snapshot_connect() {}
  void snapshot_send(std::span<const std::byte>) {}
  void snapshot_close() {}

 private:
  // A datagram that is missing makes everything after it doubtful.
  void follow(std::uint64_t sequence) noexcept {
    if (dbn_state_ == market::FeedState::waiting) dbn_state_ = market::FeedState::live;
    if (last_ != 0 && sequence != last_ && sequence != last_ + 1) dbn_state_ = market::FeedState::stale;
  }

  Stages& stages_;
  Orders& orders_;
  std::unique_ptr<market::ItchFeed<MarketPath>> itch_;
  std::unique_ptr<market::DbnReader> dbn_;
  market::FeedState dbn_state_ = market::FeedState::waiting;
  market::OrderBooks books_;
  strategy::Pipeline<Models...> pipeline_;
  UtcTime kernel_{};
  Instant now_{};
  std::uint64_t events_ = 0;
  std::uint64_t last_ = 0;
};

}  // namespace nfx::app::t2m
