// Reading ahead gives the same bytes in the same order as reading directly, and an error at the same place.
#include "market/read_ahead.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>
#include <stdexcept>

namespace nfx::app::market {
namespace {

// Chunk n is n + 1 bytes of value n.
std::size_t write_chunk(std::span<std::byte> out, std::size_t number) {
  std::fill_n(out.begin(), number + 1, static_cast<std::byte>(number));
  return number + 1;
}

void expect_chunk(std::span<const std::byte> chunk, std::size_t number) {
  ASSERT_EQ(chunk.size(), number + 1);
  EXPECT_TRUE(std::ranges::all_of(chunk, [&](std::byte b) { return b == static_cast<std::byte>(number); })) << number;
}

TEST(ReadAhead, GivesAllChunksInOrderAndThenTheEnd) {
  std::size_t written = 0;
  ReadAhead input{[&](std::span<std::byte> out) { return written == 200 ? 0 : write_chunk(out, written++); }, 256};
  for (std::size_t number = 0; number < 200; ++number) expect_chunk(input.next(), number);
  EXPECT_TRUE(input.next().empty());
  EXPECT_TRUE(input.next().empty());
}

TEST(ReadAhead, AnErrorComesAfterTheChunksBeforeIt) {
  std::size_t written = 0;
  ReadAhead input{[&](std::span<std::byte> out) {
                    if (written == 3) throw std::runtime_error("day.dbn: cannot be read at byte 6");
                    return write_chunk(out, written++);
                  },
                  256};
  for (std::size_t number = 0; number < 3; ++number) expect_chunk(input.next(), number);
  EXPECT_THROW((void)input.next(), std::runtime_error);
  EXPECT_TRUE(input.next().empty());
}

TEST(ReadAhead, IsBoundedAndEndsBeforeTheInputDoes) {
  std::atomic<std::size_t> written = 0;
  {
    ReadAhead input{[&](std::span<std::byte> out) { return write_chunk(out, written++ % 256); }, 256};
    expect_chunk(input.next(), 0);
    expect_chunk(input.next(), 1);  // chunk 0 is free again
  }
  EXPECT_GE(written, 2u);
  EXPECT_LE(written, 5u);
}

}  // namespace
}  // namespace nfx::app::market
