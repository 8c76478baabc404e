// Order, counters and limits of deferred work, for each policy of a full queue.
#include "nexusfix/concurrent/deferred_processor.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace nfx {
namespace {

using namespace std::chrono_literals;

using Small = DeferredBuffer<48>;

struct Seen {
  std::vector<std::string> texts;
  std::vector<std::uint64_t> stamps;
};

template <std::size_t Capacity>
auto collecting(Seen& seen, DeferredOptions options = {}) {
  return std::make_unique<DeferredProcessor<Small, Capacity>>(
      [&seen](const Small& buffer) {
        seen.texts.emplace_back(buffer.view().data(), buffer.view().size());
        seen.stamps.push_back(buffer.stamp());
      },
      options);
}

TEST(DeferredProcessor, hands_bytes_and_stamps_on_in_order) {
  Seen seen;
  const auto deferred = collecting<4>(seen);
  EXPECT_TRUE(deferred->submit(std::string_view("one"), 11));
  EXPECT_TRUE(deferred->submit(std::string_view(""), 12));
  EXPECT_TRUE(deferred->submit(std::string_view("three"), 13));
  EXPECT_TRUE(seen.texts.empty());
  EXPECT_EQ(deferred->process(2), 2U);
  EXPECT_EQ(deferred->process(9), 1U);
  EXPECT_EQ(deferred->process(9), 0U);
  EXPECT_EQ(seen.texts, (std::vector<std::string>{"one", "", "three"}));
  EXPECT_EQ(seen.stamps, (std::vector<std::uint64_t>{11, 12, 13}));
}

TEST(DeferredProcessor, stamps_with_a_counter_that_never_goes_back) {
  Seen seen;
  const auto deferred = collecting<4>(seen);
  ASSERT_TRUE(deferred->submit(std::string_view("a")));
  ASSERT_TRUE(deferred->submit(std::string_view("b")));
  deferred->process(2);
  EXPECT_GT(seen.stamps[0], 0U);
  EXPECT_LE(seen.stamps[0], seen.stamps[1]);
}

TEST(DeferredProcessor, drops_and_counts_what_finds_no_space) {
  Seen seen;
  const auto deferred = collecting<2>(seen);
  EXPECT_TRUE(deferred->submit(std::string_view("a")));
  EXPECT_TRUE(deferred->submit(std::string_view("b")));
  EXPECT_FALSE(deferred->submit(std::string_view("c")));
  EXPECT_EQ(deferred->counters().dropped, 1U);
  EXPECT_EQ(deferred->counters().submitted, 2U);
  deferred->process(1);
  EXPECT_TRUE(deferred->submit(std::string_view("d")));
  deferred->process(9);
  EXPECT_EQ(seen.texts, (std::vector<std::string>{"a", "b", "d"}));
  EXPECT_EQ(deferred->counters().processed, 3U);
}

TEST(DeferredProcessor, refuses_more_bytes_than_a_buffer_takes_under_every_policy) {
  for (const WhenFull policy : {WhenFull::drop, WhenFull::block, WhenFull::spill}) {
    Seen seen;
    const auto deferred = collecting<2>(seen, {.when_full = policy, .block_limit = 1ms, .spill_bytes = 4096});
    EXPECT_TRUE(deferred->submit(std::string(48, 'x')));
    EXPECT_FALSE(deferred->submit(std::string(49, 'x')));
    EXPECT_TRUE(deferred->submit(std::string(48, 'y')));
    EXPECT_FALSE(deferred->submit(std::string(49, 'x')));
    EXPECT_EQ(deferred->counters().too_long, 2U);
    EXPECT_EQ(deferred->counters().dropped, 0U);
  }
}

TEST(DeferredProcessor, that_blocks_gives_up_after_its_limit_and_counts) {
  Seen seen;
  const auto deferred = collecting<2>(seen, {.when_full = WhenFull::block, .block_limit = 2ms, .spill_bytes = 0});
  ASSERT_TRUE(deferred->submit(std::string_view("a")));
  ASSERT_TRUE(deferred->submit(std::string_view("b")));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(deferred->submit(std::string_view("c")));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 2ms);
  EXPECT_EQ(deferred->counters().blocked, 1U);
  EXPECT_EQ(deferred->counters().dropped, 1U);
}

TEST(DeferredProcessor, that_blocks_loses_nothing_while_the_worker_keeps_up) {
  Seen seen;
  const auto deferred = collecting<2>(seen, {.when_full = WhenFull::block, .block_limit = 1h, .spill_bytes = 0});
  deferred->start();
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(deferred->submit(std::to_string(i)));
  deferred->stop();
  ASSERT_EQ(seen.texts.size(), 5000U);
  for (std::size_t i = 0; i < seen.texts.size(); ++i) ASSERT_EQ(seen.texts[i], std::to_string(i));
}

TEST(DeferredProcessor, that_spills_keeps_the_order_and_drops_only_beyond_the_spill) {
  Seen seen;
  const auto deferred = collecting<2>(seen, {.when_full = WhenFull::spill, .block_limit = 0ms, .spill_bytes = 4 * 64});
  std::vector<std::string> expected;
  for (int i = 0; i < 7; ++i) {
    const bool taken = deferred->submit(std::to_string(i));
    EXPECT_EQ(taken, i < 6);
    if (taken) expected.push_back(std::to_string(i));
  }
  EXPECT_EQ(deferred->counters().spilled, 4U);
  EXPECT_EQ(deferred->counters().dropped, 1U);
  // Space in the ring is not used while older records are in the spill.
  deferred->process(3);
  EXPECT_TRUE(deferred->submit(std::string_view("later")));
  EXPECT_EQ(deferred->counters().spilled, 5U);
  expected.emplace_back("later");
  deferred->process(99);
  EXPECT_TRUE(deferred->submit(std::string_view("ring again")));
  EXPECT_EQ(deferred->counters().spilled, 5U);
  expected.emplace_back("ring again");
  deferred->process(99);
  EXPECT_EQ(seen.texts, expected);
}

TEST(DeferredProcessor, that_spills_keeps_the_order_between_two_threads) {
  Seen seen;
  const auto deferred = collecting<4>(seen, {.when_full = WhenFull::spill, .block_limit = 0ms, .spill_bytes = 16 * 64});
  deferred->start({.idle = IdleMode::yield, .longest_sleep = 1ms, .on_start = {}});
  std::uint64_t taken = 0;
  for (int i = 0; i < 100'000; ++i) taken += deferred->submit({}, static_cast<std::uint64_t>(i)) ? 1 : 0;
  deferred->stop();
  ASSERT_EQ(seen.stamps.size(), taken);
  for (std::size_t i = 1; i < seen.stamps.size(); ++i) ASSERT_LT(seen.stamps[i - 1], seen.stamps[i]);
  EXPECT_EQ(deferred->counters().dropped, 100'000 - taken);
}

TEST(DeferredProcessor, counts_what_the_handler_throws_and_continues) {
  int handled = 0;
  DeferredProcessor<Small, 4> deferred([&](const Small& buffer) {
    ++handled;
    if (buffer.view().empty()) throw std::runtime_error("empty");
  });
  ASSERT_TRUE(deferred.submit({}));
  ASSERT_TRUE(deferred.submit(std::string_view("a")));
  EXPECT_EQ(deferred.process(9), 2U);
  EXPECT_EQ(handled, 2);
  EXPECT_EQ(deferred.counters().handler_threw, 1U);
  EXPECT_EQ(deferred.counters().processed, 2U);
}

TEST(DeferredProcessor, handles_everything_submitted_before_it_ends) {
  std::uint64_t handled = 0;
  for (const bool started : {false, true}) {
    DeferredProcessor<Small, 1024> deferred([&](const Small&) { ++handled; });
    if (started) deferred.start();
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(deferred.submit(std::string_view("x")));
  }
  EXPECT_EQ(handled, 2000U);
}

// The worker may sleep an hour, so this ends only if each submission wakes it.
TEST(DeferredProcessor, wakes_a_worker_that_sleeps) {
  std::atomic<int> handled{0};
  DeferredProcessor<Small, 64> deferred([&](const Small&) { ++handled; });
  deferred.start({.idle = IdleMode::block, .longest_sleep = 1h, .on_start = {}});
  for (int i = 1; i <= 1000; ++i) {
    ASSERT_TRUE(deferred.submit(std::string_view("x")));
    while (handled.load() != i) std::this_thread::yield();
  }
  deferred.stop();
}

TEST(DeferredProcessor, takes_a_buffer_of_the_users_own) {
  struct PriceOnly {
    static constexpr std::size_t capacity() noexcept { return 8; }
    bool set(std::span<const char> bytes, std::uint64_t when) noexcept {
      if (bytes.size() != 1) return false;
      price = bytes[0];
      time = when;
      return true;
    }
    [[nodiscard]] std::span<const char> view() const noexcept { return {&price, 1}; }
    [[nodiscard]] std::uint64_t stamp() const noexcept { return time; }
    char price = 0;
    std::uint64_t time = 0;
  };
  std::string prices;
  DeferredProcessor<PriceOnly, 2> deferred([&](const PriceOnly& each) { prices += each.price; });
  EXPECT_TRUE(deferred.submit(std::string_view("7")));
  EXPECT_FALSE(deferred.submit(std::string_view("77")));
  deferred.process(9);
  EXPECT_EQ(prices, "7");
}

// Accepts only digits, and nothing while `refuse_all`.
struct DigitsOnly {
  static constexpr std::size_t capacity() noexcept { return 8; }
  bool set(std::span<const char> bytes, std::uint64_t when) noexcept {
    if (refuse_all || bytes.size() != 1 || bytes[0] < '0' || bytes[0] > '9') return false;
    digit = bytes[0];
    time = when;
    return true;
  }
  [[nodiscard]] std::span<const char> view() const noexcept { return {&digit, 1}; }
  [[nodiscard]] std::uint64_t stamp() const noexcept { return time; }
  char digit = 0;
  std::uint64_t time = 0;
  static inline bool refuse_all = false;
};

TEST(DeferredProcessor, tells_the_caller_what_the_buffer_refuses_also_when_the_ring_is_full) {
  for (const WhenFull policy : {WhenFull::block, WhenFull::spill}) {
    std::string digits;
    DeferredProcessor<DigitsOnly, 2> deferred([&](const DigitsOnly& each) { digits += each.digit; },
                                              {.when_full = policy, .block_limit = 1ms, .spill_bytes = 4096});
    EXPECT_TRUE(deferred.submit(std::string_view("1")));
    EXPECT_TRUE(deferred.submit(std::string_view("2")));
    EXPECT_FALSE(deferred.submit(std::string_view("x")));
    deferred.process(9);
    EXPECT_EQ(digits, "12");
    EXPECT_EQ(deferred.counters().too_long, 1U);
    EXPECT_EQ(deferred.counters().blocked, 0U);
    EXPECT_EQ(deferred.counters().submitted, deferred.counters().processed);
  }
}

TEST(DeferredProcessor, counts_what_the_buffer_refuses_after_the_spill_has_taken_it) {
  std::string digits;
  DeferredProcessor<DigitsOnly, 2> deferred([&](const DigitsOnly& each) { digits += each.digit; },
                                            {.when_full = WhenFull::spill, .block_limit = 0ms, .spill_bytes = 4096});
  for (const std::string_view digit : {"1", "2", "3", "4"}) EXPECT_TRUE(deferred.submit(digit));
  DigitsOnly::refuse_all = true;
  deferred.process(3);
  DigitsOnly::refuse_all = false;
  deferred.process(9);
  EXPECT_EQ(digits, "124");
  EXPECT_EQ(deferred.counters().submitted, 4U);
  EXPECT_EQ(deferred.counters().processed, 3U);
  EXPECT_EQ(deferred.counters().lost, 1U);
}

}  // namespace
}  // namespace nfx
