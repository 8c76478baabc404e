// Values over time.
#include "market/series.hpp"

namespace nfx::app::market {
namespace {

// Merges pairs of neighbours.
template <class Stretch>
void fold_pairs(std::vector<Stretch>& stretches) {
  const std::size_t size = (stretches.size() + 1) / 2;
  for (std::size_t i = 0; i < size; ++i) {
    Stretch joined = stretches[2 * i];
    if (2 * i + 1 < stretches.size()) joined.join(stretches[2 * i + 1]);
    stretches[i] = joined;
  }
  stretches.resize(size);
}

template <class Stretch>
Stretch& at(std::vector<Stretch>& stretches, std::size_t place) {
  if (stretches.size() <= place) stretches.resize(place + 1);
  return stretches[place];
}

}  // namespace

void Series::fold() {
  fold_pairs(rates_);
  for (auto& each : prices_) fold_pairs(each);
}

void Series::add_message(UtcTime time) {
  const UtcTime second = std::chrono::floor<std::chrono::seconds>(time);
  if (second != second_) {
    end_second();
    second_ = second;
    (void)place_of(second);  // the axis begins with the first message
  }
  ++in_second_;
}

void Series::end_second() {
  if (in_second_ == 0) return;
  const std::size_t place = place_of(second_);
  at(rates_, place).join({in_second_, in_second_});
  in_second_ = 0;
}

PriceStretch* Series::stretch(std::size_t instrument, UtcTime time) {
  if (instrument >= most_instruments || axis_.begin() == UtcTime{}) return nullptr;
  const std::size_t place = place_of(time);
  return &at(at(prices_, instrument), place);
}

void Series::add_trade(std::size_t instrument, UtcTime time, nfx::market::Price price, std::uint64_t quantity) {
  PriceStretch* const in = stretch(instrument, time);
  if (in == nullptr) return;
  in->traded += quantity;
  if (!price.defined()) return;
  in->low = std::min(in->low, price.nano);
  in->high = std::max(in->high, price.nano);
}

// Adds to each stretch the time for which the spread applied there.
void Series::add_spread(std::size_t instrument, UtcTime from, UtcTime to, std::int64_t spread) {
  if (stretch(instrument, to) == nullptr) return;
  for (from = std::max(from, axis_.begin()); from < to;) {  // the axis already extends to the end
    const std::size_t place = place_of(from);
    const UtcTime end = std::min(to, axis_.begin() + axis_.width() * static_cast<std::int64_t>(place + 1));
    const double seconds = std::chrono::duration<double>(end - from).count();
    PriceStretch part;
    part.spread_max = spread;
    part.spread_time = seconds * static_cast<double>(spread);
    part.time = seconds;
    at(prices_[instrument], place).join(part);
    from = end;
  }
}

const std::vector<PriceStretch>& Series::prices(std::size_t instrument) const noexcept {
  static const std::vector<PriceStretch> none;
  return instrument < prices_.size() ? prices_[instrument] : none;
}

}  // namespace nfx::app::market
