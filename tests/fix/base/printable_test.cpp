// Characters that a terminal could execute or misread are escaped; printable text in any script is not.
#include "base/printable.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace nfx {
namespace {

using namespace std::string_view_literals;

std::string printable(std::string_view bytes) {
  std::string out;
  append_printable(out, bytes);
  return out;
}

std::string printable_lines(std::string_view bytes) {
  std::string out;
  append_printable_lines(out, bytes);
  return out;
}

TEST(Printable, text_in_any_script_stays_as_it_is) {
  for (const std::string_view text : {"", "plain ~", "Zürich", "東京", "😀", "a\\x1bb"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, every_control_byte_is_escaped) {
  for (int byte = 0; byte < 256; ++byte) {
    if (byte >= 0x20 && byte < 0x7F) continue;
    char expected[8];
    std::snprintf(expected, sizeof expected, "a\\x%02xb", static_cast<unsigned>(byte));
    EXPECT_EQ(printable("a" + std::string(1, static_cast<char>(byte)) + "b"), expected);
  }
}

TEST(Printable, control_characters_in_utf8_are_escaped) {
  for (int code = 0x80; code < 0xA0; ++code) {
    const std::string text{'\xC2', static_cast<char>(code)};
    EXPECT_EQ(printable(text).substr(0, 6), "\\xc2\\x");
  }
  EXPECT_EQ(printable("\xC2\xA0"), "\xC2\xA0");
}

TEST(Printable, what_separates_lines_or_reverses_text_is_escaped) {
  for (int last = 0x80; last < 0xC0; ++last) {
    const std::string first{'\xE2', '\x80', static_cast<char>(last)}, second{'\xE2', '\x81', static_cast<char>(last)};
    const bool mark = last == 0x8E || last == 0x8F;
    EXPECT_EQ(printable(first) != first, mark || (last >= 0xA8 && last <= 0xAE)) << last;
    EXPECT_EQ(printable(second) != second, last >= 0xA6 && last <= 0xA9) << last;
  }
  EXPECT_EQ(printable("\xD8\x9C"), "\\xd8\\x9c");
}

TEST(Printable, bytes_that_are_no_utf8_are_escaped_one_by_one) {
  EXPECT_EQ(printable("\xC3"), "\\xc3");
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(printable("\xF4\x90\x80\x80z"), "\\xf4\\x90\\x80\\x80z");
  EXPECT_EQ(printable("\xC0\x8A"), "\\xc0\\x8a");
}

TEST(Printable, appending_the_result_again_changes_nothing) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(printable(printable(all)), printable(all));
}

TEST(Printable, only_line_feeds_of_several_lines_stay) {
  EXPECT_EQ(printable_lines("a\nb\r\n\tc\n"), "a\nb\\x0d\n\\x09c\n");
  EXPECT_EQ(printable_lines("a\xE2\x80\nb"), "a\\xe2\\x80\nb");
  EXPECT_EQ(printable_lines(""), "");
}

}  // namespace
}  // namespace nfx
