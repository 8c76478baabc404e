// Applies a recording of market data to order books: takes events, or bytes of DBN, and provides books, best prices and
// counts.
// Thread: one owner. Cost: bounded by the cache misses of the books; no allocation after construction. Errors:
// DbnReader's, as values; OrderBooks counts events that do not fit. Bounds: the given limits; events of further
// instruments are counted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "market/best_prices.hpp"
#include "nexusfix/market/dbn.hpp"
#include "nexusfix/market/feed_books.hpp"
#include "nexusfix/market/order_book.hpp"

namespace nfx::app::market {

struct ReplayOptions {
  nfx::market::BookLimits limits{
      .instruments = 1u << 17, .orders = 1u << 24, .levels = 1u << 22, .orders_expected = 1u << 13};
  std::optional<UtcTime> until = {};  // a later event ends the replay
  bool hash_best_prices = true;
};

// A trade, or an execution of an order that trade statistics count.
[[nodiscard]] inline bool is_trade(const nfx::market::Event& event) noexcept {
  using nfx::market::EventKind;
  return event.kind == EventKind::trade ||
         (event.kind == EventKind::execute && (event.flags & nfx::market::event_flag::not_printable) == 0);
}

class BookReplay {
 public:
  explicit BookReplay(const ReplayOptions& options);

  // Takes the next bytes of DBN, for callers without a reader of their own. False if the replay has ended, by `until`
  // or by reader().error().
  bool read(std::span<const std::byte> chunk) { return reader_.read(chunk, sink()); }

  // Takes one event. False if it is later than `until`.
  bool take(const nfx::market::Event& event);

  // Passes events from a reader to take(), with expect() for a reader that looks ahead.
  struct Sink {
    BookReplay& replay;
    bool operator()(const nfx::market::Event& event) const { return replay.take(event); }
    void expect(nfx::market::InstrumentId instrument, nfx::market::OrderId order, nfx::market::Side side,
                nfx::market::Price price) const noexcept {
      if (const auto index = replay.instruments_.find_last(instrument)) {
        replay.books_.expect(*index, order, side, price);
      }
    }
  };
  [[nodiscard]] Sink sink() noexcept { return {*this}; }

  [[nodiscard]] nfx::market::DbnReader& reader() noexcept { return reader_; }
  [[nodiscard]] const nfx::market::OrderBooks& books() const noexcept { return books_; }
  [[nodiscard]] const nfx::market::InstrumentTable& instruments() const noexcept { return instruments_; }
  [[nodiscard]] BestPrices& best_prices() noexcept { return best_prices_; }

  [[nodiscard]] std::uint64_t records() const noexcept { return records_; }
  // Number of trades, and executions that trade statistics count; also the quantity of both.
  [[nodiscard]] std::uint64_t trades() const noexcept { return trades_; }
  [[nodiscard]] std::uint64_t traded() const noexcept { return traded_; }
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }  // events of instruments beyond the limit
  [[nodiscard]] UtcTime last_time() const noexcept { return last_time_; }
  [[nodiscard]] bool stopped() const noexcept { return stopped_; }  // whether `until` ended the replay

 private:
  ReplayOptions options_;
  nfx::market::DbnReader reader_;
  nfx::market::InstrumentTable instruments_;
  nfx::market::OrderBooks books_;
  BestPrices best_prices_;
  std::uint64_t records_ = 0;
  std::uint64_t trades_ = 0;
  std::uint64_t traded_ = 0;
  std::uint64_t left_out_ = 0;
  UtcTime last_time_{};
  bool stopped_ = false;
};

}  // namespace nfx::app::market
