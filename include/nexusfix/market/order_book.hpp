// Order books by order (L3) of all instruments of a feed: every order with its place in the queue of its price.
// OrderBooks takes events; OrderBook shows one instrument's book.
// Thread: one owner. Cost: a few cache lines an event, no system call and no allocation after construction: all memory
// is mapped then and takes pages when it is first used. Errors: an event that does not fit changes nothing, or only
// what it can, and is counted by its reason. The book is then stale until a clear or a snapshot, because it may differ
// from the exchange's. Bounds: BookLimits; an event beyond them does not fit. Construction throws std::system_error
// when memory cannot be mapped.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/memory.hpp"
#include "nexusfix/market/book_indexes.hpp"
#include "nexusfix/market/event.hpp"

namespace nfx::market {

struct BookLimits {
  std::uint32_t instruments = 1;
  std::uint32_t orders = 1u << 22;           // of all books at the same time; at most 2^29
  std::uint32_t levels = 1u << 20;           // of all books at the same time
  std::uint32_t orders_expected = 1u << 15;  // the table of orders grows in steps up to `orders` from here
  std::uint32_t expected_from = 1u << 16;    // orders, and four for each level: with fewer, which the caches of a CPU
                                             // hold, expect() does nothing
  bool orders_unique = false;                // no order number is used by two instruments at the same time
};

enum class BookState : std::uint8_t {
  live,        // every event fitted since the last clear or snapshot
  recovering,  // a snapshot is under way
  stale,       // an event did not fit
};
[[nodiscard]] std::string_view to_string(BookState state) noexcept;

// The outcome of an event. All after `other_kind` make the book stale.
enum class Applied : std::uint8_t {
  done,
  other_kind,          // changes no book by order
  unknown_order,       // a cancel, removal, execution or replacement of an order that the book does not have
  duplicate_order,     // an add with the number of an order that the book has: it takes that order's place
  too_much,            // a cancel or an execution of more than is left: the order is gone
  no_side,             // an order without a side: left out
  too_many_orders,     // left out
  too_many_levels,     // left out
  quantity_too_large,  // the sum of a level would be beyond 64 bits: left out
  unknown_instrument,  // no book has this index
};
inline constexpr std::size_t applied_kinds = 10;
[[nodiscard]] std::string_view to_string(Applied applied) noexcept;

// One price of a side.
struct Level {
  Price price;
  Quantity quantity = 0;
  std::uint32_t orders = 0;

  friend bool operator==(const Level&, const Level&) noexcept = default;
};

struct OrderView {
  OrderId id;
  InstrumentIndex instrument;
  Side side;
  Price price;
  Quantity quantity;

  friend bool operator==(const OrderView&, const OrderView&) noexcept = default;
};

class OrderBook;

class OrderBooks {
 public:
  explicit OrderBooks(const BookLimits& limits);

  // An event of the instrument at `index`; Event::instrument is not read.
  Applied apply(InstrumentIndex index, const Event& event) {
    if (std::to_underlying(index) >= limits_.instruments) [[unlikely]]
      return reject(Applied::unknown_instrument);
    switch (event.kind) {
      case EventKind::add: return add(index, event);
      case EventKind::modify: return modify(index, event);
      case EventKind::replace: return replace(index, event);
      case EventKind::cancel: return reduce(index, event.order, event.quantity);
      case EventKind::execute: return reduce(index, event.order, event.quantity);
      case EventKind::remove: return remove(index, event.order);
      case EventKind::clear:
      case EventKind::snapshot_begin:
      case EventKind::snapshot_end: return restart(index, event.kind);
      case EventKind::status: return set_status(index, event.status);
      case EventKind::none:
      case EventKind::fill:
      case EventKind::trade:
      case EventKind::level_set: break;
    }
    return Applied::other_kind;
  }

  // The probable subject of a later event: starts loading the data that apply() will read and write, each piece when
  // its address is known. Called for the events in their order, some 12 to 16 events before apply(). It changes no
  // book, and an expected event may stay out. Side and price belong to an order that is added; otherwise Side::none.
  void expect(InstrumentIndex index, OrderId id, Side side, Price price) noexcept {
    if (std::to_underlying(index) >= limits_.instruments) [[unlikely]]
      return;
    // A level weighs four orders: it may be the only one of its book.
    if (table_.size() + 4 * std::uint64_t{levels_count_} < limits_.expected_from) return;
    const std::uint32_t now = expected_count_++;
    const auto before = [&](std::uint32_t steps) -> Expected& { return expected_[(now - steps) % expected_.size()]; };
    // The order's neighbours in its queue, or the last order of the queue that a new one joins. And the ladder that an
    // order's level may leave.
    const Expected& third = before(3 * expected_step);
    const Order& order = orders_[third.order];
    __builtin_prefetch(&orders_[order.ahead], 1);
    __builtin_prefetch(&orders_[order.behind], 1);
    __builtin_prefetch(&orders_[levels_[third.level].last], 1);
    const std::uint32_t owner = levels_[order.level].owner;
    __builtin_prefetch(&ladders_[owner >> 1][owner & 1], 1);
    // The level of the order, and the level of a new one if it is among the best.
    Expected& second = before(2 * expected_step);
    second.level = second.ladder->guess(second.key);
    __builtin_prefetch(&levels_[orders_[second.order].level], 1);
    __builtin_prefetch(&levels_[second.level], 1);
    // The order, and the best levels.
    Expected& first = before(expected_step);
    first.order = table_.guess(first.hash);
    __builtin_prefetch(&orders_[first.order], 1);
    first.ladder->prefetch_rest();
    const OrderTable::Hash hash = hash_of(index, id);
    table_.prefetch(hash);
    const std::uint32_t owner_of_new = chosen(side == Side::none, limits_.instruments, std::to_underlying(index));
    const PriceLadder* const ladder = &ladders_[owner_of_new][std::to_underlying(side) & 1];
    __builtin_prefetch(ladder, 1);
    before(0) = {ladder, PriceLadder::key_of(side, price), hash, none, none};
  }

  // An index below instruments(). The book is empty if no event was for it.
  [[nodiscard]] OrderBook book(InstrumentIndex index) const noexcept;
  [[nodiscard]] std::uint32_t instruments() const noexcept { return limits_.instruments; }

  [[nodiscard]] std::optional<OrderView> find(InstrumentIndex index, OrderId id) const noexcept;

  // How many events ended in `applied`, since construction. Those that are done or of another kind are not counted.
  [[nodiscard]] std::uint64_t count(Applied applied) const noexcept { return counts_[std::to_underlying(applied)]; }
  [[nodiscard]] std::uint64_t anomalies() const noexcept;

  [[nodiscard]] std::uint32_t orders() const noexcept { return table_.size(); }
  [[nodiscard]] std::uint32_t orders_most() const noexcept { return orders_most_; }
  [[nodiscard]] std::uint32_t levels() const noexcept { return levels_count_; }
  [[nodiscard]] const BookLimits& limits() const noexcept { return limits_; }

  // Whether the sums, links and indexes of all books agree. For tests: takes time in proportion to the orders.
  [[nodiscard]] bool consistent() const;

 private:
  friend class OrderBook;
  static constexpr std::uint32_t none = 0;  // no order and no level has index 0

  // 32 bytes, so that no order is on two cache lines.
  struct Order {
    std::uint64_t id;
    Quantity quantity;
    std::uint32_t ahead;  // in the queue of the level
    std::uint32_t behind;
    std::uint32_t level;
    std::uint32_t instrument;
  };
  static_assert(sizeof(Order) == 32);

  struct LevelRecord {
    Price price;
    Quantity quantity;
    std::uint32_t first;  // of the queue
    std::uint32_t last;
    std::uint32_t orders;
    std::uint32_t owner;  // the instrument's index, and the side in the lowest bit
  };
  static_assert(sizeof(LevelRecord) == 32);

  using Ladders = std::array<PriceLadder, 2>;  // by Side
  // Zeros at first.
  struct Condition {
    BookState state;
    TradingStatus status;
  };
  static_assert(std::to_underlying(BookState::live) == 0 && std::to_underlying(TradingStatus::unknown) == 0);

  [[nodiscard]] OrderTable::Hash hash_of(InstrumentIndex index, OrderId id) const noexcept {
    return OrderTable::hash_of(std::to_underlying(id), std::to_underlying(index) * salt_);
  }
  [[nodiscard]] OrderTable::Place find_order(OrderTable::Hash hash, InstrumentIndex index, OrderId id) const noexcept {
    return table_.find(hash, [&](std::uint32_t order) {
      return orders_[order].id == std::to_underlying(id) && orders_[order].instrument == std::to_underlying(index);
    });
  }

  Applied add(InstrumentIndex index, const Event& event);
  Applied modify(InstrumentIndex index, const Event& event);
  Applied replace(InstrumentIndex index, const Event& event);
  Applied reduce(InstrumentIndex index, OrderId id, Quantity quantity);
  Applied remove(InstrumentIndex index, OrderId id);
  Applied restart(InstrumentIndex index, EventKind kind);
  Applied set_status(InstrumentIndex index, TradingStatus status) noexcept;

  struct NewOrder {
    InstrumentIndex index;
    OrderId id;
    Side side;
    Price price;
    Quantity quantity;
  };
  // Inlined into what apply() calls: a call of each would cost as much as its work.
  [[gnu::always_inline]] inline Applied insert(const NewOrder& wanted, OrderTable::Hash hash, OrderTable::Place place);
  [[gnu::always_inline]] inline std::uint32_t take_level(const NewOrder& wanted);
  [[gnu::always_inline]] inline bool append(std::uint32_t order, std::uint32_t level) noexcept;
  [[gnu::always_inline]] inline void unlink(std::uint32_t order);
  [[gnu::always_inline]] inline void erase(OrderTable::Place place);
  [[gnu::always_inline]] inline void free_level(std::uint32_t level) noexcept;
  [[gnu::always_inline]] inline void free_order(std::uint32_t order) noexcept;
  // By value: the order stays in registers where these are not called.
  Applied move(OrderTable::Place place, NewOrder wanted);
  [[gnu::cold, gnu::noinline]] Applied add_known(NewOrder wanted, OrderTable::Hash hash, OrderTable::Place place);
  void clear(InstrumentIndex index);

  [[gnu::cold, gnu::noinline]] Applied reject(Applied reason) noexcept;
  [[gnu::cold, gnu::noinline]] Applied reject(Applied reason, InstrumentIndex index) noexcept;

  // State of expect().
  struct Expected {
    const PriceLadder* ladder;
    PriceLadder::Key key;
    OrderTable::Hash hash;
    std::uint32_t order;  // guesses
    std::uint32_t level;
  };
  static constexpr std::uint32_t expected_step = 4;

  // `one` or `other`, never by a branch: for what cannot be predicted.
  [[nodiscard]] static constexpr std::uint32_t chosen(bool first, std::uint32_t one, std::uint32_t other) noexcept {
    return other ^ ((one ^ other) & (std::uint32_t{0} - std::uint32_t{first}));
  }

  BookLimits limits_;
  std::uint64_t salt_;
  OrderTable table_;
  PageArray<Order> orders_;
  PageArray<LevelRecord> levels_;
  // The first free record. Each has the next one in `behind` or `first`; none: the one after it, never used so far.
  std::uint32_t orders_free_ = 1;
  std::uint32_t levels_free_ = 1;
  std::uint32_t orders_most_ = 0;
  std::uint32_t levels_count_ = 0;
  std::unique_ptr<LadderMemory> ladder_memory_;  // whose address the trees have
  PageArray<Ladders> ladders_;                   // by index; the last ones have no levels
  PageArray<Condition> conditions_;              // by index
  std::array<std::uint64_t, applied_kinds> counts_{};
  std::array<Expected, 16> expected_{};
  std::uint32_t expected_count_ = 0;
};

// One instrument's book. Lifetime: borrows its OrderBooks.
class OrderBook {
 public:
  OrderBook(const OrderBooks& books, InstrumentIndex index) noexcept : books_(&books), index_(index) {
    NFX_ASSERT(std::to_underlying(index) < books.instruments());
  }

  [[nodiscard]] std::optional<Level> best(Side side) const noexcept {
    const std::uint32_t level = ladder(side).best();
    if (level == OrderBooks::none) return std::nullopt;
    return level_at(level);
  }

  // Fills `out` from the best level on and returns how many there are in it.
  std::size_t levels(Side side, std::span<Level> out) const noexcept;
  [[nodiscard]] std::optional<Level> level(Side side, Price price) const noexcept;
  [[nodiscard]] std::uint32_t level_count(Side side) const noexcept { return ladder(side).size(); }
  [[nodiscard]] std::uint32_t orders() const noexcept;  // takes time in proportion to the levels

  // The orders at a price, the first in the queue first: fills `out` and returns how many there are in it.
  std::size_t queue(Side side, Price price, std::span<OrderView> out) const noexcept;
  [[nodiscard]] std::optional<OrderView> find(OrderId id) const noexcept { return books_->find(index_, id); }

  // Calls with the OrderView of each order: bids, then asks, each from the best price on, in the order of their queues.
  template <class Call>
  void for_each_order(Call&& call) const {
    for (const Side side : {Side::bid, Side::ask}) {
      ladder(side).for_each([&](std::uint32_t level) {
        const OrderBooks::LevelRecord& queue = books_->levels_[level];
        for (std::uint32_t order = queue.first; order != OrderBooks::none; order = books_->orders_[order].behind) {
          const OrderBooks::Order& record = books_->orders_[order];
          call(OrderView{OrderId{record.id}, index_, side, queue.price, record.quantity});
        }
        return true;
      });
    }
  }

  [[nodiscard]] BookState state() const noexcept { return condition().state; }
  [[nodiscard]] TradingStatus status() const noexcept { return condition().status; }

  // Whether the best bid is not below the best ask, which only auctions and halts allow.
  [[nodiscard]] bool crossed() const noexcept;

  // A hash of the content alone: levels, and orders in the order of their queues. The same on every machine and in
  // every run.
  [[nodiscard]] std::uint64_t hash() const noexcept;

 private:
  [[nodiscard]] const OrderBooks::Condition& condition() const noexcept {
    return books_->conditions_[std::to_underlying(index_)];
  }
  [[nodiscard]] const PriceLadder& ladder(Side side) const noexcept {
    NFX_ASSERT(side != Side::none);
    return books_->ladders_[std::to_underlying(index_)][std::to_underlying(side)];
  }
  [[nodiscard]] Level level_at(std::uint32_t level) const noexcept {
    const OrderBooks::LevelRecord& record = books_->levels_[level];
    return {record.price, record.quantity, record.orders};
  }

  const OrderBooks* books_;
  InstrumentIndex index_;
};

inline OrderBook OrderBooks::book(InstrumentIndex index) const noexcept { return OrderBook{*this, index}; }

// The order book of one instrument of a feed by level (L2): the quantity and number of orders at each price, of all
// prices or of the best ones. Thread: one owner. Cost: a scan of the best prices, no allocation after construction.
// Errors: as OrderBooks; an event that does not fit is counted and makes the book stale. Bounds: `depth` levels a side.
// A level beyond them is left out or pushes the worst one out, which is counted. A bounded book does not get back a
// level that it pushed out. So a feed with a bounded depth needs a book of that depth, and a full book needs a depth
// that is never reached.
class LevelBook {
 public:
  explicit LevelBook(std::uint32_t depth);
  // Its ladders refer to its own memory.
  LevelBook(const LevelBook&) = delete;
  LevelBook& operator=(const LevelBook&) = delete;

  // Takes level_set, clear, snapshot_begin, snapshot_end and status; other kinds change nothing.
  Applied apply(const Event& event);

  [[nodiscard]] std::optional<Level> best(Side side) const noexcept;
  // Fills `out` from the best level on and returns how many there are in it.
  std::size_t levels(Side side, std::span<Level> out) const noexcept;
  [[nodiscard]] std::optional<Level> level(Side side, Price price) const noexcept;
  [[nodiscard]] std::uint32_t level_count(Side side) const noexcept { return ladder(side).size(); }

  [[nodiscard]] BookState state() const noexcept { return state_; }
  [[nodiscard]] TradingStatus status() const noexcept { return status_; }
  [[nodiscard]] bool crossed() const noexcept;
  // A hash of the levels alone, as OrderBook::hash().
  [[nodiscard]] std::uint64_t hash() const noexcept;

  [[nodiscard]] std::uint32_t depth() const noexcept { return depth_; }
  [[nodiscard]] std::uint64_t pushed_out() const noexcept { return pushed_out_; }  // levels beyond the depth
  [[nodiscard]] std::uint64_t anomalies() const noexcept { return anomalies_; }    // events that did not fit

 private:
  [[nodiscard]] const PriceLadder& ladder(Side side) const noexcept {
    NFX_ASSERT(side != Side::none);
    return ladders_[std::to_underlying(side)];
  }
  Applied set(const Event& event);
  void erase(Side side, PriceLadder::Key key, std::uint32_t level);
  [[gnu::cold, gnu::noinline]] Applied reject(Applied reason) noexcept;

  std::uint32_t depth_;
  LadderMemory memory_;
  std::array<PriceLadder, 2> ladders_{};  // by Side
  PageArray<Level> levels_;               // from 1 on; a free one has the next free one in `orders`
  std::uint32_t used_ = 0;
  std::uint32_t free_ = PriceLadder::none;
  BookState state_ = BookState::live;
  TradingStatus status_ = TradingStatus::unknown;
  std::uint64_t pushed_out_ = 0;
  std::uint64_t anomalies_ = 0;
};

// The books by level of a feed's instruments, with what OrderBooks has for them.
class LevelBooks {
 public:
  LevelBooks(std::uint32_t instruments, std::uint32_t depth) {
    for (std::uint32_t i = 0; i < instruments; ++i) books_.push_back(std::make_unique<LevelBook>(depth));
  }
  // An index below instruments().
  Applied apply(InstrumentIndex index, const Event& event) { return books_[std::to_underlying(index)]->apply(event); }
  [[nodiscard]] const LevelBook& book(InstrumentIndex index) const noexcept {
    return *books_[std::to_underlying(index)];
  }
  [[nodiscard]] std::uint32_t instruments() const noexcept { return static_cast<std::uint32_t>(books_.size()); }
  [[nodiscard]] std::uint64_t anomalies() const noexcept {
    std::uint64_t sum = 0;
    for (const auto& each : books_) sum += each->anomalies();
    return sum;
  }

 private:
  std::vector<std::unique_ptr<LevelBook>> books_;
};

}  // namespace nfx::market
