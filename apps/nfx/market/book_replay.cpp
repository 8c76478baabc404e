// The loop of a replay.
#include "market/book_replay.hpp"

namespace nfx::app::market {

using nfx::market::Event;
using nfx::market::EventKind;

BookReplay::BookReplay(const ReplayOptions& options)
    : options_(options),
      instruments_(options.limits.instruments),
      books_(options.limits),
      best_prices_(options.limits.instruments) {}

bool BookReplay::read(std::span<const std::byte> chunk) {
  struct Sink {
    BookReplay& replay;
    bool operator()(const Event& event) { return replay.take(event); }
    void expect(nfx::market::InstrumentId instrument, nfx::market::OrderId order) const noexcept {
      if (const auto index = replay.instruments_.find_last(instrument)) replay.books_.prefetch(*index, order);
    }
  };
  return reader_.read(chunk, Sink{*this});
}

bool BookReplay::take(const Event& event) {
  if (options_.until && event.receive_time > *options_.until) [[unlikely]] {
    stopped_ = true;
    return false;
  }
  if (options_.instrument && std::to_underlying(event.instrument) != *options_.instrument) return true;
  ++records_;
  last_time_ = event.receive_time;
  if (event.kind == EventKind::trade) {
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
