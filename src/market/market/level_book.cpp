// The effects of events on a book by level.
#include "nexusfix/market/order_book.hpp"

#include <algorithm>
#include <limits>

#include "market/content_hash.hpp"

namespace nfx::market {

LevelBook::LevelBook(std::uint32_t depth)
    : depth_(depth),
      memory_(2, 2 * std::size_t{depth} + 2),
      levels_(map_array<Level>(2 * std::size_t{depth} + 3, "price levels; lower the depth of the book")) {
  NFX_REQUIRE(depth >= 1 && depth <= 1u << 30);
}

Applied LevelBook::reject(Applied reason) noexcept {
  ++anomalies_;
  state_ = BookState::stale;
  return reason;
}

Applied LevelBook::apply(const Event& event) {
  switch (event.kind) {
    case EventKind::level_set: return set(event);
    case EventKind::clear:
    case EventKind::snapshot_begin:
      for (PriceLadder& ladder : ladders_) ladder.clear();
      used_ = 0;
      free_ = PriceLadder::none;
      state_ = event.kind == EventKind::clear ? BookState::live : BookState::recovering;
      return Applied::done;
    case EventKind::snapshot_end:
      // A snapshot that did not fit leaves the book stale.
      if (state_ == BookState::recovering) state_ = BookState::live;
      return Applied::done;
    case EventKind::status: status_ = event.status; return Applied::done;
    case EventKind::none:
    case EventKind::add:
    case EventKind::modify:
    case EventKind::replace:
    case EventKind::cancel:
    case EventKind::remove:
    case EventKind::execute:
    case EventKind::fill:
    case EventKind::trade: break;
  }
  return Applied::other_kind;
}

Applied LevelBook::set(const Event& event) {
  if (event.side == Side::none) [[unlikely]]
    return reject(Applied::no_side);
  PriceLadder& ladder = ladders_[std::to_underlying(event.side)];
  const PriceLadder::Key key = PriceLadder::key_of(event.side, event.price);
  std::uint32_t level = ladder.find(key);
  if (event.quantity == 0) {
    // Feeds remove levels that they never published, and a bounded book may have pushed the level out.
    if (level != PriceLadder::none) erase(event.side, key, level);
    return Applied::done;
  }
  const auto orders =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(event.other, std::numeric_limits<std::uint32_t>::max()));
  if (level == PriceLadder::none) {
    if (ladder.size() == depth_) {
      ++pushed_out_;
      const std::uint32_t worst = ladder.worst();
      const PriceLadder::Key worst_key = PriceLadder::key_of(event.side, levels_[worst].price);
      if (key < worst_key) return Applied::done;
      erase(event.side, worst_key, worst);
    }
    level = free_;
    if (level != PriceLadder::none) {
      free_ = levels_[level].orders;
    } else {
      level = ++used_;
    }
    ladder.insert(memory_, key, level);
  }
  levels_[level] = {event.price, event.quantity, orders};
  return Applied::done;
}

void LevelBook::erase(Side side, PriceLadder::Key key, std::uint32_t level) {
  ladders_[std::to_underlying(side)].erase(key);
  levels_[level].orders = free_;
  free_ = level;
}

std::optional<Level> LevelBook::best(Side side) const noexcept {
  const std::uint32_t level = ladder(side).best();
  if (level == PriceLadder::none) return std::nullopt;
  return levels_[level];
}

std::size_t LevelBook::levels(Side side, std::span<Level> out) const noexcept {
  std::size_t count = 0;
  ladder(side).for_each([&](std::uint32_t level) {
    if (count == out.size()) return false;
    out[count++] = levels_[level];
    return true;
  });
  return count;
}

std::optional<Level> LevelBook::level(Side side, Price price) const noexcept {
  const std::uint32_t level = ladder(side).find(PriceLadder::key_of(side, price));
  if (level == PriceLadder::none) return std::nullopt;
  return levels_[level];
}

bool LevelBook::crossed() const noexcept {
  const std::optional<Level> bid = best(Side::bid), ask = best(Side::ask);
  return bid && ask && bid->price >= ask->price;
}

std::uint64_t LevelBook::hash() const noexcept {
  ContentHash hash;
  for (const Side side : {Side::bid, Side::ask}) {
    hash.add(std::to_underlying(side));
    hash.add(level_count(side));
    ladder(side).for_each([&](std::uint32_t level) {
      hash.add(static_cast<std::uint64_t>(levels_[level].price.nano));
      hash.add(levels_[level].quantity);
      hash.add(levels_[level].orders);
      return true;
    });
  }
  return hash.value();
}

}  // namespace nfx::market
