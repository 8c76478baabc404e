// When a gateway leaves a server of the cluster, in time that the test sets.
#include "gateway/tries.hpp"

#include <gtest/gtest.h>

namespace nfx::gateway {
namespace {

using std::chrono::seconds;

TEST(GatewayTries, are_in_vain_when_none_succeeds_for_longer_than_an_election) {
  Tries tries;
  EXPECT_FALSE(tries.in_vain());
  for (int second = 0; second < 10; ++second) {
    tries.note_try(MonotonicTime{seconds{1000 + second}});
    EXPECT_FALSE(tries.in_vain()) << second;
  }
  tries.note_try(MonotonicTime{seconds{1010}});
  EXPECT_TRUE(tries.in_vain());
  tries.note_success();
  EXPECT_FALSE(tries.in_vain());
  tries.note_try(MonotonicTime{seconds{1011}});
  EXPECT_FALSE(tries.in_vain());
}

TEST(GatewayTries, one_that_was_given_up_does_not_count_hours_later) {
  Tries tries;
  tries.note_try(MonotonicTime{seconds{1000}});
  tries.note_try(MonotonicTime{seconds{9000}});
  EXPECT_FALSE(tries.in_vain());
  tries.note_try(MonotonicTime{seconds{9009}});
  EXPECT_FALSE(tries.in_vain());
  tries.note_try(MonotonicTime{seconds{9010}});
  EXPECT_TRUE(tries.in_vain());
}

}  // namespace
}  // namespace nfx::gateway
