// When a gateway leaves a server of the cluster, in time that the test sets.
#include "gateway/tries.hpp"

#include <gtest/gtest.h>

namespace nfx::gateway {
namespace {

using std::chrono::seconds;

// How many tries, one each second, are in vain.
int tries_in_vain(Tries& tries, MonotonicTime& now) {
  for (int count = 1; count <= 60; ++count) {
    now += seconds{1};
    tries.note_try(now);
    EXPECT_FALSE(tries.in_vain(now));
    if (tries.in_vain(now + Tries::last_wait)) return count;
  }
  return 0;
}

TEST(GatewayTries, are_in_vain_when_none_succeeds_for_three_seconds) {
  Tries tries;
  MonotonicTime now{seconds{1000}};
  EXPECT_FALSE(tries.in_vain(now));
  EXPECT_EQ(tries_in_vain(tries, now), 4);
  tries.note_success();
  EXPECT_FALSE(tries.in_vain(now + Tries::last_wait));
  EXPECT_EQ(tries_in_vain(tries, now), 4);
}

TEST(GatewayTries, take_longer_after_all_servers_were_tried_until_one_succeeds) {
  Tries tries;
  MonotonicTime now{seconds{1000}};
  for (const int expected : {4, 4, 4, 7, 7, 7, 13, 13, 13, 13, 13}) {
    EXPECT_EQ(tries_in_vain(tries, now), expected);
    tries.note_change();
  }
  tries.note_success();
  EXPECT_EQ(tries_in_vain(tries, now), 4);
}

TEST(GatewayTries, one_that_was_given_up_does_not_count_hours_later) {
  Tries tries;
  tries.note_try(MonotonicTime{seconds{1000}});
  tries.note_try(MonotonicTime{seconds{9000}});
  tries.note_try(MonotonicTime{seconds{9002}});
  EXPECT_FALSE(tries.in_vain(MonotonicTime{seconds{9003}}));
  tries.note_try(MonotonicTime{seconds{9003}});
  EXPECT_TRUE(tries.in_vain(MonotonicTime{seconds{9004}}));
}

}  // namespace
}  // namespace nfx::gateway
