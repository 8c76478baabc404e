// Generated days are valid and plausible, and the books that are built from them are the publisher's.
#include "market/itch_generator.hpp"

#include <gtest/gtest.h>

#include "itch_reference.hpp"
#include "nexusfix/market/itch_parser.hpp"

namespace nfx::market {
namespace {

using test::ReferenceBooks;

TEST(ItchGenerator, makes_a_day_with_every_kind_in_plausible_shares) {
  ItchGenerator generator{{.seed = 3, .messages = 100'000, .stocks = 50}};
  ReferenceBooks reference;
  std::uint64_t total = 0;
  for (auto message = generator.next(); !message.empty(); message = generator.next()) {
    ++total;
    ASSERT_EQ(message.size(), itch::message_sizes[std::to_integer<unsigned char>(message.front())]);
    ASSERT_TRUE(reference.message(message)) << "message " << total << " names an order that there is not";
  }
  EXPECT_EQ(reference.kinds.size(), itch::message_rows.size());
  const double adds = static_cast<double>(reference.kinds['A'] + reference.kinds['F']) / 100'000;
  EXPECT_GT(adds, 0.40);
  EXPECT_LT(adds, 0.55);
  EXPECT_GT(static_cast<double>(reference.kinds['D']) / 100'000, 0.35);
  EXPECT_EQ(reference.orders(), generator.resting_orders());
  EXPECT_EQ(reference.symbols.size(), 50U);
  EXPECT_EQ(reference.symbols[1], "AAAA");
  EXPECT_EQ(reference.symbols[27], "AABA");
}

TEST(ItchGenerator, never_crosses_and_never_goes_back_in_time) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    ItchGenerator generator{{.seed = seed, .messages = 50'000, .stocks = 70, .resting_orders = 40}};
    ReferenceBooks reference;
    std::uint64_t last = 0;
    for (auto message = generator.next(); !message.empty(); message = generator.next()) {
      reference.message(message);
      const std::uint64_t word = load_big_endian<std::uint64_t>(message.data() + 3) & 0xFFFF'FFFF'FFFF;
      ASSERT_GE(word, last);
      last = word;
      const auto locate = load_big_endian<std::uint16_t>(message.data() + 1);
      ASSERT_FALSE(reference.crossed(locate)) << "seed " << seed << " stock " << locate;
    }
    EXPECT_LT(last, 24 * 3600 * 1'000'000'000ULL);
  }
}

TEST(ItchGenerator, makes_the_same_day_of_the_same_seed_and_another_of_another) {
  const auto hash = [](std::uint64_t seed) {
    ItchGenerator generator{{.seed = seed, .messages = 20'000, .stocks = 20}};
    std::uint64_t sum = 14695981039346656037ULL;
    for (auto message = generator.next(); !message.empty(); message = generator.next()) {
      for (const std::byte b : message) sum = (sum ^ std::to_integer<std::uint64_t>(b)) * 1099511628211ULL;
    }
    return sum;
  };
  EXPECT_EQ(hash(7), hash(7));
  EXPECT_NE(hash(7), hash(8));
}

TEST(ItchGenerator, keeps_to_the_number_of_resting_orders) {
  ItchGenerator generator{{.seed = 1, .messages = 400'000, .stocks = 30, .resting_orders = 50}};
  std::uint64_t most = 0;
  while (!generator.next().empty()) most = std::max(most, generator.resting_orders());
  EXPECT_GT(most, 1400U);
  EXPECT_LT(most, 1700U);
}

TEST(ItchBooks, equal_the_publishers_after_every_thousand_messages_of_a_day) {
  ItchGenerator generator{{.seed = 11, .messages = 150'000, .stocks = 100}};
  ReferenceBooks reference;
  OrderBooks books{{.instruments = 101, .orders = 1 << 18, .orders_unique = true}};
  ItchParser parser{UtcTime{}};
  const auto apply = [&books](const Event& event) {
    const Applied applied = books.apply(InstrumentIndex{std::to_underlying(event.instrument)}, event);
    ASSERT_TRUE(applied == Applied::done || applied == Applied::other_kind) << to_string(applied);
  };
  std::uint64_t count = 0;
  for (auto message = generator.next(); !message.empty(); message = generator.next()) {
    reference.message(message);
    ASSERT_EQ(parser.message(message, {++count, {}, 0}, apply), itch::ParseStatus::ok);
    if (count % 1000 == 0) {
      ASSERT_EQ(reference.difference(books), "") << "message " << count;
    }
  }
  EXPECT_EQ(reference.difference(books), "");
  EXPECT_EQ(books.anomalies(), 0U);
  EXPECT_TRUE(books.consistent());
  EXPECT_EQ(parser.directory().size(), 100U);
}

}  // namespace
}  // namespace nfx::market
