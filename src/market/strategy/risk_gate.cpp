// The checks of an order before it leaves, the cheapest and most general first.
#include "nexusfix/strategy/risk_gate.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "base/call_trace.hpp"

namespace nfx::strategy {
namespace {

__extension__ using Wide = __int128;

}  // namespace

std::string_view to_string(Refusal refusal) noexcept {
  const std::size_t row = std::to_underlying(refusal);
  return row == 0 || row > refusal_rows.size() ? "none" : refusal_rows[row - 1].text;
}

std::string to_text(const RiskCounters& counters) {
  std::string text = std::to_string(counters.orders) + " new, " + std::to_string(counters.replacements) +
                     " replaced, " + std::to_string(counters.cancels) + " canceled";
  for (const RefusalRow& row : refusal_rows) {
    if (const std::uint64_t count = counters.*row.counter; count != 0)
      text += ", " + std::to_string(count) + " refused: " + std::string{row.text};
  }
  if (counters.unknown_fills != 0) text += ", " + std::to_string(counters.unknown_fills) + " fills of unknown orders";
  return text;
}

RiskGate::RiskGate(const RiskLimits& limits, std::vector<InstrumentLimits> instruments)
    : limits_(limits), instruments_(std::move(instruments)), rate_(limits.orders_per_second, limits.burst) {
  const auto check = [](bool good, const std::string& name, auto value, const char* wanted) {
    if (!good) throw std::invalid_argument(name + " is " + std::to_string(value) + "; expected " + wanted);
  };
  check(limits_.max_event_age > Duration::zero(), "RiskLimits::max_event_age", limits_.max_event_age.count(),
        "more than 0 ns");
  for (std::size_t i = 0; i < instruments_.size(); ++i) {
    const InstrumentLimits& each = instruments_[i];
    const std::string name = "InstrumentLimits of instrument " + std::to_string(i) + ": ";
    check(each.tick.nano > 0, name + "tick", each.tick.nano, "more than 0 billionths");
    check(each.collar.nano >= 0, name + "collar", each.collar.nano, "at least 0 billionths");
    check(each.max_position <= INT64_MAX / 2, name + "max_position", each.max_position, "at most 2^62");
    check(each.max_quantity <= INT64_MAX / 4, name + "max_quantity", each.max_quantity, "at most 2^61");
  }
}

void RiskGate::count(Refusal refusal) noexcept {
  NFX_ASSERT(refusal != Refusal::none);
  ++(counters_.*refusal_rows[std::to_underlying(refusal) - 1U].counter);
}

void RiskGate::count_sent(Action action) noexcept {
  switch (action) {
    case Action::place: ++counters_.orders; return;
    case Action::replace: ++counters_.replacements; return;
    case Action::cancel: ++counters_.cancels; return;
  }
}

Refusal RiskGate::check(const Intent& intent, std::uint8_t model, const MarketView& view, const OwnOrders& orders,
                        Instant now) noexcept {
  NFX_TRACE();
  if (intent.slot >= model_slots) return Refusal::malformed;
  const OwnOrder* const open = orders.in_slot(model, intent.slot);
  if (intent.action == Action::place) {
    if (open != nullptr) return Refusal::slot_in_use;
  } else {
    if (open == nullptr) return Refusal::no_such_order;
    if (open->changing()) return Refusal::change_pending;
  }
  if (intent.action == Action::cancel) {
    (void)rate_.take(now.monotonic);
    return Refusal::none;
  }
  if (killed()) return Refusal::killed;
  if (const Refusal refusal = check_market(view, now.utc); refusal != Refusal::none) return refusal;
  const Side side = open == nullptr ? intent.side : open->side;
  if (open != nullptr && open->instrument != intent.instrument) return Refusal::malformed;
  if (const Refusal refusal = check_order(intent, side, view); refusal != Refusal::none) return refusal;
  if (std::to_underlying(intent.instrument) >= orders.instruments()) return Refusal::malformed;
  const Exposure& exposure = orders.exposure(intent.instrument);
  if (const Refusal refusal = check_position(intent, side, open, exposure); refusal != Refusal::none) return refusal;
  if (open == nullptr && orders.full()) return Refusal::too_many_orders;
  return rate_.take(now.monotonic) ? Refusal::none : Refusal::rate;
}

Refusal RiskGate::check_market(const MarketView& view, UtcTime now) const noexcept {
  if (view.feed != market::FeedState::live || (view.flags & market::event_flag::recovering) != 0) return Refusal::gap;
  if (view.book != market::BookState::live) return Refusal::stale_book;
  if (view.status != market::TradingStatus::trading && view.status != market::TradingStatus::unknown)
    return Refusal::not_trading;
  if (now - view.received > limits_.max_event_age) return Refusal::too_old;
  return Refusal::none;
}

Refusal RiskGate::check_order(const Intent& intent, Side side, const MarketView& view) const noexcept {
  if (std::to_underlying(intent.instrument) >= instruments_.size()) return Refusal::malformed;
  if (side == Side::none || !intent.price.defined()) return Refusal::malformed;
  const InstrumentLimits& limits = instruments_[std::to_underlying(intent.instrument)];
  if (intent.price.nano % limits.tick.nano != 0) return Refusal::off_tick;
  if (intent.quantity == 0 || intent.quantity > limits.max_quantity) return Refusal::size;
  if (!view.bid.defined() && !view.ask.defined()) return Refusal::no_reference;
  // Twice the distance from the middle, which may be half a tick.
  const Price bid = view.bid.defined() ? view.bid : view.ask;
  const Price ask = view.ask.defined() ? view.ask : view.bid;
  const Wide twice = Wide{intent.price.nano} * 2 - bid.nano - ask.nano;
  if ((twice < 0 ? -twice : twice) > Wide{limits.collar.nano} * 2) return Refusal::price_collar;
  return Refusal::none;
}

// As if every open order on this side trades, and none on the other.
Refusal RiskGate::check_position(const Intent& intent, Side side, const OwnOrder* replaced,
                                 const Exposure& exposure) const noexcept {
  Quantity more = intent.quantity;
  if (replaced != nullptr) more = intent.quantity > replaced->quantity ? intent.quantity - replaced->quantity : 0;
  const Quantity open = side == Side::bid ? exposure.open_buy : exposure.open_sell;
  const Wide position = side == Side::bid ? Wide{exposure.position} : -Wide{exposure.position};
  const Wide most = position + Wide{open} + Wide{more};
  const auto& limits = instruments_[std::to_underlying(intent.instrument)];
  // A request that adds nothing is never refused: it cannot make the position worse.
  return more != 0 && most > Wide{limits.max_position} ? Refusal::position : Refusal::none;
}

}  // namespace nfx::strategy
