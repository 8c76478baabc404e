// The mode of a policy for a violation, and the syntax of overrides.
#include "nexusfix/dictionary/validation_policy.hpp"

#include <gtest/gtest.h>

#include "nexusfix/base/enum_values.hpp"

namespace nfx {
namespace {

using Reason = SessionRejectReason;
using Mode = ValidationMode;

constexpr Mode all_modes[] = {Mode::off, Mode::lenient, Mode::strict};

Mode mode_of(const ValidationPolicy& policy, std::string_view msg_type, Tag tag) {
  return policy.mode(msg_type, Reason::value_is_incorrect, tag);
}

TEST(ValidationPolicy, takes_the_lower_of_the_checks_and_the_overall_mode) {
  for (const Mode check : all_modes) {
    for (const Mode overall : all_modes) {
      const ValidationPolicy policy{{.enum_values = check}, overall};
      EXPECT_EQ(mode_of(policy, "8", Tag{40}), std::min(check, overall));
    }
  }
}

TEST(ValidationPolicy, prefers_the_most_specific_override) {
  ValidationPolicy policy;
  policy.set({}, {}, Mode::lenient);
  EXPECT_EQ(mode_of(policy, "8", Tag{40}), Mode::lenient);
  policy.set("8", {}, Mode::off);
  EXPECT_EQ(mode_of(policy, "8", Tag{40}), Mode::off);
  EXPECT_EQ(mode_of(policy, "D", Tag{40}), Mode::lenient);
  policy.set({}, Tag{40}, Mode::strict);
  EXPECT_EQ(mode_of(policy, "8", Tag{40}), Mode::strict);
  EXPECT_EQ(mode_of(policy, "8", Tag{41}), Mode::off);
  policy.set("8", Tag{40}, Mode::lenient);
  EXPECT_EQ(mode_of(policy, "8", Tag{40}), Mode::lenient);
  EXPECT_EQ(mode_of(policy, "D", Tag{40}), Mode::strict);
}

TEST(ValidationPolicy, lets_an_override_raise_the_mode_but_not_switch_a_check_on) {
  ValidationPolicy policy{{.formats = Mode::off, .enum_values = Mode::lenient}, Mode::off};
  policy.set("8", {}, Mode::strict);
  EXPECT_EQ(policy.mode("8", Reason::value_is_incorrect, Tag{40}), Mode::strict);
  EXPECT_EQ(policy.mode("8", Reason::incorrect_data_format, Tag{40}), Mode::off);
  EXPECT_EQ(policy.mode("D", Reason::value_is_incorrect, Tag{40}), Mode::off);
}

TEST(ValidationPolicy, replaces_an_override_for_the_same_pair) {
  ValidationPolicy policy;
  policy.set("8", Tag{40}, Mode::off);
  policy.set("8", Tag{40}, Mode::lenient);
  EXPECT_EQ(policy.overrides().size(), 1U);
  EXPECT_EQ(mode_of(policy, "8", Tag{40}), Mode::lenient);
}

TEST(ValidationPolicy, finds_each_of_many_overrides) {
  ValidationPolicy policy;
  for (int tag = 200; tag > 0; --tag) {
    policy.set(std::string("U") + std::to_string(tag % 7), Tag{tag}, all_modes[tag % 3]);
  }
  for (int tag = 1; tag <= 200; ++tag) {
    EXPECT_EQ(mode_of(policy, std::string("U") + std::to_string(tag % 7), Tag{tag}), all_modes[tag % 3]) << tag;
    EXPECT_EQ(mode_of(policy, "U7", Tag{tag}), Mode::strict) << tag;
  }
}

TEST(ValidationPolicy, has_one_check_for_each_kind_of_undefined_field) {
  const ValidationPolicy policy{
      {.unknown_fields = Mode::off, .user_defined_fields = Mode::lenient, .fields_not_in_message = Mode::strict}};
  EXPECT_EQ(policy.mode("8", Reason::invalid_tag_number, Tag{4999}), Mode::off);
  EXPECT_EQ(policy.mode("8", Reason::invalid_tag_number, Tag{5000}), Mode::lenient);
  EXPECT_EQ(policy.mode("8", Reason::tag_not_defined_for_this_message_type, Tag{4999}), Mode::strict);
  EXPECT_EQ(policy.mode("8", Reason::tag_not_defined_for_this_message_type, Tag{5000}), Mode::lenient);
  EXPECT_EQ(policy.mode("8", Reason::invalid_tag_number, Tag{0}), Mode::strict);
}

TEST(ValidationPolicy, is_off_only_without_overrides) {
  EXPECT_FALSE(ValidationPolicy{}.is_off());
  ValidationPolicy policy{{}, Mode::off};
  EXPECT_TRUE(policy.is_off());
  policy.set("8", {}, Mode::strict);
  EXPECT_FALSE(policy.is_off());
}

TEST(ValidationPolicy, reads_the_names_it_writes) {
  for (const Mode mode : all_modes) EXPECT_EQ(parse_enum<ValidationMode>(to_string(mode)), mode);
  EXPECT_EQ(parse_enum<ValidationMode>("Strict"), std::nullopt);
  EXPECT_EQ(parse_enum<ValidationMode>(""), std::nullopt);
}

TEST(ValidationOverride, names_a_message_a_field_or_both) {
  EXPECT_EQ(parse_validation_override("8=lenient"), (ValidationOverride{"8", Tag{}, Mode::lenient}));
  EXPECT_EQ(parse_validation_override("8/9730=off"), (ValidationOverride{"8", Tag{9730}, Mode::off}));
  EXPECT_EQ(parse_validation_override("*/9730=strict"), (ValidationOverride{"", Tag{9730}, Mode::strict}));
  EXPECT_EQ(parse_validation_override("*=lenient"), (ValidationOverride{"", Tag{}, Mode::lenient}));
}

TEST(ValidationOverride, reports_what_is_wrong_and_what_is_expected) {
  const std::pair<std::string_view, std::string_view> wrong[] = {
      {"", "has no '='"},
      {"8", "has no '='"},
      {"8=", "\"\" is not \"strict\""},
      {"8=lenint", "did you mean lenient?"},
      {"=off", "no message type"},
      {"/9730=off", "no message type"},
      {"8/=off", "\"\" is not a tag"},
      {"8/x=off", "\"x\" is not a tag"},
      {"8/12x=off", "\"12x\" is not a tag"},
      {"8/0=off", "\"0\" is not a tag"},
      {"8/-1=off", "\"-1\" is not a tag"},
      {"8/99999999999=off", "is not a tag"},
      {"8/1/2=off", "\"1/2\" is not a tag"},
      {"8=off=off", "\"off=off\" is not"},
  };
  for (const auto& [text, why] : wrong) {
    const auto parsed = parse_validation_override(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_NE(parsed.error().find(why), std::string::npos) << parsed.error();
    EXPECT_NE(parsed.error().find("\"8/9730=off\""), std::string::npos) << parsed.error();
  }
}

}  // namespace
}  // namespace nfx
