// A model that takes: where one side of the best prices is much larger than the other, the price is about to move
// towards the smaller one, and the model buys or sells there before it does.
//   imbalance  = (bid quantity - ask quantity) / (bid quantity + ask quantity), from -1 to 1
//   microprice = (ask price * bid quantity + bid price * ask quantity) / (bid quantity + ask quantity)
// Thread: one owner. Cost: some integer operations. Exact: numbers are integers, and the microprice is rounded down to
// a billionth. Errors: none.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>

#include "nexusfix/strategy/intent.hpp"

namespace nfx::strategy {

__extension__ using WideNumber = __int128;

// Empty without quantities on both sides.
[[nodiscard]] inline std::optional<Price> microprice(const market::Level& bid, const market::Level& ask) noexcept {
  const WideNumber sum = WideNumber{bid.quantity} + ask.quantity;
  if (sum == 0) return std::nullopt;
  // From the bid up, so that the product fits for any price: the spread is small.
  const WideNumber spread = WideNumber{ask.price.nano} - bid.price.nano;
  return Price{bid.price.nano + static_cast<std::int64_t>(spread * bid.quantity / sum)};
}

// In thousandths: -1000 without a quantity at the best bid, 1000 without one at the best ask.
[[nodiscard]] inline int imbalance(const market::Level& bid, const market::Level& ask) noexcept {
  const WideNumber sum = WideNumber{bid.quantity} + ask.quantity;
  if (sum == 0) return 0;
  return static_cast<int>((WideNumber{bid.quantity} - WideNumber{ask.quantity}) * 1000 / sum);
}

struct MicropriceOptions {
  int imbalance = 800;            // thousandths from which it trades
  Price most_spread{10'000'000};  // only while the spread is at most this
  Quantity quantity = 1;          // of an order
  std::int64_t most_position = 10;
};

class MicropriceModel {
 public:
  explicit MicropriceModel(const MicropriceOptions& options = {}) noexcept : options_(options) {}

  template <ReadableBook Book>
  std::optional<Intent> on(const Book& book, const Event&) noexcept {
    const auto bid = book.best(Side::bid), ask = book.best(Side::ask);
    if (!bid || !ask) return std::nullopt;
    const int now = imbalance(*bid, *ask);
    const bool beyond = std::abs(now) >= options_.imbalance;
    // Once each time that the imbalance comes to be so large.
    if (!beyond) acted_ = false;
    if (!beyond || acted_ || waiting_ || ask->price.nano - bid->price.nano > options_.most_spread.nano) {
      return std::nullopt;
    }
    const Side side = now > 0 ? Side::bid : Side::ask;
    if ((side == Side::bid ? position_ : -position_) >= options_.most_position) return std::nullopt;
    acted_ = waiting_ = true;
    return Intent{.price = side == Side::bid ? ask->price : bid->price,
                  .quantity = options_.quantity,
                  .side = side,
                  .time_in_force = TimeInForce::immediate_or_cancel};
  }

  void report(const Report& report) noexcept {
    if (report.kind == ReportKind::filled) {
      const auto traded = static_cast<std::int64_t>(report.quantity);
      position_ += report.side == Side::bid ? traded : -traded;
    }
    if (report.kind != ReportKind::accepted) waiting_ = report.left != 0;
  }

  [[nodiscard]] std::int64_t position() const noexcept { return position_; }

 private:
  MicropriceOptions options_;
  std::int64_t position_ = 0;
  bool waiting_ = false;  // an order is on its way or open
  bool acted_ = false;    // on this imbalance
};

}  // namespace nfx::strategy
