// A strategy for one instrument of a venue that publishes its books by FIX: connects the feed's handler, the books, the
// models, their risk limits and their orders. It runs on a Venue: the one of trade(), a FIX session of an engine that
// has market data and orders; or the simulated one, to which backtest() gives what a live session recorded.
// Thread: one owner, live the session's poll thread; it sets the time before each input. Cost: that of FixHandler,
// FeedBooks and Pipeline; an order is that of OrderMessages and a system call; no allocation after construction, except
// by the simulated venue. Lifetime: trader and recorder outlive the application. Errors: counters and states of the
// parts; send() is false for what did not leave. Bounds: sent() has the first `sent_max` requests; the counters of the
// risk gate have all.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/live/fix_handler.hpp"
#include "nexusfix/market/feed_books.hpp"
#include "nexusfix/recording/recording.hpp"
#include "nexusfix/strategy/intent.hpp"
#include "nexusfix/strategy/order_messages.hpp"
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
             const strategy::OwnOrder& order, UtcTime now, void (&sink)(const strategy::OwnOrders::VenueReport&)) {
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
  std::uint64_t first_number = 1;  // see OwnOrdersOptions
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
  void report(const strategy::OwnOrders::VenueReport& report) noexcept { pipeline_.report(report); }

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

class FixSessionVenue final : public FixSessionPorts {
 public:
  explicit FixSessionVenue(const strategy::OrderMessageOptions& orders) : messages_(orders) {}

  using FixSessionPorts::send;
  // False: the session is not logged on, has no space, or the order does not fit its template.
  bool send(const strategy::Intent& intent, const strategy::OwnOrder& order, UtcTime now) noexcept;
  void before(const OrderBook&, InstrumentIndex, const Event&) noexcept {}
  void after(const OrderBook&, InstrumentIndex, const Event&) noexcept {}
  void reports(UtcTime, auto&&) noexcept {}

 private:
  strategy::OrderMessages messages_;
};
static_assert(Venue<FixSessionVenue>);

// The application of the engine.
template <class... Models>
class FixSessionTrader final : public FixSessionFeed {
 public:
  // `recorder` may be null; it gets the market data.
  FixSessionTrader(Trader<FixSessionVenue, Models...>& trader, Recorder* recorder)
      : FixSessionFeed({}, trader.venue(), trader.handler(), trader.books(), recorder), trader_(trader) {}

  Handled on_message(SessionHandle& session, const MessageView& message) override {
    trader_.set_now(session.now());
    const auto report = strategy::read_report(message);
    if (!report) return FixSessionFeed::on_message(session, message);
    trader_.report(*report);
    return Handled::done;
  }
  Duration on_turn(Instant now) override {
    trader_.set_now(now);
    return FixSessionFeed::on_turn(now);
  }

 private:
  Trader<FixSessionVenue, Models...>& trader_;
};

// Runs an engine with this application and space for snapshots until SIGINT or SIGTERM. Throws ConfigError if the
// configuration has not exactly one session, and what Engine throws.
void run_session(FixSessionFeed& application, EngineConfig config);

// Trades by the configuration's session until SIGINT or SIGTERM. What it receives is recorded in the folder
// `recording`, for backtest(), unless that is empty. Throws as run_session() and RecordingThread do.
template <class... Models>
void trade(Trader<FixSessionVenue, Models...>& trader, EngineConfig config, const std::string& recording = {}) {
  std::optional<RecordingThread> recorder;
  if (!recording.empty()) recorder.emplace(RecorderOptions{.folder = recording});
  FixSessionTrader application{trader, recorder ? &recorder->recorder() : nullptr};
  run_session(application, std::move(config));
}

}  // namespace nfx::market
