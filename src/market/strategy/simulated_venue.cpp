// Requests that arrive, queues that shorten, and prices that cross our orders.
#include "nexusfix/strategy/simulated_venue.hpp"

#include <algorithm>
#include <array>
#include <utility>

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

void SimulatedVenue::report(UtcTime at, const OwnOrders::VenueReport& report) {
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
      if (const auto order = book.find(event.order)) {
        traded(index, {order->side, order->price, event.quantity, event.order}, event.event_time);
        reduced(index, *order, event.quantity);
      }
      return;
    case EventKind::cancel:
      if (const auto order = book.find(event.order)) canceled(book, index, *order, event.quantity);
      return;
    case EventKind::remove:
    case EventKind::replace:
      if (const auto order = book.find(event.order)) canceled(book, index, *order, order->quantity);
      return;
    case EventKind::modify:
      if (const auto order = book.find(event.order)) {
        const bool stays = order->price == event.price && event.quantity <= order->quantity;
        const Quantity gone = stays ? order->quantity - event.quantity : order->quantity;
        if (gone != 0) canceled(book, index, *order, gone);
      }
      return;
    case EventKind::fill:
      // The feed sends a cancel of the same quantity next, which the queue models count too.
      traded(index, {event.side, event.price, event.quantity, event.order}, event.event_time);
      return;
    case EventKind::trade:
      if (options_.fills_by_trade)
        traded(index, {market::opposite(event.side), event.price, event.quantity}, event.event_time);
      return;
    case EventKind::none:
    case EventKind::add:
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
    if (options_.queue == QueueModel::by_order) continue;
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
  place(book, std::move(order), request.arrives, TimeInForce::day);
}

void SimulatedVenue::place(const market::OrderBook& book, Resting order, UtcTime at, TimeInForce time_in_force) {
  take(book, order, at);
  if (order.left() == 0) return;
  if (time_in_force == TimeInForce::immediate_or_cancel)
    return report(at, {.number = order.number, .kind = ReportKind::canceled});
  const auto level = book.level(order.side, order.price);
  order.ahead = level ? level->quantity : 0;
  order.before.clear();
  if (level && options_.queue == QueueModel::by_order) {
    order.before.resize(level->orders);
    order.before.resize(book.queue(order.side, order.price, order.before));
  }
  resting_.push_back(std::move(order));
}

// Takes the other side's quantity at our price or better.
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

// Our order at a better price would have traded before it, and one at its price if it was not before us.
void SimulatedVenue::traded(InstrumentIndex index, const Trade& trade, UtcTime at) {
  const bool by_order = options_.queue == QueueModel::by_order;
  for (Resting& order : resting_) {
    if (order.instrument != index || order.side != trade.side) continue;
    if (order.price != trade.price) {
      if (crosses(order.side, order.price, trade.price)) fill(order, order.price, order.left(), at);
      continue;
    }
    Quantity ahead = order.ahead;
    if (by_order && trade.order)
      ahead = std::ranges::find(order.before, *trade.order, &OrderView::id) == order.before.end() ? 0 : trade.quantity;
    const Quantity beyond = trade.quantity > ahead ? trade.quantity - ahead : 0;
    if (!by_order) order.ahead -= std::min(order.ahead, trade.quantity);
    if (beyond != 0) fill(order, order.price, std::min(beyond, order.left()), at);
  }
  drop_filled();
}

// An order ahead of ours was reduced by this quantity.
void SimulatedVenue::reduced(InstrumentIndex index, const OrderView& changed, Quantity quantity) noexcept {
  for (Resting& order : resting_) {
    if (order.instrument != index || order.side != changed.side || order.price != changed.price) continue;
    const auto found = std::ranges::find(order.before, changed.id, &OrderView::id);
    if (found == order.before.end()) continue;
    const Quantity less = std::min(quantity, found->quantity);
    order.ahead -= less;
    found->quantity -= less;
    if (found->quantity == 0) order.before.erase(found);
  }
}

void SimulatedVenue::canceled(const market::OrderBook& book, InstrumentIndex index, const OrderView& canceled_order,
                              Quantity quantity) {
  switch (options_.queue) {
    case QueueModel::risk_averse: return;
    case QueueModel::by_order: return reduced(index, canceled_order, quantity);
    case QueueModel::proportional: break;
  }
  const auto level = book.level(canceled_order.side, canceled_order.price);
  if (!level || level->quantity == 0) return;
  for (Resting& order : resting_) {
    if (order.instrument != index || order.side != canceled_order.side || order.price != canceled_order.price) continue;
    const auto share = static_cast<Quantity>(Wide{quantity} * order.ahead / level->quantity);
    order.ahead -= std::min(order.ahead, share);
  }
}

}  // namespace nfx::strategy
