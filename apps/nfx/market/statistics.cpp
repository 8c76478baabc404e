// Counts of a recording.
#include "market/statistics.hpp"

#include "market/book_replay.hpp"

namespace nfx::app::market {

using nfx::market::Event;
using nfx::market::Side;

std::string duration_text(Duration duration) {
  if (duration >= std::chrono::seconds{1}) return std::to_string(duration / std::chrono::milliseconds{1}) + " ms";
  if (duration >= std::chrono::milliseconds{1}) return std::to_string(duration / std::chrono::microseconds{1}) + " us";
  return std::to_string(duration.count()) + " ns";
}

std::string window_text(Duration window) {
  return window >= std::chrono::seconds{1} ? std::to_string(window / std::chrono::seconds{1}) + " s"
                                           : std::to_string(window / std::chrono::milliseconds{1}) + " ms";
}

void Statistics::add_trade(std::size_t index, const Event& event, nfx::market::Price price) {
  InstrumentStatistics& of = instruments[index];
  // An execution of an unknown order has no price.
  if (price.defined()) {
    if (!of.priced()) of.first = price;
    of.last = price;
    of.low = std::min(of.low, price);
    of.high = std::max(of.high, price);
  }
  of.largest = std::max(of.largest, event.quantity);
  of.traded += event.quantity;
  ++of.trades;
  if (series_ != nullptr) series_->add_trade(index, event.receive_time, price, event.quantity);
}

void Statistics::end_spread(std::size_t index, UtcTime now) {
  InstrumentStatistics& of = instruments[index];
  if (of.spread >= 0 && now > of.since) {
    const auto seconds = std::chrono::duration<double>(now - of.since).count();
    of.spread_time += seconds * static_cast<double>(of.spread);
    of.time += seconds;
    if (series_ != nullptr) series_->add_spread(index, of.since, now, of.spread);
  }
  of.since = now;
}

void Statistics::add_quote(std::size_t index, const nfx::market::OrderBook& book, UtcTime now) {
  end_spread(index, now);
  InstrumentStatistics& of = instruments[index];
  of.spread = -1;
  const auto bid = book.best(Side::bid), ask = book.best(Side::ask);
  if (!bid || !ask) return;
  if (bid->price >= ask->price) {
    ++of.crossed;
    return;
  }
  // The difference of extreme prices may exceed the range.
  if (__builtin_sub_overflow(ask->price.nano, bid->price.nano, &of.spread)) {
    of.spread = std::numeric_limits<std::int64_t>::max();
  }
  ++of.quoted;
  of.spread_min = std::min(of.spread_min, of.spread);
  of.spread_max = std::max(of.spread_max, of.spread);
}

void Statistics::add_time(UtcTime time) {
  if (first == UtcTime{}) {
    first = time;
  } else if (time < last) {
    ++backwards;
  } else {
    const auto gap = static_cast<std::uint64_t>((time - last).count());
    gaps.add(last, gap);
    if (series_ != nullptr) series_->add_gap(gap);
  }
  last = time;
  for (Rate& rate : rates) rate.add(time);
  if (series_ != nullptr) series_->add_message(time);
}

void Statistics::add(const Event& event, nfx::market::InstrumentIndex instrument, const nfx::market::OrderBook& book,
                     nfx::market::Price traded) {
  const std::size_t index = std::to_underlying(instrument);
  const UtcTime time = event.receive_time;
  ++kinds[std::to_underlying(event.kind)];
  ++messages;
  if ((event.flags & nfx::market::event_flag::snapshot) != 0) {
    ++snapshot;  // messages of one moment, not a rate
  } else {
    add_time(time);
  }
  if ((event.flags & nfx::market::event_flag::recovering) != 0) ++recovering;

  if (instruments.size() <= index) instruments.resize(index + 1);
  ++instruments[index].messages;
  if (is_trade(event)) add_trade(index, event, traded);
  if (event.last()) {
    ++events;
    add_quote(index, book, time);
  }
}

void Statistics::end() {
  for (Rate& rate : rates) rate.end();
  for (std::size_t i = 0; i < instruments.size(); ++i) end_spread(i, last);
  if (series_ != nullptr) series_->end();
}

}  // namespace nfx::app::market
