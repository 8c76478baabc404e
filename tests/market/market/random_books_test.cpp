// Millions of random events on several instruments: the books equal a simple model of maps and lists at every step.
#include <gtest/gtest.h>

#include <array>
#include <list>
#include <map>
#include <vector>

#include "base/seeded.hpp"
#include "market/support.hpp"
#include "nexusfix/market/order_book.hpp"

namespace nfx::market {
namespace {

// Queues as lists of (number, quantity), by price.
struct Model {
  using Orders = std::list<std::pair<std::uint64_t, Quantity>>;
  struct Queue {
    Orders orders;
    Quantity sum = 0;
  };
  struct Place {
    Side side;
    std::int64_t price;
  };
  struct Known {
    Place place;
    Orders::iterator order;
  };
  std::array<std::map<std::int64_t, Queue>, 2> sides;
  std::map<std::uint64_t, Known> known;

  Queue& queue_of(const Place& place) { return sides[std::to_underlying(place.side)][place.price]; }
  void add(std::uint64_t id, const Place& place, Quantity quantity) {
    Queue& queue = queue_of(place);
    queue.sum += quantity;
    known.emplace(id, Known{place, queue.orders.emplace(queue.orders.end(), id, quantity)});
  }
  void remove(std::uint64_t id) {
    const Known order = known.at(id);
    Queue& queue = queue_of(order.place);
    queue.sum -= order.order->second;
    queue.orders.erase(order.order);
    if (queue.orders.empty()) sides[std::to_underlying(order.place.side)].erase(order.place.price);
    known.erase(id);
  }
  [[nodiscard]] Quantity quantity(std::uint64_t id) const { return known.at(id).order->second; }
  void set(std::uint64_t id, Quantity quantity) {
    const Known& order = known.at(id);
    queue_of(order.place).sum -= order.order->second - quantity;
    order.order->second = quantity;
  }
  void reduce(std::uint64_t id, Quantity quantity) {
    const Quantity before = this->quantity(id);
    if (before <= quantity) return remove(id);
    set(id, before - quantity);
  }
  void modify(std::uint64_t id, const Place& place, Quantity quantity) {
    if (known.contains(id)) {
      const Place before = known.at(id).place;
      if (before.side == place.side && before.price == place.price && quantity <= this->quantity(id)) {
        set(id, quantity);
        return;
      }
      remove(id);
    }
    add(id, place, quantity);
  }
};

class RandomBooks : public ::testing::Test {
 protected:
  static constexpr std::uint32_t instruments = 3;

  nfx::test::Seeded random;
  std::array<Model, instruments> models;
  std::uint64_t next_id = 1;

  // Mostly near the middle, sometimes far from it, as in a market.
  std::int64_t price(Side side) {
    const auto away = static_cast<std::int64_t>(random.below(10) == 0 ? random.below(2000) : random.below(12));
    return side == Side::bid ? -away : 1 + away;
  }
  std::uint64_t some_order(const Model& model) {
    const auto found = model.known.lower_bound(random.below(next_id));
    return found == model.known.end() ? model.known.begin()->first : found->first;
  }

  // Makes an event that fits and does it to the model.
  Event step(Model& model, bool growing) {
    const Side side = random.below(2) == 0 ? Side::bid : Side::ask;
    const Quantity quantity = random.below(9) + 1;
    const std::uint64_t choice = random.below(100);
    if (model.known.empty() || choice < (growing ? 55u : 40u)) {
      // Numbers in sequence, as an exchange gives them, or far apart.
      const std::uint64_t id = random.below(50) == 0 ? (random.generator() | std::uint64_t{1} << 60) : next_id++;
      const std::int64_t at = price(side);
      if (model.known.contains(id)) return test::event_of(EventKind::none);
      model.add(id, {side, at}, quantity);
      return test::add({id, side, at, quantity});
    }
    const std::uint64_t id = some_order(model);
    if (choice < 75) {
      const Quantity part = random.below(3) == 0 ? 1 : model.quantity(id);
      model.reduce(id, part);
      Event event = test::cancel(id, part);
      if (random.below(2) == 0) event.kind = EventKind::execute;
      return event;
    }
    if (choice < 80) {
      model.remove(id);
      return test::remove(id);
    }
    if (choice < 92) {
      const Side of = random.below(20) == 0 ? side : model.known.at(id).place.side;
      const std::int64_t at = random.below(2) == 0 ? model.known.at(id).place.price : price(of);
      model.modify(id, {of, at}, quantity);
      return test::modify({id, of, at, quantity});
    }
    const Side of = model.known.at(id).place.side;
    const std::int64_t at = price(of);
    model.remove(id);
    model.add(next_id, {of, at}, quantity);
    return test::replace(id, next_id++, at, quantity);
  }

  void expect_best(const OrderBook& book, const Model& model) {
    for (const Side side : {Side::bid, Side::ask}) {
      const auto& levels = model.sides[std::to_underlying(side)];
      const std::optional<Level> best = book.best(side);
      ASSERT_EQ(best.has_value(), !levels.empty());
      if (!best) continue;
      const auto& [at, queue] = side == Side::bid ? *levels.rbegin() : *levels.begin();
      ASSERT_EQ(best->price, test::whole(at));
      ASSERT_EQ(best->orders, queue.orders.size());
      ASSERT_EQ(best->quantity, queue.sum);
    }
  }

  void expect_equal(const OrderBook& book, const Model& model) {
    ASSERT_EQ(book.orders(), model.known.size());
    for (const Side side : {Side::bid, Side::ask}) {
      const auto& expected = model.sides[std::to_underlying(side)];
      std::vector<Level> levels(expected.size() + 1);
      ASSERT_EQ(book.levels(side, levels), expected.size());
      std::size_t i = side == Side::bid ? expected.size() : 0;
      for (const auto& [at, queue] : expected) {
        const Level& level = levels[side == Side::bid ? --i : i++];
        ASSERT_EQ(level, (Level{test::whole(at), queue.sum, static_cast<std::uint32_t>(queue.orders.size())}));
        std::vector<OrderView> orders(queue.orders.size() + 1);
        ASSERT_EQ(book.queue(side, test::whole(at), orders), queue.orders.size());
        std::size_t place = 0;
        for (const auto& [id, quantity] : queue.orders) {
          ASSERT_EQ(orders[place].id, OrderId{id});
          ASSERT_EQ(orders[place++].quantity, quantity);
        }
      }
    }
  }

  void run(const BookLimits& limits, std::size_t steps) {
    OrderBooks books{limits};
    for (std::size_t i = 0; i < steps; ++i) {
      const auto at = static_cast<std::uint32_t>(random.below(instruments));
      const InstrumentIndex index{at};
      // Grows for a time, then shrinks: levels move between the array and the tree in both directions.
      const Event event = step(models[at], i / 20'000 % 2 == 0 && books.orders() < 30'000);
      const bool adds = event.kind == EventKind::add;
      books.expect(index, event.order, adds ? event.side : Side::none, event.price);
      const Applied applied = books.apply(index, event);
      ASSERT_EQ(applied, event.kind == EventKind::none ? Applied::other_kind : Applied::done) << "step " << i;
      expect_best(books.book(index), models[at]);
      if (i % 10'000 == 0) {
        ASSERT_TRUE(books.consistent());
        expect_equal(books.book(index), models[at]);
      }
      if (HasFatalFailure()) return;
    }
    for (std::uint32_t at = 0; at < instruments; ++at) expect_equal(books.book(InstrumentIndex{at}), models[at]);
    ASSERT_TRUE(books.consistent());
    EXPECT_EQ(books.anomalies(), 0u);
    for (std::uint32_t at = 0; at < instruments; ++at) {
      books.apply(InstrumentIndex{at}, test::event_of(EventKind::clear));
    }
    EXPECT_EQ(books.orders(), 0u);
    EXPECT_EQ(books.levels(), 0u);
    EXPECT_TRUE(books.consistent());
  }
};

TEST_F(RandomBooks, equal_a_simple_model_while_the_table_of_orders_grows) {
  SCOPED_TRACE(random.trace());
  run({.instruments = instruments, .orders = 1u << 20, .levels = 1u << 16, .orders_expected = 32}, 1'000'000);
}

TEST_F(RandomBooks, equal_a_simple_model_where_order_numbers_are_unique) {
  SCOPED_TRACE(random.trace());
  run({.instruments = instruments, .orders = 1u << 20, .levels = 1u << 16, .expected_from = 0, .orders_unique = true},
      300'000);
}

TEST_F(RandomBooks, by_level_equal_a_map) {
  SCOPED_TRACE(random.trace());
  LevelBook book{4096};
  std::array<std::map<std::int64_t, Quantity>, 2> model;
  for (std::size_t i = 0; i < 500'000; ++i) {
    const Side side = random.below(2) == 0 ? Side::bid : Side::ask;
    const std::int64_t at = price(side);
    const Quantity quantity = random.below(i / 50'000 % 2 == 0 ? 4 : 2);
    auto& levels = model[std::to_underlying(side)];
    ASSERT_EQ(book.apply(test::level(side, at, quantity)), Applied::done);
    if (quantity == 0) levels.erase(at);
    if (quantity != 0) levels[at] = quantity;
    ASSERT_EQ(book.level_count(side), levels.size());
    if (levels.empty()) continue;
    const auto& [best, amount] = side == Side::bid ? *levels.rbegin() : *levels.begin();
    ASSERT_EQ(book.best(side), (Level{test::whole(best), amount, 0}));
  }
  EXPECT_EQ(book.pushed_out(), 0u);
}

}  // namespace
}  // namespace nfx::market
