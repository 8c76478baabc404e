// Models that come with the library: MicropriceModel takes, Quoter makes a market.
//   imbalance  = (bid quantity - ask quantity) / (bid quantity + ask quantity), from -1 to 1
//   microprice = (ask price * bid quantity + bid price * ask quantity) / (bid quantity + ask quantity)
// Thread: one owner. Cost: some integer operations. Exact: numbers are integers, and the microprice is rounded down to
// a billionth. Errors: none; a refused request is tried again with a later event.
#pragma once

#include <algorithm>
#include <array>
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

// Where one side of the best prices is much larger than the other, the price is about to move towards the smaller one,
// and the model buys or sells there before it does.
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

struct QuoterOptions {
  Price tick{10'000'000};
  Price half_spread{20'000'000};
  Price skew{1'000'000};        // for each unit of the position
  Price tolerance{10'000'000};  // a quote so far from where it should be stays
  Quantity quantity = 10;
  std::int64_t most_position = 50;
};

// A bid and an ask around the microprice, moved against the position so that it comes back to zero, and none on the
// side where the position has reached its limit.
//   centre    = microprice - position * skew
//   bid price = centre - half_spread, rounded down to a tick, below the best ask
//   ask price = centre + half_spread, rounded up to a tick, above the best bid
// A quote never meets the one on the other side: that one moves first.
// One request an event: what must go first, then what is wrong by more than `tolerance`, then what is missing.
class Quoter {
 public:
  explicit Quoter(const QuoterOptions& options = {}) noexcept : options_(options) {}

  template <ReadableBook Book>
  std::optional<Intent> on(const Book& book, const Event&) noexcept {
    const auto bid = book.best(Side::bid), ask = book.best(Side::ask);
    const auto fair = bid && ask && bid->price < ask->price ? microprice(*bid, *ask) : std::nullopt;
    std::array<Price, 2> wanted{Price::undefined(), Price::undefined()};
    if (fair) {
      const std::int64_t centre = fair->nano - position_ * options_.skew.nano;
      const std::int64_t tick = options_.tick.nano;
      if (position_ < options_.most_position) {
        wanted[0] = {std::min(floored(centre - options_.half_spread.nano), floored(ask->price.nano - 1))};
      }
      if (-position_ < options_.most_position) {
        wanted[1] = {std::max(floored(centre + options_.half_spread.nano - 1) + tick, floored(bid->price.nano) + tick)};
      }
    }
    for (const Side side : {Side::bid, Side::ask}) {
      const Quote& quote = quotes_[std::to_underlying(side)];
      if (quote.open && !quote.busy && !wanted[std::to_underlying(side)].defined()) return cancel(side);
    }
    for (const Side side : {Side::bid, Side::ask}) {
      const Quote& quote = quotes_[std::to_underlying(side)];
      const Price price = wanted[std::to_underlying(side)];
      if (!price.defined() || quote.busy || !quote.open || meets_other(side, price)) continue;
      const std::int64_t off = quote.price.nano - price.nano;
      if (off > options_.tolerance.nano || -off > options_.tolerance.nano) return request(Action::replace, side, price);
    }
    for (const Side side : {Side::bid, Side::ask}) {
      const Quote& quote = quotes_[std::to_underlying(side)];
      const Price price = wanted[std::to_underlying(side)];
      if (price.defined() && !quote.busy && !quote.open && !meets_other(side, price))
        return request(Action::place, side, price);
    }
    return std::nullopt;
  }

  void report(const Report& report) noexcept {
    Quote& quote = quotes_[report.slot];
    switch (report.kind) {
      case ReportKind::accepted: quote.open = true; break;
      case ReportKind::replaced: quote.price = report.price; break;
      case ReportKind::filled: {
        const auto traded = static_cast<std::int64_t>(report.quantity);
        position_ += report.side == Side::bid ? traded : -traded;
        if (report.left != 0) return;
        break;
      }
      case ReportKind::refused:
        quote.busy = false;
        quote.requested = quote.price;
        return;
      case ReportKind::change_rejected: quote.requested = quote.price; break;
      case ReportKind::canceled:
      case ReportKind::rejected: break;
    }
    quote.busy = false;
    quote.open = report.left != 0;
  }

  [[nodiscard]] std::int64_t position() const noexcept { return position_; }

 private:
  struct Quote {
    Price price;        // as last accepted
    Price requested;    // ... or requested
    bool open = false;  // the venue has it
    bool busy = false;  // a request is on its way
  };

  [[nodiscard]] std::int64_t floored(std::int64_t nano) const noexcept {
    const std::int64_t rest = nano % options_.tick.nano;
    return nano - (rest < 0 ? rest + options_.tick.nano : rest);
  }
  // Whether it would trade with our own quote on the other side, which moves first then.
  [[nodiscard]] bool meets_other(Side side, Price price) const noexcept {
    const Quote& other = quotes_[std::to_underlying(market::opposite(side))];
    if (!other.open && !other.busy) return false;
    return side == Side::bid ? price >= std::min(other.price, other.requested)
                             : price <= std::max(other.price, other.requested);
  }
  Intent request(Action action, Side side, Price price) noexcept {
    Quote& quote = quotes_[std::to_underlying(side)];
    quote.busy = true;
    quote.requested = price;
    if (action == Action::place) quote.price = price;
    return {.price = price,
            .quantity = options_.quantity,
            .action = action,
            .side = side,
            .slot = static_cast<std::uint8_t>(std::to_underlying(side))};
  }
  Intent cancel(Side side) noexcept {
    quotes_[std::to_underlying(side)].busy = true;
    return {.action = Action::cancel, .slot = static_cast<std::uint8_t>(std::to_underlying(side))};
  }

  QuoterOptions options_;
  std::int64_t position_ = 0;
  std::array<Quote, 2> quotes_;  // by Side, which is the slot
};

}  // namespace nfx::strategy
