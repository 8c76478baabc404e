// Market data as every feed gives it to the books: one event, of one fixed size, with exact prices. A feed's parser
// makes events from bytes; books and readers take them. The meaning of a field depends on the kind; the comments of
// EventKind state it.
// Thread: any, plain values. Cost: 64 bytes, trivially copyable. Errors: none; a book checks the events that it takes.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "nexusfix/base/decimal.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx::market {

// A price in billionths: exact for every feed here (ITCH has 4 decimals, DBN 9), from about -9.2e9 to 9.2e9. Spreads
// have negative prices.
struct Price {
  static constexpr unsigned scale = 9;

  std::int64_t nano = 0;

  [[nodiscard]] static constexpr Price undefined() noexcept { return {std::numeric_limits<std::int64_t>::max()}; }
  [[nodiscard]] constexpr bool defined() const noexcept { return nano != undefined().nano; }
  [[nodiscard]] constexpr Decimal decimal() const noexcept { return Decimal{nano, scale}; }
  constexpr auto operator<=>(const Price&) const noexcept = default;
};

// A quantity in the instrument's smallest unit: contracts, shares, or 10^-n of a coin, as the feed defines it.
using Quantity = std::uint64_t;

// An order's number as the exchange gives it. 0 is a number like any other.
enum class OrderId : std::uint64_t {};

// An instrument's number as the feed gives it: DBN's instrument_id, ITCH's stock locate. It may have gaps.
enum class InstrumentId : std::uint32_t {};

// An instrument's place among the books of a feed: 0, 1, 2, ... without gaps.
enum class InstrumentIndex : std::uint32_t {};

enum class Side : std::uint8_t { bid, ask, none };

[[nodiscard]] constexpr Side opposite(Side side) noexcept {
  return side == Side::bid ? Side::ask : side == Side::ask ? Side::bid : Side::none;
}

// The kind of change, and which fields it fills besides the instrument, the times, the sequence number and the flags.
enum class EventKind : std::uint8_t {
  none,     // nothing for the book; the flags count
  add,      // order, side, price, quantity: a new order, last in its queue
  modify,   // order, side, price, quantity: its new values; an order that is not known is added
  replace,  // order, other (its new number), price, quantity: last in its queue under the new number, same side
  cancel,   // order, quantity: that much less; the order is gone when nothing is left
  remove,   // order: gone
  execute,  // order, quantity, other (match number), price if it differs from the order's: traded, that much less
  fill,     // order, quantity, price: traded; what it changes in the book follows as an event of its own
  trade,    // side (the aggressor's), price, quantity, other (match number): no change of the book
  clear,    // the instrument's book is empty
  snapshot_begin,  // the instrument's book is empty and is filled by the events that follow
  snapshot_end,    // it is filled
  level_set,       // side, price, quantity, other (number of orders, 0 if unknown): a level; quantity 0 removes it
  status,          // status: what trading is possible
};
inline constexpr unsigned event_kinds = 14;

[[nodiscard]] std::string_view to_string(EventKind kind) noexcept;
[[nodiscard]] std::string_view to_string(Side side) noexcept;

enum class TradingStatus : std::uint8_t {
  unknown,
  pre_open,      // orders are taken, none match
  auction,       // an uncrossing is under way
  trading,       // continuous
  quoting_only,  // quotes are published, nothing trades
  paused,        // for a short time, by a rule of the exchange
  halted,
  closed,
};

[[nodiscard]] std::string_view to_string(TradingStatus status) noexcept;

// Bits of Event::flags, equal to DBN's bits where DBN has them.
namespace event_flag {
inline constexpr std::uint8_t last = 1 << 7;  // the last event of one change at the exchange: the book is consistent
inline constexpr std::uint8_t top_of_book = 1 << 6;       // from a feed that has no more than the best prices
inline constexpr std::uint8_t snapshot = 1 << 5;          // from a replay of the book, not from trading
inline constexpr std::uint8_t by_level = 1 << 4;          // an aggregate of several orders
inline constexpr std::uint8_t bad_receive_time = 1 << 3;  // the time of receipt is not exact
inline constexpr std::uint8_t recovering = 1 << 2;        // something was lost before; the book may be wrong
inline constexpr std::uint8_t not_printable = 1 << 1;     // an execution that trade statistics leave out
}  // namespace event_flag

//   0        8        16       24       32       40       48       56   60   61   62   63
//   | order  | other  | price  | qty    | event  | receive| seq    | id  |kind|side|flag|stat|
struct Event {
  OrderId order{};
  std::uint64_t other = 0;  // its meaning is the kind's
  Price price = Price::undefined();
  Quantity quantity = 0;
  UtcTime event_time{};    // the exchange's time
  UtcTime receive_time{};  // when it was captured; the exchange's time where the feed has no other
  std::uint64_t sequence = 0;
  InstrumentId instrument{};
  EventKind kind = EventKind::none;
  Side side = Side::none;
  std::uint8_t flags = 0;
  TradingStatus status = TradingStatus::unknown;

  [[nodiscard]] constexpr bool last() const noexcept { return (flags & event_flag::last) != 0; }
  [[nodiscard]] constexpr OrderId other_order() const noexcept { return OrderId{other}; }
};
static_assert(sizeof(Event) == 64 && std::is_trivially_copyable_v<Event>);

}  // namespace nfx::market
