// Counts of a recording.
#include "market/statistics.hpp"

namespace nfx::app::market {
namespace {

using nfx::market::Event;
using nfx::market::EventKind;
using nfx::market::Side;

void add_trade(InstrumentStatistics& of, const Event& event) {
  if (of.trades == 0) of.first = event.price;
  of.last = event.price;
  of.low = std::min(of.low, event.price);
  of.high = std::max(of.high, event.price);
  of.largest = std::max(of.largest, event.quantity);
  of.traded += event.quantity;
  ++of.trades;
}

void end_spread(InstrumentStatistics& of, UtcTime now) {
  if (of.spread >= 0 && now > of.since) {
    const auto seconds = std::chrono::duration<double>(now - of.since).count();
    of.spread_time += seconds * static_cast<double>(of.spread);
    of.time += seconds;
  }
  of.since = now;
}

void add_quote(InstrumentStatistics& of, const nfx::market::OrderBook& book, UtcTime now) {
  end_spread(of, now);
  of.spread = -1;
  const auto bid = book.best(Side::bid), ask = book.best(Side::ask);
  if (!bid || !ask) return;
  if (bid->price >= ask->price) {
    ++of.crossed;
    return;
  }
  // Prices at both ends of the range have a difference beyond it.
  if (__builtin_sub_overflow(ask->price.nano, bid->price.nano, &of.spread)) {
    of.spread = std::numeric_limits<std::int64_t>::max();
  }
  ++of.quoted;
  of.spread_min = std::min(of.spread_min, of.spread);
  of.spread_max = std::max(of.spread_max, of.spread);
}

}  // namespace

void Statistics::add_time(UtcTime time) {
  if (first == UtcTime{}) {
    first = time;
  } else if (time < last) {
    ++backwards;
  } else {
    gaps.add(last, static_cast<std::uint64_t>((time - last).count()));
  }
  last = time;
  for (Rate& rate : rates) rate.add(time);
}

void Statistics::add(const Event& event, nfx::market::InstrumentIndex index, const nfx::market::OrderBook& book) {
  const UtcTime time = event.receive_time;
  ++kinds[std::to_underlying(event.kind)];
  ++messages;
  if ((event.flags & nfx::market::event_flag::snapshot) != 0) {
    ++snapshot;  // of one moment: no rate
  } else {
    add_time(time);
  }
  if ((event.flags & nfx::market::event_flag::recovering) != 0) ++recovering;

  if (instruments.size() <= std::to_underlying(index)) instruments.resize(std::to_underlying(index) + std::size_t{1});
  InstrumentStatistics& of = instruments[std::to_underlying(index)];
  ++of.messages;
  if (event.kind == EventKind::trade) add_trade(of, event);
  if (event.last()) {
    ++events;
    add_quote(of, book, time);
  }
}

void Statistics::end() {
  for (Rate& rate : rates) rate.end();
  for (InstrumentStatistics& of : instruments) end_spread(of, last);
}

}  // namespace nfx::app::market
