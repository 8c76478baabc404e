// The books of a feed, with what compares them: events counted, and one hash of all books, which is the same for the
// publisher, a live subscriber and a replay, whatever order the instruments appeared in.
// Thread: one owner. Cost: that of the books; a hash visits all of them, every `every` events if that is not 0. No
// allocation after construction but a book by level, which is made at its instrument's first event. Errors: those of
// the books, as counters. Bounds: FeedBooksOptions; events of instruments beyond are counted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/market/event.hpp"
#include "nexusfix/market/instrument_table.hpp"
#include "nexusfix/market/level_book.hpp"
#include "nexusfix/market/order_book.hpp"

namespace nfx::market {

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

  // Of all books that are not empty.
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
