// Patterns of CompIDs: what a star matches, what a CompID may consist of, and a bounded cost.
#include "config/wildcard.hpp"

#include <gtest/gtest.h>

namespace nfx {
namespace {

static_assert(matches_wildcard("CLIENT", "CLIENT"));
static_assert(!matches_wildcard("CLIENT", "CLIENT1"));

TEST(Wildcard, star_stands_for_any_text) {
  for (const char* text : {"", "A", "DESK", "*"}) EXPECT_TRUE(matches_wildcard("*", text)) << text;
  EXPECT_TRUE(matches_wildcard("DESK-*", "DESK-"));
  EXPECT_TRUE(matches_wildcard("DESK-*", "DESK-7"));
  EXPECT_FALSE(matches_wildcard("DESK-*", "DES-7"));
  EXPECT_TRUE(matches_wildcard("*-FIX", "A-FIX-FIX"));
  EXPECT_FALSE(matches_wildcard("*-FIX", "A-FIX-"));
  EXPECT_TRUE(matches_wildcard("A*B*C", "A--B-B-C"));
  EXPECT_FALSE(matches_wildcard("A*B*C", "A--C-B"));
}

TEST(Wildcard, everything_else_stands_for_itself) {
  EXPECT_FALSE(matches_wildcard("a", "A"));
  EXPECT_FALSE(matches_wildcard("?", "A"));
  EXPECT_FALSE(matches_wildcard("", "A"));
  EXPECT_TRUE(matches_wildcard("", ""));
}

TEST(Wildcard, many_stars_cost_no_more_than_text_times_pattern) {
  const std::string pattern(64, '*');
  EXPECT_TRUE(matches_wildcard(pattern, std::string(64, 'a')));
  EXPECT_FALSE(matches_wildcard(pattern + "b", std::string(64, 'a')));
}

TEST(Wildcard, comp_ids_are_short_and_printable) {
  EXPECT_TRUE(usable_comp_id("DESK-7"));
  EXPECT_TRUE(usable_comp_id("../../etc/passwd")) << "a name like any other: names never become paths";
  EXPECT_FALSE(usable_comp_id(""));
  EXPECT_FALSE(usable_comp_id("A B"));
  EXPECT_FALSE(usable_comp_id("A\n"));
  EXPECT_FALSE(usable_comp_id(std::string(65, 'A')));
}

}  // namespace
}  // namespace nfx
