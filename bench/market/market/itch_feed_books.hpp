// The order books of every stock as output of an ITCH feed, as in a program that follows a market.
// Thread: one owner. Cost: as the books. Errors: counted by the books.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "nexusfix/market/itch_feed.hpp"
#include "nexusfix/market/order_book.hpp"

namespace nfx::bench {

// For the maximum number of orders in a day, so that nothing grows during the measurement.
[[nodiscard]] inline nfx::market::BookLimits itch_book_limits(std::uint32_t orders) {
  const std::uint32_t most = std::max(orders + orders / 8, 1u << 16);
  return {.instruments = 1u << 16,  // every locate code
          .orders = most,
          .levels = most,
          .orders_expected = most,
          .orders_unique = true};
}

struct ItchFeedBooks {
  explicit ItchFeedBooks(const nfx::market::BookLimits& limits) : books(limits) {}
  void event(const nfx::market::Event& event) {
    books.apply(nfx::market::InstrumentIndex{std::to_underlying(event.instrument)}, event);
  }
  void expect(nfx::market::InstrumentId instrument, nfx::market::OrderId order, nfx::market::Side side,
              nfx::market::Price price) {
    books.expect(nfx::market::InstrumentIndex{std::to_underlying(instrument)}, order, side, price);
  }
  void request(const nfx::market::MoldRequest&) {}
  void snapshot_connect() {}
  void snapshot_send(std::span<const std::byte>) {}
  void snapshot_close() {}

  nfx::market::OrderBooks books;
};

}  // namespace nfx::bench
