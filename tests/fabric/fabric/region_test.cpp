// Memory of rails: its size, its pages, its node, and unavailable memory.
#include "nexusfix/fabric/rail.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>

namespace nfx::fabric {
namespace {

constexpr std::uint64_t huge_page = std::uint64_t{2} << 20;

std::uint64_t kernel_value(const std::string& path, const std::string& key) {
  std::ifstream file{path};
  for (std::string word; file >> word;) {
    if (word != key) continue;
    std::uint64_t value = 0;
    file >> value;
    return value;
  }
  return 0;
}

TEST(Region, rounds_its_size_up_to_whole_pages_and_is_zero) {
  const auto region = Region::make({.use = "small", .size = 5000, .huge_pages = false});
  ASSERT_TRUE(region) << region.error();
  EXPECT_EQ(region->size(), 8192U);
  EXPECT_EQ(region->page_kind(), PageKind::small);
  EXPECT_TRUE(std::ranges::all_of(region->bytes(), [](std::byte value) { return value == std::byte{0}; }));
}

TEST(Region, contains_no_range_that_overflows) {
  const auto region = Region::make({.use = "range", .size = 4096, .huge_pages = false});
  ASSERT_TRUE(region) << region.error();
  EXPECT_TRUE(region->contains(0, 4096));
  EXPECT_TRUE(region->contains(4096, 0));
  EXPECT_FALSE(region->contains(1, 4096));
  EXPECT_FALSE(region->contains(8, ~std::uint64_t{0} - 4));
  EXPECT_FALSE(region->contains(~std::uint64_t{0}, 1));
}

TEST(Region, is_shared_with_who_has_its_file_and_cannot_be_cut_off) {
  auto region = Region::make({.use = "shared", .size = 4096, .huge_pages = false});
  ASSERT_TRUE(region) << region.error();
  EXPECT_NE(::ftruncate(region->file(), 0), 0);
  EXPECT_NE(::ftruncate(region->file(), 8192), 0);
  void* const other = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, region->file(), 0);
  ASSERT_NE(other, MAP_FAILED);
  region->bytes()[4095] = std::byte{7};
  EXPECT_EQ(static_cast<const std::byte*>(other)[4095], std::byte{7});
  ::munmap(other, 4096);
}

// With `sysctl vm.nr_hugepages=8` these pages come from the kernel's pool, otherwise from elsewhere.
TEST(Region, has_huge_pages_where_the_kernel_has_them_free) {
  const std::uint64_t free_pages = kernel_value("/proc/meminfo", "HugePages_Free:");
  const std::uint64_t reserved = kernel_value("/proc/meminfo", "HugePages_Rsvd:");
  auto region = Region::make({.use = "huge", .size = huge_page + 1});
  ASSERT_TRUE(region) << region.error();
  struct stat status{};
  ASSERT_EQ(::fstat(region->file(), &status), 0);
  if (region->page_kind() == PageKind::huge) {
    EXPECT_EQ(region->size(), 2 * huge_page);
    EXPECT_EQ(static_cast<std::uint64_t>(status.st_blksize), huge_page);
  } else {
    EXPECT_LT(free_pages - std::min(free_pages, reserved), 2U) << "huge pages were free and were not used";
    EXPECT_EQ(region->size(), huge_page + 4096);
  }
  std::ranges::fill(region->bytes(), std::byte{1});
}

TEST(Region, takes_small_pages_where_a_huge_one_would_be_mostly_empty) {
  const auto region = Region::make({.use = "small", .size = 4096});
  ASSERT_TRUE(region) << region.error();
  EXPECT_EQ(region->page_kind(), PageKind::small);
  EXPECT_EQ(region->size(), 4096U);
}

TEST(Region, is_on_the_node_that_was_chosen) {
  const auto region = Region::make({.use = "node", .size = 4096, .node = 0, .huge_pages = false});
  ASSERT_TRUE(region) << region.error();
  EXPECT_TRUE(region->node() == 0 || region->node() == -1) << region->node();  // -1: a kernel without NUMA
}

TEST(Region, refuses_what_cannot_be_had_with_what_to_change) {
  const auto empty = Region::make({.use = "journal", .size = 0});
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error(), "region journal: a size of 0 bytes; write at least 1");
  const auto too_large = Region::make({.use = "journal", .size = (std::uint64_t{1} << 46) + 1});
  ASSERT_FALSE(too_large);
  EXPECT_EQ(too_large.error(), "region journal: a size of more than 64 TiB");
  const auto no_such_number = Region::make({.use = "journal", .size = 4096, .node = 1024});
  ASSERT_FALSE(no_such_number);
  EXPECT_EQ(no_such_number.error(), "region journal: node 1024 is not one from 0 to 1023");
}

TEST(Region, moves_with_its_memory) {
  auto first = Region::make({.use = "first", .size = 4096, .huge_pages = false});
  auto second = Region::make({.use = "second", .size = 8192, .huge_pages = false});
  ASSERT_TRUE(first && second);
  first->bytes()[0] = std::byte{9};
  const std::byte* const data = first->data();
  *second = std::move(*first);
  EXPECT_EQ(second->data(), data);
  EXPECT_EQ(second->bytes()[0], std::byte{9});
  EXPECT_EQ(second->use(), "first");
  EXPECT_EQ(first->data(), nullptr);  // NOLINT(bugprone-use-after-move): what a move leaves is stated
}

}  // namespace
}  // namespace nfx::fabric
