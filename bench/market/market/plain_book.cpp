// Order books written in the obvious way.
#include "plain_book.hpp"

#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace nfx::bench {
namespace {

using nfx::market::Event;
using nfx::market::EventKind;
using nfx::market::Level;
using nfx::market::Side;

struct PlainBook {
  struct Order {
    Side side;
    std::int64_t price;
    std::uint64_t quantity;
  };
  using Levels = std::map<std::int64_t, std::pair<std::uint64_t, std::uint32_t>>;
  using Best = std::tuple<bool, std::int64_t, std::uint64_t, bool, std::int64_t, std::uint64_t>;

  std::unordered_map<std::uint64_t, Order> orders;
  Levels sides[2];
  Best last{};
  bool seen = false;

  void put(std::uint64_t id, const Order& order) {
    orders[id] = order;
    auto& level = sides[std::to_underlying(order.side)][order.price];
    level.first += order.quantity;
    ++level.second;
  }
  void take(std::uint64_t id, std::uint64_t quantity, bool whole) {
    Order& order = orders.at(id);
    auto& levels = sides[std::to_underlying(order.side)];
    const auto level = levels.find(order.price);
    level->second.first -= quantity;
    order.quantity -= quantity;
    if (!whole) return;
    if (--level->second.second == 0) levels.erase(level);
    orders.erase(id);
  }

  void apply(const Event& event) {
    const auto id = std::to_underlying(event.order);
    const auto known = orders.find(id);
    switch (event.kind) {
      case EventKind::modify:
        if (known != orders.end()) take(id, known->second.quantity, true);
        [[fallthrough]];
      case EventKind::add: return put(id, {event.side, event.price.nano, event.quantity});
      case EventKind::cancel:
        if (known != orders.end()) take(id, event.quantity, event.quantity >= known->second.quantity);
        return;
      case EventKind::clear:
        orders.clear();
        for (Levels& levels : sides) levels.clear();
        return;
      case EventKind::execute:
        if (known != orders.end()) take(id, event.quantity, event.quantity >= known->second.quantity);
        return;
      case EventKind::remove:
        if (known != orders.end()) take(id, known->second.quantity, true);
        return;
      case EventKind::replace: {
        if (known == orders.end()) return;
        const Side side = known->second.side;
        take(id, known->second.quantity, true);
        return put(event.other, {side, event.price.nano, event.quantity});
      }
      case EventKind::none:
      case EventKind::fill:
      case EventKind::trade:
      case EventKind::snapshot_begin:
      case EventKind::snapshot_end:
      case EventKind::level_set:
      case EventKind::status: return;  // does not occur in these files, or changes nothing
    }
  }

  bool best_changed() {
    Best best{};
    if (!sides[0].empty()) {
      const auto& [price, level] = *sides[0].rbegin();
      std::get<0>(best) = true, std::get<1>(best) = price, std::get<2>(best) = level.first;
    }
    if (!sides[1].empty()) {
      const auto& [price, level] = *sides[1].begin();
      std::get<3>(best) = true, std::get<4>(best) = price, std::get<5>(best) = level.first;
    }
    if (seen && best == last) return false;
    seen = true;
    last = best;
    return true;
  }
};

bool same_side(const nfx::market::OrderBook& book, Side side, const PlainBook::Levels& expected) {
  std::vector<Level> levels(expected.size() + 1);
  if (book.levels(side, levels) != expected.size()) return false;
  std::size_t i = side == Side::bid ? expected.size() : 0;
  for (const auto& [price, level] : expected) {
    const Level& found = levels[side == Side::bid ? --i : i++];
    if (found != Level{{price}, level.first, level.second}) return false;
  }
  return true;
}

}  // namespace

struct PlainBooks::Parts {
  std::unordered_map<std::uint32_t, PlainBook> books;
};

PlainBooks::PlainBooks() : parts_(std::make_unique<Parts>()) {}
PlainBooks::~PlainBooks() = default;

void PlainBooks::apply(const Event& event) {
  PlainBook& book = parts_->books[std::to_underlying(event.instrument)];
  book.apply(event);
  if (event.last() && book.best_changed()) ++best_price_changes_;
}

std::string PlainBooks::difference(const nfx::market::OrderBooks& books, const Place& place) const {
  for (const auto& [id, plain] : parts_->books) {
    const nfx::market::OrderBook book = books.book(place(id));
    if (book.orders() != plain.orders.size() || !same_side(book, Side::bid, plain.sides[0]) ||
        !same_side(book, Side::ask, plain.sides[1])) {
      return "the book of instrument " + std::to_string(id) + " differs from that of maps";
    }
  }
  return {};
}

}  // namespace nfx::bench
