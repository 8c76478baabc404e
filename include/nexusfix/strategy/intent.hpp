// A model's intents, the venue's reports about them, and our orders that are open or under way.
// A model is any type with
//   std::optional<Intent> on(const Book& book, const market::Event& event) noexcept
// and, if it wants to know the results of its orders, void report(const Report& report) noexcept.
// A model has at most `model_slots` orders at the same time and names each by a slot of its own.
// Thread: intents and reports are values, trivially copyable; OwnOrders has one owner. Units: prices are billionths,
// quantities the instrument's smallest unit. Cost: a call of OwnOrders touches a few cache lines and does not allocate
// after construction. Errors: risk_gate.hpp decides whether an intent becomes an order; a report of an order that is
// not here is counted and changes nothing; the constructor of OwnOrders throws std::invalid_argument. Bounds: `orders`
// at the same time, at most max_orders: open() is not called when it is full().
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "nexusfix/base/assert.hpp"
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

// The number of an order, or of a later request about it: ClOrdID(11) as a number. OwnOrders makes them.
enum class OrderNumber : std::uint64_t {};

// "4711 replace bid 120020000000 x 10", for people: an intent that was sent, its price in billionths.
[[nodiscard]] std::string to_text(OrderNumber number, const Intent& intent);

enum class ReportKind : std::uint8_t {
  accepted,         // the order is open
  replaced,         // it has the new price and quantity
  filled,           // quantity, price: that much traded; the order is over when nothing is left
  canceled,         // over, also when the venue did so unasked
  rejected,         // over: it was never open
  change_rejected,  // replacement or cancel refused: the order is unchanged
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

struct OwnOrdersOptions {
  std::uint32_t instruments = 1;
  std::uint32_t orders = 256;      // at the same time
  std::uint64_t first_number = 1;  // greater than any of before, where the venue remembers them
};

// The possible effect of an order on the position of its instrument.
struct Exposure {
  std::int64_t position = 0;  // bought less sold
  Quantity open_buy = 0;      // of all open orders, the larger quantity where a replacement is on its way
  Quantity open_sell = 0;
};

struct OwnOrder {
  OrderNumber number{};  // by which the venue knows it
  OrderNumber change{};  // of the replacement or cancel that is on its way; 0: none
  Price price{};
  Price new_price{};  // of that replacement
  Quantity quantity = 0;
  Quantity new_quantity = 0;
  Quantity filled = 0;
  InstrumentIndex instrument{};
  Side side = Side::none;
  std::uint8_t model = 0;
  std::uint8_t slot = 0;
  bool in_use = false;
  bool accepted = false;   // the venue has confirmed it
  bool canceling = false;  // `change` is a cancel

  [[nodiscard]] bool changing() const noexcept { return change != OrderNumber{}; }
  // The number of the last request about the order, as sent.
  [[nodiscard]] OrderNumber request() const noexcept { return changing() ? change : number; }
  // The quantity that may still trade.
  [[nodiscard]] Quantity exposed() const noexcept {
    const Quantity most = changing() && !canceling && new_quantity > quantity ? new_quantity : quantity;
    return most > filled ? most - filled : 0;
  }
};

// Our own orders, and the totals of orders and fills for each instrument. Numbers ascend by one from first_number, but
// skip numbers that would share a cell with one in use: a number is found by its lowest bits, without a search.
class OwnOrders {
 public:
  static constexpr std::uint32_t max_orders = 4096;

  explicit OwnOrders(const OwnOrdersOptions& options);

  // The order of a model's slot; null: it has none.
  [[nodiscard]] const OwnOrder* in_slot(std::uint8_t model, std::uint8_t slot) const noexcept {
    const std::uint32_t entry = slots_[place(model, slot)];
    return entry == none ? nullptr : &orders_[entry];
  }
  [[nodiscard]] const Exposure& exposure(InstrumentIndex instrument) const noexcept {
    NFX_ASSERT(std::to_underlying(instrument) < exposures_.size());
    return exposures_[std::to_underlying(instrument)];
  }
  [[nodiscard]] std::uint32_t instruments() const noexcept { return static_cast<std::uint32_t>(exposures_.size()); }
  [[nodiscard]] std::uint32_t open_orders() const noexcept { return open_; }
  [[nodiscard]] bool full() const noexcept { return free_.empty(); }
  // By entry; entries that are not in_use are free.
  [[nodiscard]] std::span<const OwnOrder> entries() const noexcept { return orders_; }

  // A new order. The slot has none, and the table is not full().
  const OwnOrder& open(const Intent& intent, std::uint8_t model);
  // A replacement or a cancel of the slot's order, which has none on its way. Its number is OwnOrder::change.
  const OwnOrder& change(const Intent& intent, std::uint8_t model);
  // The last open() or change() of this order was not sent.
  void take_back(OrderNumber number) noexcept;

  // The venue's report about a number of an order or of its change. Returns it as the models see it. Nothing: the
  // number is unknown, or cannot be in that state.
  struct VenueReport {
    OrderNumber number{};
    ReportKind kind{};
    Price price{};          // of a fill
    Quantity quantity = 0;  // of a fill
  };
  std::optional<Report> apply(const VenueReport& report) noexcept;

  [[nodiscard]] std::uint64_t unknown_reports() const noexcept { return unknown_; }

 private:
  static constexpr std::uint32_t none = 0xFFFF'FFFF;

  [[nodiscard]] static std::size_t place(std::uint8_t model, std::uint8_t slot) noexcept {
    NFX_ASSERT(model < max_models && slot < model_slots);
    return model * model_slots + slot;
  }
  [[nodiscard]] OrderNumber next_number(std::uint32_t entry) noexcept;
  [[nodiscard]] OwnOrder* find(OrderNumber number) noexcept;
  void expose(const OwnOrder& order, bool add) noexcept;
  void free(OwnOrder& order) noexcept;

  std::vector<OwnOrder> orders_;
  std::vector<std::uint32_t> free_;
  std::vector<Exposure> exposures_;
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(max_models * model_slots, none);
  std::vector<std::uint32_t> cells_;  // entries by the lowest bits of their ClOrdIDs; at least four for each order
  std::uint64_t next_;
  std::uint32_t open_ = 0;
  std::uint64_t unknown_ = 0;
};

}  // namespace nfx::strategy
