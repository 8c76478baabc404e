// What events do to books by order.
#include "nexusfix/market/order_book.hpp"

#include <algorithm>

#include "market/content_hash.hpp"

namespace nfx::market {

std::string_view to_string(BookState state) noexcept {
  switch (state) {
    case BookState::live: return "live";
    case BookState::recovering: return "recovering";
    case BookState::stale: return "stale";
  }
  return "unknown";
}

std::string_view to_string(Applied applied) noexcept {
  switch (applied) {
    case Applied::done: return "done";
    case Applied::other_kind: return "other_kind";
    case Applied::unknown_order: return "unknown_order";
    case Applied::duplicate_order: return "duplicate_order";
    case Applied::too_much: return "too_much";
    case Applied::no_side: return "no_side";
    case Applied::too_many_orders: return "too_many_orders";
    case Applied::too_many_levels: return "too_many_levels";
    case Applied::quantity_too_large: return "quantity_too_large";
    case Applied::unknown_instrument: return "unknown_instrument";
  }
  return "unknown";
}

OrderBooks::OrderBooks(const BookLimits& limits)
    : limits_(limits),
      salt_(limits.orders_unique ? 0 : 0xD6E8FEB86659FD93),
      table_(limits.orders, limits.orders_expected),
      orders_(map_array<Order>(std::size_t{limits.orders} + 1, "orders; lower the number of orders")),
      levels_(map_array<LevelRecord>(std::size_t{limits.levels} + 1, "price levels; lower the number of levels")),
      nodes_(std::make_unique<LadderNodes>(limits.levels)),
      unused_(*nodes_) {
  NFX_REQUIRE(limits.instruments <= 1u << 30);
  books_.reserve(limits.instruments);
}

bool OrderBooks::add_books(InstrumentIndex index) noexcept {
  if (std::to_underlying(index) >= limits_.instruments) return false;
  while (books_.size() <= std::to_underlying(index)) books_.emplace_back(*nodes_);
  return true;
}

Applied OrderBooks::reject(Applied reason) noexcept {
  ++counts_[std::to_underlying(reason)];
  return reason;
}

Applied OrderBooks::reject(Applied reason, InstrumentIndex index) noexcept {
  books_[std::to_underlying(index)].state = BookState::stale;
  return reject(reason);
}

std::uint64_t OrderBooks::anomalies() const noexcept {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts_) sum += count;
  return sum;
}

Applied OrderBooks::add(InstrumentIndex index, const Event& event) {
  const OrderTable::Hash hash = hash_of(index, event.order);
  const NewOrder wanted{index, event.order, event.side, event.price, event.quantity};
  const std::uint32_t known = find_order(hash, index, event.order);
  if (known != none) [[unlikely]] {
    if (event.side == Side::none) return reject(Applied::no_side, index);
    erase(known, hash);
    const Applied inserted = insert(wanted, hash);
    return inserted == Applied::done ? reject(Applied::duplicate_order, index) : inserted;
  }
  return insert(wanted, hash);
}

Applied OrderBooks::modify(InstrumentIndex index, const Event& event) {
  const OrderTable::Hash hash = hash_of(index, event.order);
  const NewOrder wanted{index, event.order, event.side, event.price, event.quantity};
  const std::uint32_t order = find_order(hash, index, event.order);
  if (order == none) return insert(wanted, hash);
  if (event.side == Side::none) [[unlikely]]
    return reject(Applied::no_side, index);
  Order& record = orders_[order];
  LevelRecord& level = levels_[record.level];
  if (level.price == wanted.price && (level.owner & 1) == std::to_underlying(wanted.side) &&
      wanted.quantity <= record.quantity) {
    level.quantity -= record.quantity - wanted.quantity;
    record.quantity = wanted.quantity;
    return Applied::done;
  }
  return move(order, wanted);
}

// To the end of another queue, or of its own.
Applied OrderBooks::move(std::uint32_t order, const NewOrder& wanted) {
  const OrderTable::Hash hash = hash_of(wanted.index, wanted.id);
  unlink(order);
  const std::uint32_t level = take_level(wanted);
  orders_[order].quantity = wanted.quantity;
  if (level != none && append(order, level)) [[likely]]
    return Applied::done;
  --books_[std::to_underlying(wanted.index)].orders;
  table_.erase(hash, order);
  free_order(order);
  return reject(level == none ? Applied::too_many_levels : Applied::quantity_too_large, wanted.index);
}

Applied OrderBooks::replace(InstrumentIndex index, const Event& event) {
  const OrderTable::Hash old_hash = hash_of(index, event.order);
  const std::uint32_t old = find_order(old_hash, index, event.order);
  if (old == none) [[unlikely]]
    return reject(Applied::unknown_order, index);
  const auto side = static_cast<Side>(levels_[orders_[old].level].owner & 1);
  erase(old, old_hash);
  const OrderTable::Hash hash = hash_of(index, event.other_order());
  const std::uint32_t known = find_order(hash, index, event.other_order());
  if (known != none) [[unlikely]]
    erase(known, hash);
  const Applied inserted = insert({index, event.other_order(), side, event.price, event.quantity}, hash);
  if (known != none && inserted == Applied::done) [[unlikely]]
    return reject(Applied::duplicate_order, index);
  return inserted;
}

Applied OrderBooks::reduce(InstrumentIndex index, OrderId id, Quantity quantity) {
  const OrderTable::Hash hash = hash_of(index, id);
  const std::uint32_t order = find_order(hash, index, id);
  if (order == none) [[unlikely]]
    return reject(Applied::unknown_order, index);
  Order& record = orders_[order];
  if (quantity < record.quantity) {
    record.quantity -= quantity;
    levels_[record.level].quantity -= quantity;
    return Applied::done;
  }
  const bool too_much = quantity > record.quantity;
  erase(order, hash);
  return too_much ? reject(Applied::too_much, index) : Applied::done;
}

Applied OrderBooks::remove(InstrumentIndex index, OrderId id) {
  const OrderTable::Hash hash = hash_of(index, id);
  const std::uint32_t order = find_order(hash, index, id);
  if (order == none) [[unlikely]]
    return reject(Applied::unknown_order, index);
  erase(order, hash);
  return Applied::done;
}

Applied OrderBooks::restart(InstrumentIndex index, EventKind kind) {
  Sides& book = books_[std::to_underlying(index)];
  if (kind == EventKind::snapshot_end) {
    // A snapshot that did not fit leaves the book stale.
    if (book.state == BookState::recovering) book.state = BookState::live;
    return Applied::done;
  }
  clear(index);
  book.state = kind == EventKind::clear ? BookState::live : BookState::recovering;
  return Applied::done;
}

Applied OrderBooks::set_status(InstrumentIndex index, TradingStatus status) noexcept {
  books_[std::to_underlying(index)].status = status;
  return Applied::done;
}

Applied OrderBooks::insert(const NewOrder& wanted, OrderTable::Hash hash) {
  if (wanted.side == Side::none) [[unlikely]]
    return reject(Applied::no_side, wanted.index);
  std::uint32_t order = orders_free_;
  if (order == none && orders_used_ == limits_.orders) [[unlikely]] {
    return reject(Applied::too_many_orders, wanted.index);
  }
  const std::uint32_t level = take_level(wanted);
  if (level == none) [[unlikely]]
    return reject(Applied::too_many_levels, wanted.index);
  if (order == none) {
    order = ++orders_used_;
  } else {
    orders_free_ = orders_[order].behind;
  }
  Order& record = orders_[order];
  record.id = std::to_underlying(wanted.id);
  record.quantity = wanted.quantity;
  record.instrument = std::to_underlying(wanted.index);
  if (!append(order, level)) [[unlikely]] {
    free_order(order);
    return reject(Applied::quantity_too_large, wanted.index);
  }
  table_.insert(hash, order);
  ++books_[std::to_underlying(wanted.index)].orders;
  if (table_.size() > orders_most_) orders_most_ = table_.size();
  return Applied::done;
}

// The level of this price, made if there is none yet; none if there are too many.
std::uint32_t OrderBooks::take_level(const NewOrder& wanted) {
  PriceLadder& ladder = books_[std::to_underlying(wanted.index)].ladders[std::to_underlying(wanted.side)];
  const PriceLadder::Key key = PriceLadder::key_of(wanted.side, wanted.price);
  const std::uint32_t known = ladder.find(key);
  if (known != none) return known;
  std::uint32_t level = levels_free_;
  if (level != none) {
    levels_free_ = levels_[level].first;
    --levels_free_count_;
  } else {
    if (levels_used_ == limits_.levels) [[unlikely]]
      return none;
    level = ++levels_used_;
  }
  levels_[level] = {wanted.price, 0, none,
                    none,         0, std::to_underlying(wanted.index) << 1 | std::to_underlying(wanted.side)};
  ladder.insert(key, level);
  return level;
}

// Last in the level's queue. False: its quantity is too large for the sum of the level.
bool OrderBooks::append(std::uint32_t order, std::uint32_t level) noexcept {
  Order& record = orders_[order];
  LevelRecord& queue = levels_[level];
  if (__builtin_add_overflow(queue.quantity, record.quantity, &queue.quantity)) [[unlikely]] {
    queue.quantity -= record.quantity;
    return false;  // the level has orders, so it stays
  }
  record.level = level;
  record.ahead = queue.last;
  record.behind = none;
  (queue.last == none ? queue.first : orders_[queue.last].behind) = order;
  queue.last = order;
  ++queue.orders;
  return true;
}

// Out of its queue; the level goes with its last order.
void OrderBooks::unlink(std::uint32_t order) {
  const Order& record = orders_[order];
  const std::uint32_t level = record.level;
  LevelRecord& queue = levels_[level];
  NFX_ASSERT(queue.orders != 0 && queue.quantity >= record.quantity);
  if (--queue.orders == 0) {
    NFX_ASSERT(queue.quantity == record.quantity && queue.first == order && queue.last == order);
    const auto side = static_cast<Side>(queue.owner & 1);
    books_[queue.owner >> 1].ladders[queue.owner & 1].erase(PriceLadder::key_of(side, queue.price));
    free_level(level);
    return;
  }
  queue.quantity -= record.quantity;
  (record.ahead == none ? queue.first : orders_[record.ahead].behind) = record.behind;
  (record.behind == none ? queue.last : orders_[record.behind].ahead) = record.ahead;
}

void OrderBooks::erase(std::uint32_t order, OrderTable::Hash hash) {
  table_.erase(hash, order);
  --books_[orders_[order].instrument].orders;
  unlink(order);
  free_order(order);
}

void OrderBooks::free_order(std::uint32_t order) noexcept {
  orders_[order].behind = orders_free_;
  orders_free_ = order;
}

void OrderBooks::free_level(std::uint32_t level) noexcept {
  levels_[level].first = levels_free_;
  levels_free_ = level;
  ++levels_free_count_;
}

void OrderBooks::clear(InstrumentIndex index) {
  Sides& book = books_[std::to_underlying(index)];
  for (PriceLadder& ladder : book.ladders) {
    ladder.for_each([&](std::uint32_t level) {
      for (std::uint32_t order = levels_[level].first; order != none;) {
        const std::uint32_t behind = orders_[order].behind;
        table_.erase(hash_of(index, OrderId{orders_[order].id}), order);
        free_order(order);
        --book.orders;
        order = behind;
      }
      free_level(level);
      return true;
    });
    ladder.clear();
  }
  NFX_ASSERT(book.orders == 0);
}

std::optional<OrderView> OrderBooks::find(InstrumentIndex index, OrderId id) const noexcept {
  const std::uint32_t order = find_order(hash_of(index, id), index, id);
  if (order == none) return std::nullopt;
  const LevelRecord& level = levels_[orders_[order].level];
  return OrderView{id, index, static_cast<Side>(level.owner & 1), level.price, orders_[order].quantity};
}

bool OrderBooks::consistent() const {
  std::uint64_t orders = 0, levels = 0;
  for (std::uint32_t i = 0; i < books_.size(); ++i) {
    std::uint64_t of_book = 0;
    for (const Side side : {Side::bid, Side::ask}) {
      const PriceLadder& ladder = books_[i].ladders[std::to_underlying(side)];
      if (!ladder.in_order()) return false;
      bool good = true;
      ladder.for_each([&](std::uint32_t level) {
        const LevelRecord& queue = levels_[level];
        Quantity sum = 0;
        std::uint32_t count = 0, ahead = none;
        for (std::uint32_t order = queue.first; order != none; order = orders_[order].behind) {
          const Order& record = orders_[order];
          good = good && record.ahead == ahead && record.level == level && record.instrument == i &&
                 find_order(hash_of(InstrumentIndex{i}, OrderId{record.id}), InstrumentIndex{i}, OrderId{record.id}) ==
                     order;
          sum += record.quantity;
          ++count;
          ahead = order;
        }
        good = good && count != 0 && count == queue.orders && sum == queue.quantity && queue.last == ahead &&
               queue.owner == (i << 1 | std::to_underlying(side)) &&
               ladder.find(PriceLadder::key_of(side, queue.price)) == level;
        of_book += count;
        ++levels;
        return good;
      });
      if (!good) return false;
    }
    if (of_book != books_[i].orders) return false;
    orders += of_book;
  }
  return orders == table_.size() && levels == this->levels();
}

std::size_t OrderBook::levels(Side side, std::span<Level> out) const noexcept {
  std::size_t count = 0;
  ladder(side).for_each([&](std::uint32_t level) {
    if (count == out.size()) return false;
    out[count++] = level_at(level);
    return true;
  });
  return count;
}

std::optional<Level> OrderBook::level(Side side, Price price) const noexcept {
  const std::uint32_t level = ladder(side).find(PriceLadder::key_of(side, price));
  if (level == OrderBooks::none) return std::nullopt;
  return level_at(level);
}

std::size_t OrderBook::queue(Side side, Price price, std::span<OrderView> out) const noexcept {
  const std::uint32_t level = ladder(side).find(PriceLadder::key_of(side, price));
  if (level == OrderBooks::none) return 0;
  std::size_t count = 0;
  for (std::uint32_t order = books_->levels_[level].first; order != OrderBooks::none && count < out.size();) {
    const OrderBooks::Order& record = books_->orders_[order];
    out[count++] = {OrderId{record.id}, index_, side, price, record.quantity};
    order = record.behind;
  }
  return count;
}

bool OrderBook::crossed() const noexcept {
  const std::optional<Level> bid = best(Side::bid), ask = best(Side::ask);
  return bid && ask && bid->price >= ask->price;
}

std::uint64_t OrderBook::hash() const noexcept {
  ContentHash hash;
  for (const Side side : {Side::bid, Side::ask}) {
    hash.add(std::to_underlying(side));
    hash.add(level_count(side));
    ladder(side).for_each([&](std::uint32_t level) {
      const OrderBooks::LevelRecord& queue = books_->levels_[level];
      hash.add(static_cast<std::uint64_t>(queue.price.nano));
      hash.add(queue.orders);
      for (std::uint32_t order = queue.first; order != OrderBooks::none; order = books_->orders_[order].behind) {
        hash.add(books_->orders_[order].id);
        hash.add(books_->orders_[order].quantity);
      }
      return true;
    });
  }
  return hash.value();
}

}  // namespace nfx::market
