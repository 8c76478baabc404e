// A price-time matching book for one symbol of the demonstration venue.
// Thread: one owner. Cost: O(1) add and cancel, a walk over empty levels when the best one is used up; no allocation
// after construction. Prices are ticks from 0 to levels - 1; orders live in the caller's table and are linked through
// it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace nfx::app::demo {

inline constexpr std::uint32_t no_order = UINT32_MAX;

enum class Side : std::uint8_t { buy, sell };

// The book's part of an order. `previous` and `next` are its neighbours at the same price.
struct BookOrder {
  std::uint32_t price_ticks = 0;
  std::uint32_t leaves = 0;
  std::uint32_t previous = no_order;
  std::uint32_t next = no_order;
  Side side = Side::buy;
  bool resting = false;
};

class Book {
 public:
  explicit Book(std::uint32_t levels) : bids_(levels), asks_(levels), best_ask_(levels), levels_(levels) {}

  // Matches `order` against the other side, best price and oldest first, and adds the rest to the book. For every match
  // calls on_fill(resting order, quantity, price in ticks), after lowering both orders' leaves.
  template <class OnFill>
  void add(std::span<BookOrder> orders, std::uint32_t id, OnFill&& on_fill) {
    BookOrder& order = orders[id];
    while (order.leaves != 0) {
      const std::uint32_t price = order.side == Side::buy ? best_ask_ : best_bid_;
      const bool crosses = order.side == Side::buy ? price < levels_ && price <= order.price_ticks
                                                   : price != none && price >= order.price_ticks;
      if (!crosses) break;
      const std::uint32_t resting_id = side_of(opposite(order.side))[price].first;
      BookOrder& resting = orders[resting_id];
      const std::uint32_t quantity = std::min(order.leaves, resting.leaves);
      order.leaves -= quantity;
      resting.leaves -= quantity;
      if (resting.leaves == 0) remove(orders, resting_id);
      on_fill(resting_id, quantity, price);
    }
    if (order.leaves != 0) rest(orders, id);
  }

  // Removes a resting order.
  void remove(std::span<BookOrder> orders, std::uint32_t id) noexcept {
    BookOrder& order = orders[id];
    Level& level = side_of(order.side)[order.price_ticks];
    (order.previous == no_order ? level.first : orders[order.previous].next) = order.next;
    (order.next == no_order ? level.last : orders[order.next].previous) = order.previous;
    order.resting = false;
    order.previous = order.next = no_order;
    if (level.first == no_order) find_best(order.side);
  }

 private:
  struct Level {
    std::uint32_t first = no_order;
    std::uint32_t last = no_order;
  };
  static constexpr std::uint32_t none = UINT32_MAX;

  [[nodiscard]] static Side opposite(Side side) noexcept { return side == Side::buy ? Side::sell : Side::buy; }
  [[nodiscard]] std::vector<Level>& side_of(Side side) noexcept { return side == Side::buy ? bids_ : asks_; }

  void rest(std::span<BookOrder> orders, std::uint32_t id) noexcept {
    BookOrder& order = orders[id];
    Level& level = side_of(order.side)[order.price_ticks];
    order.previous = level.last;
    order.next = no_order;
    order.resting = true;
    (level.last == no_order ? level.first : orders[level.last].next) = id;
    level.last = id;
    if (order.side == Side::buy) {
      if (best_bid_ == none || order.price_ticks > best_bid_) best_bid_ = order.price_ticks;
    } else {
      best_ask_ = std::min(best_ask_, order.price_ticks);
    }
  }

  void find_best(Side side) noexcept {
    if (side == Side::buy) {
      while (best_bid_ != none && bids_[best_bid_].first == no_order) best_bid_ = best_bid_ == 0 ? none : best_bid_ - 1;
    } else {
      while (best_ask_ < levels_ && asks_[best_ask_].first == no_order) ++best_ask_;
    }
  }

  std::vector<Level> bids_;
  std::vector<Level> asks_;
  std::uint32_t best_bid_ = none;
  std::uint32_t best_ask_;
  std::uint32_t levels_;
};

}  // namespace nfx::app::demo
