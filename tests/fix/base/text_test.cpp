// The text helpers: the characters they remove, and published examples of their digits.
#include "base/text.hpp"

#include <gtest/gtest.h>

#include <array>

namespace nfx {
namespace {

TEST(Text, loses_blanks_at_its_ends_alone) {
  EXPECT_EQ(trimmed(" \t\r\n\v\fa b\n"), "a b");
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed(""), "");
  EXPECT_EQ(trimmed(" \n ", " "), "\n");
}

TEST(Text, of_blanks_alone_becomes_an_empty_text_inside_it) {
  constexpr std::string_view blank = " \t ";
  EXPECT_EQ(trimmed(blank).data(), blank.data() + blank.size());
  EXPECT_TRUE(trimmed(blank).empty());
}

TEST(Text, is_compared_without_the_case_of_ascii_letters) {
  EXPECT_TRUE(same_ignoring_case("Content-Length", "content-lengTH"));
  EXPECT_FALSE(same_ignoring_case("ab", "abc"));
  EXPECT_FALSE(same_ignoring_case("@", "`"));
  EXPECT_EQ(lower('Z'), 'z');
  EXPECT_EQ(lower('['), '[');
}

TEST(Text, shows_numbers_and_bytes_as_hexadecimal_digits) {
  EXPECT_EQ(hexadecimal(std::uint64_t{0}), "0000000000000000");
  EXPECT_EQ(hexadecimal(0xFEDCBA9876543210), "fedcba9876543210");
  EXPECT_EQ(hexadecimal(std::string_view{"\0\x7f\xff", 3}), "007fff");
  EXPECT_EQ(hexadecimal(text_of_bytes(std::array<std::uint8_t, 2>{0xA0, 0x0B})), "a00b");
}

// RFC 4648, section 10.
TEST(Text, shows_bytes_as_base64) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xfb\xff"), "+/8=");
}

}  // namespace
}  // namespace nfx
