// Parsers for /proc.
#include "placement/proc_text.hpp"

#include <gtest/gtest.h>

namespace nfx {
namespace {

TEST(ProcText, lines_and_words_are_taken_off_one_by_one) {
  std::string_view text = "first  line\n\nlast";
  std::string_view line = next_line(text);
  EXPECT_EQ(next_word(line), "first");
  EXPECT_EQ(next_word(line), "line");
  EXPECT_EQ(next_word(line), "");
  EXPECT_EQ(next_line(text), "");
  EXPECT_EQ(next_line(text), "last");
  EXPECT_TRUE(text.empty());
}

TEST(ProcText, a_value_stands_behind_its_whole_key_with_or_without_a_colon) {
  constexpr std::string_view text = "PidNS:\t9\nPid:\t12\nflags\t\t: fpu vme\nnr_throttled 5\nempty:\n";
  EXPECT_EQ(value_of(text, "Pid"), "12");
  EXPECT_EQ(value_of(text, "flags"), "fpu vme");
  EXPECT_EQ(value_of(text, "nr_throttled"), "5");
  EXPECT_EQ(value_of(text, "empty"), "");
  EXPECT_EQ(value_of(text, "flag"), std::nullopt);
}

TEST(ProcText, a_number_is_the_whole_text) {
  EXPECT_EQ(number<int>("-7"), -7);
  EXPECT_EQ(number<int>("7 "), std::nullopt);
  EXPECT_EQ(number<int>(""), std::nullopt);
  EXPECT_EQ(number<std::uint8_t>("256"), std::nullopt);
}

TEST(ProcText, a_tasks_name_may_look_like_the_rest_of_its_line) {
  std::string text = "12 (a) R 3) S 4 0 0 0 0 2097152 111 0 7 0 0 0 0 0 20 0 1 0 4242";
  const auto stat = parse_task_stat(text);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->name, "a) R 3");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 4);
  EXPECT_EQ(stat->flags, TaskStat::kernel_thread);
  EXPECT_EQ(stat->minor_faults, 111U);
  EXPECT_EQ(stat->major_faults, 7U);
  EXPECT_EQ(stat->start_ticks, 4242U);
  EXPECT_EQ(stat->cpu, -1) << "the line ends before it";
  text.resize(text.size() - 5);
  EXPECT_FALSE(parse_task_stat(text));
  EXPECT_FALSE(parse_task_stat("12 no name"));
}

TEST(ProcText, a_mount_has_an_option_only_as_a_whole) {
  const Mount mount{.folder = "/sys/fs/cgroup/cpu", .type = "cgroup", .options = "rw,cpuacct,cpu"};
  EXPECT_TRUE(mount.has_option("cpu"));
  EXPECT_FALSE(mount.has_option("cpua"));
}

}  // namespace
}  // namespace nfx
