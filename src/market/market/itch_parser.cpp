// How an ITCH parser handles invalid messages; and the directory of stocks: the messages that fill it, and its effects
// on a stock.
#include "nexusfix/market/itch_parser.hpp"

#include <algorithm>

namespace nfx::market {

namespace {

constexpr std::size_t locates = 65536;

}  // namespace

TradingStatus ItchStock::status() const noexcept {
  if (operational_halt == 'H') return TradingStatus::halted;
  switch (state) {
    case 'T': return TradingStatus::trading;
    case 'H': return TradingStatus::halted;
    case 'P': return TradingStatus::paused;
    case 'Q': return TradingStatus::quoting_only;
    default: return TradingStatus::unknown;
  }
}

ItchDirectory::ItchDirectory() : stocks_(map_array<ItchStock>(locates, "the directory of stocks")) {}

std::optional<std::uint16_t> ItchDirectory::find(std::string_view symbol) const noexcept {
  if (symbol.empty()) return std::nullopt;
  for (std::size_t i = 0; i <= highest_; ++i) {
    if (stocks_[i].symbol() == symbol) return static_cast<std::uint16_t>(i);
  }
  return std::nullopt;
}

void ItchDirectory::add(itch::View<itch::StockDirectory> message) noexcept {
  const std::uint16_t locate = message[itch::Header::locate];
  ItchStock& stock = stocks_[locate];
  size_ += stock.symbol().empty() ? 1 : 0;
  std::ranges::copy(message[itch::StockDirectory::stock], stock.padded.begin());
  size_ -= stock.symbol().empty() ? 1 : 0;
  stock.round_lot = message[itch::StockDirectory::round_lot_size];
  stock.market_category = message[itch::StockDirectory::market_category];
  highest_ = std::max(highest_, locate);
}

TradingStatus ItchDirectory::update(itch::View<itch::TradingAction> message) noexcept {
  ItchStock& stock = stocks_[message[itch::Header::locate]];
  stock.state = message[itch::TradingAction::state];
  return stock.status();
}

// Those of the other markets of the group do not stop this one.
TradingStatus ItchDirectory::update(itch::View<itch::OperationalHalt> message) noexcept {
  ItchStock& stock = stocks_[message[itch::Header::locate]];
  if (message[itch::OperationalHalt::market] == 'Q') stock.operational_halt = message[itch::OperationalHalt::action];
  return stock.status();
}

void ItchDirectory::clear() noexcept {
  // Beyond the highest entry as well: a state may have come for a stock that has none.
  std::fill_n(stocks_.get(), locates, ItchStock{});
  size_ = 0;
  highest_ = 0;
}

void ItchParser::count(itch::ParseStatus status) noexcept {
  switch (status) {
    case itch::ParseStatus::ok: return;
    case itch::ParseStatus::unknown_type: ++counters_.unknown_type; return;
    case itch::ParseStatus::wrong_length: ++counters_.wrong_length; return;
  }
}

}  // namespace nfx::market
