// Own orders by number and by slot, and their sums for each instrument.
#include "nexusfix/strategy/intent.hpp"

#include <bit>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/call_trace.hpp"

namespace nfx::strategy {

OwnOrders::OwnOrders(const OwnOrdersOptions& options) : next_(options.first_number) {
  const auto check = [](bool good, const std::string& name, std::uint64_t value, const std::string& expected) {
    if (!good)
      throw std::invalid_argument("OwnOrdersOptions::" + name + " is " + std::to_string(value) + "; expected " +
                                  expected);
  };
  check(options.orders >= 1 && options.orders <= max_orders, "orders", options.orders,
        "1 to " + std::to_string(max_orders));
  check(options.instruments >= 1, "instruments", 0, "at least 1");
  check(options.first_number >= 1, "first_number", 0, "at least 1");
  orders_.resize(options.orders);
  exposures_.resize(options.instruments);
  cells_.resize(std::bit_ceil(options.orders * 4), none);
  for (std::uint32_t entry = options.orders; entry-- > 0;) free_.push_back(entry);
}

// At most two numbers of each order are in use, so that one of the next cells is free.
OrderNumber OwnOrders::next_number(std::uint32_t entry) noexcept {
  const std::uint64_t mask = cells_.size() - 1;
  const auto in_use = [&](std::uint64_t cell) {
    const std::uint32_t there = cells_[cell];
    if (there == none || !orders_[there].in_use) return false;
    const OwnOrder& order = orders_[there];
    return (std::to_underlying(order.number) & mask) == cell ||
           (order.changing() && (std::to_underlying(order.change) & mask) == cell);
  };
  while (in_use(next_ & mask)) ++next_;
  cells_[next_ & mask] = entry;
  return OrderNumber{next_++};
}

void OwnOrders::expose(const OwnOrder& order, bool add) noexcept {
  Exposure& sum = exposures_[std::to_underlying(order.instrument)];
  Quantity& open = order.side == Side::bid ? sum.open_buy : sum.open_sell;
  NFX_ASSERT(add || open >= order.exposed());
  open = add ? open + order.exposed() : open - order.exposed();
}

const OwnOrder& OwnOrders::open(const Intent& intent, std::uint8_t model) {
  NFX_TRACE();
  NFX_ASSERT(!full() && slots_[place(model, intent.slot)] == none);
  NFX_ASSERT(intent.action == Action::place && intent.side != Side::none);
  NFX_ASSERT(std::to_underlying(intent.instrument) < exposures_.size());
  const std::uint32_t entry = free_.back();
  free_.pop_back();
  OwnOrder& order = orders_[entry];
  order = {.number = next_number(entry),
           .price = intent.price,
           .new_price = intent.price,
           .quantity = intent.quantity,
           .instrument = intent.instrument,
           .side = intent.side,
           .model = model,
           .slot = intent.slot,
           .in_use = true};
  slots_[place(model, intent.slot)] = entry;
  ++open_;
  expose(order, true);
  return order;
}

const OwnOrder& OwnOrders::change(const Intent& intent, std::uint8_t model) {
  const std::uint32_t entry = slots_[place(model, intent.slot)];
  NFX_ASSERT(entry != none && intent.action != Action::place);
  OwnOrder& order = orders_[entry];
  NFX_ASSERT(!order.changing());
  expose(order, false);
  order.change = next_number(entry);
  order.canceling = intent.action == Action::cancel;
  order.new_price = order.canceling ? order.price : intent.price;
  order.new_quantity = order.canceling ? order.quantity : intent.quantity;
  expose(order, true);
  return order;
}

void OwnOrders::take_back(OrderNumber number) noexcept {
  OwnOrder* const order = find(number);
  NFX_ASSERT(order != nullptr);
  if (number == order->number) return free(*order);
  expose(*order, false);
  order->change = {};
  order->canceling = false;
  expose(*order, true);
}

OwnOrder* OwnOrders::find(OrderNumber number) noexcept {
  const std::uint32_t entry = cells_[std::to_underlying(number) & (cells_.size() - 1)];
  if (entry == none || number == OrderNumber{}) return nullptr;
  OwnOrder& order = orders_[entry];
  return order.in_use && (order.number == number || order.change == number) ? &order : nullptr;
}

void OwnOrders::free(OwnOrder& order) noexcept {
  NFX_ASSERT(order.in_use && open_ > 0);
  expose(order, false);
  slots_[place(order.model, order.slot)] = none;
  order.in_use = false;
  --open_;
  free_.push_back(static_cast<std::uint32_t>(&order - orders_.data()));
}

std::optional<Report> OwnOrders::apply(const VenueReport& report) noexcept {
  OwnOrder* const found = find(report.number);
  if (found == nullptr) {
    ++unknown_;
    return std::nullopt;
  }
  OwnOrder& order = *found;
  const bool of_change = report.number != order.number;
  Report result{.order = order.number,
                .price = order.price,
                .quantity = order.quantity,
                .instrument = order.instrument,
                .kind = report.kind,
                .side = order.side,
                .model = order.model,
                .slot = order.slot};
  bool over = false;
  switch (report.kind) {
    case ReportKind::accepted: order.accepted = true; break;
    case ReportKind::replaced:
      if (!of_change || order.canceling) return ++unknown_, std::nullopt;
      expose(order, false);
      order.number = std::exchange(order.change, OrderNumber{});
      order.price = result.price = order.new_price;
      order.quantity = result.quantity = order.new_quantity;
      expose(order, true);
      over = order.filled >= order.quantity;
      break;
    case ReportKind::filled: {
      expose(order, false);
      order.filled += report.quantity;
      order.accepted = true;
      expose(order, true);
      const auto traded = static_cast<std::int64_t>(report.quantity);
      exposures_[std::to_underlying(order.instrument)].position += order.side == Side::bid ? traded : -traded;
      result.price = report.price;
      result.quantity = report.quantity;
      // A replacement that is on its way may make more of it.
      over = order.filled >= order.quantity && order.exposed() == 0;
      break;
    }
    case ReportKind::canceled: over = true; break;
    case ReportKind::rejected:
    case ReportKind::change_rejected:
    case ReportKind::refused:
      over = !of_change;
      if (over) break;
      result.kind = ReportKind::change_rejected;
      take_back(report.number);
      over = order.filled >= order.quantity;
      break;
  }
  result.order = order.number;
  result.left = over || order.filled >= order.quantity ? 0 : order.quantity - order.filled;
  if (over) free(order);
  return result;
}

}  // namespace nfx::strategy
