// Statistics of a recording of market data: messages by kind, rates and bursts, gaps in time, trades and spreads.
// Thread: one owner. Cost: some compares per event. Errors: none. Bounds: the limits of its instruments.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "market/series.hpp"
#include "nexusfix/market/event.hpp"
#include "nexusfix/market/order_book.hpp"

namespace nfx::app::market {

// The highest of many values, with the time of each.
class Highest {
 public:
  static constexpr std::size_t most = 5;
  struct Entry {
    UtcTime time{};
    std::uint64_t value = 0;
  };

  void add(UtcTime time, std::uint64_t value) {
    if (entries_.size() == most && value <= entries_.back().value) return;
    const auto place = std::ranges::upper_bound(entries_, value, std::greater{}, &Entry::value);
    entries_.insert(place, {time, value});
    if (entries_.size() > most) entries_.pop_back();
  }
  [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }

 private:
  std::vector<Entry> entries_;  // highest first
};

// Messages per window of a fixed length, aligned to it.
class Rate {
 public:
  explicit Rate(Duration window) : window_(window) {}

  void add(UtcTime time) {
    const UtcTime begin{time.time_since_epoch() / window_ * window_};
    if (begin != begin_) {
      end();
      begin_ = begin;
    }
    ++count_;
  }
  void end() {
    if (count_ != 0) highest_.add(begin_, count_);
    count_ = 0;
  }
  [[nodiscard]] Duration window() const noexcept { return window_; }
  [[nodiscard]] const Highest& highest() const noexcept { return highest_; }

 private:
  Duration window_;
  UtcTime begin_{};
  std::uint64_t count_ = 0;
  Highest highest_;
};

struct InstrumentStatistics {
  std::uint64_t messages = 0;
  std::uint64_t trades = 0;
  std::uint64_t traded = 0;
  std::uint64_t largest = 0;
  nfx::market::Price low{std::numeric_limits<std::int64_t>::max()};
  nfx::market::Price high{std::numeric_limits<std::int64_t>::min()};
  nfx::market::Price first{};
  nfx::market::Price last{};

  [[nodiscard]] bool priced() const noexcept { return low <= high; }
  [[nodiscard]] nfx::market::Price spread_mean() const noexcept {
    return {time > 0 ? static_cast<std::int64_t>(spread_time / time) : 0};
  }

  // Counts ends of events with both sides and a bid below the ask.
  std::uint64_t quoted = 0;
  std::uint64_t crossed = 0;
  std::int64_t spread_min = std::numeric_limits<std::int64_t>::max();
  std::int64_t spread_max = 0;
  // Weighted by the time for which each spread applied.
  double spread_time = 0;
  double time = 0;
  std::int64_t spread = -1;  // the current one; negative: none
  UtcTime since{};
};

// "17 ms"; "100 ms".
[[nodiscard]] std::string duration_text(Duration duration);
[[nodiscard]] std::string window_text(Duration window);

class Statistics {
 public:
  // `series` collects the plots of a report; null: none.
  explicit Statistics(Series* series = nullptr) : series_(series) {}

  // `traded` is the price of a trade or an execution.
  void add(const nfx::market::Event& event, nfx::market::InstrumentIndex index, const nfx::market::OrderBook& book,
           nfx::market::Price traded);
  void end();

  // Times, rates and gaps ignore messages of snapshots.
  std::array<std::uint64_t, nfx::market::event_kinds> kinds{};
  std::uint64_t messages = 0;
  std::uint64_t events = 0;      // messages that end an event
  std::uint64_t snapshot = 0;    // messages of snapshots
  std::uint64_t recovering = 0;  // messages after a loss
  std::uint64_t backwards = 0;   // messages received before their predecessor
  UtcTime first{};
  UtcTime last{};
  std::array<Rate, 4> rates{Rate{std::chrono::seconds{1}}, Rate{std::chrono::milliseconds{100}},
                            Rate{std::chrono::milliseconds{10}}, Rate{std::chrono::milliseconds{1}}};
  Highest gaps;  // nanoseconds without a message
  std::vector<InstrumentStatistics> instruments;

 private:
  void add_time(UtcTime time);
  void add_trade(std::size_t index, const nfx::market::Event& event, nfx::market::Price price);
  void add_quote(std::size_t index, const nfx::market::OrderBook& book, UtcTime now);
  void end_spread(std::size_t index, UtcTime now);

  Series* series_;
};

}  // namespace nfx::app::market
