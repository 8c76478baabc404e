// The checks of every order before it leaves: limits on price, size, rate and position, the kill switch, and the
// necessary knowledge of the market. A refusal is a value and a counter; nothing is corrected or held back for later.
// Thread: one owner; kill() and killed() from any thread or a signal handler. Cost: some compares, no allocation. Time
// is an argument. Errors: the constructor throws std::invalid_argument for invalid limits.
//
// A cancel is refused only when there is nothing to cancel: it reduces risk on a stale book and after kill() too. It
// counts towards the rate of the orders after it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/market/feed.hpp"
#include "nexusfix/session/token_bucket.hpp"
#include "nexusfix/strategy/intent.hpp"

namespace nfx::strategy {

// The limits of one instrument.
struct InstrumentLimits {
  Price tick{10'000'000};             // prices are multiples of this: 0.01
  Price collar{1'000'000'000};        // the most that a price may be from the middle of the best prices
  Quantity max_quantity = 100;        // of one order
  std::uint64_t max_position = 1000;  // bought less sold, or the reverse, if every open order trades
};

struct RiskLimits {
  std::uint32_t orders_per_second = 100;  // on average, replacements and cancels counted; 0: no limit
  std::uint32_t burst = 20;               // in one burst
  // Age of an event since its receipt; above it the thread does not keep up with the feed.
  Duration max_event_age{100'000'000};
};

struct RiskCounters {
  std::uint64_t orders = 0;
  std::uint64_t replacements = 0;
  std::uint64_t cancels = 0;
  std::uint64_t killed = 0;
  std::uint64_t gap = 0;
  std::uint64_t stale_book = 0;
  std::uint64_t not_trading = 0;
  std::uint64_t too_old = 0;
  std::uint64_t no_reference = 0;
  std::uint64_t malformed = 0;
  std::uint64_t off_tick = 0;
  std::uint64_t price_collar = 0;
  std::uint64_t size = 0;
  std::uint64_t position = 0;
  std::uint64_t rate = 0;
  std::uint64_t slot_in_use = 0;
  std::uint64_t no_such_order = 0;
  std::uint64_t change_pending = 0;
  std::uint64_t too_many_orders = 0;
  std::uint64_t not_sent = 0;
  std::uint64_t unknown_fills = 0;

  friend bool operator==(const RiskCounters&, const RiskCounters&) = default;
};

// Why an intent is not sent.
enum class Refusal : std::uint8_t {
  none,
  killed,           // kill() was called
  gap,              // the feed is not live, or the event was received after a gap
  stale_book,       // the book may differ from the exchange's
  not_trading,      // the instrument is halted, closed or in an auction
  too_old,          // the event was received more than max_event_age ago
  no_reference,     // no best price on either side to compare with
  malformed,        // no side, a price that is not defined, or an instrument without limits
  off_tick,         // not a multiple of the tick
  price_collar,     // too far from the middle of the best prices
  size,             // no quantity, or too much of it
  position,         // the position could exceed its limit
  rate,             // too many requests
  slot_in_use,      // a new order in a slot that has one
  no_such_order,    // nothing to replace or cancel
  change_pending,   // a replacement or cancel of it is on its way
  too_many_orders,  // the order table is full
  not_sent,         // the session could not send it
};
inline constexpr std::size_t refusals = 18;

struct RefusalRow {
  Refusal refusal;
  std::string_view text;
  std::uint64_t RiskCounters::* counter;
};
inline constexpr std::array<RefusalRow, refusals - 1> refusal_rows{{
    {Refusal::killed, "killed", &RiskCounters::killed},
    {Refusal::gap, "gap", &RiskCounters::gap},
    {Refusal::stale_book, "stale book", &RiskCounters::stale_book},
    {Refusal::not_trading, "not trading", &RiskCounters::not_trading},
    {Refusal::too_old, "event too old", &RiskCounters::too_old},
    {Refusal::no_reference, "no reference price", &RiskCounters::no_reference},
    {Refusal::malformed, "malformed", &RiskCounters::malformed},
    {Refusal::off_tick, "off tick", &RiskCounters::off_tick},
    {Refusal::price_collar, "price collar", &RiskCounters::price_collar},
    {Refusal::size, "size", &RiskCounters::size},
    {Refusal::position, "position", &RiskCounters::position},
    {Refusal::rate, "rate", &RiskCounters::rate},
    {Refusal::slot_in_use, "slot in use", &RiskCounters::slot_in_use},
    {Refusal::no_such_order, "no such order", &RiskCounters::no_such_order},
    {Refusal::change_pending, "change pending", &RiskCounters::change_pending},
    {Refusal::too_many_orders, "too many orders", &RiskCounters::too_many_orders},
    {Refusal::not_sent, "not sent", &RiskCounters::not_sent},
}};
static_assert(
    [] {
      for (std::size_t i = 0; i < refusal_rows.size(); ++i) {
        if (std::to_underlying(refusal_rows[i].refusal) != i + 1) return false;
      }
      return true;
    }(),
    "a row is found by its refusal's value");

[[nodiscard]] std::string_view to_string(Refusal refusal) noexcept;
// "7 new, 2 replaced, 1 canceled, 3 refused: price collar", for people.
[[nodiscard]] std::string to_text(const RiskCounters& counters);

// The known state of the market when an order is to leave.
struct MarketView {
  market::FeedState feed = market::FeedState::waiting;
  market::BookState book = market::BookState::stale;
  market::TradingStatus status = market::TradingStatus::unknown;
  Price bid = Price::undefined();
  Price ask = Price::undefined();
  UtcTime received{};  // the event that the intent answers
  std::uint8_t flags = 0;
};

class RiskGate {
 public:
  // `instruments`: by InstrumentIndex.
  RiskGate(const RiskLimits& limits, std::vector<InstrumentLimits> instruments);

  // Whether the intent may leave now. An intent that passes counts towards the rate; the caller then opens or changes
  // the order.
  [[nodiscard]] Refusal check(const Intent& intent, std::uint8_t model, const MarketView& view, const OwnOrders& orders,
                              Instant now) noexcept;
  void count(Refusal refusal) noexcept;
  void count_sent(Action action) noexcept;

  // Permanent: only a new gate lets orders out again.
  void kill() noexcept { killed_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool killed() const noexcept { return killed_.load(std::memory_order_relaxed); }
  // A fill of an unknown order: the position is not known any more.
  void unknown_fill() noexcept {
    ++counters_.unknown_fills;
    kill();
  }

  [[nodiscard]] const RiskCounters& counters() const noexcept { return counters_; }

 private:
  [[nodiscard]] Refusal check_market(const MarketView& view, UtcTime now) const noexcept;
  [[nodiscard]] Refusal check_order(const Intent& intent, Side side, const MarketView& view) const noexcept;
  [[nodiscard]] Refusal check_position(const Intent& intent, Side side, const OwnOrder* replaced,
                                       const Exposure& exposure) const noexcept;

  RiskLimits limits_;
  std::vector<InstrumentLimits> instruments_;
  TokenBucket rate_;
  RiskCounters counters_;
  std::atomic<bool> killed_{false};
};

}  // namespace nfx::strategy

namespace nfx {

template <>
inline constexpr auto counter_rows<strategy::RiskCounters> = [] {
  using C = strategy::RiskCounters;
  constexpr std::string_view sent = "nfx_orders_sent_total";
  constexpr std::string_view sent_help = "Requests about orders that were sent.";
  constexpr std::string_view refused = "nfx_orders_refused_total";
  constexpr std::string_view refused_help = "Intents that were not sent, by reason.";
  return std::to_array<CounterRow<C>>({
      {&C::orders, sent, sent_help, "action", "place"},
      {&C::replacements, sent, sent_help, "action", "replace"},
      {&C::cancels, sent, sent_help, "action", "cancel"},
      {&C::killed, refused, refused_help, "reason", "killed"},
      {&C::gap, refused, refused_help, "reason", "gap"},
      {&C::stale_book, refused, refused_help, "reason", "stale_book"},
      {&C::not_trading, refused, refused_help, "reason", "not_trading"},
      {&C::too_old, refused, refused_help, "reason", "too_old"},
      {&C::no_reference, refused, refused_help, "reason", "no_reference"},
      {&C::malformed, refused, refused_help, "reason", "malformed"},
      {&C::off_tick, refused, refused_help, "reason", "off_tick"},
      {&C::price_collar, refused, refused_help, "reason", "price_collar"},
      {&C::size, refused, refused_help, "reason", "size"},
      {&C::position, refused, refused_help, "reason", "position"},
      {&C::rate, refused, refused_help, "reason", "rate"},
      {&C::slot_in_use, refused, refused_help, "reason", "slot_in_use"},
      {&C::no_such_order, refused, refused_help, "reason", "no_such_order"},
      {&C::change_pending, refused, refused_help, "reason", "change_pending"},
      {&C::too_many_orders, refused, refused_help, "reason", "too_many_orders"},
      {&C::not_sent, refused, refused_help, "reason", "not_sent"},
      {&C::unknown_fills, "nfx_orders_unknown_fills_total",
       "Fills of orders that are not known; trading ends with the first."},
  });
}();
static_assert(rows_are_complete<strategy::RiskCounters>());

}  // namespace nfx
