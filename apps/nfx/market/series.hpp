// Plot data for the report of a recording: values over time in a bounded number of stretches, whose length doubles
// whenever the recording exceeds the last one.
// Thread: one owner. Cost: some compares per event; a doubling passes over all stretches. Errors: none. Bounds:
// TimeAxis::most stretches, for the first Series::most_instruments instruments, about 30 KiB each.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "nexusfix/market/event.hpp"

namespace nfx::app::market {

class TimeAxis {
 public:
  static constexpr std::size_t most = 480;

  // The index of the stretch at this time; 0 for a time before the first. Calls `fold()` whenever the stretches are
  // merged in pairs.
  template <class Fold>
  std::size_t place_of(UtcTime time, Fold&& fold) {
    if (begin_ == UtcTime{}) begin_ = std::chrono::floor<std::chrono::seconds>(time);
    if (time < begin_) return 0;
    while (static_cast<std::uint64_t>((time - begin_) / width_) >= most) {
      width_ *= 2;
      fold();
    }
    return static_cast<std::size_t>((time - begin_) / width_);
  }
  [[nodiscard]] UtcTime begin() const noexcept { return begin_; }
  [[nodiscard]] Duration width() const noexcept { return width_; }

 private:
  UtcTime begin_{};
  Duration width_ = std::chrono::seconds{1};
};

struct RateStretch {
  std::uint64_t messages = 0;
  std::uint64_t most = 0;  // maximum within one of its seconds

  void join(const RateStretch& later) noexcept {
    messages += later.messages;
    most = std::max(most, later.most);
  }
};

struct PriceStretch {
  std::uint64_t traded = 0;
  std::int64_t low = std::numeric_limits<std::int64_t>::max();  // of trades; low above high: no trades
  std::int64_t high = std::numeric_limits<std::int64_t>::min();
  std::int64_t spread_max = -1;  // negative: no spread
  double spread_time = 0;        // spreads weighted by their seconds
  double time = 0;               // seconds with a spread

  void join(const PriceStretch& later) noexcept {
    traded += later.traded;
    low = std::min(low, later.low);
    high = std::max(high, later.high);
    spread_max = std::max(spread_max, later.spread_max);
    spread_time += later.spread_time;
    time += later.time;
  }
};

class Series {
 public:
  static constexpr std::size_t most_instruments = 10'000;
  static constexpr std::size_t gap_classes = 12;

  // The other functions ignore everything before the first message.
  void add_message(UtcTime time);
  // Nanoseconds without a message.
  void add_gap(std::uint64_t nanoseconds) noexcept {
    std::size_t digits = 1;
    while (nanoseconds >= 10 && digits < gap_classes) nanoseconds /= 10, ++digits;
    ++gaps_[digits - 1];
  }
  void add_trade(std::size_t instrument, UtcTime time, nfx::market::Price price, std::uint64_t quantity);
  void add_spread(std::size_t instrument, UtcTime from, UtcTime to, std::int64_t spread);
  void end() { end_second(); }

  [[nodiscard]] const TimeAxis& axis() const noexcept { return axis_; }
  [[nodiscard]] const std::vector<RateStretch>& rates() const noexcept { return rates_; }
  // Empty if there was no trade and no spread, or for an instrument beyond the bound.
  [[nodiscard]] const std::vector<PriceStretch>& prices(std::size_t instrument) const noexcept;
  // By powers of ten: class 0 counts gaps below 10 ns, class 1 below 100 ns; the last one 100 s and more.
  [[nodiscard]] const std::array<std::uint64_t, gap_classes>& gaps() const noexcept { return gaps_; }

 private:
  [[nodiscard]] std::size_t place_of(UtcTime time) {
    return axis_.place_of(time, [this] { fold(); });
  }
  void fold();
  void end_second();
  PriceStretch* stretch(std::size_t instrument, UtcTime time);

  TimeAxis axis_;
  std::vector<RateStretch> rates_;
  std::vector<std::vector<PriceStretch>> prices_;  // by instrument
  std::array<std::uint64_t, gap_classes> gaps_{};
  UtcTime second_{};  // second of the messages being counted
  std::uint64_t in_second_ = 0;
};

}  // namespace nfx::app::market
