// The effects of events on books by order.
#include "nexusfix/market/order_book.hpp"

#include <algorithm>

#include "base/call_trace.hpp"
#include "base/enumerator_name.hpp"
#include "market/content_hash.hpp"

namespace nfx::market {

std::string_view to_string(BookState state) noexcept { return enumerator_name(state); }

std::string_view to_string(Applied applied) noexcept { return enumerator_name(applied); }

OrderBooks::OrderBooks(const BookLimits& limits)
    : limits_(limits),
      salt_(limits.orders_unique ? 0 : 0xD6E8FEB86659FD93),
      table_(limits.orders, limits.orders_expected),
      orders_(map_array<Order>(std::size_t{limits.orders} + 1, "orders; lower the number of orders", PageSize::huge)),
      levels_(map_array<LevelRecord>(std::size_t{limits.levels} + 1, "price levels; lower the number of levels",
                                     PageSize::huge)),
      ladder_memory_(std::make_unique<LadderMemory>(2 * std::size_t{limits.instruments}, limits.levels)),
      ladders_(map_array<Ladders>(std::size_t{limits.instruments} + 1, "books; lower the number of instruments",
                                  PageSize::huge)),
      conditions_(map_array<Condition>(std::max<std::size_t>(limits.instruments, 1), "the books' states")) {
  NFX_REQUIRE(limits.instruments <= 1u << 30);
  // Before the first event: page faults would delay many.
  take_pages(std::span{orders_.get(), std::size_t{std::min(limits.orders_expected, limits.orders)} + 1});
  take_pages(std::span{levels_.get(), std::size_t{std::min(limits.orders_expected / 2, limits.levels)} + 1});
  expected_.fill({&ladders_[limits.instruments][0], 0, {}, none, none});
}

Applied OrderBooks::reject(Applied reason) noexcept {
  ++counts_[std::to_underlying(reason)];
  return reason;
}

Applied OrderBooks::reject(Applied reason, InstrumentIndex index) noexcept {
  conditions_[std::to_underlying(index)].state = BookState::stale;
  return reject(reason);
}

std::uint64_t OrderBooks::anomalies() const noexcept {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts_) sum += count;
  return sum;
}

void OrderBooks::free_order(std::uint32_t order) noexcept {
  orders_[order].behind = orders_free_;
  orders_free_ = order;
}

void OrderBooks::free_level(std::uint32_t level) noexcept {
  levels_[level].first = levels_free_;
  levels_free_ = level;
  --levels_count_;
}

// The level of this price, made if there is none yet; none if there are too many.
std::uint32_t OrderBooks::take_level(const NewOrder& wanted) {
  PriceLadder& ladder = ladders_[std::to_underlying(wanted.index)][std::to_underlying(wanted.side)];
  const PriceLadder::Key key = PriceLadder::key_of(wanted.side, wanted.price);
  return ladder.find_or_insert(*ladder_memory_, key, [&] {
    const std::uint32_t level = levels_free_;
    if (level > limits_.levels) [[unlikely]]
      return none;
    const std::uint32_t next = levels_[level].first;
    levels_free_ = next == none ? level + 1 : next;
    ++levels_count_;
    levels_[level] = {wanted.price, 0, none,
                      none,         0, std::to_underlying(wanted.index) << 1 | std::to_underlying(wanted.side)};
    return level;
  });
}

// Last in the level's queue. False: its quantity is too large for the sum of the level. Neither here nor in unlink() is
// a branch on whether there are neighbours, which cannot be predicted: record 0 is not used, and may be written.
bool OrderBooks::append(std::uint32_t order, std::uint32_t level) noexcept {
  Order& record = orders_[order];
  LevelRecord& queue = levels_[level];
  if (__builtin_add_overflow(queue.quantity, record.quantity, &queue.quantity)) [[unlikely]] {
    queue.quantity -= record.quantity;
    return false;  // the level has orders, so it stays
  }
  const std::uint32_t last = queue.last;
  record.level = level;
  record.ahead = last;
  record.behind = none;
  orders_[last].behind = order;
  queue.first = chosen(last == none, order, queue.first);
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
    ladders_[queue.owner >> 1][queue.owner & 1].erase(PriceLadder::key_of(side, queue.price));
    free_level(level);
    return;
  }
  const std::uint32_t ahead = record.ahead, behind = record.behind;
  queue.quantity -= record.quantity;
  orders_[ahead].behind = behind;
  orders_[behind].ahead = ahead;
  queue.first = chosen(ahead == none, behind, queue.first);
  queue.last = chosen(behind == none, ahead, queue.last);
}

void OrderBooks::erase(OrderTable::Place place) {
  table_.erase(place);
  unlink(place.index);
  free_order(place.index);
}

Applied OrderBooks::insert(const NewOrder& wanted, OrderTable::Hash hash, OrderTable::Place place) {
  if (wanted.side == Side::none) [[unlikely]]
    return reject(Applied::no_side, wanted.index);
  const std::uint32_t order = orders_free_;
  if (order > limits_.orders) [[unlikely]]
    return reject(Applied::too_many_orders, wanted.index);
  const std::uint32_t level = take_level(wanted);
  if (level == none) [[unlikely]]
    return reject(Applied::too_many_levels, wanted.index);
  Order& record = orders_[order];
  orders_free_ = record.behind == none ? order + 1 : record.behind;
  __builtin_prefetch(&orders_[orders_free_], 1);
  record.id = std::to_underlying(wanted.id);
  record.quantity = wanted.quantity;
  record.instrument = std::to_underlying(wanted.index);
  if (!append(order, level)) [[unlikely]] {
    free_order(order);
    return reject(Applied::quantity_too_large, wanted.index);
  }
  table_.insert(place, hash, order);
  orders_most_ = std::max(orders_most_, table_.size());
  return Applied::done;
}

Applied OrderBooks::add(InstrumentIndex index, const Event& event) {
  NFX_TRACE();
  const OrderTable::Hash hash = hash_of(index, event.order);
  const NewOrder wanted{index, event.order, event.side, event.price, event.quantity};
  const OrderTable::Place place = find_order(hash, index, event.order);
  if (place.index != none) [[unlikely]]
    return add_known(wanted, hash, place);
  return insert(wanted, hash, place);
}

Applied OrderBooks::add_known(NewOrder wanted, OrderTable::Hash hash, OrderTable::Place place) {
  if (wanted.side == Side::none) return reject(Applied::no_side, wanted.index);
  erase(place);
  const Applied inserted = insert(wanted, hash, find_order(hash, wanted.index, wanted.id));
  return inserted == Applied::done ? reject(Applied::duplicate_order, wanted.index) : inserted;
}

Applied OrderBooks::modify(InstrumentIndex index, const Event& event) {
  const OrderTable::Hash hash = hash_of(index, event.order);
  const NewOrder wanted{index, event.order, event.side, event.price, event.quantity};
  const OrderTable::Place place = find_order(hash, index, event.order);
  if (place.index == none) return insert(wanted, hash, place);
  if (event.side == Side::none) [[unlikely]]
    return reject(Applied::no_side, index);
  Order& record = orders_[place.index];
  LevelRecord& level = levels_[record.level];
  if (level.price == wanted.price && (level.owner & 1) == std::to_underlying(wanted.side) &&
      wanted.quantity <= record.quantity) {
    level.quantity -= record.quantity - wanted.quantity;
    record.quantity = wanted.quantity;
    return Applied::done;
  }
  return move(place, wanted);
}

// To the end of another queue, or of its own.
Applied OrderBooks::move(OrderTable::Place place, NewOrder wanted) {
  const std::uint32_t order = place.index;
  unlink(order);
  const std::uint32_t level = take_level(wanted);
  orders_[order].quantity = wanted.quantity;
  if (level != none && append(order, level)) [[likely]]
    return Applied::done;
  table_.erase(place);
  free_order(order);
  return reject(level == none ? Applied::too_many_levels : Applied::quantity_too_large, wanted.index);
}

Applied OrderBooks::replace(InstrumentIndex index, const Event& event) {
  const OrderTable::Place old = find_order(hash_of(index, event.order), index, event.order);
  if (old.index == none) [[unlikely]]
    return reject(Applied::unknown_order, index);
  const auto side = static_cast<Side>(levels_[orders_[old.index].level].owner & 1);
  erase(old);
  const OrderTable::Hash hash = hash_of(index, event.other_order());
  const NewOrder wanted{index, event.other_order(), side, event.price, event.quantity};
  const OrderTable::Place place = find_order(hash, index, wanted.id);
  if (place.index != none) [[unlikely]]
    return add_known(wanted, hash, place);
  return insert(wanted, hash, place);
}

Applied OrderBooks::reduce(InstrumentIndex index, OrderId id, Quantity quantity) {
  const OrderTable::Place place = find_order(hash_of(index, id), index, id);
  if (place.index == none) [[unlikely]]
    return reject(Applied::unknown_order, index);
  Order& record = orders_[place.index];
  if (quantity < record.quantity) {
    record.quantity -= quantity;
    levels_[record.level].quantity -= quantity;
    return Applied::done;
  }
  const bool too_much = quantity > record.quantity;
  erase(place);
  return too_much ? reject(Applied::too_much, index) : Applied::done;
}

Applied OrderBooks::remove(InstrumentIndex index, OrderId id) {
  const OrderTable::Place place = find_order(hash_of(index, id), index, id);
  if (place.index == none) [[unlikely]]
    return reject(Applied::unknown_order, index);
  erase(place);
  return Applied::done;
}

Applied OrderBooks::restart(InstrumentIndex index, EventKind kind) {
  BookState& state = conditions_[std::to_underlying(index)].state;
  if (kind == EventKind::snapshot_end) {
    // A snapshot that did not fit leaves the book stale.
    if (state == BookState::recovering) state = BookState::live;
    return Applied::done;
  }
  clear(index);
  state = kind == EventKind::clear ? BookState::live : BookState::recovering;
  return Applied::done;
}

Applied OrderBooks::set_status(InstrumentIndex index, TradingStatus status) noexcept {
  conditions_[std::to_underlying(index)].status = status;
  return Applied::done;
}

void OrderBooks::clear(InstrumentIndex index) {
  for (PriceLadder& ladder : ladders_[std::to_underlying(index)]) {
    ladder.for_each([&](std::uint32_t level) {
      for (std::uint32_t order = levels_[level].first; order != none;) {
        const std::uint32_t behind = orders_[order].behind;
        const OrderId id{orders_[order].id};
        table_.erase(find_order(hash_of(index, id), index, id));
        free_order(order);
        order = behind;
      }
      free_level(level);
      return true;
    });
    ladder.clear();
  }
}

std::optional<OrderView> OrderBooks::find(InstrumentIndex index, OrderId id) const noexcept {
  const std::uint32_t order = find_order(hash_of(index, id), index, id).index;
  if (order == none) return std::nullopt;
  const LevelRecord& level = levels_[orders_[order].level];
  return OrderView{id, index, static_cast<Side>(level.owner & 1), level.price, orders_[order].quantity};
}

bool OrderBooks::consistent() const {
  std::uint64_t orders = 0, levels = 0;
  for (std::uint32_t i = 0; i < limits_.instruments; ++i) {
    std::uint64_t of_book = 0;
    for (const Side side : {Side::bid, Side::ask}) {
      const PriceLadder& ladder = ladders_[i][std::to_underlying(side)];
      if (!ladder.in_order()) return false;
      bool good = true;
      ladder.for_each([&](std::uint32_t level) {
        const LevelRecord& queue = levels_[level];
        Quantity sum = 0;
        std::uint32_t count = 0, ahead = none;
        for (std::uint32_t order = queue.first; order != none; order = orders_[order].behind) {
          const Order& record = orders_[order];
          good = good && record.ahead == ahead && record.level == level && record.instrument == i &&
                 find_order(hash_of(InstrumentIndex{i}, OrderId{record.id}), InstrumentIndex{i}, OrderId{record.id})
                         .index == order;
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

std::uint32_t OrderBook::orders() const noexcept {
  std::uint32_t count = 0;
  for (const Side side : {Side::bid, Side::ask}) {
    ladder(side).for_each([&](std::uint32_t level) {
      count += books_->levels_[level].orders;
      return true;
    });
  }
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
