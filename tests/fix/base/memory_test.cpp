// Mapping memory without using it: pages, zeros, errors.
#include "nexusfix/base/memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <system_error>

namespace nfx {
namespace {

constexpr std::size_t page = 4096;

std::size_t resident_pages(const PageArray<char>& array) {
  std::array<unsigned char, 64> in_memory{};
  EXPECT_EQ(::mincore(array.get(), in_memory.size() * page, in_memory.data()), 0);
  return std::accumulate(in_memory.begin(), in_memory.end(), std::size_t{0},
                         [](std::size_t sum, unsigned char flags) { return sum + (flags & 1U); });
}

TEST(PageArray, takes_memory_for_the_pages_that_were_written_alone) {
  const PageArray<char> array = map_array<char>(64 * page, "a test");
  EXPECT_EQ(resident_pages(array), 0U);
  array[17 * page] = 'x';
  EXPECT_EQ(resident_pages(array), 1U);
  EXPECT_EQ(array[17 * page], 'x');
  EXPECT_EQ(array[17 * page + 1], '\0');
}

TEST(PageArray, is_null_for_no_elements) { EXPECT_EQ(map_array<std::uint64_t>(0, "a test"), nullptr); }

TEST(PageArray, names_the_bytes_that_cannot_be_mapped_and_what_to_do) {
  try {
    static_cast<void>(map_array<char>(std::numeric_limits<std::size_t>::max() / 2, "a test; lower its limits"));
    FAIL() << "half of the address space was mapped";
  } catch (const std::system_error& error) {
    EXPECT_TRUE(std::string{error.what()}.starts_with("cannot map 9223372036854775807 bytes for a test; lower its"))
        << error.what();
  }
}

}  // namespace
}  // namespace nfx
