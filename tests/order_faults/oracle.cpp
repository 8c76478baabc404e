// A second, independent implementation of the rules for orders.
#include "order_faults/oracle.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace nfx::order_faults {

using market::EventKind;
using market::Side;

void PlainBook::reduce(std::uint64_t id, std::uint64_t quantity) {
  const auto found = orders_.find(id);
  if (found == orders_.end() || quantity > found->second.quantity) stale_ = true;
  if (found == orders_.end()) return;
  found->second.quantity -= std::min(found->second.quantity, quantity);
  if (found->second.quantity == 0) orders_.erase(found);
}

void PlainBook::apply(const market::Event& event) {
  const std::uint64_t id = std::to_underlying(event.order);
  switch (event.kind) {
    case EventKind::add:
      if (orders_.contains(id)) stale_ = true;
      orders_[id] = {event.side, event.price.nano, event.quantity};
      return;
    case EventKind::cancel:
    case EventKind::execute: return reduce(id, event.quantity);
    case EventKind::remove:
      if (orders_.erase(id) == 0) stale_ = true;
      return;
    case EventKind::replace: {
      const auto found = orders_.find(id);
      if (found == orders_.end()) {
        stale_ = true;
        return;
      }
      const Side side = found->second.side;
      orders_.erase(found);
      if (orders_.contains(event.other)) stale_ = true;
      orders_[event.other] = {side, event.price.nano, event.quantity};
      return;
    }
    case EventKind::clear:
      orders_.clear();
      stale_ = false;
      return;
    case EventKind::status: status_ = event.status; return;
    case EventKind::modify:
    case EventKind::snapshot_begin:
    case EventKind::snapshot_end: std::abort();  // ITCH has none without a snapshot server
    case EventKind::none:
    case EventKind::fill:
    case EventKind::trade:
    case EventKind::level_set: return;
  }
}

std::optional<std::int64_t> PlainBook::twice_middle() const {
  std::optional<std::int64_t> bid, ask;
  for (const auto& [id, order] : orders_) {
    if (order.side == Side::bid) bid = bid ? std::max(*bid, order.price) : order.price;
    if (order.side == Side::ask) ask = ask ? std::min(*ask, order.price) : order.price;
  }
  if (!bid && !ask) return std::nullopt;
  return bid.value_or(*(bid ? bid : ask)) + ask.value_or(*(ask ? ask : bid));
}

bool read_sent(std::string_view type, std::string_view body, Sent& sent) {
  std::map<int, std::string_view> fields;
  while (!body.empty()) {
    const std::size_t end = body.find('\x01'), equals = body.find('=');
    if (end == body.npos || equals > end) return false;
    int tag = 0;
    std::from_chars(body.data(), body.data() + equals, tag);
    if (!fields.emplace(tag, body.substr(equals + 1, end - equals - 1)).second) return false;
    body.remove_prefix(end + 1);
  }
  const auto number = [&](int tag, auto& into) {
    const std::string_view text = fields[tag];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
    return error == std::errc{} && end == text.data() + text.size();
  };
  sent.type = type.size() == 1 ? type[0] : '?';
  if (!number(11, sent.number) || !number(38, sent.quantity) || fields[54].size() != 1) return false;
  sent.side = fields[54][0];
  if (!fields[55].starts_with("S") ||
      std::from_chars(fields[55].data() + 1, fields[55].data() + fields[55].size(), sent.instrument).ec != std::errc{})
    return false;
  if (sent.type != 'D' && !number(41, sent.original)) return false;
  if (sent.type == 'F') return true;
  // Four digits after the point.
  const std::string_view price = fields[44];
  const std::size_t point = price.find('.');
  if (point == price.npos || price.size() - point != 5) return false;
  std::int64_t whole = 0, part = 0;
  std::from_chars(price.data(), price.data() + point, whole);
  std::from_chars(price.data() + point + 1, price.data() + price.size(), part);
  sent.price_nano = (whole * 10'000 + part) * 100'000;
  return true;
}

std::uint64_t Oracle::order_of(std::uint64_t number) const {
  for (const auto& [own, order] : orders_) {
    if (own == number || (number != 0 && order.change == number)) return own;
  }
  return 0;
}

std::int64_t Oracle::worst(std::uint32_t instrument, char side) const {
  std::int64_t sum = side == '1' ? positions_[instrument] : -positions_[instrument];
  for (const auto& [number, order] : orders_) {
    if (order.instrument != instrument || order.side != side) continue;
    std::uint64_t most = order.quantity;
    if (order.change != 0 && !order.canceling) most = std::max(most, order.new_quantity);
    sum += static_cast<std::int64_t>(most - std::min(most, order.filled));
  }
  return sum;
}

std::string Oracle::judge(const Sent& sent, const Truth& truth) {
  if (sent.number <= highest_) return "an order number is used again";
  highest_ = sent.number;
  if (sent.type == 'F' || sent.type == 'G') {
    const auto found = orders_.find(sent.original);
    if (found == orders_.end()) return "a change of an order that is not open";
    Order& order = found->second;
    if (order.change != 0) return "a second change of an order before the first was answered";
    if (order.instrument != sent.instrument || order.side != sent.side) return "a change with another symbol or side";
    order.change = sent.number;
    order.canceling = sent.type == 'F';
    order.new_quantity = sent.quantity;
    return sent.type == 'F' ? std::string{} : judge_order(sent, truth);
  }
  if (sent.type != 'D') return "a message of another type";
  orders_[sent.number] = {.instrument = sent.instrument, .side = sent.side, .quantity = sent.quantity};
  std::string wrong = judge_order(sent, truth);
  if (!wrong.empty()) return wrong;
  const std::int64_t most = static_cast<std::int64_t>(instruments_[sent.instrument].max_position);
  times_.push_back(truth.now.monotonic);
  if (times_.size() > limits_.burst + 1) {
    // One more than a burst needs the time of at least one token.
    const Duration since = times_.back() - times_[times_.size() - limits_.burst - 1];
    if (since < Duration{1'000'000'000} / limits_.orders_per_second) return "too many orders in one burst";
  }
  return worst(sent.instrument, sent.side) > most ? "the position can exceed its limit" : "";
}

std::string Oracle::judge_order(const Sent& sent, const Truth& truth) const {
  using market::TradingStatus;
  const strategy::InstrumentLimits& limits = instruments_.at(sent.instrument);
  if (truth.killed) return "an order after the kill switch";
  if (truth.gap) return "an order through a gap";
  if (truth.book->stale()) return "an order on a stale book";
  if (truth.book->status() != TradingStatus::trading && truth.book->status() != TradingStatus::unknown)
    return "an order while nothing trades";
  if (truth.now.utc - truth.received > limits_.max_event_age) return "an order on an event that is too old";
  if (sent.price_nano % limits.tick.nano != 0) return "a price off the tick";
  if (sent.quantity == 0 || sent.quantity > limits.max_quantity) return "a quantity beyond its limit";
  const auto twice = truth.book->twice_middle();
  if (!twice) return "an order without a price to compare with";
  if (std::llabs(2 * sent.price_nano - *twice) > 2 * limits.collar.nano) return "a price outside of the collar";
  return {};
}

void Oracle::rejected(std::uint64_t number) {
  const std::uint64_t own = order_of(number);
  if (own == number) {
    orders_.erase(own);
  } else {
    Order& order = orders_.at(own);
    order.change = 0;
    if (order.filled >= order.quantity) orders_.erase(own);
  }
}

void Oracle::replaced(std::uint64_t number) {
  const std::uint64_t own = order_of(number);
  Order order = orders_.at(own);
  order.quantity = order.new_quantity;
  order.change = 0;
  orders_.erase(own);
  if (order.filled < order.quantity) orders_[number] = order;
}

void Oracle::canceled(std::uint64_t number) { orders_.erase(order_of(number)); }

void Oracle::filled(std::uint64_t number, std::uint64_t quantity) {
  const std::uint64_t own = order_of(number);
  Order& order = orders_.at(own);
  order.filled += quantity;
  const auto traded = static_cast<std::int64_t>(quantity);
  positions_[order.instrument] += order.side == '1' ? traded : -traded;
  const bool may_grow = order.change != 0 && !order.canceling && order.new_quantity > order.filled;
  if (order.filled >= order.quantity && !may_grow) orders_.erase(own);
}

}  // namespace nfx::order_faults
