// A FIX venue over a channel that loses, repeats and reorders: whenever an instrument is live its book is the venue's
// at that number, and when the channel is good again every book becomes live.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "market/fix_support.hpp"
#include "nexusfix/market/fix_feed.hpp"

namespace nfx::market {
namespace {

using test::at_ms;
using test::Books;

enum class Shape : std::uint8_t { by_position, by_price, by_order };

// One instrument at the venue. Every change publishes one entry with the next RptSeq.
class Venue {
 public:
  static constexpr std::size_t depth = 5;

  Venue(std::string symbol, Shape shape, std::uint64_t seed)
      : symbol_(std::move(symbol)), shape_(shape), random_(seed) {
    states_.push_back(state());
  }

  // The entry of a change.
  std::string change() {
    std::string entry = shape_ == Shape::by_order ? change_order() : change_level();
    states_.push_back(state());
    return entry + "83=" + std::to_string(number()) + "|";
  }
  [[nodiscard]] std::uint64_t number() const { return states_.size() - 1; }
  [[nodiscard]] const std::string& state_at(std::uint64_t number) const { return states_.at(number); }

  [[nodiscard]] std::string snapshot() const {
    std::string entries;
    std::size_t count = 0;
    if (shape_ == Shape::by_order) {
      for (const auto& [id, order] : orders_) {
        entries += "269=" + std::to_string(order.side) + "|278=" + std::to_string(id) +
                   "|270=" + std::to_string(order.price) + "|271=" + std::to_string(order.size) + "|";
        ++count;
      }
    } else {
      for (int side = 0; side < 2; ++side) {
        for (const Level& level : levels_[side]) {
          entries += "269=" + std::to_string(side) + "|270=" + std::to_string(level.price) +
                     "|271=" + std::to_string(level.size) + "|";
          ++count;
        }
      }
    }
    return "55=" + symbol_ + "|83=" + std::to_string(number()) + "|268=" + std::to_string(count) + "|" + entries;
  }

  [[nodiscard]] static std::string text_of(const Books& books, std::uint32_t index, Shape shape) {
    if (shape != Shape::by_order) return books.text_of(index, Side::bid) + "/" + books.text_of(index, Side::ask);
    std::string text;
    for (std::uint64_t id = 1; id < 400; ++id) {
      if (const auto order = books.orders.find(InstrumentIndex{index}, OrderId{id})) {
        text += std::to_string(id) + (order->side == Side::bid ? "b" : "a") +
                std::to_string(order->price.nano / 1'000'000'000) + "x" + std::to_string(order->quantity) + " ";
      }
    }
    return text;
  }

 private:
  struct Level {
    int price;
    int size;
  };
  struct Order {
    int side;
    int price;
    int size;
  };

  int pick(int most) { return std::uniform_int_distribution<int>{0, most - 1}(random_); }

  std::string change_level() {
    const int side = pick(2);
    std::vector<Level>& levels = levels_[side];
    const std::string head = "269=" + std::to_string(side) + "|55=" + symbol_ + "|";
    const auto at = [&](std::size_t place) {
      return shape_ == Shape::by_position ? "1023=" + std::to_string(place + 1) + "|" : std::string{};
    };
    const int what = pick(10);
    if (what >= 5 || levels.empty()) {
      const int price = side == 0 ? 100 - pick(12) : 101 + pick(12);
      std::size_t place = 0;
      while (place < levels.size() && (side == 0 ? levels[place].price > price : levels[place].price < price)) ++place;
      const int size = 1 + pick(50);
      const bool known = place < levels.size() && levels[place].price == price;
      if (known) levels[place].size = size;
      // A level beyond the depth is not published: a change of the last one is.
      if (!known && place == depth) {
        levels.back().size = size;
        return "279=1|" + head + at(place - 1) + "270=" + std::to_string(levels.back().price) +
               "|271=" + std::to_string(size) + "|";
      }
      const bool full = levels.size() == depth;
      // A feed without positions has no depth: it deletes what it drops.
      if (!known && full && shape_ == Shape::by_price) {
        const int gone = levels.back().price;
        levels.pop_back();
        return "279=2|" + head + "270=" + std::to_string(gone) + "|";
      }
      if (!known) {
        levels.insert(levels.begin() + static_cast<std::ptrdiff_t>(place), Level{price, size});
        if (levels.size() > depth) levels.pop_back();
      }
      return (known ? "279=1|" : "279=0|") + head + at(place) + "270=" + std::to_string(price) +
             "|271=" + std::to_string(size) + "|";
    }
    const auto place = static_cast<std::size_t>(pick(static_cast<int>(levels.size())));
    const int price = levels[place].price;
    if (what == 0 && shape_ == Shape::by_position) {
      levels.erase(levels.begin(), levels.begin() + static_cast<std::ptrdiff_t>(place) + 1);
      return "279=3|" + head + at(place);
    }
    if (what == 1 && shape_ == Shape::by_position) {
      levels.resize(place);
      return "279=4|" + head + at(place);
    }
    levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(place));
    return "279=2|" + head + at(place) +
           (shape_ == Shape::by_price || what % 2 == 0 ? "270=" + std::to_string(price) + "|" : "");
  }

  std::string change_order() {
    const int what = pick(10);
    if (orders_.empty() || (what < 5 && next_ < 399)) {
      const int side = pick(2);
      const int id = next_ < 399 ? next_++ : 399;
      const Order order{side, side == 0 ? 100 - pick(12) : 101 + pick(12), 1 + pick(50)};
      orders_[id] = order;
      return "279=0|269=" + std::to_string(side) + "|55=" + symbol_ + "|278=" + std::to_string(id) +
             "|270=" + std::to_string(order.price) + "|271=" + std::to_string(order.size) + "|";
    }
    auto found = orders_.begin();
    std::advance(found, pick(static_cast<int>(orders_.size())));
    const int id = found->first;
    Order& order = found->second;
    const std::string head = "269=" + std::to_string(order.side) + "|55=" + symbol_ + "|";
    if (what < 7) {
      order.size = 1 + pick(50);
      return "279=1|" + head + "278=" + std::to_string(id) + "|271=" + std::to_string(order.size) + "|";
    }
    if (what == 7 && next_ < 399) {
      const Order moved = order;
      orders_.erase(found);
      orders_[next_] = moved;
      return "279=1|" + head + "278=" + std::to_string(next_++) + "|280=" + std::to_string(id) + "|";
    }
    orders_.erase(found);
    return "279=2|" + head + "278=" + std::to_string(id) + "|";
  }

  [[nodiscard]] std::string state() const {
    std::string text;
    if (shape_ == Shape::by_order) {
      for (const auto& [id, order] : orders_) {
        text += std::to_string(id) + (order.side == 0 ? "b" : "a") + std::to_string(order.price) + "x" +
                std::to_string(order.size) + " ";
      }
      return text;
    }
    for (int side = 0; side < 2; ++side) {
      if (side == 1) text += "/";
      for (const Level& level : levels_[side])
        text += std::to_string(level.price) + "x" + std::to_string(level.size) + " ";
    }
    return text;
  }

  std::string symbol_;
  Shape shape_;
  std::mt19937_64 random_;
  std::vector<Level> levels_[2];
  std::map<int, Order> orders_;
  int next_ = 1;
  std::vector<std::string> states_;  // by number
};

struct Sent {
  std::string type;
  std::string body;
};

class Storm {
 public:
  explicit Storm(std::uint64_t seed)
      : random_(seed),
        books_(3),
        feed_({.recovery = {.instruments = 3, .buffered_entries = 40},
               .entries = 600,
               .depth = Venue::depth,
               .orders = 1500},
              books_) {
    constexpr Shape shapes[] = {Shape::by_position, Shape::by_price, Shape::by_order};
    for (std::uint32_t i = 0; i < 3; ++i) {
      const std::string symbol(1, static_cast<char>('A' + i));
      shapes_.push_back(shapes[i]);
      venues_.emplace_back(symbol, shapes[i], random_());
      EXPECT_TRUE(feed_.add(symbol));
    }
  }

  void run(int steps, int loss) {
    for (int step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
      now_ += loss == 0 ? 500 : 10;
      std::string entries;
      const int count = 1 + pick(4);
      for (int i = 0; i < count; ++i) entries += venues_[static_cast<std::size_t>(pick(3))].change();
      send({"X", "268=" + std::to_string(count) + "|" + entries}, loss);
      feed_.tick(at_ms(now_).monotonic);
      for (const InstrumentIndex index : books_.requests) {
        // A snapshot may be delayed until it is old.
        send({"W", venues_[std::to_underlying(index)].snapshot()}, loss);
      }
      books_.requests.clear();
      const std::size_t most = loss == 0 ? 0 : static_cast<std::size_t>(pick(6));
      while (channel_.size() > most) deliver(loss);
    }
  }

  void expect_live() const {
    for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(feed_.state(InstrumentIndex{i}), InstrumentState::live) << i;
  }
  [[nodiscard]] const FixFeed& feed() const { return feed_; }

 private:
  int pick(int most) { return std::uniform_int_distribution<int>{0, most - 1}(random_); }

  void send(Sent message, int loss) {
    if (pick(100) < loss) return;
    if (pick(100) < loss) channel_.push_back(message);
    channel_.push_back(std::move(message));
    if (pick(100) < loss && channel_.size() >= 2) std::swap(channel_.back(), channel_[channel_.size() - 2]);
  }

  void deliver(int loss) {
    const std::size_t which = pick(100) < loss ? static_cast<std::size_t>(pick(static_cast<int>(channel_.size()))) : 0;
    const Sent message = channel_[which];
    channel_.erase(channel_.begin() + static_cast<std::ptrdiff_t>(which));
    ASSERT_EQ(feed_.message(text_(message.type, message.body), at_ms(now_)), FixFeedError::none) << message.body;
    for (std::uint32_t i = 0; i < 3; ++i) {
      const InstrumentIndex index{i};
      if (feed_.state(index) != InstrumentState::live) continue;
      ASSERT_EQ(Venue::text_of(books_, i, shapes_[i]), venues_[i].state_at(*feed_.position(index))) << message.body;
    }
  }

  std::mt19937_64 random_;
  std::vector<Venue> venues_;
  std::vector<Shape> shapes_;
  Books books_;
  FixFeed feed_;
  test::FixText text_;
  std::deque<Sent> channel_;
  std::int64_t now_ = 0;
};

TEST(FixStorm, a_live_book_is_always_the_venues_and_every_book_recovers) {
  RecoveryCounters seen;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Storm storm{seed};
    storm.run(200, seed % 3 == 0 ? 20 : 3);
    if (HasFailure()) return;
    storm.run(100, 0);
    if (HasFailure()) return;
    storm.expect_live();
    EXPECT_EQ(storm.feed().counters().misfits, 0u);
    add_counters(seen, storm.feed().recovery_counters());
  }
  // The storm had every case.
  for (const CounterRow<RecoveryCounters>& row : counter_rows<RecoveryCounters>) {
    if (row.member == &RecoveryCounters::lost || row.member == &RecoveryCounters::stale) continue;
    if (row.member == &RecoveryCounters::renumbered) continue;
    EXPECT_NE(seen.*row.member, 0u) << row.metric << " " << row.label_value;
  }
}

}  // namespace
}  // namespace nfx::market
