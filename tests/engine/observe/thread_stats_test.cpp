// Statistics of the calling thread.
#include "observe/thread_stats.hpp"

#include <gtest/gtest.h>

namespace nfx {
namespace {

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

TEST(ThreadStats, numbers_never_go_back) {
  const ThreadStats first = read_thread_stats();
  const ThreadStats second = read_thread_stats();
  ASSERT_TRUE(first.voluntary_switches && first.involuntary_switches && first.migrations && first.core);
  EXPECT_GE(*second.voluntary_switches, *first.voluntary_switches);
  EXPECT_GE(*second.involuntary_switches, *first.involuntary_switches);
  EXPECT_GE(*second.migrations, *first.migrations);
}

}  // namespace
}  // namespace nfx
