// An order book by level (L2) of one instrument: the quantity and number of orders at each price, of all prices or of
// the best ones. Thread: one owner. Cost: a scan of the best prices, no allocation after construction. Errors: as of
// OrderBooks, an event that does not fit is counted and makes the book stale. Bounds: `depth` levels a side: a level
// beyond them is left out or pushes the worst one out, which is counted. A bounded book does not get back what it
// pushed out, so a feed with a
// depth of its own gets a book of that depth, and a full book needs a depth that is never reached.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "nexusfix/base/page_array.hpp"
#include "nexusfix/market/event.hpp"
#include "nexusfix/market/order_book.hpp"
#include "nexusfix/market/price_ladder.hpp"

namespace nfx::market {

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
  // Of the levels alone, as OrderBook::hash().
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

}  // namespace nfx::market
