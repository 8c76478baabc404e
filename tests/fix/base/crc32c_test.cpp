// CRC-32C against known values, and the instruction against the tables.
#include "base/crc32c.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace nfx {
namespace {

TEST(Crc32c, is_the_published_sum_of_known_texts) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
  EXPECT_EQ(crc32c(""), 0U);
}

TEST(Crc32c, gives_the_same_by_instruction_and_by_table_at_every_length_and_alignment) {
  std::mt19937_64 random(7);
  std::string bytes(4096, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  for (std::size_t size = 0; size <= 2000; ++size) {
    const std::size_t offset = size % 9;
    const std::string_view part = std::string_view{bytes}.substr(offset, size);
    const auto before = static_cast<std::uint32_t>(random());
    ASSERT_EQ(crc32c(part, before), crc32c_by_table(part, before)) << size << " bytes";
  }
}

TEST(Crc32c, of_parts_in_turn_is_that_of_the_whole) {
  std::mt19937_64 random(11);
  std::string bytes(700, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  const std::string_view whole = bytes;
  for (std::size_t cut = 0; cut <= whole.size(); cut += 7) {
    ASSERT_EQ(crc32c(whole.substr(cut), crc32c(whole.substr(0, cut))), crc32c(whole)) << "cut at " << cut;
  }
}

TEST(Crc32c, sees_every_single_flipped_bit_of_a_message) {
  std::string bytes(256, 'x');
  const std::uint32_t sum = crc32c(bytes);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_NE(crc32c(bytes), sum) << "bit " << bit;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
  }
}

}  // namespace
}  // namespace nfx
