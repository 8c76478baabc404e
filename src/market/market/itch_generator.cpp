// The generated day: the course of the day, the choice of the next message, and the books that it is chosen by.
#include "market/itch_generator.hpp"

#include <algorithm>
#include <bit>

#include "nexusfix/base/assert.hpp"

namespace nfx::market {

namespace {

using namespace itch;

constexpr std::uint64_t second = 1'000'000'000;
constexpr std::uint64_t hour = 3600 * second;
constexpr std::uint64_t open = 9 * hour + hour / 2;
constexpr std::uint64_t close = 16 * hour;

constexpr std::array<std::string_view, 6> participants{"NITE", "GSCO", "VIRT", "JPMS", "CDRG", "UBSS"};

}  // namespace

ItchGenerator::ItchGenerator(const ItchGeneratorOptions& options)
    : options_(options), state_(options.seed * 0x9E37'79B9'7F4A'7C15 + 1), stocks_(options.stocks + std::size_t{1}) {
  NFX_REQUIRE(options.stocks >= 1 && options.stocks <= 65000 && options.resting_orders >= 1);
  for (Stock& stock : stocks_) {
    // From a few dollars to some hundreds; one of 64 is below a dollar, in hundredths of a cent.
    const bool cheap = below(64) == 0;
    stock.tick = cheap ? 1 : 100;
    stock.fair = static_cast<std::uint32_t>(cheap ? 1000 + below(8000) : 300 + below(1 + below(50'000)));
  }
  constexpr std::uint64_t offset = 20;
  std::uint64_t sum = 0;
  popularity_.reserve(options.stocks);
  for (std::uint64_t rank = 1; rank <= options.stocks; ++rank) {
    popularity_.push_back(sum += (std::uint64_t{1} << 32) / (rank + offset));
  }
}

// splitmix64.
std::uint64_t ItchGenerator::random() noexcept {
  std::uint64_t z = state_ += 0x9E37'79B9'7F4A'7C15;
  z = (z ^ (z >> 30)) * 0xBF58'476D'1CE4'E5B9;
  z = (z ^ (z >> 27)) * 0x94D0'49BB'1331'11EB;
  return z ^ (z >> 31);
}

std::string ItchGenerator::symbol(std::uint16_t locate) {
  std::string text(4, 'A');
  std::size_t rest = locate - 1U;
  for (std::size_t i = text.size(); i-- > 0; rest /= 26) text[i] = static_cast<char>('A' + rest % 26);
  return text;
}

template <class M>
std::span<const std::byte> ItchGenerator::give(const Message<M>& message) noexcept {
  std::ranges::copy(message.bytes(), message_.begin());
  return std::span<const std::byte>{message_}.first(M::size);
}

std::span<const std::byte> ItchGenerator::next() {
  switch (phase_) {
    case Phase::trading: return trade_on();
    case Phase::closing_cross: return closing_cross();
    case Phase::over: return {};
    case Phase::start:
    case Phase::directory:
    case Phase::trading_action:
    case Phase::reg_sho:
    case Phase::participant:
    case Phase::levels:
    case Phase::system_hours:
    case Phase::market_hours:
    case Phase::market_close:
    case Phase::system_close:
    case Phase::end: return preamble();
  }
  return {};
}

std::span<const std::byte> ItchGenerator::system_event(char event, std::uint64_t at, Phase after) {
  time_ = std::max(time_ + 1, at);
  phase_ = after;
  return give(make<SystemEvent>(0).set(SystemEvent::event, event));
}

template <class Make>
std::span<const std::byte> ItchGenerator::for_each_stock(Phase after, Make&& make_one) {
  const auto locate = static_cast<std::uint16_t>(stock_);
  time_ += 1 + below(20'000);
  if (stock_ == options_.stocks) {
    stock_ = 1;
    phase_ = after;
  } else {
    ++stock_;
  }
  return make_one(locate);
}

// The messages before and after trading.
std::span<const std::byte> ItchGenerator::preamble() {
  switch (phase_) {
    case Phase::start: return system_event('O', 3 * hour, Phase::directory);
    case Phase::directory:
      return for_each_stock(Phase::trading_action, [this](std::uint16_t locate) {
        return give(make<StockDirectory>(locate)
                        .set(StockDirectory::stock, symbol(locate))
                        .set(StockDirectory::market_category, "QGSNAPZ"[below(7)])
                        .set(StockDirectory::financial_status, 'N')
                        .set(StockDirectory::round_lot_size, 100)
                        .set(StockDirectory::round_lots_only, 'N')
                        .set(StockDirectory::issue_classification, 'C')
                        .set(StockDirectory::issue_sub_type, "Z")
                        .set(StockDirectory::authenticity, 'P')
                        .set(StockDirectory::short_sale_threshold, 'N')
                        .set(StockDirectory::ipo, 'N')
                        .set(StockDirectory::luld_tier, below(8) == 0 ? '1' : '2')
                        .set(StockDirectory::etp, 'N')
                        .set(StockDirectory::inverse, 'N'));
      });
    case Phase::trading_action:
      return for_each_stock(Phase::reg_sho, [this](std::uint16_t locate) {
        return give(make<TradingAction>(locate)
                        .set(TradingAction::stock, symbol(locate))
                        .set(TradingAction::state, 'T')
                        .set(TradingAction::reserved, ' ')
                        .set(TradingAction::reason, ""));
      });
    case Phase::reg_sho:
      return for_each_stock(Phase::participant, [this](std::uint16_t locate) {
        return give(make<RegShoRestriction>(locate)
                        .set(RegShoRestriction::stock, symbol(locate))
                        .set(RegShoRestriction::action, '0'));
      });
    case Phase::participant:
      return for_each_stock(Phase::levels, [this](std::uint16_t locate) {
        return give(make<ParticipantPosition>(locate)
                        .set(ParticipantPosition::participant, participants[below(participants.size())])
                        .set(ParticipantPosition::stock, symbol(locate))
                        .set(ParticipantPosition::primary, 'Y')
                        .set(ParticipantPosition::mode, 'N')
                        .set(ParticipantPosition::state, 'A'));
      });
    case Phase::levels:
      phase_ = Phase::system_hours;
      return give(make<MarketWideLevels>(0)
                      .set(MarketWideLevels::level_1, 4'650'00000000)
                      .set(MarketWideLevels::level_2, 4'350'00000000)
                      .set(MarketWideLevels::level_3, 4'000'00000000));
    case Phase::system_hours: return system_event('S', 4 * hour, Phase::market_hours);
    case Phase::market_hours: return system_event('Q', open, Phase::trading);
    case Phase::market_close: return system_event('M', close, Phase::closing_cross);
    case Phase::system_close: return system_event('E', 20 * hour, Phase::end);
    case Phase::end: return system_event('C', 20 * hour + 5 * 60 * second, Phase::over);
    case Phase::trading:
    case Phase::closing_cross:
    case Phase::over: break;
  }
  return {};
}

// By Zipf's law with an offset.
std::uint16_t ItchGenerator::popular_stock() noexcept {
  const auto found = std::ranges::upper_bound(popularity_, below(popularity_.back()));
  const auto rank = static_cast<std::uint64_t>(found - popularity_.begin());
  // A prime spreads the popular ones over the locate codes.
  return static_cast<std::uint16_t>(1 + rank * 1'000'003 % options_.stocks);
}

void ItchGenerator::choose_time_and_stock() noexcept {
  if (burst_ == 0) {
    // Divided first: the product of two large numbers would wrap around.
    const std::uint64_t n = std::max<std::uint64_t>(options_.messages, 1);
    const std::uint64_t due = open + (close - open) / n * done_ + (close - open) % n * (done_ % n) / n;
    time_ = std::clamp(due, time_ + 1, std::max(close, time_ + 1));
    burst_ = static_cast<unsigned>(below(16));
    stock_ = popular_stock();
    return;
  }
  --burst_;
  time_ += 50 + below(1000);
  if (below(4) == 0) stock_ = popular_stock();
}

std::span<const std::byte> ItchGenerator::trade_on() {
  if (done_ == options_.messages) {
    stock_ = 1;
    phase_ = Phase::market_close;
    return preamble();
  }
  choose_time_and_stock();
  ++done_;
  const auto locate = static_cast<std::uint16_t>(stock_);
  Stock& stock = stocks_[locate];
  if (below(32) == 0) stock.fair = std::max<std::uint32_t>(20, below(2) == 0 ? stock.fair + 1 : stock.fair - 1);

  std::uint64_t dice = below(1000);
  const bool full = live_ > std::uint64_t{options_.resting_orders} * options_.stocks;
  // Towards the wanted number of orders: one add or delete of ten becomes the other.
  if (dice < 870 && dice % 10 == 9) dice = full ? 500 : 0;
  if (dice < 450) return add(locate);
  if (dice >= 995) return rare(locate);
  if (stock.orders.empty()) return add(locate);
  const std::uint32_t order = any_order(stock);
  if (dice < 870) return remove(order);
  if (dice < 930) return replace(order);
  if (dice < 970) return execute(locate);
  return cancel(order);
}

// Mostly a recent one: few orders rest for long.
std::uint32_t ItchGenerator::any_order(const Stock& stock) noexcept {
  const std::size_t size = stock.orders.size();
  const std::uint64_t among = below(2) == 0 ? 8 : std::uint64_t{1} << below(std::bit_width(size) + 1U);
  return stock.orders[size - 1 - below(std::min<std::uint64_t>(size, among))];
}

std::uint32_t ItchGenerator::shares() noexcept {
  return below(4) == 0 ? static_cast<std::uint32_t>(1 + below(400)) : static_cast<std::uint32_t>(100 * (1 + below(5)));
}

// Near the fair price more often than far, and never across the other side.
std::uint32_t ItchGenerator::price_for(const Stock& stock, char side) noexcept {
  const std::uint64_t widest = below(32) == 0 ? 1000 : 64;
  const auto away = static_cast<std::uint32_t>(below(1 + below(1 + below(1 + below(widest)))));
  const std::uint32_t tick = stock.tick;
  if (side == 'B') {
    const std::uint32_t wanted = (stock.fair > away + 1 ? stock.fair - away - 1 : 1) * tick;
    return stock.asks.empty() ? wanted : std::min(wanted, stock.asks.begin()->first - tick);
  }
  const std::uint32_t wanted = (stock.fair + away) * tick;
  return stock.bids.empty() ? wanted : std::max(wanted, stock.bids.rbegin()->first + tick);
}

std::span<const std::byte> ItchGenerator::add(std::uint16_t locate) {
  Stock& stock = stocks_[locate];
  char side = below(2) == 0 ? 'B' : 'S';
  // A bid has at least the lowest price.
  if (!stock.asks.empty() && stock.asks.begin()->first <= stock.tick) side = 'S';
  reference_ += 1 + below(4);
  const Order& order = orders_[insert(locate, side, price_for(stock, side), shares())];
  if (below(30) == 0) {
    return give(make<AddOrderAttributed>(locate)
                    .set(AddOrderAttributed::order, order.reference)
                    .set(AddOrderAttributed::side, side)
                    .set(AddOrderAttributed::shares, order.shares)
                    .set(AddOrderAttributed::stock, symbol(locate))
                    .set(AddOrderAttributed::price, order.price)
                    .set(AddOrderAttributed::participant, participants[below(participants.size())]));
  }
  return give(make<AddOrder>(locate)
                  .set(AddOrder::order, order.reference)
                  .set(AddOrder::side, side)
                  .set(AddOrder::shares, order.shares)
                  .set(AddOrder::stock, symbol(locate))
                  .set(AddOrder::price, order.price));
}

// The first order at a best price: the side that the fair price has passed, or either.
std::span<const std::byte> ItchGenerator::execute(std::uint16_t locate) {
  Stock& stock = stocks_[locate];
  const std::uint32_t fair = stock.fair * stock.tick;
  bool bid = below(2) == 0;
  if (!stock.asks.empty() && stock.asks.begin()->first <= fair) bid = false;
  if (!stock.bids.empty() && stock.bids.rbegin()->first > fair) bid = true;
  if (bid ? stock.bids.empty() : stock.asks.empty()) bid = !bid;
  const std::uint32_t found = bid ? stock.bids.rbegin()->second.first : stock.asks.begin()->second.first;
  Order& order = orders_[found];
  const auto traded = below(10) < 6 ? order.shares : static_cast<std::uint32_t>(1 + below(order.shares));
  const std::uint64_t reference = order.reference;
  const std::uint32_t price = order.price;
  order.shares -= traded;
  if (order.shares == 0) erase(found);
  ++match_;
  if (below(16) == 0) {
    return give(make<OrderExecutedWithPrice>(locate)
                    .set(OrderExecutedWithPrice::order, reference)
                    .set(OrderExecutedWithPrice::shares, traded)
                    .set(OrderExecutedWithPrice::match, match_)
                    .set(OrderExecutedWithPrice::printable, below(2) == 0 ? 'Y' : 'N')
                    .set(OrderExecutedWithPrice::price, price + (bid ? stock.tick : 0)));
  }
  return give(make<OrderExecuted>(locate)
                  .set(OrderExecuted::order, reference)
                  .set(OrderExecuted::shares, traded)
                  .set(OrderExecuted::match, match_));
}

std::span<const std::byte> ItchGenerator::cancel(std::uint32_t found) {
  Order& order = orders_[found];
  if (order.shares == 1) return remove(found);
  const auto less = static_cast<std::uint32_t>(1 + below(order.shares - 1));
  order.shares -= less;
  return give(make<OrderCancel>(order.locate).set(OrderCancel::order, order.reference).set(OrderCancel::shares, less));
}

std::span<const std::byte> ItchGenerator::remove(std::uint32_t found) {
  const std::uint64_t reference = orders_[found].reference;
  const std::uint16_t locate = orders_[found].locate;
  erase(found);
  return give(make<OrderDelete>(locate).set(OrderDelete::order, reference));
}

std::span<const std::byte> ItchGenerator::replace(std::uint32_t found) {
  const Order old = orders_[found];
  erase(found);
  reference_ += 1 + below(4);
  const Stock& stock = stocks_[old.locate];
  // One in four keeps its price, and loses its place in the queue.
  const std::uint32_t price = below(4) == 0 ? old.price : price_for(stock, old.side);
  const bool possible = price != 0;
  const Order& order = orders_[insert(old.locate, old.side, possible ? price : old.price, shares())];
  return give(make<OrderReplace>(old.locate)
                  .set(OrderReplace::order, old.reference)
                  .set(OrderReplace::new_order, order.reference)
                  .set(OrderReplace::shares, order.shares)
                  .set(OrderReplace::price, order.price));
}

std::span<const std::byte> ItchGenerator::hidden_trade(std::uint16_t locate) {
  const Stock& stock = stocks_[locate];
  return give(make<Trade>(locate)
                  .set(Trade::order, 0)
                  .set(Trade::side, 'B')
                  .set(Trade::shares, shares())
                  .set(Trade::stock, symbol(locate))
                  .set(Trade::price, stock.fair * stock.tick)
                  .set(Trade::match, ++match_));
}

// In turn, every second one a hidden trade.
std::span<const std::byte> ItchGenerator::rare(std::uint16_t locate) {
  const std::string stock = symbol(locate);
  const std::uint32_t price = stocks_[locate].fair * stocks_[locate].tick;
  if (resume_) {
    resume_ = false;
    return give(make<OperationalHalt>(halted_)
                    .set(OperationalHalt::stock, symbol(halted_))
                    .set(OperationalHalt::market, 'Q')
                    .set(OperationalHalt::action, 'T'));
  }
  if (rare_++ % 2 == 0) return hidden_trade(locate);
  switch (rare_ / 2 % 9) {
    case 1:
      return give(make<NetOrderImbalance>(locate)
                      .set(NetOrderImbalance::paired_shares, 100 * below(10'000))
                      .set(NetOrderImbalance::imbalance_shares, 100 * below(1000))
                      .set(NetOrderImbalance::direction, "BSNO"[below(4)])
                      .set(NetOrderImbalance::stock, stock)
                      .set(NetOrderImbalance::far_price, price)
                      .set(NetOrderImbalance::near_price, price)
                      .set(NetOrderImbalance::reference_price, price)
                      .set(NetOrderImbalance::cross, 'C')
                      .set(NetOrderImbalance::price_variation, 'L'));
    case 2: return give(make<BrokenTrade>(locate).set(BrokenTrade::match, match_));
    case 3:
      return give(make<AuctionCollar>(locate)
                      .set(AuctionCollar::stock, stock)
                      .set(AuctionCollar::reference_price, price)
                      .set(AuctionCollar::upper_price, price + price / 20)
                      .set(AuctionCollar::lower_price, price - price / 20)
                      .set(AuctionCollar::extension, 0));
    case 4:
      return give(make<IpoQuotingPeriod>(locate)
                      .set(IpoQuotingPeriod::stock, stock)
                      .set(IpoQuotingPeriod::release_time, 36'000)
                      .set(IpoQuotingPeriod::qualifier, 'A')
                      .set(IpoQuotingPeriod::price, price));
    case 5:
      resume_ = true;
      halted_ = locate;
      return give(make<OperationalHalt>(locate)
                      .set(OperationalHalt::stock, stock)
                      .set(OperationalHalt::market, 'Q')
                      .set(OperationalHalt::action, 'H'));
    case 6:
      return give(make<RetailInterest>(locate)
                      .set(RetailInterest::stock, stock)
                      .set(RetailInterest::interest, "BSAN"[below(4)]));
    case 7:
      return give(make<CapitalRaiseDiscovery>(locate)
                      .set(CapitalRaiseDiscovery::stock, stock)
                      .set(CapitalRaiseDiscovery::open_eligible, 'Y')
                      .set(CapitalRaiseDiscovery::minimum_price, price - price / 10)
                      .set(CapitalRaiseDiscovery::maximum_price, price + price / 10)
                      .set(CapitalRaiseDiscovery::near_price, price)
                      .set(CapitalRaiseDiscovery::near_time, time_)
                      .set(CapitalRaiseDiscovery::lower_collar, price - price / 5)
                      .set(CapitalRaiseDiscovery::upper_collar, price + price / 5));
    case 8: return give(make<MarketWideStatus>(0).set(MarketWideStatus::breached_level, '1'));
    default:
      return give(make<CrossTrade>(locate)
                      .set(CrossTrade::shares, 100 * below(100))
                      .set(CrossTrade::stock, stock)
                      .set(CrossTrade::price, price)
                      .set(CrossTrade::match, ++match_)
                      .set(CrossTrade::cross, 'I'));
  }
}

std::span<const std::byte> ItchGenerator::closing_cross() {
  return for_each_stock(Phase::system_close, [this](std::uint16_t locate) {
    const Stock& stock = stocks_[locate];
    return give(make<CrossTrade>(locate)
                    .set(CrossTrade::shares, 100 * below(1000))
                    .set(CrossTrade::stock, symbol(locate))
                    .set(CrossTrade::price, stock.fair * stock.tick)
                    .set(CrossTrade::match, ++match_)
                    .set(CrossTrade::cross, 'C'));
  });
}

std::uint32_t ItchGenerator::insert(std::uint16_t locate, char side, std::uint32_t price, std::uint32_t shares) {
  NFX_ASSERT(price != 0 && shares != 0);
  Stock& stock = stocks_[locate];
  std::uint32_t index = static_cast<std::uint32_t>(orders_.size());
  if (free_.empty()) {
    orders_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  Queue& queue = (side == 'B' ? stock.bids : stock.asks)[price];
  const auto place = static_cast<std::uint32_t>(stock.orders.size());
  orders_[index] = {reference_, shares, price, none, queue.last, place, locate, side};
  (queue.last == none ? queue.first : orders_[queue.last].next) = index;
  queue.last = index;
  stock.orders.push_back(index);
  ++live_;
  return index;
}

void ItchGenerator::erase(std::uint32_t index) {
  const Order& order = orders_[index];
  Stock& stock = stocks_[order.locate];
  Levels& levels = order.side == 'B' ? stock.bids : stock.asks;
  const auto level = levels.find(order.price);
  NFX_ASSERT(level != levels.end());
  (order.previous == none ? level->second.first : orders_[order.previous].next) = order.next;
  (order.next == none ? level->second.last : orders_[order.next].previous) = order.previous;
  if (level->second.first == none) levels.erase(level);
  stock.orders[order.place] = stock.orders.back();
  orders_[stock.orders[order.place]].place = order.place;
  stock.orders.pop_back();
  free_.push_back(index);
  --live_;
}

}  // namespace nfx::market
