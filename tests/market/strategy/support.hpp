// A market and limits in few words, for tests of models and orders.
#pragma once

#include <optional>

#include "nexusfix/strategy/pipeline.hpp"

namespace nfx::strategy::test {

using namespace std::chrono_literals;

// In hundredths.
[[nodiscard]] constexpr Price cents(std::int64_t n) { return {n * 10'000'000}; }
[[nodiscard]] constexpr Instant at(Duration since) { return {UtcTime{since}, MonotonicTime{since}}; }

struct TestBook {
  std::optional<market::Level> bid = market::Level{cents(10000), 10, 1};
  std::optional<market::Level> ask = market::Level{cents(10002), 10, 1};
  market::BookState is = market::BookState::live;
  market::TradingStatus trading = market::TradingStatus::trading;

  [[nodiscard]] std::optional<market::Level> best(Side side) const { return side == Side::bid ? bid : ask; }
  [[nodiscard]] market::BookState state() const { return is; }
  [[nodiscard]] market::TradingStatus status() const { return trading; }
};

[[nodiscard]] inline Event tick(Duration received = 1s) {
  Event event;
  event.flags = market::event_flag::last;
  event.receive_time = UtcTime{received};
  return event;
}

// Wants what the test put there, once.
struct Scripted {
  std::optional<Intent>* next;
  std::vector<Report>* reports = nullptr;
  template <class Book>
  std::optional<Intent> on(const Book&, const Event&) noexcept {
    return std::exchange(*next, std::nullopt);
  }
  void report(const Report& report) noexcept {
    if (reports != nullptr) reports->push_back(report);
  }
};

[[nodiscard]] inline Intent buy(std::int64_t price_cents, Quantity quantity, std::uint8_t slot = 0) {
  return {.price = cents(price_cents), .quantity = quantity, .side = Side::bid, .slot = slot};
}
[[nodiscard]] inline Intent sell(std::int64_t price_cents, Quantity quantity, std::uint8_t slot = 0) {
  return {.price = cents(price_cents), .quantity = quantity, .side = Side::ask, .slot = slot};
}

}  // namespace nfx::strategy::test
