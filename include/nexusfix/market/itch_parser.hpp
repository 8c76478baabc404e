// ITCH messages to events: what the books need of them, and the directory of stocks.
// Thread: one owner. Cost: a few nanoseconds a message; no allocation after the parser is made. Lifetime: an event is a
// value; a View borrows the message. Errors: a message of an unknown type or a wrong length gives no event, is counted,
// and is the result.
//
// The sink is called with an Event, and also with the View of each message of a type that it takes. That is how those
// without an event are read: imbalances, market makers, price collars, broken trades.
//
//   ITCH     event
//   A F      add
//   E        execute at the order's price; `other` is the match number
//   C        execute with a price; not_printable unless the message is marked as printable
//   X D      cancel, remove
//   U        replace: the order is last in the queue of its new price, under its new number, also if the price is equal
//   P        trade; no side: ITCH does not have it
//   Q        trade of the cross's shares; none when nothing crossed
//   H h      status of the stock, both taken together
//   S W      status without an instrument: the whole market
// Other types give no event. A broken trade changes no book: the execution took its shares off, and they stay off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "nexusfix/base/time.hpp"
#include "nexusfix/market/event.hpp"
#include "nexusfix/market/itch.hpp"
#include "nexusfix/market/itch_counters.hpp"
#include "nexusfix/market/itch_directory.hpp"

namespace nfx::market {

// Four decimals, as the messages have them.
[[nodiscard]] constexpr Price itch_price(std::uint32_t ten_thousandths) noexcept {
  return {std::int64_t{ten_thousandths} * 100'000};
}

// What is not in the message.
struct ItchReceipt {
  std::uint64_t sequence = 0;
  UtcTime received{};      // none: the event's own time
  std::uint8_t flags = 0;  // more flags of the events
};

class ItchParser {
 public:
  // Midnight in New York, at which the times of the messages begin.
  explicit ItchParser(UtcTime midnight) : midnight_(midnight) {}

  // One message without its length. The sink is called before it returns.
  template <class Sink>
  [[gnu::always_inline]] itch::ParseStatus message(std::span<const std::byte> bytes, const ItchReceipt& receipt,
                                                   Sink&& sink);

  [[nodiscard]] const ItchDirectory& directory() const noexcept { return directory_; }
  [[nodiscard]] const ItchCounters& counters() const noexcept { return counters_; }
  // Forgets the directory: another session gives out its own locate codes.
  void clear() noexcept { directory_.clear(); }

 private:
  template <class Sink>
  struct Handler;

  [[gnu::cold, gnu::noinline]] void count(itch::ParseStatus status) noexcept;

  UtcTime midnight_;
  ItchDirectory directory_;
  ItchCounters counters_;
};

// What each type of message gives.
template <class Sink>
struct ItchParser::Handler {
  ItchParser& parser;
  const ItchReceipt& receipt;
  Sink& sink;

  template <class M>
  static constexpr bool gives_event =
      std::is_same_v<M, itch::AddOrder> || std::is_same_v<M, itch::AddOrderAttributed> ||
      std::is_same_v<M, itch::OrderExecuted> || std::is_same_v<M, itch::OrderExecutedWithPrice> ||
      std::is_same_v<M, itch::OrderCancel> || std::is_same_v<M, itch::OrderDelete> ||
      std::is_same_v<M, itch::OrderReplace> || std::is_same_v<M, itch::Trade> || std::is_same_v<M, itch::CrossTrade> ||
      std::is_same_v<M, itch::TradingAction> || std::is_same_v<M, itch::OperationalHalt> ||
      std::is_same_v<M, itch::SystemEvent> || std::is_same_v<M, itch::MarketWideStatus> ||
      std::is_same_v<M, itch::StockDirectory>;

  template <class M>
    requires(gives_event<M> || std::is_invocable_v<Sink&, itch::View<M>>)
  [[gnu::always_inline]] void operator()(itch::View<M> message) const {
    if constexpr (std::is_invocable_v<Sink&, itch::View<M>>) sink(message);
    if constexpr (gives_event<M>) event_of(message);
  }

  template <class M>
  [[gnu::always_inline]] Event begin(itch::View<M> message, EventKind kind) const {
    Event event;
    event.event_time = parser.midnight_ + Duration{static_cast<std::int64_t>(message[itch::Header::time])};
    event.receive_time = receipt.received == UtcTime{} ? event.event_time : receipt.received;
    event.sequence = receipt.sequence;
    event.instrument = InstrumentId{message[itch::Header::locate]};
    event.kind = kind;
    event.flags = static_cast<std::uint8_t>(receipt.flags | event_flag::last);
    return event;
  }

  template <class M>
  [[gnu::always_inline]] void add(itch::View<M> message) const {
    Event event = begin(message, EventKind::add);
    const char side = message[M::side];
    if (side != 'B' && side != 'S') [[unlikely]] {
      ++parser.counters_.wrong_side;
      return;
    }
    event.order = OrderId{message[M::order]};
    event.side = side == 'B' ? Side::bid : Side::ask;
    event.quantity = message[M::shares];
    event.price = itch_price(message[M::price]);
    sink(std::as_const(event));
  }
  [[gnu::always_inline]] void event_of(itch::View<itch::AddOrder> message) const { add(message); }
  [[gnu::always_inline]] void event_of(itch::View<itch::AddOrderAttributed> message) const { add(message); }

  [[gnu::always_inline]] void event_of(itch::View<itch::OrderExecuted> message) const {
    using M = itch::OrderExecuted;
    Event event = begin(message, EventKind::execute);
    event.order = OrderId{message[M::order]};
    event.quantity = message[M::shares];
    event.other = message[M::match];
    sink(std::as_const(event));
  }
  [[gnu::always_inline]] void event_of(itch::View<itch::OrderExecutedWithPrice> message) const {
    using M = itch::OrderExecutedWithPrice;
    Event event = begin(message, EventKind::execute);
    event.order = OrderId{message[M::order]};
    event.quantity = message[M::shares];
    event.other = message[M::match];
    event.price = itch_price(message[M::price]);
    if (message[M::printable] != 'Y') event.flags |= event_flag::not_printable;
    sink(std::as_const(event));
  }
  [[gnu::always_inline]] void event_of(itch::View<itch::OrderCancel> message) const {
    Event event = begin(message, EventKind::cancel);
    event.order = OrderId{message[itch::OrderCancel::order]};
    event.quantity = message[itch::OrderCancel::shares];
    sink(std::as_const(event));
  }
  [[gnu::always_inline]] void event_of(itch::View<itch::OrderDelete> message) const {
    Event event = begin(message, EventKind::remove);
    event.order = OrderId{message[itch::OrderDelete::order]};
    sink(std::as_const(event));
  }
  [[gnu::always_inline]] void event_of(itch::View<itch::OrderReplace> message) const {
    using M = itch::OrderReplace;
    Event event = begin(message, EventKind::replace);
    event.order = OrderId{message[M::order]};
    event.other = message[M::new_order];
    event.quantity = message[M::shares];
    event.price = itch_price(message[M::price]);
    sink(std::as_const(event));
  }
  void event_of(itch::View<itch::Trade> message) const {
    using M = itch::Trade;
    Event event = begin(message, EventKind::trade);
    event.order = OrderId{message[M::order]};
    event.quantity = message[M::shares];
    event.other = message[M::match];
    event.price = itch_price(message[M::price]);
    sink(std::as_const(event));
  }
  void event_of(itch::View<itch::CrossTrade> message) const {
    using M = itch::CrossTrade;
    if (message[M::shares] == 0) return;
    Event event = begin(message, EventKind::trade);
    event.quantity = message[M::shares];
    event.other = message[M::match];
    event.price = itch_price(message[M::price]);
    sink(std::as_const(event));
  }
  void event_of(itch::View<itch::StockDirectory> message) const { parser.directory_.add(message); }
  void event_of(itch::View<itch::TradingAction> message) const { status(message, parser.directory_.update(message)); }
  void event_of(itch::View<itch::OperationalHalt> message) const { status(message, parser.directory_.update(message)); }
  void event_of(itch::View<itch::MarketWideStatus> message) const { status(message, TradingStatus::halted); }
  void event_of(itch::View<itch::SystemEvent> message) const {
    switch (message[itch::SystemEvent::event]) {
      case 'O':
      case 'S': return status(message, TradingStatus::pre_open);
      case 'Q': return status(message, TradingStatus::trading);
      case 'E':
      case 'C': return status(message, TradingStatus::closed);
      default: return;  // M, the end of market hours: trading continues after hours
    }
  }
  template <class M>
  void status(itch::View<M> message, TradingStatus status) const {
    Event event = begin(message, EventKind::status);
    event.status = status;
    sink(std::as_const(event));
  }
};

template <class Sink>
inline itch::ParseStatus ItchParser::message(std::span<const std::byte> bytes, const ItchReceipt& receipt,
                                             Sink&& sink) {
  using Plain = std::remove_reference_t<Sink>;
  static_assert(std::is_invocable_v<Plain&, const Event&>);
  const itch::ParseStatus status = itch::dispatch(bytes, Handler<Plain>{*this, receipt, sink});
  if (status != itch::ParseStatus::ok) [[unlikely]]
    count(status);
  return status;
}

}  // namespace nfx::market
