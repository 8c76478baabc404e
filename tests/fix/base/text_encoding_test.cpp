// UTF-16 of both byte orders, in pieces of any size, against the same text in UTF-8.
#include "base/text_encoding.hpp"

#include <gtest/gtest.h>

namespace nfx {
namespace {

constexpr std::u16string_view wide = u"8=FIX\r\n\u00E9\u20AC\U0001F600";
constexpr std::string_view narrow = "8=FIX\r\n\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80";

std::string bytes_of(std::u16string_view text, bool big, bool mark) {
  std::string out;
  const auto add = [&](char16_t unit) {
    const char first = static_cast<char>(big ? unit >> 8 : unit & 0xFF),
               second = static_cast<char>(big ? unit & 0xFF : unit >> 8);
    out += first;
    out += second;
  };
  if (mark) add(0xFEFF);
  for (const char16_t unit : text) add(unit);
  return out;
}

TEST(TextEncodings, utf16_becomes_utf8_with_and_without_a_byte_order_mark) {
  for (const bool big : {false, true}) {
    for (const bool mark : {false, true}) EXPECT_EQ(to_utf8(bytes_of(wide, big, mark)), narrow) << big << mark;
  }
}

TEST(TextEncodings, other_bytes_stay_as_they_are_without_the_mark_of_utf8) {
  EXPECT_EQ(to_utf8("\xEF\xBB\xBF[DEFAULT]"), "[DEFAULT]");
  EXPECT_EQ(to_utf8("\xE9\xFF"), "\xE9\xFF");
  EXPECT_EQ(to_utf8(""), "");
}

TEST(TextEncodings, pieces_give_the_same_text_wherever_they_are_cut) {
  const std::string bytes = bytes_of(wide, false, true);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    Utf16Converter converter{TextEncoding::utf16_little};
    std::string out;
    converter.append(std::string_view{bytes}.substr(0, cut), out);
    converter.append(std::string_view{bytes}.substr(cut), out);
    converter.finish(out);
    EXPECT_EQ(out, narrow) << cut;
  }
}

TEST(TextEncodings, half_of_a_pair_becomes_the_replacement_character) {
  EXPECT_EQ(
      to_utf8(bytes_of(std::u16string{u'a', char16_t{0xD83D}, u'b', char16_t{0xDE00}, char16_t{0xD83D}}, true, true)),
      "a\xEF\xBF\xBD"
      "b\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(to_utf8("\xFF\xFE"
                    "a"),
            "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace nfx
