// The order books of a list of events by maps, to check the fast ones against.
// Thread: any. Cost: allocates; far slower than what it checks.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "nexusfix/market/event.hpp"
#include "nexusfix/market/instrument_table.hpp"
#include "nexusfix/market/order_book.hpp"

namespace nfx::bench {

struct PlainResult {
  std::uint64_t best_price_changes = 0;
  std::string difference;  // from the books; empty: none
};

// Applies all events, and compares every level of every book with these.
[[nodiscard]] PlainResult compare_with_plain_books(std::span<const nfx::market::Event> events,
                                                   const nfx::market::OrderBooks& books,
                                                   const nfx::market::InstrumentTable& instruments);

}  // namespace nfx::bench
