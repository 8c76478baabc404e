// Medians over several repeats, and the folder of a benchmark's files.
#include "harness/figures.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "harness/scratch_folder.hpp"

namespace nfx::bench {
namespace {

TEST(Figures, of_repeats_are_the_medians_of_each) {
  const std::vector<Figures> repeats{{1, 10, 30, 40, 50}, {2, 12, 20, 41, 90}, {3, 11, 25, 42, 60}};
  EXPECT_EQ(middle(repeats, &Figures::p50), 11);
  EXPECT_EQ(middle(repeats, &Figures::p99), 25);
  EXPECT_EQ(middle(repeats, &Figures::max), 60);
}

TEST(Figures, a_ratio_compares_with_the_baseline_of_the_same_repeat) {
  // The machine was slow in the second repeat, for both rows.
  const std::vector<double> own{12, 120, 13}, baseline{10, 100, 10};
  EXPECT_DOUBLE_EQ(middle_ratio(own, baseline, std::identity{}), 1.2);
}

TEST(Figures, a_histogram_is_told_in_the_wanted_unit) {
  LatencyHistogram histogram;
  for (int i = 0; i < 100; ++i) histogram.record(std::uint64_t{2000});
  const Figures figures = figures_of(histogram, 1000);
  EXPECT_NEAR(figures.p50, 2, 0.1);
  EXPECT_NEAR(figures.mean, 2, 0.1);
  EXPECT_NEAR(figures.max, 2, 0.1);
}

TEST(ScratchFolder, goes_with_all_that_lies_in_it) {
  std::filesystem::path path;
  {
    const ScratchFolder folder{"test", {}};
    path = folder.path();
    std::ofstream{path / "file"} << "something";
    EXPECT_TRUE(std::filesystem::exists(path / "file"));
    EXPECT_TRUE(folder.describe().starts_with(path.string() + " ("));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ScratchFolder, says_where_no_disk_is_behind_it) {
  if (!std::filesystem::exists("/dev/shm")) GTEST_SKIP() << "no /dev/shm";
  const ScratchFolder folder{"test", "/dev/shm"};
  EXPECT_TRUE(folder.describe().contains("NO DISK")) << folder.describe();
}

}  // namespace
}  // namespace nfx::bench
