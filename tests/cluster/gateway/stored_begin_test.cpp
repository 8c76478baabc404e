// When the sequence numbers of a session began, as far as the stream has it.
#include "gateway/stored_begin.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

namespace nfx::gateway {
namespace {

using namespace std::chrono_literals;

TEST(StoredBegin, bytes_are_read_back) {
  const BeganBytes bytes = began_bytes(UtcTime{1234567890123456789ns});
  EXPECT_EQ(time_of({bytes.data(), bytes.size()}), UtcTime{1234567890123456789ns});
}

TEST(StoredBegin, is_that_of_the_last_reset_that_is_stored) {
  StoredBegin begin;
  begin.begin(std::nullopt);
  EXPECT_EQ(begin.after(0), std::nullopt);
  begin.append(UtcTime{5s}, 1);
  EXPECT_EQ(begin.after(0), std::nullopt);
  EXPECT_EQ(begin.after(1), UtcTime{5s});
  begin.append(UtcTime{6s}, 40);
  EXPECT_EQ(begin.after(39), UtcTime{5s});
  EXPECT_EQ(begin.after(41), UtcTime{6s});
  begin.begin(UtcTime{7s});
  EXPECT_EQ(begin.after(0), UtcTime{7s});
}

}  // namespace
}  // namespace nfx::gateway
