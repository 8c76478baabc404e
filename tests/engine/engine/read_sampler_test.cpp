// Which messages of a read of a busy session are timed, and for how many all of them count.
#include "engine/read_sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "engine/latency_ledger.hpp"

namespace nfx::test {
namespace {

using namespace std::chrono_literals;

class ReadSamplerTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t every = 8;

  ReadSamplerTest() { sampler.begin(book, every); }
  std::vector<std::size_t> read(std::size_t messages, Duration callback = 100ns) {
    now += 20us;
    sampler.read_began(now);
    std::vector<std::size_t> timed;
    for (std::size_t i = 0; i < messages; ++i) {
      if (sampler.times()) {
        timed.push_back(i);
        counted += sampler.timed(callback);
      } else {
        sampler.not_timed();
      }
    }
    sampler.read_ended();
    EXPECT_EQ(sampler.untimed().messages_in_read(), messages - timed.size());
    EXPECT_TRUE(sampler.times()) << "outside of a read";
    return timed;
  }
  static std::vector<std::size_t> all_of(std::size_t messages) {
    std::vector<std::size_t> all(messages);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  const SessionBook book;
  ReadSampler sampler;
  MonotonicTime now{1s};
  std::uint64_t counted = 0;
};

TEST_F(ReadSamplerTest, one_read_in_eight_is_timed_and_in_it_one_message_in_eight) {
  EXPECT_EQ(read(20), all_of(20)) << "after a pause";
  counted = 0;
  constexpr int reads = 8000, messages = 30;
  std::size_t timed_reads = 0, later_messages = 0, longest_run = 0, run = 0;
  for (int i = 0; i < reads; ++i) {
    const std::vector<std::size_t> timed = read(messages);
    longest_run = std::max(longest_run, ++run);
    if (timed.empty()) continue;
    run = 0;
    ++timed_reads;
    later_messages += timed.size() - 1;
    EXPECT_EQ(timed[0], 0U);
  }
  EXPECT_NEAR(static_cast<double>(timed_reads), reads / every, 60);
  EXPECT_NEAR(static_cast<double>(later_messages), static_cast<double>(timed_reads * (messages - 1)) / every, 400);
  EXPECT_LT(longest_run, 2 * every);
  EXPECT_NEAR(static_cast<double>(counted), reads * messages, 2 * every * messages);
  now += ReadSampler::pause;
  EXPECT_EQ(read(3), all_of(3));
}

TEST_F(ReadSamplerTest, what_repeats_in_a_fixed_order_is_sampled_equally) {
  read(1);
  std::array<int, 4> timed{};
  for (std::size_t i = 0; i < 16'000; ++i) timed[i % timed.size()] += read(1).empty() ? 0 : 1;
  for (const int each : timed) EXPECT_NEAR(each, 500, 80);
}

TEST_F(ReadSamplerTest, sessions_are_not_timed_in_the_same_reads) {
  SessionBook of_other;
  of_other.serial = 1;
  ReadSampler other;
  other.begin(of_other, every);
  other.read_began(now);
  other.read_ended();
  read(1);
  int both = 0;
  for (int i = 0; i < 8000; ++i) {
    other.read_began(now);
    both += read(1).empty() || !other.times() ? 0 : 1;
    other.read_ended();
  }
  EXPECT_LT(both, 250) << "125 of 1000 by chance";
}

TEST_F(ReadSamplerTest, what_is_left_out_counts_in_equal_parts) {
  read(1);
  do {
    now += 20us;
    sampler.read_began(now);
    if (sampler.times()) break;
    for (int i = 0; i < 300; ++i) sampler.not_timed();
    sampler.read_ended();
  } while (true);
  ASSERT_GE(sampler.untimed().messages, 300U);
  EXPECT_EQ(sampler.timed(100ns), 64U);
  while (!sampler.times()) sampler.not_timed();
  EXPECT_EQ(sampler.timed(100ns), 64U);
}

TEST_F(ReadSamplerTest, another_part_of_a_read_belongs_to_it) {
  read(1);
  while (!read(1).empty()) {
  }
  now += 20us;
  for (int part = 0; part < 2; ++part) {
    sampler.read_began(now);
    if (!sampler.times()) sampler.not_timed();
    ++sampler.untimed().sent;
    sampler.read_ended();
  }
  EXPECT_GE(sampler.untimed().messages_in_read(), 1U);
  EXPECT_EQ(sampler.untimed().sent - sampler.untimed().sent_before, 2U);
}

TEST_F(ReadSamplerTest, after_a_slow_callback_each_message_is_timed_until_a_read_has_quick_ones) {
  now += ReadSampler::pause;
  EXPECT_EQ(read(20, 3us), all_of(20));
  EXPECT_EQ(read(20, 3us), all_of(20));
  const std::vector<std::size_t> timed = read(20);
  EXPECT_TRUE(!timed.empty() && timed[0] == 0 && timed.size() < 20);
  std::size_t reads = 0;
  while (!read(20).empty()) ASSERT_LT(++reads, 20U);
}

}  // namespace
}  // namespace nfx::test
