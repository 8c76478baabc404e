// Requests that arrive, queues that shorten, and prices that cross our orders.
#include "nexusfix/strategy/simulated_venue.hpp"

#include <algorithm>
#include <array>

#include "nexusfix/base/assert.hpp"

namespace nfx::strategy {
namespace {

using market::EventKind;
using market::Level;
using market::OrderView;

__extension__ using Wide = __int128;

constexpr std::size_t levels_taken = 16;  // at most, by one order

// Whether an order of this side at `price` trades with the other side's `best`.
bool crosses(Side side, Price price, Price best) noexcept { return side == Side::bid ? price >= best : price <= best; }

}  // namespace

bool SimulatedVenue::send(const Intent& intent, const OwnOrder& order, UtcTime now) {
  const UtcTime arrives = now + options_.to_venue;
  NFX_ASSERT(requests_.empty() || requests_.back().arrives <= arrives);  // the time of a recording does not go back
  requests_.push_back(
      {.arrives = arrives, .intent = intent, .number = order.number, .change = order.change, .side = order.side});
  requests_.back().intent.instrument = order.instrument;
  return true;
}

void SimulatedVenue::report(UtcTime at, const OrderTable::VenueReport& report) {
  const UtcTime due = at + options_.from_venue;
  // Requests wait for an event of their instrument, and what comes then is not before what was reported.
  reports_.push_back({reports_.empty() ? due : std::max(due, reports_.back().due), report});
}

std::vector<SimulatedVenue::Resting>::iterator SimulatedVenue::find(OrderNumber number) noexcept {
  return std::ranges::find(resting_, number, &Resting::number);
}

void SimulatedVenue::before(const market::OrderBook& book, InstrumentIndex index, const Event& event) {
  for (auto request = requests_.begin(); request != requests_.end() && request->arrives <= event.event_time;) {
    if (request->intent.instrument != index) {
      ++request;
      continue;
    }
    const Request arrived = *request;
    request = requests_.erase(request);
    handle(book, arrived);
  }
  if (resting_.empty()) return;
  switch (event.kind) {
    case EventKind::execute:
      if (const auto order = book.find(event.order))
        traded(index, order->side, order->price, event.quantity, event.event_time);
      return;
    case EventKind::cancel:
      if (const auto order = book.find(event.order)) canceled(book, index, *order, event.quantity);
      return;
    case EventKind::remove:
    case EventKind::replace:
      if (const auto order = book.find(event.order)) canceled(book, index, *order, order->quantity);
      return;
    case EventKind::modify:
      if (const auto order = book.find(event.order); order && event.quantity < order->quantity)
        canceled(book, index, *order, order->quantity - event.quantity);
      return;
    case EventKind::fill:
      // The feed sends a cancel of the same quantity next, which the proportional model counts too.
      traded(index, event.side, event.price, event.quantity, event.event_time);
      return;
    case EventKind::none:
    case EventKind::add:
    case EventKind::trade:
    case EventKind::clear:
    case EventKind::snapshot_begin:
    case EventKind::snapshot_end:
    case EventKind::level_set:
    case EventKind::status: return;
  }
}

void SimulatedVenue::after(const market::OrderBook& book, InstrumentIndex index, const Event& event) {
  if (resting_.empty() || !event.last()) return;
  for (Resting& order : resting_) {
    if (order.instrument != index) continue;
    const auto other = book.best(market::opposite(order.side));
    if (other && crosses(order.side, order.price, other->price))
      fill(order, order.price, order.left(), event.event_time);
    const auto level = book.level(order.side, order.price);
    order.ahead = std::min(order.ahead, level ? level->quantity : 0);
  }
  drop_filled();
}

void SimulatedVenue::handle(const market::OrderBook& book, const Request& request) {
  const Intent& intent = request.intent;
  if (intent.action == Action::place) {
    report(request.arrives, {.number = request.number, .kind = ReportKind::accepted});
    return place(book,
                 {.number = request.number,
                  .instrument = intent.instrument,
                  .side = request.side,
                  .price = intent.price,
                  .quantity = intent.quantity},
                 request.arrives, intent.time_in_force);
  }
  const auto found = find(request.number);
  const bool possible = found != resting_.end() && (intent.action == Action::cancel || intent.quantity > found->filled);
  if (!possible) return report(request.arrives, {.number = request.change, .kind = ReportKind::change_rejected});
  if (intent.action == Action::cancel) {
    resting_.erase(found);
    return report(request.arrives, {.number = request.change, .kind = ReportKind::canceled});
  }
  Resting order = *found;
  report(request.arrives, {.number = request.change, .kind = ReportKind::replaced});
  // Less at the same price stays where it is.
  if (intent.price == order.price && intent.quantity <= order.quantity) {
    found->number = request.change;
    found->quantity = intent.quantity;
    return;
  }
  resting_.erase(found);
  order.number = request.change;
  order.price = intent.price;
  order.quantity = intent.quantity;
  place(book, order, request.arrives, TimeInForce::day);
}

void SimulatedVenue::place(const market::OrderBook& book, Resting order, UtcTime at, TimeInForce time_in_force) {
  take(book, order, at);
  if (order.left() == 0) return;
  if (time_in_force == TimeInForce::immediate_or_cancel)
    return report(at, {.number = order.number, .kind = ReportKind::canceled});
  const auto level = book.level(order.side, order.price);
  order.ahead = level ? level->quantity : 0;
  resting_.push_back(order);
}

// What the other side has at our price or better.
void SimulatedVenue::take(const market::OrderBook& book, Resting& order, UtcTime at) {
  std::array<Level, levels_taken> levels;
  const std::size_t count = book.levels(market::opposite(order.side), levels);
  for (std::size_t i = 0; i < count && order.left() != 0; ++i) {
    if (!crosses(order.side, order.price, levels[i].price)) return;
    fill(order, levels[i].price, std::min(order.left(), levels[i].quantity), at);
  }
}

void SimulatedVenue::fill(Resting& order, Price price, Quantity quantity, UtcTime at) {
  NFX_ASSERT(quantity != 0 && quantity <= order.left());
  order.filled += quantity;
  report(at, {.number = order.number, .kind = ReportKind::filled, .price = price, .quantity = quantity});
}

// An order of this side traded: those at a better price would have traded before it, those at its price by the queue.
void SimulatedVenue::traded(InstrumentIndex index, Side side, Price price, Quantity quantity, UtcTime at) {
  for (Resting& order : resting_) {
    if (order.instrument != index || order.side != side) continue;
    if (order.price != price) {
      if (crosses(side, order.price, price)) fill(order, order.price, order.left(), at);
      continue;
    }
    const Quantity beyond = quantity > order.ahead ? quantity - order.ahead : 0;
    order.ahead -= std::min(order.ahead, quantity);
    if (beyond != 0) fill(order, order.price, std::min(beyond, order.left()), at);
  }
  drop_filled();
}

void SimulatedVenue::canceled(const market::OrderBook& book, InstrumentIndex index, const OrderView& canceled_order,
                              Quantity quantity) {
  if (options_.queue == QueueModel::risk_averse) return;
  const auto level = book.level(canceled_order.side, canceled_order.price);
  if (!level || level->quantity == 0) return;
  for (Resting& order : resting_) {
    if (order.instrument != index || order.side != canceled_order.side || order.price != canceled_order.price) continue;
    const auto share = static_cast<Quantity>(Wide{quantity} * order.ahead / level->quantity);
    order.ahead -= std::min(order.ahead, share);
  }
}

}  // namespace nfx::strategy
