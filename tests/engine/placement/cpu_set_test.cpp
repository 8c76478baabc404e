// Sets of CPUs and the kernel's notations for them.
#include "nexusfix/placement/cpu_affinity.hpp"

#include <gtest/gtest.h>

namespace nfx {
namespace {

TEST(CpuSet, reads_and_writes_the_kernels_lists) {
  for (const char* text : {"", "0", "0-1", "0-3,8", "1,3,5", "0-8191", "63-64,127-128"}) {
    const auto set = CpuSet::parse_list(text);
    ASSERT_TRUE(set) << text;
    EXPECT_EQ(set->to_list(), text);
  }
}

TEST(CpuSet, understands_strides_and_the_line_end) {
  EXPECT_EQ(CpuSet::parse_list("0-15:2/8\n").value().to_list(), "0-1,8-9");
}

TEST(CpuSet, refuses_what_is_no_list) {
  for (const char* text : {"a", "3-", "-3", "5-3", "1,,2", "1,", "0-9:1", "0-9:2/1", "0-9:1/0", "3:1/2", "8192",
                           "0-99999999999", "0x3", "1 2", "(null)"}) {
    EXPECT_FALSE(CpuSet::parse_list(text)) << text;
  }
}

TEST(CpuSet, reads_and_writes_the_kernels_masks) {
  EXPECT_EQ(CpuSet::parse_mask("3").value().to_list(), "0-1");
  EXPECT_EQ(CpuSet::parse_mask("0x30").value().to_list(), "4-5");
  EXPECT_EQ(CpuSet::parse_mask("ff,00000001").value().to_list(), "0,32-39");
  EXPECT_EQ(CpuSet::parse_mask("1,00000000,00000000").value().to_list(), "64");
  EXPECT_EQ((CpuSet{0, 1}).to_mask(2), "3");
  EXPECT_EQ((CpuSet{0}).to_mask(28), "0000001");
  EXPECT_EQ((CpuSet{64}).to_mask(96), "00000001,00000000,00000000");
  EXPECT_EQ((CpuSet{64}).to_mask(65), "1,00000000,00000000");
}

TEST(CpuSet, a_mask_read_back_is_the_same_set) {
  CpuSet set;
  for (int cpu = 0; cpu < 400; cpu += 7) set.insert(cpu);
  EXPECT_EQ(CpuSet::parse_mask(set.to_mask(512)).value(), set);
}

TEST(CpuSet, refuses_what_is_no_mask) {
  for (const char* text : {"", "g", "1,2", "ff,123456789", ",", "1,,1", "1,ffffffff,"}) {
    const auto set = CpuSet::parse_mask(text);
    if (std::string_view{text} == "1,2") {
      EXPECT_EQ(set.value().to_list(), "1,32") << "the kernel reads short words too";
    } else {
      EXPECT_FALSE(set) << text;
    }
  }
}

TEST(CpuSet, equal_sets_are_equal_however_they_came_about) {
  CpuSet a = CpuSet::range(0, 200);
  a -= CpuSet::range(4, 300);
  EXPECT_EQ(a, CpuSet::range(0, 3));
  CpuSet b = CpuSet::range(0, 3);
  b.insert(500);
  b.erase(500);
  EXPECT_EQ(a, b);
  EXPECT_EQ((a & CpuSet{3, 4}), CpuSet{3});
  EXPECT_EQ((CpuSet{1} | CpuSet{70}).to_list(), "1,70");
}

TEST(CpuSet, knows_its_ends) {
  EXPECT_EQ(CpuSet{}.first(), -1);
  EXPECT_EQ(CpuSet{}.last(), -1);
  EXPECT_EQ((CpuSet{5, 130}).first(), 5);
  EXPECT_EQ((CpuSet{5, 130}).last(), 130);
  EXPECT_EQ((CpuSet{5, 130}).size(), 2U);
  EXPECT_TRUE(CpuSet::range(0, 9).contains_all(CpuSet{3, 9}));
  EXPECT_FALSE((CpuSet{3}).contains_all(CpuSet{3, 99}));
  EXPECT_TRUE((CpuSet{3, 99}).intersects(CpuSet{99}));
}

TEST(CpuSet, numbers_that_are_no_cpus_are_not_in_it) {
  CpuSet set;
  set.insert(-1);
  set.insert(CpuSet::max_cpus);
  EXPECT_TRUE(set.empty());
  EXPECT_FALSE(set.contains(-1));
  EXPECT_FALSE(set.contains(CpuSet::max_cpus));
}

}  // namespace
}  // namespace nfx
