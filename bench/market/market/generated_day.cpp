// Generates the next message: new orders mostly near the best prices, cancels mostly of recent orders, trades of the
// first order in the queue at the best price.
#include "generated_day.hpp"

#include <bit>
#include <cstring>
#include <deque>
#include <map>

#include "harness/random.hpp"

namespace nfx::bench {
namespace {

constexpr std::int64_t tick = 250'000'000;
constexpr std::uint64_t opening = 1'703'462'400'000'000'000;
constexpr std::uint8_t last = 128;

struct Order {
  std::uint64_t id;
  char side;
  std::int64_t ticks;
  std::uint32_t size;
};

class Day {
 public:
  explicit Day(const DayOptions& options) : options_(options), random_(options.seed) {
    bytes_.reserve(std::size_t{options.records} * 56 + 200);
    put_metadata();
  }

  std::vector<std::byte> run() {
    for (std::uint32_t i = 0; i < options_.records; ++i) {
      time_ += random_.below(200'000);
      if (random_.below(2'000) == 0) middle_ += random_.below(2) == 0 ? 1 : -1;
      step();
    }
    return std::move(bytes_);
  }

 private:
  void step() {
    const std::uint64_t choice = random_.below(100);
    const std::uint64_t adds = orders_.size() < options_.open_orders ? 60 : 40;
    if (orders_.empty() || choice < adds) return add();
    // Recent orders change more often than old ones.
    const std::size_t back = random_.below(4) == 0 ? random_.below(orders_.size())
                                                   : random_.below(std::min<std::size_t>(orders_.size(), 200));
    const std::size_t place = orders_.size() - 1 - back;
    Order& order = orders_[place];
    if (choice < 78) {
      const bool part = order.size > 1 && random_.below(20) == 0;
      put('C', order, part ? 1 : order.size, last);
      if (part) {
        --order.size;
      } else {
        orders_.erase(orders_.begin() + static_cast<std::ptrdiff_t>(place));
      }
    } else if (choice < 92) {
      if (random_.below(2) == 0) order.ticks = ticks(order.side);
      order.size = 1 + static_cast<std::uint32_t>(random_.below(8));
      put('M', order, order.size, last);
    } else if (choice < 96) {
      put('T', {0, order.side == 'B' ? 'A' : 'B', order.ticks, order.size}, order.size, 0);
    } else {
      put('F', order, order.size, last);
    }
  }

  void add() {
    const char side = random_.below(2) == 0 ? 'B' : 'A';
    orders_.push_back({next_++, side, ticks(side), 1 + static_cast<std::uint32_t>(random_.below(8))});
    put('A', orders_.back(), orders_.back().size, last);
  }

  // Half of the orders are at the two best prices, some far away.
  std::int64_t ticks(char side) {
    std::uint64_t away = 0;
    while (random_.below(10) >= 3 && away < 40) ++away;
    if (random_.below(50) == 0) away += random_.below(500);
    const auto distance = static_cast<std::int64_t>(away);
    return side == 'B' ? middle_ - distance : middle_ + 1 + distance;
  }

  void put(char action, const Order& order, std::uint32_t size, std::uint8_t flags) {
    number<std::uint8_t>(14);
    number<std::uint8_t>(0xA0);
    number<std::uint16_t>(1);
    number<std::uint32_t>(17077);
    number<std::uint64_t>(opening + time_);
    number<std::uint64_t>(order.id);
    number<std::int64_t>(order.ticks * tick);
    number<std::uint32_t>(size);
    number<std::uint8_t>(flags);
    number<std::uint8_t>(0);
    number<char>(action);
    number<char>(order.side);
    number<std::uint64_t>(opening + time_ + 10'000);
    number<std::int32_t>(9'000);
    number<std::uint32_t>(++sequence_);
  }

  void put_metadata() {
    for (const char c : {'D', 'B', 'N'}) number<char>(c);
    number<std::uint8_t>(2);
    number<std::uint32_t>(120);
    bytes_.resize(bytes_.size() + 120);
    constexpr std::uint16_t symbol_size = 71;
    constexpr std::size_t symbol_size_at = 8 + 45;
    bytes_[symbol_size_at] = std::byte{symbol_size};
  }

  template <class T>
  void number(T value) {
    if constexpr (std::endian::native == std::endian::big && sizeof(T) > 1) value = std::byteswap(value);
    std::byte text[sizeof value];
    std::memcpy(text, &value, sizeof value);
    bytes_.insert(bytes_.end(), text, text + sizeof value);
  }

  DayOptions options_;
  Random random_;
  std::vector<std::byte> bytes_;
  std::deque<Order> orders_;
  std::uint64_t next_ = 6'412'777'000'000;
  std::uint64_t time_ = 0;
  std::uint32_t sequence_ = 0;
  std::int64_t middle_ = 19'240;
};

}  // namespace

std::vector<std::byte> generate_day(const DayOptions& options) { return Day{options}.run(); }

}  // namespace nfx::bench
