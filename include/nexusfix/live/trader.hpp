// A strategy for one instrument of a venue that publishes its books by FIX: connects the feed's handler, the books, the
// models, their risk limits and their orders. It runs on a Venue: the live session (fix_session_trader.hpp), or the
// simulated one, to which backtest() gives what a live session recorded.
// Thread: one owner; it sets the time before each input. Cost: that of FixHandler, FeedBooks and Pipeline; no
// allocation after construction, except by the simulated venue. Errors: counters and states of the parts. Bounds:
// sent() has the first `sent_max` requests; the counters of the risk gate have all.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "nexusfix/live/fix_handler.hpp"
#include "nexusfix/market/feed_books.hpp"
#include "nexusfix/recording/read_recording.hpp"
#include "nexusfix/strategy/pipeline.hpp"
#include "nexusfix/strategy/simulated_venue.hpp"

namespace nfx::market {

//   send            the request of an intent that passed the limits; false: it did not leave
//   before, after   called before and after the book applies an event
//   reports         gives the sink what the venue reports by that time; a live venue reports by its session instead
// A venue that derives from FeedPorts sends the requests of the feed's handler too.
template <class V>
concept Venue =
    requires(V& venue, const OrderBook& book, InstrumentIndex index, const Event& event, const strategy::Intent& intent,
             const strategy::OwnOrder& order, UtcTime now, void (&sink)(const strategy::OrderTable::VenueReport&)) {
      { venue.send(intent, order, now) } -> std::same_as<bool>;
      venue.before(book, index, event);
      venue.after(book, index, event);
      venue.reports(now, sink);
    };
static_assert(Venue<strategy::SimulatedVenue>);

struct TraderOptions {
  FixInstrument instrument;
  strategy::RiskLimits risk{};
  strategy::InstrumentLimits limits{};
  std::uint64_t first_number = 1;  // see OrderTableOptions
  // The feed shows each of our orders under its first ClOrdID, and those of others under greater numbers, as the
  // demonstration's venue does: ours are left out of the books. Otherwise the models see them there.
  bool own_orders_by_number = false;
  std::size_t sent_max = 1u << 20;
  BookLimits books{.instruments = 1, .orders = 1u << 20, .levels = 1u << 16};
};

struct SentRequest {
  strategy::OrderNumber number{};
  strategy::Intent intent;
};

template <Venue V, class... Models>
class Trader {
 public:
  static constexpr InstrumentIndex only{0};

  Trader(const TraderOptions& options, V venue, Models... models)
      : own_orders_by_number_(options.own_orders_by_number),
        venue_(std::move(venue)),
        books_({.limits = options.books}),
        handler_({.instruments = {options.instrument}}, *this, ports()),
        pipeline_({.risk = options.risk, .instruments = {options.limits}, .first_number = options.first_number},
                  std::move(models)...) {
    sent_.reserve(options.sent_max);
  }
  Trader(const Trader&) = delete;
  Trader& operator=(const Trader&) = delete;

  // The time of the input that the handler takes next.
  void set_now(Instant now) noexcept { now_ = now; }
  // What the handler calls.
  void event(const Event& event) noexcept {
    const OrderBook book = books_.orders().book(only);
    venue_.before(book, only, event);
    const auto number = std::to_underlying(event.order);
    const bool own = number != 0 && number <= last_own_;
    if (!own) books_.event(event);
    venue_.after(book, only, event);
    venue_.reports(event.receive_time, [this](const auto& each) { report(each); });
    pipeline_.on(book, only, event, handler_.state(), now_,
                 [this](const auto& intent, const auto& order) { return send(intent, order); });
  }
  void report(const strategy::OrderTable::VenueReport& report) noexcept { pipeline_.report(report); }

  [[nodiscard]] FixHandler& handler() noexcept { return handler_; }
  [[nodiscard]] V& venue() noexcept { return venue_; }
  [[nodiscard]] const FeedBooks& books() const noexcept { return books_; }
  [[nodiscard]] strategy::Pipeline<Models...>& pipeline() noexcept { return pipeline_; }
  [[nodiscard]] std::int64_t position() const noexcept { return pipeline_.orders().exposure(only).position; }
  [[nodiscard]] std::span<const SentRequest> sent() const noexcept { return sent_; }

 private:
  [[nodiscard]] FeedPorts& ports() noexcept {
    if constexpr (std::derived_from<V, FeedPorts>) {
      return venue_;
    } else {
      return no_ports_;
    }
  }
  bool send(const strategy::Intent& intent, const strategy::OwnOrder& order) noexcept {
    if (own_orders_by_number_) last_own_ = std::max(last_own_, std::to_underlying(order.request()));
    if (!venue_.send(intent, order, now_.utc)) return false;
    if (sent_.size() < sent_.capacity()) sent_.push_back({order.request(), intent});
    return true;
  }

  bool own_orders_by_number_;
  std::uint64_t last_own_ = 0;
  Instant now_{};
  V venue_;
  NoPorts no_ports_;
  FeedBooks books_;
  FixHandler handler_;
  strategy::Pipeline<Models...> pipeline_;
  std::vector<SentRequest> sent_;
};

// Gives a trader what a live session recorded, at the times of the recording. Errors: those of read_recording(); how
// the recording ended is in the result.
template <class... Models>
[[nodiscard]] RecordingScan backtest(Trader<strategy::SimulatedVenue, Models...>& trader,
                                     const ReadRecordingOptions& recording) {
  return read_recording(recording, [&](const RecordedPacket& packet) {
    if (const auto input = input_of(packet)) {
      trader.set_now({input->at, FeedClock::of(input->at)});
      trader.handler().take(*input);
    }
    return true;
  });
}

}  // namespace nfx::market
