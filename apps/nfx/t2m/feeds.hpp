// The feeds of a run as a Trader has them, and what the runs, their replays and the benchmark trade with.
// Thread: any, values. Errors: none.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nexusfix/live/fix_handler.hpp"
#include "nexusfix/live/itch_handler.hpp"
#include "nexusfix/live/trader.hpp"
#include "nexusfix/live/websocket_handler.hpp"
#include "nexusfix/market/dbn.hpp"
#include "nexusfix/strategy/models.hpp"
#include "t2m/messages.hpp"

namespace nfx::app::t2m {

// DBN in datagrams, which no venue sends: a datagram that is missing makes everything after it doubtful.
struct DbnOptions {};

template <class Output>
class DbnHandler {
 public:
  DbnHandler(const DbnOptions&, Output& output, nfx::market::FeedPorts&) : output_(output) {
    (void)reader_.read(dbn_beginning(), [](const nfx::market::Event&) { return true; });
    NFX_ASSERT(reader_.metadata());
  }

  void take(const nfx::market::FeedInput& input) {
    if (input.kind != nfx::market::InputKind::datagram) return;
    (void)reader_.read(std::as_bytes(std::span{input.bytes}), [this](const nfx::market::Event& event) {
      follow(event.sequence);
      output_.event(event);
      return true;
    });
  }
  [[nodiscard]] MonotonicTime due_at() const noexcept { return MonotonicTime::max(); }
  [[nodiscard]] nfx::market::FeedState state() const noexcept { return state_; }

 private:
  void follow(std::uint64_t sequence) noexcept {
    using nfx::market::FeedState;
    if (state_ == FeedState::waiting) state_ = FeedState::live;
    if (last_ != 0 && sequence != last_ && sequence != last_ + 1) state_ = FeedState::stale;
    last_ = sequence;
  }

  Output& output_;
  nfx::market::DbnReader reader_;
  nfx::market::FeedState state_ = nfx::market::FeedState::waiting;
  std::uint64_t last_ = 0;
};

}  // namespace nfx::app::t2m

namespace nfx::market {

template <>
struct FeedOf<app::t2m::DbnOptions> {
  template <class Output>
  using Handler = app::t2m::DbnHandler<Output>;
  using Books = OrderBooks;
  static constexpr bool orders_unique = true;
};

}  // namespace nfx::market

namespace nfx::app::t2m {

// Calls with the options of the feed's handler: what the rest is templates of.
template <class Call>
decltype(auto) with_feed(FeedKind feed, std::uint16_t names, UtcTime midnight, Call&& call) {
  switch (feed) {
    case FeedKind::itch: break;
    case FeedKind::dbn: return call(DbnOptions{});
    case FeedKind::ws: {
      nfx::market::WebsocketFeedOptions options;
      options.host = options.snapshot_host = "memory";
      for (const std::string& name : names_of(feed, names))
        options.instruments.push_back({name, nfx::market::JsonBook::ticker, 8});
      return call(std::move(options));
    }
    case FeedKind::fix: {
      nfx::market::FixHandlerOptions options;
      for (const std::string& name : names_of(feed, names)) options.instruments.push_back({name});
      options.feed.orders = 1u << 18;
      return call(std::move(options));
    }
  }
  nfx::market::ItchHandlerOptions itch{{.midnight = midnight}};
  itch.feed.mold.buffered_messages = 1u << 12;
  itch.feed.mold.request_attempts = 1;
  itch.feed.snapshot_login = {"none", "none", "", 1};
  return call(std::move(itch));
}

[[nodiscard]] inline nfx::market::TraderOptions trader_options(FeedKind feed, std::uint16_t names) {
  nfx::market::TraderOptions options;
  options.risk = {.orders_per_second = 50'000, .burst = 5'000};
  options.instruments.resize(names + row_of(feed).first_instrument);
  options.books.orders_expected = 1u << 14;
  options.depth = 4;  // of best prices: one, and the one that takes its place
  return options;
}

// Takes a while, once in `every` events, as a model does that has something to compute.
struct SlowModel {
  static constexpr Duration takes{50'000};
  std::uint32_t every = 0;
  std::uint32_t seen = 0;
  template <class Book>
  std::optional<strategy::Intent> on(const Book&, const nfx::market::Event&) noexcept {
    if (every != 0 && ++seen % every == 0) {
      const auto end = std::chrono::steady_clock::now() + takes;
      while (std::chrono::steady_clock::now() < end) {
      }
    }
    return std::nullopt;
  }
};

// For the first name only.
using Quotes = strategy::OnlyFor<strategy::Quoter>;
[[nodiscard]] inline Quotes quotes(FeedKind feed) {
  return {nfx::market::InstrumentId{row_of(feed).first_instrument}, strategy::Quoter{}};
}

template <class Feed, class V, class Observer>
using RunTrader = nfx::market::Trader<Feed, typename nfx::market::FeedOf<Feed>::Books, V, Observer, SlowModel, Quotes>;

// The hash of all orders sent: number, action, side, price and quantity of each, in their order.
[[nodiscard]] inline std::uint64_t hash_of(std::span<const nfx::market::SentRequest> sent) noexcept {
  std::uint64_t hash = 0;
  for (const auto& [number, intent] : sent) {
    for (const std::uint64_t each :
         {std::to_underlying(number), static_cast<std::uint64_t>(intent.action),
          static_cast<std::uint64_t>(intent.side), static_cast<std::uint64_t>(intent.price.nano), intent.quantity})
      hash = (hash ^ each) * 0x9E37'79B9'7F4A'7C15 + (hash >> 29);
  }
  return hash;
}

}  // namespace nfx::app::t2m
