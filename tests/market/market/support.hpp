// Events in few words, for tests of books and feeds.
#pragma once

#include <cstdint>

#include "nexusfix/market/event.hpp"

namespace nfx::market::test {

[[nodiscard]] inline Event event_of(EventKind kind) {
  Event event;
  event.kind = kind;
  event.flags = event_flag::last;
  return event;
}

struct OrderText {
  std::uint64_t id;
  Side side;
  std::int64_t price;  // in whole units
  Quantity quantity;
};

[[nodiscard]] constexpr Price whole(std::int64_t units) { return {units * 1'000'000'000}; }

[[nodiscard]] inline Event with(EventKind kind, const OrderText& order) {
  Event event = event_of(kind);
  event.order = OrderId{order.id};
  event.side = order.side;
  event.price = whole(order.price);
  event.quantity = order.quantity;
  return event;
}

[[nodiscard]] inline Event add(const OrderText& order) { return with(EventKind::add, order); }
[[nodiscard]] inline Event modify(const OrderText& order) { return with(EventKind::modify, order); }

[[nodiscard]] inline Event cancel(std::uint64_t id, Quantity quantity) {
  Event event = event_of(EventKind::cancel);
  event.order = OrderId{id};
  event.quantity = quantity;
  return event;
}

[[nodiscard]] inline Event remove(std::uint64_t id) {
  Event event = event_of(EventKind::remove);
  event.order = OrderId{id};
  return event;
}

[[nodiscard]] inline Event replace(std::uint64_t id, std::uint64_t other, std::int64_t price, Quantity quantity) {
  Event event = event_of(EventKind::replace);
  event.order = OrderId{id};
  event.other = other;
  event.price = whole(price);
  event.quantity = quantity;
  return event;
}

[[nodiscard]] inline Event level(Side side, std::int64_t price, Quantity quantity, std::uint32_t orders = 0) {
  Event event = event_of(EventKind::level_set);
  event.side = side;
  event.price = whole(price);
  event.quantity = quantity;
  event.other = orders;
  return event;
}

}  // namespace nfx::market::test
