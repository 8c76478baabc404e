// A failed assertion names its place and condition, and NFX_ASSERT costs nothing if it is off.
#include "nexusfix/base/assert.hpp"

#include <gtest/gtest.h>

namespace nfx {
namespace {

TEST(assertion, names_file_line_function_and_condition) {
  const int two = 2;
  EXPECT_DEATH(NFX_REQUIRE(two + two == 5),
               R"(assert_test\.cpp:[0-9]+: assertion failed in TestBody: two \+ two == 5)");
}

TEST(assertion, passes_when_its_condition_holds) {
  NFX_REQUIRE(1 < 2);
  NFX_ASSERT(1 < 2);
}

#ifdef NDEBUG
TEST(assertion, does_not_evaluate_the_condition_of_assert_in_a_release_build) {
  int evaluated = 0;
  NFX_ASSERT(++evaluated == 0);
  EXPECT_EQ(evaluated, 0);
}
#else
TEST(assertion, checks_assert_in_a_debug_build) { EXPECT_DEATH(NFX_ASSERT(1 > 2), "assertion failed in TestBody"); }
#endif

}  // namespace
}  // namespace nfx
