// The book of one name at a crypto venue that never traded, as JSON: numbered depth updates, book tickers, trades, and
// the snapshot that HTTP gives. Books never cross; prices follow a middle that drifts.
// Thread: one owner. Cost: some microseconds a message. The same seed gives the same texts, on every machine.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>

#include "nexusfix/base/time.hpp"
#include "nexusfix/market/feed_books.hpp"

namespace nfx::market {

// "BTCUSDT", "ETHUSDT", ...: the name with this number, from 0 on.
[[nodiscard]] std::string depth_name(std::uint32_t number);

class DepthGenerator {
 public:
  // `levels`: about as many are on each side. `middle`: where prices begin, in cents.
  DepthGenerator(std::string symbol, std::uint64_t seed, std::uint32_t levels = 200, std::int64_t middle = 4'000'000);

  // The next change of the book: {"e":"depthUpdate",...}
  [[nodiscard]] std::string update(UtcTime at);
  // A ticker of the best prices, after changes.
  [[nodiscard]] std::string ticker() const;
  [[nodiscard]] std::string trade(UtcTime at);
  [[nodiscard]] std::string snapshot(std::uint32_t levels) const;

  [[nodiscard]] const std::string& symbol() const noexcept { return symbol_; }
  [[nodiscard]] std::uint64_t last_update() const noexcept { return last_; }
  // The book as events, for its hash: all levels, or the best ones.
  void describe(FeedBooks& books, InstrumentId instrument, bool best_only) const;

 private:
  template <class Compare>
  using Levels = std::map<std::int64_t, std::uint64_t, Compare>;

  [[nodiscard]] std::uint64_t below(std::uint64_t most) { return random_() % most; }
  void change_one(std::string& bids, std::string& asks);

  std::string symbol_;
  std::mt19937_64 random_;
  std::uint32_t levels_;
  std::int64_t middle_;  // in cents
  Levels<std::greater<>> bids_;
  Levels<std::less<>> asks_;
  std::uint64_t last_ = 0;
  std::uint64_t trades_ = 0;
};

}  // namespace nfx::market
