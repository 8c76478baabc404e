// The books of a feed, with values to compare them: the number of events, and one hash of all books. The hash is the
// same for the publisher, a live subscriber and a replay, whatever order the instruments appeared in.
// Thread: one owner. Cost: as the books; a hash visits all of them, every `every` events if that is not 0. After
// construction only a book by level allocates, at its instrument's first event. Errors: as the books, as counters.
// Bounds: FeedBooksOptions; events of instruments beyond them are counted.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/base/memory.hpp"
#include "nexusfix/market/event.hpp"
#include "nexusfix/market/order_book.hpp"

namespace nfx::market {

// Gives each instrument of a feed its place among the books, in the order in which they appear. Cost: a compare for the
// instrument of the event before, else mostly one cache line. Bounds: `capacity` instruments; later ones get no place.
// Memory: mapped once; pages are used as instruments appear.
class InstrumentTable {
 public:
  explicit InstrumentTable(std::uint32_t capacity)
      : mask_(std::bit_ceil(2 * std::max<std::uint32_t>(capacity, 8)) - 1),
        capacity_(capacity),
        slots_(map_array<Slot>(std::size_t{mask_} + 1, "a table of instruments")),
        ids_(map_array<InstrumentId>(std::max<std::size_t>(capacity, 1), "the instruments' numbers")) {
    NFX_REQUIRE(capacity <= 1u << 30);
  }

  // The place of this instrument, which it gets now if it has none. Empty: there are `capacity` others.
  [[nodiscard]] std::optional<InstrumentIndex> index_of(InstrumentId id) noexcept {
    if (size_ != 0 && id == last_id_) [[likely]]
      return last_;
    return look_up(id);
  }

  // The place of this instrument if it was the last one, without a search.
  [[nodiscard]] std::optional<InstrumentIndex> find_last(InstrumentId id) const noexcept {
    if (size_ == 0 || id != last_id_) return std::nullopt;
    return last_;
  }

  [[nodiscard]] std::optional<InstrumentIndex> find(InstrumentId id) const noexcept {
    const Slot& slot = slots_[slot_of(id)];
    if (slot.place == 0) return std::nullopt;
    return InstrumentIndex{slot.place - 1};
  }

  [[nodiscard]] InstrumentId id(InstrumentIndex index) const noexcept {
    NFX_ASSERT(std::to_underlying(index) < size_);
    return ids_[std::to_underlying(index)];
  }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }

 private:
  struct Slot {
    InstrumentId id;
    std::uint32_t place;  // 0: empty; else the index plus one
  };

  // Where the instrument is, or the empty slot for it.
  [[nodiscard]] std::size_t slot_of(InstrumentId id) const noexcept {
    std::size_t i = (std::to_underlying(id) * std::uint64_t{0x9E3779B97F4A7C15} >> 32) & mask_;
    while (slots_[i].place != 0 && slots_[i].id != id) i = (i + 1) & mask_;
    return i;
  }

  std::optional<InstrumentIndex> look_up(InstrumentId id) noexcept {
    Slot& slot = slots_[slot_of(id)];
    if (slot.place == 0) {
      if (size_ == capacity_) return std::nullopt;
      ids_[size_] = id;
      slot = {id, ++size_};
    }
    last_id_ = id;
    last_ = InstrumentIndex{slot.place - 1};
    return last_;
  }

  std::uint32_t mask_;
  std::uint32_t capacity_;
  std::uint32_t size_ = 0;
  InstrumentId last_id_{};
  InstrumentIndex last_{};
  PageArray<Slot> slots_;
  PageArray<InstrumentId> ids_;  // by index
};

enum class BookShape : std::uint8_t { by_order, by_level };

struct FeedBooksOptions {
  BookShape shape = BookShape::by_order;
  BookLimits limits{.instruments = 1u << 16, .orders = 1u << 24, .levels = 1u << 22, .orders_expected = 1u << 13};
  std::uint32_t depth = 8192;  // of a side, by level
  std::uint64_t every = 0;
};

// An order's number is of one stock alone.
inline constexpr BookLimits itch_book_limits{.instruments = 1u << 16,
                                             .orders = 1u << 24,
                                             .levels = 1u << 22,
                                             .orders_expected = 1u << 13,
                                             .orders_unique = true};

struct FeedBooksCounters {
  std::uint64_t events = 0;
  std::uint64_t trades = 0;
  std::uint64_t misfits = 0;
  std::uint64_t left_out = 0;

  friend bool operator==(const FeedBooksCounters&, const FeedBooksCounters&) = default;
};

// Called within event(); must not use the books.
class BookHashes {
 public:
  virtual ~BookHashes() = default;
  virtual void hashed(std::uint64_t events, std::uint64_t hash) noexcept = 0;
};

// The last event outside of snapshots, whose times are older.
struct NewestEvent {
  UtcTime time{};           // the exchange's
  std::uint64_t count = 0;  // of such events
};

class FeedBooks {
 public:
  // `hashes` may be null.
  explicit FeedBooks(const FeedBooksOptions& options, BookHashes* hashes = nullptr);
  FeedBooks(const FeedBooks&) = delete;
  FeedBooks& operator=(const FeedBooks&) = delete;

  void event(const Event& event) noexcept {
    ++counters_.events;
    if ((event.flags & event_flag::snapshot) == 0) newest_ = {event.event_time, newest_.count + 1};
    counters_.trades += event.kind == EventKind::trade ? 1u : 0u;
    const auto index = instruments_.index_of(event.instrument);
    if (!index) [[unlikely]] {
      ++counters_.left_out;
    } else if (options_.shape == BookShape::by_order) {
      if (books_.apply(*index, event) > Applied::other_kind) [[unlikely]]
        ++counters_.misfits;
    } else {
      apply_level(*index, event);
    }
    if (options_.every != 0 && counters_.events % options_.every == 0) report();
  }

  // The hash of all books that are not empty.
  [[nodiscard]] std::uint64_t hash() const noexcept;
  [[nodiscard]] const FeedBooksCounters& counters() const noexcept { return counters_; }
  [[nodiscard]] const NewestEvent& newest() const noexcept { return newest_; }
  [[nodiscard]] const InstrumentTable& instruments() const noexcept { return instruments_; }
  [[nodiscard]] const OrderBooks& orders() const noexcept { return books_; }
  // Null: no event was for it.
  [[nodiscard]] const LevelBook* levels(InstrumentIndex index) const noexcept {
    return level_books_[std::to_underlying(index)].get();
  }
  [[nodiscard]] std::optional<Level> best(InstrumentIndex index, Side side) const noexcept;

 private:
  void apply_level(InstrumentIndex index, const Event& event) noexcept;
  [[gnu::cold, gnu::noinline]] void report() noexcept;

  FeedBooksOptions options_;
  BookHashes* hashes_;
  InstrumentTable instruments_;
  OrderBooks books_;
  std::vector<std::unique_ptr<LevelBook>> level_books_;
  FeedBooksCounters counters_;
  NewestEvent newest_;
};

}  // namespace nfx::market

namespace nfx {

template <>
inline constexpr auto counter_rows<market::FeedBooksCounters> = std::to_array<CounterRow<market::FeedBooksCounters>>({
    {&market::FeedBooksCounters::events, "nfx_feed_events_total", "Events given to the books."},
    {&market::FeedBooksCounters::trades, "nfx_feed_trades_total", "Trades among them."},
    {&market::FeedBooksCounters::misfits, "nfx_feed_misfits_total", "Events that did not fit their book."},
    {&market::FeedBooksCounters::left_out, "nfx_feed_left_out_total", "Events of instruments beyond the limit."},
});
static_assert(rows_are_complete<market::FeedBooksCounters>());

}  // namespace nfx
