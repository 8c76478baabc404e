// What a model wants of the market, and what the venue reports of it. A model is any type with
//   std::optional<Intent> on(const Book& book, const market::Event& event) noexcept
// and, if it wants to know what became of its orders, void report(const Report& report) noexcept.
// A model has at most `model_slots` orders at the same time and names each by a slot of its own.
// Thread: values. Cost: trivially copyable. Errors: none; risk_gate.hpp decides whether an intent becomes an order.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "nexusfix/market/event.hpp"
#include "nexusfix/market/order_book.hpp"

namespace nfx::strategy {

using market::Event;
using market::InstrumentIndex;
using market::Price;
using market::Quantity;
using market::Side;

inline constexpr std::size_t model_slots = 4;
inline constexpr std::size_t max_models = 16;

enum class Action : std::uint8_t {
  place,    // a new order in a slot that has none
  replace,  // another price and quantity for the slot's order
  cancel,   // the slot's order; instrument, price and quantity are not read
};
[[nodiscard]] std::string_view to_string(Action action) noexcept;

enum class TimeInForce : std::uint8_t {
  day,
  immediate_or_cancel,
};

struct Intent {
  Price price{};
  Quantity quantity = 0;  // the order's whole quantity, filled or not
  InstrumentIndex instrument{};
  Action action = Action::place;
  Side side = Side::none;
  TimeInForce time_in_force = TimeInForce::day;
  std::uint8_t slot = 0;
};

// An order's number, and that of each later request about it: ClOrdID(11) as a number. own_orders.hpp makes them.
enum class OrderNumber : std::uint64_t {};

// "4711 replace bid 120020000000 x 10", for people: an intent that was sent, its price in billionths.
[[nodiscard]] std::string to_text(OrderNumber number, const Intent& intent);

enum class ReportKind : std::uint8_t {
  accepted,         // the order is open
  replaced,         // it has the new price and quantity
  filled,           // quantity, price: that much traded; the order is over when nothing is left
  canceled,         // over, also when the venue did so unasked
  rejected,         // over: it was never open
  change_rejected,  // replacement or cancel refused: the order is as it was
  refused,          // not sent, by the risk limits or because the session could not send
};
[[nodiscard]] std::string_view to_string(ReportKind kind) noexcept;

struct Report {
  OrderNumber order{};
  Price price{};          // of the fill; otherwise of the order
  Quantity quantity = 0;  // of the fill; otherwise of the order
  Quantity left = 0;      // open in the order after this
  InstrumentIndex instrument{};
  ReportKind kind{};
  Side side = Side::none;
  Action action = Action::place;  // of what was refused
  std::uint8_t model = 0;
  std::uint8_t slot = 0;
};
static_assert(std::is_trivially_copyable_v<Intent> && std::is_trivially_copyable_v<Report>);

// An order book as models read it: OrderBook, LevelBook, or a test's own.
template <class B>
concept ReadableBook = requires(const B& book, Side side) {
  { book.best(side) } -> std::same_as<std::optional<market::Level>>;
  { book.state() } -> std::same_as<market::BookState>;
  { book.status() } -> std::same_as<market::TradingStatus>;
};

template <class M, class Book>
concept Model = requires(M& model, const Book& book, const Event& event) {
  { model.on(book, event) } noexcept -> std::same_as<std::optional<Intent>>;
};

}  // namespace nfx::strategy
