// The effect of each entry on the levels and orders that were published before it.
#include "market/fix_translator.hpp"

#include <algorithm>
#include <bit>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx::market {
namespace {

// Whether `price` is nearer to the other side than `other`.
bool better(Side side, Price price, Price other) noexcept { return side == Side::bid ? price > other : price < other; }

std::optional<std::uint64_t> number_of(std::string_view id) noexcept {
  if (id.empty() || id[0] < '1' || id[0] > '9') return std::nullopt;
  const auto number = parse_int(id);
  if (!number) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

}  // namespace

FixOrders::FixOrders(std::uint32_t capacity, std::uint32_t instruments)
    : capacity_(capacity),
      mask_(std::bit_ceil(std::size_t{2} * std::max<std::uint32_t>(capacity, 8)) - 1),
      slots_(map_array<std::uint32_t>(mask_ + 1, "the table of entries; lower the number of orders")),
      orders_(map_array<Order>(std::size_t{capacity} + 1, "entries with identifiers; lower the number of orders")),
      first_(instruments, none) {
  NFX_REQUIRE(capacity <= 1u << 29);
}

std::size_t FixOrders::slot_of(InstrumentIndex instrument, const ShortText& id) const noexcept {
  std::size_t i = home(instrument, id);
  while (slots_[i] != none && (orders_[slots_[i]].instrument != instrument || orders_[slots_[i]].id != id)) {
    i = (i + 1) & mask_;
  }
  return i;
}

std::uint32_t FixOrders::insert(InstrumentIndex instrument, const ShortText& id) noexcept {
  if (size_ == capacity_) return none;
  const std::size_t slot = slot_of(instrument, id);
  NFX_ASSERT(slots_[slot] == none);
  std::uint32_t order = free_;
  if (order != none) {
    free_ = orders_[order].next;
  } else {
    order = ++used_;
  }
  std::uint32_t& first = first_[std::to_underlying(instrument)];
  Order& made = orders_[order];
  made = Order{};
  made.id = id;
  made.number = OrderId{number_of(id.view()).value_or(std::uint64_t{1} << 63 | texts_)};
  if (!number_of(id.view())) ++texts_;
  made.instrument = instrument;
  made.next = first;
  made.previous = none;
  if (first != none) orders_[first].previous = order;
  first = order;
  slots_[slot] = order;
  ++size_;
  return order;
}

void FixOrders::erase(std::uint32_t order) noexcept {
  Order& gone = orders_[order];
  std::size_t hole = slot_of(gone.instrument, gone.id);
  NFX_ASSERT(slots_[hole] == order);
  // Later entries move up to the hole, if their home is not after the hole.
  for (std::size_t i = (hole + 1) & mask_; slots_[i] != none; i = (i + 1) & mask_) {
    const Order& moved = orders_[slots_[i]];
    if (((i - home(moved.instrument, moved.id)) & mask_) >= ((i - hole) & mask_)) {
      slots_[hole] = slots_[i];
      hole = i;
    }
  }
  slots_[hole] = none;
  if (gone.previous != none) {
    orders_[gone.previous].next = gone.next;
  } else {
    first_[std::to_underlying(gone.instrument)] = gone.next;
  }
  if (gone.next != none) orders_[gone.next].previous = gone.previous;
  gone.next = free_;
  free_ = order;
  --size_;
}

void FixOrders::clear(InstrumentIndex instrument) noexcept {
  while (first_[std::to_underlying(instrument)] != none) erase(first_[std::to_underlying(instrument)]);
}

FixTranslator::FixTranslator(const Bounds& bounds, FeedOutput& output, FixFeedCounters& counters)
    : output_(&output),
      counters_(&counters),
      depth_(bounds.depth),
      prices_(std::size_t{2} * bounds.instruments * bounds.depth),
      levels_(std::size_t{2} * bounds.instruments),
      orders_(bounds.orders, bounds.instruments) {
  NFX_REQUIRE(bounds.depth >= 1 && bounds.depth <= 1024);
}

std::span<Price> FixTranslator::prices(InstrumentIndex index, Side side) noexcept {
  NFX_ASSERT(side != Side::none);
  const std::size_t place = std::size_t{2} * std::to_underlying(index) + std::to_underlying(side);
  return std::span{prices_}.subspan(place * depth_, depth_);
}

FixTranslator::Levels& FixTranslator::levels(InstrumentIndex index, Side side) noexcept {
  return levels_[std::size_t{2} * std::to_underlying(index) + std::to_underlying(side)];
}

void FixTranslator::forget(InstrumentIndex index) noexcept {
  levels(index, Side::bid) = levels(index, Side::ask) = Levels{};
  orders_.clear(index);
}

bool FixTranslator::misfit() noexcept {
  ++counters_->misfits;
  return false;
}

Event FixTranslator::event_of(EventKind kind, InstrumentIndex index, const FixEntry& entry) const noexcept {
  Event event;
  event.kind = kind;
  event.instrument = InstrumentId{std::to_underlying(index)};
  event.event_time = entry.time;
  event.receive_time = received_;
  event.sequence = entry.number;
  event.flags = flags_;
  return event;
}

void FixTranslator::emit(const Event& event) noexcept {
  if (pending_) {
    if (pending_->instrument != event.instrument) pending_->flags |= event_flag::last;
    output_->event(*pending_);
  }
  pending_ = event;
}

void FixTranslator::finish() noexcept {
  if (!pending_) return;
  pending_->flags |= event_flag::last;
  output_->event(*pending_);
  pending_.reset();
}

void FixTranslator::set_level(InstrumentIndex index, Side side, Price price, Quantity quantity,
                              const FixEntry& entry) noexcept {
  Event event = event_of(EventKind::level_set, index, entry);
  event.side = side;
  event.price = price;
  event.quantity = quantity;
  event.other = quantity == 0 ? 0 : entry.orders;
  event.flags |= event_flag::by_level;
  emit(event);
}

void FixTranslator::recovering(InstrumentIndex index) noexcept {
  Event event = event_of(EventKind::none, index, {});
  event.event_time = received_;
  event.flags |= event_flag::recovering;
  emit(event);
}

void FixTranslator::clear(InstrumentIndex index, std::uint64_t number, UtcTime time) noexcept {
  forget(index);
  FixEntry entry;
  entry.number = number;
  entry.time = time;
  emit(event_of(EventKind::clear, index, entry));
}

void FixTranslator::status(InstrumentIndex index, TradingStatus status, UtcTime time) noexcept {
  FixEntry entry;
  entry.time = time;
  Event event = event_of(EventKind::status, index, entry);
  event.status = status;
  emit(event);
}

bool FixTranslator::snapshot(InstrumentIndex index, std::uint64_t number, UtcTime time,
                             std::span<const FixEntry> entries) noexcept {
  forget(index);
  FixEntry frame;
  frame.number = number;
  frame.time = time;
  flags_ = event_flag::snapshot;
  snapshot_ = true;
  emit(event_of(EventKind::snapshot_begin, index, frame));
  const bool fits = std::ranges::all_of(entries, [&](const FixEntry& entry) { return apply(index, entry); });
  if (fits) emit(event_of(EventKind::snapshot_end, index, frame));
  snapshot_ = false;
  flags_ = 0;
  return fits;
}

bool FixTranslator::apply(InstrumentIndex index, const FixEntry& entry) noexcept {
  ++counters_->entries;
  switch (entry.type) {
    case FixEntryType::statistic: ++counters_->statistics; return true;
    case FixEntryType::trade: return apply_trade(index, entry);
    // Within a snapshot: the book was empty. Increments of this type are updates of their own.
    case FixEntryType::empty_book: return true;
    case FixEntryType::bid:
    case FixEntryType::ask: break;
  }
  const Side side = entry.type == FixEntryType::bid ? Side::bid : Side::ask;
  if (entry.position != 0 && !snapshot_) return apply_position(index, side, entry);
  if (!entry.id.empty() && entry.position == 0) return apply_order(index, side, entry);
  if (!entry.ref.empty() && entry.position == 0) return apply_order(index, side, entry);
  return apply_price(index, side, entry);
}

bool FixTranslator::apply_trade(InstrumentIndex index, const FixEntry& entry) noexcept {
  if (entry.action != FixAction::add) {
    ++counters_->trade_corrections;
    return true;
  }
  Event event = event_of(EventKind::trade, index, entry);
  event.side = entry.aggressor;
  event.price = entry.price;
  event.quantity = entry.quantity;
  event.other = number_of(entry.id.view()).value_or(0);
  emit(event);
  return true;
}

bool FixTranslator::apply_order(InstrumentIndex index, Side side, const FixEntry& entry) noexcept {
  // A side that is not the order's belongs to another order.
  const auto other_side = [&](std::uint32_t order) { return entry.has_type && orders_[order].side != side; };
  const std::uint32_t by_id = entry.id.empty() ? FixOrders::none : orders_.find(index, entry.id);
  const std::uint32_t by_ref = entry.ref.empty() ? FixOrders::none : orders_.find(index, entry.ref);
  switch (entry.action) {
    case FixAction::add:
    case FixAction::overlay:
      if (by_id != FixOrders::none || entry.id.empty()) return misfit();
      if (by_ref != FixOrders::none) return (!other_side(by_ref) && change_order(by_ref, entry, true)) || misfit();
      if (!entry.ref.empty()) ++counters_->unknown_ids;
      return add_order(index, side, entry);
    case FixAction::change: {
      const bool renames = by_id == FixOrders::none && !entry.id.empty() && by_ref != FixOrders::none;
      const std::uint32_t order = by_id != FixOrders::none ? by_id : by_ref;
      if (order == FixOrders::none) {
        ++counters_->unknown_ids;
        return misfit();
      }
      return (!other_side(order) && change_order(order, entry, renames)) || misfit();
    }
    case FixAction::remove: {
      const std::uint32_t order = by_id != FixOrders::none ? by_id : by_ref;
      if (order == FixOrders::none) {
        ++counters_->unknown_ids;
        return true;
      }
      if (other_side(order)) return misfit();
      Event event = event_of(EventKind::remove, index, entry);
      event.order = orders_[order].number;
      event.side = orders_[order].side;
      orders_.erase(order);
      emit(event);
      return true;
    }
    case FixAction::remove_through:
    case FixAction::remove_from: break;
  }
  return misfit();
}

bool FixTranslator::add_order(InstrumentIndex index, Side side, const FixEntry& entry) noexcept {
  if (entry.quantity == 0) return misfit();
  const std::uint32_t order = orders_.insert(index, entry.id);
  if (order == FixOrders::none) {
    ++counters_->table_full;
    return false;
  }
  FixOrders::Order& made = orders_[order];
  made.side = side;
  made.price = entry.price;
  made.quantity = entry.quantity;
  Event event = event_of(EventKind::add, index, entry);
  event.order = made.number;
  event.side = side;
  event.price = entry.price;
  event.quantity = entry.quantity;
  emit(event);
  return true;
}

// Fields that the entry leaves out are unchanged. `renames`: the order's identifier is the entry's from now on.
bool FixTranslator::change_order(std::uint32_t order, const FixEntry& entry, bool renames) noexcept {
  const FixOrders::Order before = orders_[order];
  const Price price = entry.price.defined() ? entry.price : before.price;
  const Quantity quantity = entry.has_quantity ? entry.quantity : before.quantity;
  if (quantity == 0) return false;
  Event event = event_of(renames ? EventKind::replace : EventKind::modify, before.instrument, entry);
  if (renames) {
    orders_.erase(order);
    order = orders_.insert(before.instrument, entry.id);
    NFX_ASSERT(order != FixOrders::none);
    event.other = std::to_underlying(orders_[order].number);
    orders_[order].side = before.side;
  }
  orders_[order].price = price;
  orders_[order].quantity = quantity;
  event.order = before.number;
  event.side = before.side;
  event.price = price;
  event.quantity = quantity;
  emit(event);
  return true;
}

// Whether a price is worse than the level in place before - 1 and better than the one in place `after`.
bool FixTranslator::fits_between(InstrumentIndex index, Side side, std::uint32_t before, std::uint32_t after,
                                 Price price) noexcept {
  const std::span<const Price> known = prices(index, side);
  if (before != 0 && !better(side, known[before - 1], price)) return false;
  return after >= levels(index, side).count || better(side, price, known[after]);
}

bool FixTranslator::apply_position(InstrumentIndex index, Side side, const FixEntry& entry) noexcept {
  Levels& known = levels(index, side);
  const std::uint32_t place = entry.position - 1;
  if (!known.complete || place >= depth_) return misfit();
  if (entry.action == FixAction::add) return insert_level(index, side, place, entry) || misfit();
  if (place >= known.count) return misfit();
  const Price price = prices(index, side)[place];
  switch (entry.action) {
    case FixAction::add: break;
    case FixAction::change:
    case FixAction::overlay: return change_level(index, side, place, entry) || misfit();
    case FixAction::remove:
      if (entry.price.defined() && entry.price != price) return misfit();
      remove_levels(index, side, place, place + 1, entry);
      return true;
    case FixAction::remove_through: remove_levels(index, side, 0, place + 1, entry); return true;
    case FixAction::remove_from: remove_levels(index, side, place, known.count, entry); return true;
  }
  return misfit();
}

bool FixTranslator::insert_level(InstrumentIndex index, Side side, std::uint32_t place,
                                 const FixEntry& entry) noexcept {
  Levels& known = levels(index, side);
  if (place > known.count || entry.quantity == 0 || !fits_between(index, side, place, place, entry.price)) return false;
  const std::span<Price> at = prices(index, side);
  if (known.count == depth_) {
    set_level(index, side, at[depth_ - 1], 0, entry);
    --known.count;
  }
  std::copy_backward(at.begin() + place, at.begin() + known.count, at.begin() + known.count + 1);
  at[place] = entry.price;
  ++known.count;
  set_level(index, side, entry.price, entry.quantity, entry);
  return true;
}

bool FixTranslator::change_level(InstrumentIndex index, Side side, std::uint32_t place,
                                 const FixEntry& entry) noexcept {
  if (!entry.has_quantity || entry.quantity == 0) return false;
  Price& at = prices(index, side)[place];
  if (entry.price.defined() && entry.price != at) {
    if (!fits_between(index, side, place, place + 1, entry.price)) return false;
    set_level(index, side, at, 0, entry);
    at = entry.price;
  }
  set_level(index, side, at, entry.quantity, entry);
  return true;
}

void FixTranslator::remove_levels(InstrumentIndex index, Side side, std::uint32_t first, std::uint32_t end,
                                  const FixEntry& entry) noexcept {
  Levels& known = levels(index, side);
  const std::span<Price> at = prices(index, side);
  NFX_ASSERT(first < end && end <= known.count);
  for (std::uint32_t i = first; i < end; ++i) set_level(index, side, at[i], 0, entry);
  std::copy(at.begin() + end, at.begin() + known.count, at.begin() + first);
  known.count -= end - first;
}

// A snapshot's levels get their positions from their prices. An increment by price makes positions unknown.
bool FixTranslator::apply_price(InstrumentIndex index, Side side, const FixEntry& entry) noexcept {
  Levels& known = levels(index, side);
  switch (entry.action) {
    case FixAction::add:
    case FixAction::change:
    case FixAction::overlay:
      if (!entry.price.defined() || !entry.has_quantity) return misfit();
      if (!snapshot_) {
        known.complete = false;
      } else if (known.complete) {
        const std::span<const Price> at = prices(index, side).first(known.count);
        const auto worse =
            std::ranges::find_if(at, [&](Price other) { return !better(side, other, entry.price); }) - at.begin();
        const auto place = static_cast<std::uint32_t>(worse);
        if (place < known.count && at[place] == entry.price) return misfit();
        if (known.count < depth_) return insert_level(index, side, place, entry) || misfit();
        known.complete = false;
      }
      set_level(index, side, entry.price, entry.quantity, entry);
      return true;
    case FixAction::remove:
      if (!entry.price.defined()) return misfit();
      known.complete = false;
      set_level(index, side, entry.price, 0, entry);
      return true;
    case FixAction::remove_through:
    case FixAction::remove_from: break;
  }
  return misfit();
}

}  // namespace nfx::market
