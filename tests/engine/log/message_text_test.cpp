// Messages as text, with secrets hidden.
#include "log/message_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>

namespace nfx {
namespace {

// '|' in `message` stands for SOH.
std::string shown(std::string message, MessageTextOptions options = {}) {
  std::ranges::replace(message, '|', '\x01');
  std::string out;
  append_message_text(out, message, options);
  if (!options.show_secrets) {
    std::string masked = message, again;
    mask_secrets(masked);
    append_message_text(again, masked, options);
    EXPECT_EQ(masked.size(), message.size());
    EXPECT_EQ(again, out) << "a message that was masked before shows the same";
  }
  return out;
}

TEST(MessageText, shows_bars_for_soh) { EXPECT_EQ(shown("8=FIX.4.4|9=5|35=0|10=000|"), "8=FIX.4.4|9=5|35=0|10=000|"); }

TEST(MessageText, masks_every_kind_of_secret) {
  EXPECT_EQ(shown("35=A|553=me|554=geheim|925=neu|10=000|"), "35=A|553=me|554=***|925=***|10=000|");
  EXPECT_EQ(shown("35=A|1401=3|1402=abc|1403=3|1404=def|10=000|"), "35=A|1401=3|1402=***|1403=3|1404=***|10=000|");
}

TEST(MessageText, masks_raw_data_as_far_as_its_length_says) {
  EXPECT_EQ(shown("35=A|95=9|96=a|554=b|c|98=0|10=000|"), "35=A|95=9|96=***|98=0|10=000|");
}

TEST(MessageText, masks_raw_data_without_a_length_to_the_next_field) {
  EXPECT_EQ(shown("35=A|96=geheim|98=0|"), "35=A|96=***|98=0|");
}

TEST(MessageText, masks_to_the_end_when_the_length_of_raw_data_leads_nowhere) {
  EXPECT_EQ(shown("35=A|95=4|96=geheim|98=0|"), "35=A|95=4|96=***");
  EXPECT_EQ(shown("35=A|95=9999999|96=geheim|98=0|"), "35=A|95=9999999|96=***");
  EXPECT_EQ(shown("35=A|95=99999999999999999999|96=geheim|98=0|"), "35=A|95=99999999999999999999|96=***");
}

TEST(MessageText, masks_what_follows_a_password_and_is_no_field) {
  EXPECT_EQ(shown("554=ab|cd|x=1|58=seen|ef|"), "554=***|***|***|58=seen|ef|");
}

TEST(MessageText, masks_a_secret_that_is_cut_short) {
  EXPECT_EQ(shown("35=A|554=geh"), "35=A|554=***");
  EXPECT_EQ(shown("35=A|95=20|96=geh"), "35=A|95=20|96=***");
}

TEST(MessageText, takes_no_field_out_of_the_middle_of_a_data_field) {
  EXPECT_EQ(shown("35=B|354=7|355=a|554=b|58=x|"), "35=B|354=7|355=a\\x01554=b|58=x|");
}

std::string joined(std::string message, bool show_secrets = false) {
  std::ranges::replace(message, '|', '\x01');
  std::string out;
  for (const ShownField& field : shown_fields(message, show_secrets))
    out += std::to_string(std::to_underlying(field.tag)) + '=' + field.value + ';';
  return out;
}

TEST(MessageText, fields_have_the_same_secrets_masked) {
  EXPECT_EQ(joined("35=A|554=geheim|95=9|96=a|554=b|c|98=0|"), "35=A;554=***;95=9;96=***;98=0;");
  EXPECT_EQ(joined("35=A|95=4|96=geheim|98=0|"), "35=A;95=4;96=***;");
  EXPECT_EQ(joined("554=ab|cd|58=seen|ef|"), "554=***;0=***;58=seen;0=ef;");
  EXPECT_EQ(joined("35=A|554=geh"), "35=A;554=***;");
  EXPECT_EQ(joined("554=geheim|", true), "554=geheim;");
}

TEST(MessageText, fields_are_printable) { EXPECT_EQ(joined("58=a\nb\x1b[2J|"), "58=a\\x0ab\\x1b[2J;"); }

TEST(MessageText, shows_secrets_to_those_who_ask) {
  EXPECT_EQ(shown("554=geheim|", {.separator = Separator::bar, .show_secrets = true}), "554=geheim|");
}

TEST(MessageText, obeys_no_control_character_of_the_network) {
  EXPECT_EQ(shown("58=a\nb\x1b[2Jc|"), "58=a\\x0ab\\x1b[2Jc|");
}

TEST(MessageText, leaves_bytes_as_they_were_for_programs_and_a_message_on_its_line) {
  EXPECT_EQ(shown("58=\xe9\x1b\n|554=x|", {.separator = Separator::raw, .show_secrets = false}),
            "58=\xe9\x1b\\x0a\x01"
            "554=***\x01");
}

TEST(MessageText, never_shows_a_secret_of_any_damaged_message) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::string whole = "8=FIX.4.4|35=A|95=8|96=SECRET12|554=SECRET12|1401=8|1402=SECRET12|98=0|";
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = whole.substr(0, random() % (whole.size() + 1));
    // Digits of lengths, and separators, but not the tags of the secrets themselves.
    for (std::size_t at = 0; at + 1 < damaged.size(); ++at) {
      const bool length = damaged.compare(at, 2, "=8") == 0 && at + 2 < damaged.size() && damaged[at + 2] == '|';
      if (length && random() % 2 == 0) damaged[at + 1] = static_cast<char>('0' + random() % 10);
    }
    ASSERT_EQ(shown(damaged).find("SECRET1"), std::string::npos) << damaged;
  }
}

}  // namespace
}  // namespace nfx
