// same_text() against operator== for every length that it handles differently, and every place of a difference.
#include "base/same_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace nfx {
namespace {

TEST(SameText, finds_equal_texts_equal_wherever_they_are) {
  for (std::size_t size = 0; size <= 40; ++size) {
    const std::string text = std::string("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqr").substr(0, size);
    const std::string elsewhere = "x" + text + "y";
    EXPECT_TRUE(same_text(text, std::string_view(elsewhere).substr(1, size))) << size;
  }
}

TEST(SameText, finds_a_difference_at_every_place) {
  for (std::size_t size = 1; size <= 40; ++size) {
    const std::string text(size, 'a');
    for (std::size_t at = 0; at < size; ++at) {
      std::string other = text;
      other[at] = '\x81';
      EXPECT_FALSE(same_text(text, other)) << size << ' ' << at;
    }
  }
}

TEST(SameText, finds_texts_of_other_lengths_different) {
  const std::string text(40, 'a');
  for (std::size_t size = 0; size < 40; ++size) {
    EXPECT_FALSE(same_text(std::string_view(text).substr(0, size), std::string_view(text).substr(0, size + 1))) << size;
  }
}

}  // namespace
}  // namespace nfx
