// The table of orders compared with a map of the standard library, with numbers that share lines of the table.
#include "nexusfix/market/book_indexes.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace nfx::market {
namespace {

// Adds and removes numbers, up to the capacity, and compares each look-up with a map.
class Compared {
 public:
  Compared(std::uint32_t capacity, std::uint32_t expected) : table_(capacity, expected), ids_(capacity + 1) {
    for (std::uint32_t i = capacity; i > 0; --i) free_.push_back(i);
  }

  void toggle(std::uint64_t number) {
    const OrderTable::Hash hash = OrderTable::hash_of(number, 0);
    const OrderTable::Place place = find(number);
    const auto known = map_.find(number);
    ASSERT_EQ(place.index, known == map_.end() ? OrderTable::none : known->second) << number;
    if (known != map_.end()) {
      table_.erase(place);
      free_.push_back(known->second);
      map_.erase(known);
    } else if (!free_.empty()) {
      const std::uint32_t index = free_.back();
      free_.pop_back();
      ids_[index] = number;
      table_.insert(place, hash, index);
      map_[number] = index;
    }
    ASSERT_EQ(table_.size(), map_.size());
  }
  void expect_all_found() const {
    std::size_t guessed = 0;
    for (const auto& [number, index] : map_) {
      ASSERT_EQ(find(number).index, index) << number;
      const std::uint32_t guess = table_.guess(OrderTable::hash_of(number, 0));
      guessed += guess == index ? 1u : 0u;
    }
    EXPECT_TRUE(map_.empty() || guessed != 0);
  }
  [[nodiscard]] std::uint32_t size() const { return table_.size(); }

 private:
  [[nodiscard]] OrderTable::Place find(std::uint64_t number) const {
    return table_.find(OrderTable::hash_of(number, 0), [&](std::uint32_t index) { return ids_[index] == number; });
  }

  OrderTable table_;
  std::vector<std::uint64_t> ids_;  // by index
  std::vector<std::uint32_t> free_;
  std::map<std::uint64_t, std::uint32_t> map_;
};

void run(Compared& compared, const std::vector<std::uint64_t>& numbers, unsigned steps) {
  std::mt19937_64 random{5};
  for (unsigned i = 0; i < steps; ++i) {
    compared.toggle(numbers[random() % numbers.size()]);
    if (::testing::Test::HasFatalFailure()) return;
    if (i % 5000 == 0) compared.expect_all_found();
  }
  compared.expect_all_found();
}

TEST(OrderTable, finds_neighbouring_numbers) {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < 1500; ++i) numbers.push_back(6'412'777'000'000 + i);
  Compared compared{1024, 1024};
  run(compared, numbers, 100'000);
}

TEST(OrderTable, finds_random_numbers_while_it_grows) {
  std::mt19937_64 random{3};
  std::vector<std::uint64_t> numbers;
  for (int i = 0; i < 20'000; ++i) numbers.push_back(random());
  Compared compared{1u << 14, 32};
  run(compared, numbers, 200'000);
  EXPECT_GT(compared.size(), 5'000u);
}

// Numbers of three lines of 256, two at the end of the table and one at its beginning. Their other lines follow full
// ones, and when an order leaves a full line, others move up.
TEST(OrderTable, finds_numbers_whose_lines_are_full) {
  std::mt19937_64 random{4};
  std::vector<std::uint64_t> numbers;
  while (numbers.size() < 600) {
    const std::uint64_t number = random();
    const std::uint32_t line = OrderTable::hash_of(number, 0).tag >> 3 & 255;
    if (line == 0 || line >= 254) numbers.push_back(number);
  }
  Compared compared{1024, 1024};
  run(compared, numbers, 100'000);
}

}  // namespace
}  // namespace nfx::market
