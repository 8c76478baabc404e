// Entries of FIX market data to events: levels by position or price, orders by their identifiers.
// Thread: the feed's. Cost: a look-up by identifier, or a move of the levels after a position; no allocation after
// construction. Errors: apply() is false for what does not fit, counted; the book needs a snapshot then.
// Bounds: `depth` levels a side with positions; `orders` entries with identifiers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "market/fix_entries.hpp"
#include "nexusfix/base/memory.hpp"
#include "nexusfix/market/feed.hpp"
#include "nexusfix/market/fix_feed.hpp"

namespace nfx::market {

// Entries by identifier, of all instruments.
class FixOrders {
 public:
  static constexpr std::uint32_t none = 0;

  struct Order {
    ShortText id;
    OrderId number;  // the identifier if it is a number, else one with the highest bit set
    Price price;
    Quantity quantity;
    InstrumentIndex instrument;
    std::uint32_t next;      // of the instrument; also the next free one
    std::uint32_t previous;  // of the instrument
    Side side;
  };

  FixOrders(std::uint32_t capacity, std::uint32_t instruments);

  [[nodiscard]] std::uint32_t find(InstrumentIndex instrument, const ShortText& id) const noexcept {
    return slots_[slot_of(instrument, id)];
  }
  [[nodiscard]] Order& operator[](std::uint32_t order) noexcept { return orders_[order]; }
  // The identifier is not known yet. none: no place is left.
  std::uint32_t insert(InstrumentIndex instrument, const ShortText& id) noexcept;
  void erase(std::uint32_t order) noexcept;
  void clear(InstrumentIndex instrument) noexcept;
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }

 private:
  [[nodiscard]] std::size_t home(InstrumentIndex instrument, const ShortText& id) const noexcept {
    return id.hash(std::to_underlying(instrument)) & mask_;
  }
  [[nodiscard]] std::size_t slot_of(InstrumentIndex instrument, const ShortText& id) const noexcept;

  std::uint32_t capacity_;
  std::size_t mask_;
  PageArray<std::uint32_t> slots_;    // at least half are empty
  PageArray<Order> orders_;           // from 1 on
  std::vector<std::uint32_t> first_;  // by instrument
  std::uint32_t used_ = 0;
  std::uint32_t free_ = none;
  std::uint32_t size_ = 0;
  std::uint64_t texts_ = 0;  // identifiers that are not numbers, so far
};

class FixTranslator {
 public:
  struct Bounds {
    std::uint32_t instruments;
    std::uint32_t depth;
    std::uint32_t orders;
  };
  FixTranslator(const Bounds& bounds, FeedOutput& output, FixFeedCounters& counters);

  // Sets the receive time of the events until finish().
  void begin(UtcTime received) noexcept { received_ = received; }
  bool apply(InstrumentIndex index, const FixEntry& entry) noexcept;
  void clear(InstrumentIndex index, std::uint64_t number, UtcTime time) noexcept;
  void status(InstrumentIndex index, TradingStatus status, UtcTime time) noexcept;
  void recovering(InstrumentIndex index) noexcept;
  // Replaces the book with the entries. False: one did not fit, and the snapshot has no end.
  bool snapshot(InstrumentIndex index, std::uint64_t number, UtcTime time, std::span<const FixEntry> entries) noexcept;
  // The last event was the last of its message.
  void finish() noexcept;

 private:
  struct Levels {
    std::uint32_t count = 0;
    bool complete = true;  // the positions are known
  };

  [[nodiscard]] std::span<Price> prices(InstrumentIndex index, Side side) noexcept;
  [[nodiscard]] Levels& levels(InstrumentIndex index, Side side) noexcept;
  void forget(InstrumentIndex index) noexcept;
  bool misfit() noexcept;

  bool apply_order(InstrumentIndex index, Side side, const FixEntry& entry) noexcept;
  bool add_order(InstrumentIndex index, Side side, const FixEntry& entry) noexcept;
  bool change_order(std::uint32_t order, const FixEntry& entry, bool renames) noexcept;
  bool apply_position(InstrumentIndex index, Side side, const FixEntry& entry) noexcept;
  bool insert_level(InstrumentIndex index, Side side, std::uint32_t place, const FixEntry& entry) noexcept;
  bool change_level(InstrumentIndex index, Side side, std::uint32_t place, const FixEntry& entry) noexcept;
  void remove_levels(InstrumentIndex index, Side side, std::uint32_t first, std::uint32_t end,
                     const FixEntry& entry) noexcept;
  bool apply_price(InstrumentIndex index, Side side, const FixEntry& entry) noexcept;
  bool apply_trade(InstrumentIndex index, const FixEntry& entry) noexcept;
  bool fits_between(InstrumentIndex index, Side side, std::uint32_t before, std::uint32_t after, Price price) noexcept;

  [[nodiscard]] Event event_of(EventKind kind, InstrumentIndex index, const FixEntry& entry) const noexcept;
  void set_level(InstrumentIndex index, Side side, Price price, Quantity quantity, const FixEntry& entry) noexcept;
  // An event is passed on when the next one exists, so that the last of a message is marked.
  void emit(const Event& event) noexcept;

  FeedOutput* output_;
  FixFeedCounters* counters_;
  std::uint32_t depth_;
  std::vector<Price> prices_;   // by instrument and side, the best first
  std::vector<Levels> levels_;  // by instrument and side
  FixOrders orders_;
  UtcTime received_{};
  std::uint8_t flags_ = 0;
  bool snapshot_ = false;
  std::optional<Event> pending_;
};

}  // namespace nfx::market
