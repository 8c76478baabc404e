// Statistics of the calling thread.
#include "observe/thread_stats.hpp"

#include <gtest/gtest.h>

#include <ctime>

namespace nfx {
namespace {

using namespace std::chrono_literals;

TEST(ThreadStats, finds_the_migrations_in_the_kernels_text) {
  const std::string_view text =
      "poller (4711, #threads: 3)\n-----------\nse.exec_start      :   12.5\nse.nr_migrations    :           "
      "42\nnr_switches : 7\n";
  EXPECT_EQ(detail::parse_nr_migrations(text), 42U);
}

TEST(ThreadStats, knows_no_migrations_where_the_kernel_names_none) {
  EXPECT_EQ(detail::parse_nr_migrations(""), std::nullopt);
  EXPECT_EQ(detail::parse_nr_migrations("nr_switches : 7\n"), std::nullopt);
  EXPECT_EQ(detail::parse_nr_migrations("se.nr_migrations :\n12"), std::nullopt);
  EXPECT_EQ(detail::parse_nr_migrations("se.nr_migrations : twelve\n"), std::nullopt);
}

TEST(ThreadStats, counts_a_move_only_between_two_known_cores) {
  EXPECT_EQ(detail::moved(1, 2), 1U);
  EXPECT_EQ(detail::moved(2, 2), 0U);
  EXPECT_EQ(detail::moved(std::nullopt, 2), 0U);
  EXPECT_EQ(detail::moved(1, std::nullopt), 0U);
}

TEST(ThreadStats, says_unknown_for_what_it_does_not_know) {
  EXPECT_EQ(to_string(ThreadStats{}),
            "core unknown, unknown migrations, unknown voluntary and unknown involuntary switches, unknown cpu");
  const ThreadStats stats{.core = 3,
                          .migrations = 2,
                          .migrations_are_sampled = true,
                          .voluntary_switches = 10,
                          .involuntary_switches = 1,
                          .cpu_time = 1250ms};
  EXPECT_EQ(to_string(stats), "core 3, at least 2 migrations, 10 voluntary and 1 involuntary switches, 1.250 s cpu");
}

TEST(ThreadStats, sees_processor_time_being_used) {
  ThreadStatsReader reader;
  const auto before = reader.read().cpu_time;
  ASSERT_TRUE(before.has_value());
  timespec now{};
  timespec begin{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do {
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1'000'000'000 + now.tv_nsec - begin.tv_nsec < 30'000'000);
  EXPECT_GT(*reader.read().cpu_time, *before);
}

TEST(ThreadStats, numbers_never_go_back) {
  ThreadStatsReader reader;
  const ThreadStats first = reader.read();
  const ThreadStats second = reader.read();
  ASSERT_TRUE(first.voluntary_switches && first.involuntary_switches && first.migrations && first.core);
  EXPECT_GE(*second.voluntary_switches, *first.voluntary_switches);
  EXPECT_GE(*second.involuntary_switches, *first.involuntary_switches);
  EXPECT_GE(*second.migrations, *first.migrations);
}

}  // namespace
}  // namespace nfx
