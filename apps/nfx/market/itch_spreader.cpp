// Converts events by order to ITCH messages.
#include "market/itch_spreader.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <utility>

#include "config/schedule_config.hpp"
#include "market/itch_generator.hpp"
#include "market/market.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx::app::market {

using namespace nfx::market;

namespace {

constexpr std::uint32_t most_stocks = 65000;
constexpr std::int64_t price_unit = 100'000;  // billionths: four decimals
constexpr auto most_time = std::uint64_t{1} << 48;

// The price in ITCH's format, if possible.
std::optional<std::uint32_t> itch_number(std::int64_t price) {
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  if (price < 0 || price % price_unit != 0 || price / price_unit > most) return std::nullopt;
  return static_cast<std::uint32_t>(price / price_unit);
}

bool fits(std::uint64_t quantity) { return quantity <= std::numeric_limits<std::uint32_t>::max(); }

}  // namespace

ItchSpreader::ItchSpreader(std::uint32_t names, std::string& out) : names_(names), out_(&out) {
  NFX_REQUIRE(names >= 1 && names <= most_stocks);
}

std::string ItchSpreader::date() const { return time_text(midnight_ + std::chrono::hours{12}).substr(0, 10); }

template <class M>
void ItchSpreader::give(const itch::Message<M>& message) {
  std::array<std::byte, 2> length;
  store_big_endian<std::uint16_t>(length.data(), M::size);
  out_->append(reinterpret_cast<const char*>(length.data()), length.size());
  out_->append(reinterpret_cast<const char*>(message.bytes().data()), M::size);
  ++messages_;
}

void ItchSpreader::system_event(char event) { give(make<itch::SystemEvent>(0).set(itch::SystemEvent::event, event)); }

// Sets the time, and at first the day. False if ITCH cannot express the time.
bool ItchSpreader::begin(const Event& event) {
  if (midnight_ == UtcTime{}) {
    const TimeZone zone = load_time_zone("America/New_York");
    const auto local = zone.local(std::chrono::floor<std::chrono::seconds>(event.receive_time));
    midnight_ = zone.to_utc(std::chrono::floor<std::chrono::days>(local)).time;
  }
  const auto since = static_cast<std::uint64_t>((event.receive_time - midnight_).count());
  if (event.receive_time < midnight_ || since >= most_time) return false;
  time_ = since;
  if (messages_ == 0) system_event('O');
  return true;
}

std::optional<std::uint16_t> ItchSpreader::first_locate(std::uint32_t instrument) {
  if (const auto known = instruments_.find(instrument); known != instruments_.end()) return known->second;
  if (stocks() + names_ > most_stocks) return std::nullopt;
  const auto first = static_cast<std::uint16_t>(stocks() + 1);
  for (std::uint32_t i = 0; i < names_; ++i) {
    const auto locate = static_cast<std::uint16_t>(first + i);
    give(make<itch::StockDirectory>(locate)
             .set(itch::StockDirectory::stock, ItchGenerator::symbol(locate))
             .set(itch::StockDirectory::market_category, 'Q')
             .set(itch::StockDirectory::financial_status, 'N')
             .set(itch::StockDirectory::round_lot_size, 1)
             .set(itch::StockDirectory::round_lots_only, 'N')
             .set(itch::StockDirectory::issue_classification, 'C')
             .set(itch::StockDirectory::issue_sub_type, "Z")
             .set(itch::StockDirectory::authenticity, 'T')
             .set(itch::StockDirectory::short_sale_threshold, 'N')
             .set(itch::StockDirectory::ipo, 'N')
             .set(itch::StockDirectory::luld_tier, '1')
             .set(itch::StockDirectory::etp, 'N')
             .set(itch::StockDirectory::inverse, 'N'));
    give(make<itch::TradingAction>(locate)
             .set(itch::TradingAction::stock, ItchGenerator::symbol(locate))
             .set(itch::TradingAction::state, 'T')
             .set(itch::TradingAction::reserved, ' ')
             .set(itch::TradingAction::reason, ""));
  }
  if (instruments_.empty()) {
    system_event('S');
    system_event('Q');
  }
  instruments_.emplace(instrument, first);
  return first;
}

std::uint16_t ItchSpreader::locate_of(const Key& key) const {
  const std::uint64_t mixed = key.order * 0x9E37'79B9'7F4A'7C15;
  return static_cast<std::uint16_t>(instruments_.at(key.instrument) + (mixed >> 32) % names_);
}

void ItchSpreader::add(const Event& event) {
  const std::uint32_t instrument = std::to_underlying(event.instrument);
  if (!begin(event) || !first_locate(instrument)) {
    ++left_out_;
    return;
  }
  const Key key{instrument, std::to_underlying(event.order)};
  switch (event.kind) {
    case EventKind::add: add_order(key, event); break;
    case EventKind::modify: modify(key, event); break;
    case EventKind::cancel: cancel(key, event); break;
    case EventKind::clear: clear(instrument); break;
    case EventKind::fill: take_fill(key, event); break;
    case EventKind::trade:
      traded_ += event.quantity;
      last_trade_ = {key, event.price.nano, event.quantity, true};
      break;
    case EventKind::none:
    case EventKind::replace:
    case EventKind::remove:
    case EventKind::execute:
    case EventKind::snapshot_begin:
    case EventKind::snapshot_end:
    case EventKind::level_set:
    case EventKind::status: break;
  }
  if (event.last()) end_event();
}

void ItchSpreader::end() {
  if (messages_ == 0) return;
  end_event();
  for (const char event : {'M', 'E', 'C'}) system_event(event);
}

void ItchSpreader::add_order(const Key& key, const Event& event) {
  // An order with another order's number replaces it.
  if (const auto known = orders_.find(key); known != orders_.end()) remove(known);
  if (event.side == Side::none || !itch_number(event.price.nano) || !fits(event.quantity)) {
    ++left_out_;
    return;
  }
  const Order order{++reference_, event.price.nano, event.quantity, locate_of(key), event.side};
  orders_.emplace(key, order);
  give_add(order);
}

void ItchSpreader::give_add(const Order& order) {
  give(make<itch::AddOrder>(order.locate)
           .set(itch::AddOrder::order, order.reference)
           .set(itch::AddOrder::side, order.side == Side::bid ? 'B' : 'S')
           .set(itch::AddOrder::shares, static_cast<std::uint32_t>(order.quantity))
           .set(itch::AddOrder::stock, ItchGenerator::symbol(order.locate))
           .set(itch::AddOrder::price, itch_number(order.price).value()));
}

void ItchSpreader::modify(const Key& key, const Event& event) {
  const auto known = orders_.find(key);
  if (known == orders_.end() || known->second.side != event.side) return add_order(key, event);
  Order& order = known->second;
  const bool less = event.price.nano == order.price && event.quantity <= order.quantity;
  if (less && (event.quantity != 0 || order.quantity == 0)) return reduce(known, order.quantity - event.quantity);
  const auto price = itch_number(event.price.nano);
  if (!price || !fits(event.quantity)) {
    ++left_out_;
    return remove(known);
  }
  const std::uint64_t old = std::exchange(order.reference, ++reference_);
  order.price = event.price.nano;
  order.quantity = event.quantity;
  give(make<itch::OrderReplace>(order.locate)
           .set(itch::OrderReplace::order, old)
           .set(itch::OrderReplace::new_order, order.reference)
           .set(itch::OrderReplace::shares, static_cast<std::uint32_t>(order.quantity))
           .set(itch::OrderReplace::price, *price));
}

void ItchSpreader::cancel(const Key& key, const Event& event) {
  const auto known = orders_.find(key);
  if (known == orders_.end()) return;
  if (known->second.quantity == 0) return remove(known);
  reduce(known, std::min(event.quantity, known->second.quantity));
}

void ItchSpreader::clear(std::uint32_t instrument) {
  std::vector<Orders::iterator> all;
  for (auto each = orders_.begin(); each != orders_.end(); ++each) {
    if (each->first.instrument == instrument) all.push_back(each);
  }
  std::ranges::sort(all, {}, [](const Orders::iterator& each) { return each->second.reference; });
  for (const auto& each : all) remove(each);
}

void ItchSpreader::remove(Orders::iterator order) {
  give(make<itch::OrderDelete>(order->second.locate).set(itch::OrderDelete::order, order->second.reference));
  orders_.erase(order);
}

void ItchSpreader::reduce(Orders::iterator at, std::uint64_t quantity) {
  Order& order = at->second;
  NFX_ASSERT(quantity <= order.quantity);
  for (Fill& fill : fills_) {
    const std::uint64_t executed = fill.key == at->first ? std::min(fill.quantity, quantity) : 0;
    if (executed == 0) continue;
    give_execution(order, fill, executed);
    fill.quantity -= executed;
    order.quantity -= executed;
    quantity -= executed;
    if (order.quantity == 0) {
      orders_.erase(at);
      return;
    }
  }
  if (quantity == 0) return;
  if (quantity == order.quantity) return remove(at);
  order.quantity -= quantity;
  give(make<itch::OrderCancel>(order.locate)
           .set(itch::OrderCancel::order, order.reference)
           .set(itch::OrderCancel::shares, static_cast<std::uint32_t>(quantity)));
}

void ItchSpreader::give_execution(const Order& order, const Fill& fill, std::uint64_t quantity) {
  const auto shares = static_cast<std::uint32_t>(quantity);
  const auto price = itch_number(fill.price);
  if (fill.printable && (fill.price == order.price || !price)) {
    give(make<itch::OrderExecuted>(order.locate)
             .set(itch::OrderExecuted::order, order.reference)
             .set(itch::OrderExecuted::shares, shares)
             .set(itch::OrderExecuted::match, ++match_));
    return;
  }
  give(make<itch::OrderExecutedWithPrice>(order.locate)
           .set(itch::OrderExecutedWithPrice::order, order.reference)
           .set(itch::OrderExecutedWithPrice::shares, shares)
           .set(itch::OrderExecutedWithPrice::match, ++match_)
           .set(itch::OrderExecutedWithPrice::printable, fill.printable ? 'Y' : 'N')
           .set(itch::OrderExecutedWithPrice::price, price.value_or(itch_number(order.price).value())));
}

void ItchSpreader::give_trade(std::uint16_t locate, std::int64_t price, std::uint64_t quantity) {
  const auto number = itch_number(price);
  if (!number || !fits(quantity)) {
    ++left_out_;
    return;
  }
  give(make<itch::Trade>(locate)
           .set(itch::Trade::order, 0)
           .set(itch::Trade::side, 'B')
           .set(itch::Trade::shares, static_cast<std::uint32_t>(quantity))
           .set(itch::Trade::stock, ItchGenerator::symbol(locate))
           .set(itch::Trade::price, *number)
           .set(itch::Trade::match, ++match_));
}

void ItchSpreader::take_fill(const Key& key, const Event& event) {
  const std::uint64_t printable = std::min(event.quantity, traded_);
  traded_ -= printable;
  if (printable != 0) fills_.push_back({key, event.price.nano, printable, true});
  if (event.quantity != printable) fills_.push_back({key, event.price.nano, event.quantity - printable, false});
}

void ItchSpreader::end_event() {
  for (const Fill& fill : fills_) {
    if (fill.printable && fill.quantity != 0) give_trade(locate_of(fill.key), fill.price, fill.quantity);
  }
  fills_.clear();
  if (traded_ != 0) give_trade(locate_of(last_trade_.key), last_trade_.price, traded_);
  traded_ = 0;
}

}  // namespace nfx::app::market
