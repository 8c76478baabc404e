// The loop of a replay.
#include "market/book_replay.hpp"

namespace nfx::app::market {

using nfx::market::Event;

BookReplay::BookReplay(const ReplayOptions& options)
    : options_(options),
      instruments_(options.limits.instruments),
      books_(options.limits),
      best_prices_(options.limits.instruments) {}

bool BookReplay::take(const Event& event) {
  if (options_.until && event.receive_time > *options_.until) [[unlikely]] {
    stopped_ = true;
    return false;
  }
  ++records_;
  last_time_ = event.receive_time;
  if (is_trade(event)) {
    ++trades_;
    traded_ += event.quantity;
  }
  const auto index = instruments_.index_of(event.instrument);
  if (!index) [[unlikely]] {
    ++left_out_;
    return true;
  }
  books_.apply(*index, event);
  if (event.last() && options_.hash_best_prices) best_prices_.check(*index, books_.book(*index), event);
  return true;
}

}  // namespace nfx::app::market
