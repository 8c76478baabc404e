// A market maker for one instrument of a venue that publishes its books by FIX: the same program live, where its
// session takes market data and orders, and on a recording, where a simulated venue takes them.
#pragma once

#include <nexusfix/live/fix_session_trader.hpp>
#include <nexusfix/live/replay.hpp>
#include <nexusfix/strategy/pipeline.hpp>
#include <nexusfix/strategy/quoter.hpp>
#include <nexusfix/strategy/simulated_venue.hpp>

#include <functional>
#include <vector>

// The feed's handler, a book without our own orders, a quoter, its limits, and what was sent.
class Maker {
 public:
  Maker(const std::string& symbol, nfx::market::FeedPorts& ports) : handler({.instruments = {{symbol}}}, *this, ports) {
    sent.reserve(1u << 20);
  }

  void event(const nfx::market::Event& event) noexcept {
    // At this venue an order's number is its first ClOrdID, and those of others are greater.
    const bool own = event.order != nfx::market::OrderId{} && std::to_underlying(event.order) <= last_;
    const auto apply = [&] { own ? void() : books.event(event); };
    const auto report = [this](const auto& each) { pipeline.report(each); };
    venue ? venue->event(books.orders(), only, event, apply, report) : apply();
    pipeline.on(books.orders().book(only), only, event, handler.state(), *now,
                [this](const auto& intent, const auto& order) {
                  last_ = std::max(last_, std::to_underlying(order.request()));
                  return send(intent, order) && (sent.push_back({order.request(), intent}), true);
                });
  }

  static constexpr nfx::market::InstrumentIndex only{0};
  nfx::market::FeedBooks books{{.limits = {.instruments = 1, .orders = 1u << 20, .levels = 1u << 16}}};
  nfx::market::FixHandler handler;
  nfx::strategy::Pipeline<nfx::strategy::Quoter> pipeline{
      {.risk = {.orders_per_second = 1000, .burst = 1000, .max_event_age = std::chrono::seconds{1}},
       .instruments = {{.tick = {10'000'000}, .collar = {1'000'000'000}, .max_position = 100}}},
      nfx::strategy::Quoter{{.half_spread = {20'000'000}, .quantity = 10, .most_position = 50}}};
  const nfx::Instant* now = nullptr;  // the time of the input under way
  std::function<bool(const nfx::strategy::Intent&, const nfx::strategy::OwnOrder&)> send;
  std::optional<nfx::strategy::SimulatedVenue> venue;  // in a backtest
  std::vector<std::pair<nfx::strategy::OrderNumber, nfx::strategy::Intent>> sent;

 private:
  std::uint64_t last_ = 0;  // of the ClOrdIDs sent
};

// What was recorded live, through the same handler.
inline nfx::market::RecordingScan backtest(Maker& maker, const nfx::market::ReadRecordingOptions& recording,
                                           const nfx::strategy::SimulatedVenueOptions& options) {
  nfx::Instant now;
  auto& venue = maker.venue.emplace(options);
  maker.now = &now;
  maker.send = [&](const auto& intent, const auto& order) { return venue.send(intent, order, now.utc); };
  return nfx::market::replay(recording, maker.handler, now);
}
