// An ITCH publisher's own books: the simplest possible structures, with fields read by their published offsets, so that
// they share nothing with the tested code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "nexusfix/market/itch.hpp"
#include "nexusfix/market/order_book.hpp"

namespace nfx::market::test {

class ReferenceBooks {
 public:
  struct Order {
    std::uint64_t reference;
    std::uint16_t locate;
    char side;
    std::uint32_t price;
    std::uint32_t shares;
  };
  using Queue = std::list<Order>;
  struct Book {
    std::map<std::uint32_t, Queue, std::greater<>> bids;
    std::map<std::uint32_t, Queue> asks;
  };

  // A message that changes a book; others are counted by their type alone. False: it names an order that there is not.
  bool message(std::span<const std::byte> bytes) {
    const auto number = [bytes](std::size_t at, std::size_t size) {
      std::uint64_t value = 0;
      for (std::size_t i = 0; i < size; ++i) value = value << 8 | std::to_integer<std::uint64_t>(bytes[at + i]);
      return value;
    };
    const auto word = [&](std::size_t at) { return static_cast<std::uint32_t>(number(at, 4)); };
    const char type = static_cast<char>(bytes[0]);
    ++kinds[type];
    switch (type) {
      case 'R': symbols[static_cast<std::uint16_t>(number(1, 2))] = std::string(text(bytes, 11, 8)); return true;
      case 'A':
      case 'F':
        return add({number(11, 8), static_cast<std::uint16_t>(number(1, 2)), static_cast<char>(bytes[19]), word(32),
                    word(20)});
      case 'E':
      case 'C':
      case 'X': return reduce(number(11, 8), word(19));
      case 'D': return remove(number(11, 8));
      case 'U': {
        const auto found = orders_.find(number(11, 8));
        if (found == orders_.end()) return false;
        Order order = *found->second;
        if (!remove(order.reference)) return false;
        order.reference = number(19, 8);
        order.shares = word(27);
        order.price = word(31);
        return add(order);
      }
      default: return true;
    }
  }

  [[nodiscard]] std::size_t orders() const { return orders_.size(); }
  [[nodiscard]] const Book& book(std::uint16_t locate) const {
    static const Book empty;
    const auto found = books_.find(locate);
    return found == books_.end() ? empty : found->second;
  }
  [[nodiscard]] bool crossed(std::uint16_t locate) const {
    const Book& of = book(locate);
    return !of.bids.empty() && !of.asks.empty() && of.bids.begin()->first >= of.asks.begin()->first;
  }

  // Sends every order, as a snapshot does: the queues of all books, in their order.
  template <class Send>
  void for_each_order(Send&& send) const {
    for (const auto& [locate, of] : books_) {
      for (const auto& [price, queue] : of.bids) {
        for (const Order& order : queue) send(order);
      }
      for (const auto& [price, queue] : of.asks) {
        for (const Order& order : queue) send(order);
      }
    }
  }

  // Empty: all books are equal, up to the last place in a queue. Otherwise what differs first.
  [[nodiscard]] std::string difference(const OrderBooks& books) const {
    if (books.orders() != orders()) {
      return "orders: " + std::to_string(books.orders()) + ", the publisher has " + std::to_string(orders());
    }
    for (std::uint32_t locate = 1; locate < books.instruments(); ++locate) {
      const OrderBook found = books.book(InstrumentIndex{locate});
      const Book& wanted = book(static_cast<std::uint16_t>(locate));
      std::string what = difference(found, Side::bid, wanted.bids);
      if (what.empty()) what = difference(found, Side::ask, wanted.asks);
      if (!what.empty()) return "stock " + std::to_string(locate) + " " + what;
    }
    return {};
  }

  std::map<char, std::uint64_t> kinds;
  std::map<std::uint16_t, std::string> symbols;

 private:
  static std::string text(std::span<const std::byte> bytes, std::size_t at, std::size_t size) {
    std::string read;
    for (const std::byte b : bytes.subspan(at, size)) read += static_cast<char>(b);
    return read.substr(0, read.find_last_not_of(' ') + 1);
  }

  template <class Levels>
  static std::string difference(const OrderBook& found, Side side, const Levels& wanted) {
    const std::string where{to_string(side)};
    if (found.level_count(side) != wanted.size()) {
      return where + " levels: " + std::to_string(found.level_count(side)) + ", not " + std::to_string(wanted.size());
    }
    std::vector<Level> levels(wanted.size());
    found.levels(side, levels);
    std::size_t i = 0;
    for (const auto& [price, queue] : wanted) {
      const Price exact{std::int64_t{price} * 100'000};
      if (levels[i].price != exact) return where + " level " + std::to_string(i) + " has another price";
      std::vector<OrderView> orders(queue.size() + 1);
      if (found.queue(side, exact, orders) != queue.size()) return where + " " + std::to_string(price) + " queue size";
      std::size_t place = 0;
      Quantity sum = 0;
      for (const Order& order : queue) {
        const OrderView& other = orders[place++];
        if (other.id != OrderId{order.reference} || other.quantity != order.shares) {
          return where + " " + std::to_string(price) + " place " + std::to_string(place) + " in the queue";
        }
        sum += order.shares;
      }
      if (levels[i].quantity != sum || levels[i].orders != queue.size()) return where + " sum of a level";
      ++i;
    }
    return {};
  }

  bool add(const Order& order) {
    Book& of = books_[order.locate];
    Queue& queue = order.side == 'B' ? of.bids[order.price] : of.asks[order.price];
    queue.push_back(order);
    return orders_.emplace(order.reference, std::prev(queue.end())).second;
  }
  bool reduce(std::uint64_t reference, std::uint32_t shares) {
    const auto found = orders_.find(reference);
    if (found == orders_.end() || found->second->shares < shares) return false;
    found->second->shares -= shares;
    return found->second->shares != 0 || remove(reference);
  }
  bool remove(std::uint64_t reference) {
    const auto found = orders_.find(reference);
    if (found == orders_.end()) return false;
    const auto place = found->second;
    orders_.erase(found);
    Book& of = books_[place->locate];
    if (place->side == 'B') {
      take(of.bids, place);
    } else {
      take(of.asks, place);
    }
    return true;
  }
  template <class Levels>
  static void take(Levels& levels, Queue::iterator place) {
    const auto level = levels.find(place->price);
    level->second.erase(place);
    if (level->second.empty()) levels.erase(level);
  }

  std::map<std::uint16_t, Book> books_;
  std::unordered_map<std::uint64_t, Queue::iterator> orders_;
};

}  // namespace nfx::market::test
