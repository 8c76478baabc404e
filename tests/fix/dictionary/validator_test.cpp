// Every kind of violation, and which of several is reported.
#include "dictionary/support.hpp"

namespace nfx {
namespace {

using namespace dictionary_test;
using Reason = SessionRejectReason;

constexpr std::string_view order = "11=ID|21=1|40=1|54=1|38=002000.00|55=INTC|60=20240102-03:04:05|";

// Strict except for one check.
ValidationPolicy without(ValidationMode ValidationChecks::* check) {
  ValidationChecks checks = ValidationPolicy::strict().checks();
  checks.*check = ValidationMode::off;
  return checks;
}

std::string with(std::string_view more) { return std::string(order) + std::string(more); }

class InBothVersions : public testing::TestWithParam<const Dictionary& (*)()> {
 protected:
  const Dictionary& dictionary() const { return GetParam()(); }

  std::optional<Violation> heartbeat(std::string_view body,
                                     const ValidationPolicy& policy = ValidationPolicy::strict()) const {
    return validate_body(dictionary(), "0", body, policy);
  }
  std::optional<Violation> order_with(std::string_view more,
                                      const ValidationPolicy& policy = ValidationPolicy::strict()) const {
    return validate_body(dictionary(), "D", with(more), policy);
  }
};

INSTANTIATE_TEST_SUITE_P(, InBothVersions, testing::Values(&fix42, &fix44),
                         [](const auto& suite) { return std::string(suite.param == &fix42 ? "FIX42" : "FIX44"); });

TEST_P(InBothVersions, accepts_a_plain_heartbeat_and_a_plain_order) {
  EXPECT_EQ(heartbeat(""), std::nullopt);
  EXPECT_EQ(heartbeat("112=TEST|"), std::nullopt);
  EXPECT_EQ(order_with(""), std::nullopt);
}

TEST_P(InBothVersions, accepts_header_and_body_fields_in_any_order) {
  EXPECT_EQ(validate_fields(
                dictionary(), "D",
                "49=TW|34=3|56=ISLD|52=20240102-03:04:05|40=1|55=MSFT|60=20240102-03:04:05|54=1|21=3|11=id|38=1|"),
            std::nullopt);
}

TEST_P(InBothVersions, rejects_a_message_type_the_dictionary_does_not_have) {
  const auto found = validate_body(dictionary(), "ZZ9", "999=x|");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->reason, Reason::invalid_msg_type);
  EXPECT_FALSE(found->has_tag());
}

TEST_P(InBothVersions, rejects_numbers_that_are_not_tags_of_this_version) {
  for (const int tag : {999, 0, -1, 4999, 5000, 20001, 2147483647}) {
    EXPECT_EQ(heartbeat(std::to_string(tag) + "=HI|"), violation(Reason::invalid_tag_number, tag));
  }
}

TEST_P(InBothVersions, rejects_a_known_field_that_the_message_does_not_have) {
  EXPECT_EQ(heartbeat("55=MSFT|"), violation(Reason::tag_not_defined_for_this_message_type, 55));
  EXPECT_EQ(heartbeat("58=text|"), violation(Reason::tag_not_defined_for_this_message_type, 58));
}

TEST_P(InBothVersions, rejects_a_group_member_outside_its_group) {
  EXPECT_EQ(order_with("336=PRE-OPEN|"), violation(Reason::tag_not_defined_for_this_message_type, 336));
}

TEST_P(InBothVersions, rejects_an_empty_value_before_anything_else_about_its_field) {
  EXPECT_EQ(validate_fields(dictionary(), "0", "34=2|49=TW|52=20240102-03:04:05|56=|"),
            violation(Reason::tag_specified_without_a_value, 56));
  EXPECT_EQ(heartbeat("999=|"), violation(Reason::tag_specified_without_a_value, 999));
  EXPECT_EQ(order_with("11=|"), violation(Reason::tag_specified_without_a_value, 11));
}

TEST_P(InBothVersions, rejects_a_value_that_is_not_listed) {
  EXPECT_EQ(validate_body(dictionary(), "D", "11=ID|21=4|40=1|54=1|55=INTC|60=20240102-03:04:05|"),
            violation(Reason::value_is_incorrect, 21));
  EXPECT_EQ(order_with("167=BOO|"), violation(Reason::value_is_incorrect, 167));
  EXPECT_EQ(order_with("167=CS|"), std::nullopt);
}

TEST_P(InBothVersions, rejects_one_unlisted_value_among_several) {
  EXPECT_EQ(order_with("18=1 6|"), std::nullopt);
  EXPECT_EQ(order_with("18=1 @ 6|"), violation(Reason::value_is_incorrect, 18));
  EXPECT_EQ(order_with("18=1  6|"), violation(Reason::incorrect_data_format, 18));
}

TEST_P(InBothVersions, rejects_a_format_before_looking_the_value_up) {
  EXPECT_EQ(order_with("44=+200.00|"), violation(Reason::incorrect_data_format, 44));
  EXPECT_EQ(order_with("126=20040415|"), violation(Reason::incorrect_data_format, 126));
  EXPECT_EQ(order_with("77=OC|"), violation(Reason::incorrect_data_format, 77));
  EXPECT_EQ(order_with("114=X|"), violation(Reason::incorrect_data_format, 114));
}

TEST_P(InBothVersions, rejects_header_values_that_have_no_format) {
  EXPECT_EQ(validate_fields(dictionary(), "0", "34=x|49=TW|52=20240102-03:04:05|56=ISLD|"),
            violation(Reason::incorrect_data_format, 34));
  EXPECT_EQ(validate_fields(dictionary(), "0", "34=-2|49=TW|52=20240102-03:04:05|56=ISLD|"),
            violation(Reason::incorrect_data_format, 34));
  EXPECT_EQ(validate_fields(dictionary(), "0", "34=2|49=TW|52=20240102|56=ISLD|"),
            violation(Reason::incorrect_data_format, 52));
}

TEST_P(InBothVersions, rejects_the_first_header_field_after_the_body) {
  EXPECT_EQ(validate_fields(dictionary(), "D", with("34=2|49=TW|52=20240102-03:04:05|56=ISLD|")),
            violation(Reason::tag_specified_out_of_required_order, 34));
  EXPECT_EQ(
      validate_fields(dictionary(), "D",
                      "49=TW|55=MSFT|56=ISLD|34=3|52=20240102-03:04:05|11=id|21=3|40=1|54=1|60=20240102-03:04:05|"),
      violation(Reason::tag_specified_out_of_required_order, 56));
}

TEST_P(InBothVersions, rejects_a_body_field_after_the_trailer) {
  EXPECT_EQ(order_with("93=3|89=abc|58=text|"), violation(Reason::tag_specified_out_of_required_order, 58));
}

TEST_P(InBothVersions, rejects_a_repeated_field) {
  EXPECT_EQ(order_with("40=2|"), violation(Reason::tag_appears_more_than_once, 40));
  EXPECT_EQ(validate_fields(dictionary(), "0", "34=2|34=2|49=TW|52=20240102-03:04:05|56=ISLD|"),
            violation(Reason::tag_appears_more_than_once, 34));
}

TEST_P(InBothVersions, misses_required_fields_header_first) {
  EXPECT_EQ(validate_fields(dictionary(), "0", "34=2|49=TW|52=20240102-03:04:05|"),
            violation(Reason::required_tag_missing, 56));
  EXPECT_EQ(validate_body(dictionary(), "D", "40=1|60=20240102-03:04:05|54=1|21=3|55=A|38=1|"),
            violation(Reason::required_tag_missing, 11));
  EXPECT_EQ(validate_fields(dictionary(), "D", "49=TW|52=20240102-03:04:05|56=ISLD|"),
            violation(Reason::required_tag_missing, 34));
}

TEST_P(InBothVersions, misses_required_fields_of_session_messages_too) {
  EXPECT_EQ(validate_body(dictionary(), "4", "123=Y|"), violation(Reason::required_tag_missing, 36));
  EXPECT_EQ(validate_body(dictionary(), "A", "98=0|"), violation(Reason::required_tag_missing, 108));
  EXPECT_EQ(validate_body(dictionary(), "1", ""), violation(Reason::required_tag_missing, 112));
}

TEST_P(InBothVersions, reports_what_is_first_on_the_wire) {
  EXPECT_EQ(
      validate_fields(dictionary(), "D",
                      "34=7|49=TW|52=20240102-03:04:05|56=ISLD|128=JCD|145=|11=ID|21=3|38=100|40=w|54=1|55=INTC|60=x|"),
      violation(Reason::tag_specified_without_a_value, 145));
  EXPECT_EQ(validate_body(dictionary(), "D", "21=3|40=w|54=1|55=INTC|60=x|"),
            violation(Reason::value_is_incorrect, 40));
}

TEST_P(InBothVersions, compares_the_count_of_a_group_with_its_entries) {
  EXPECT_EQ(order_with("386=2|336=PRE-OPEN|336=AFTER-HOURS|"), std::nullopt);
  EXPECT_EQ(order_with("386=3|336=PRE-OPEN|336=AFTER-HOURS|"), violation(Reason::incorrect_num_in_group_count, 386));
  EXPECT_EQ(order_with("386=1|336=PRE-OPEN|336=AFTER-HOURS|"), violation(Reason::incorrect_num_in_group_count, 386));
  EXPECT_EQ(order_with("386=0|336=PRE-OPEN|"), violation(Reason::incorrect_num_in_group_count, 386));
  EXPECT_EQ(order_with("386=1|58=text|"), violation(Reason::incorrect_num_in_group_count, 386));
  EXPECT_EQ(order_with("386=1|"), violation(Reason::incorrect_num_in_group_count, 386));
  EXPECT_EQ(order_with("386=x|"), violation(Reason::incorrect_data_format, 386));
}

TEST_P(InBothVersions, accepts_a_group_count_of_zero) {
  EXPECT_EQ(order_with("386=0|"), std::nullopt);
  EXPECT_EQ(order_with("386=0|58=text|"), std::nullopt);
}

TEST_P(InBothVersions, reports_an_undefined_field_that_breaks_a_group_off) {
  EXPECT_EQ(order_with("386=2|336=A|999=x|336=B|"), violation(Reason::invalid_tag_number, 999));
  EXPECT_EQ(order_with("386=2|336=A|7=1|336=B|"), violation(Reason::tag_not_defined_for_this_message_type, 7));
}

TEST(ValidateGroups, of_fix42_may_be_empty_and_unrelated) {
  EXPECT_EQ(validate_body(fix42(), "d",
                          "320=JCD|322=1034|323=6|55=TBS|22=8|167=OPT|336=ONE_MAIN|58=No Products|393=0|146=0|"),
            std::nullopt);
}

TEST(ValidateGroups, of_fix44_may_be_empty) {
  EXPECT_EQ(validate_body(fix44(), "d", "320=JCD|322=1034|323=6|55=TBS|22=8|167=CS|336=ONE_MAIN|58=No Products|454=0|"),
            std::nullopt);
}

std::optional<Violation> parties(std::string_view group, const ValidationPolicy& policy = ValidationPolicy::strict()) {
  return validate_body(fix44(), "D", with(group), policy);
}

TEST(ValidateGroups, walks_through_nested_groups) {
  EXPECT_EQ(parties("453=2|448=A|447=D|452=1|802=2|523=a|803=1|523=b|448=B|452=3|58=text|"), std::nullopt);
}

TEST(ValidateGroups, reports_the_count_of_the_nested_group_that_is_wrong) {
  EXPECT_EQ(parties("453=2|448=A|802=3|523=a|523=b|448=B|"), violation(Reason::incorrect_num_in_group_count, 802));
  EXPECT_EQ(parties("453=3|448=A|802=2|523=a|523=b|448=B|"), violation(Reason::incorrect_num_in_group_count, 453));
}

TEST(ValidateGroups, wants_members_in_their_order) {
  EXPECT_EQ(parties("453=1|448=A|452=1|447=D|"), violation(Reason::repeating_group_fields_out_of_order, 447));
}

TEST(ValidateGroups, wants_the_delimiter_first) {
  EXPECT_EQ(parties("453=1|447=D|448=A|452=1|"), violation(Reason::repeating_group_fields_out_of_order, 447));
}

TEST(ValidateGroups, reports_a_member_repeated_within_an_entry) {
  EXPECT_EQ(parties("453=2|448=A|447=D|452=1|447=D|452=1|"), violation(Reason::tag_appears_more_than_once, 447));
}

TEST(ValidateGroups, misses_required_members_of_any_entry) {
  // FIX 4.4 requires ListSeqNo(67) in every order of a list.
  constexpr std::string_view list = "66=L|394=1|68=2|73=2|11=a|67=1|55=A|54=1|38=1|";
  EXPECT_EQ(validate_body(fix44(), "E", std::string(list) + "11=b|67=2|55=B|54=1|38=1|"), std::nullopt);
  EXPECT_EQ(validate_body(fix44(), "E", std::string(list) + "11=b|55=B|54=1|38=1|"),
            violation(Reason::required_tag_missing, 67));
}

TEST(ValidateGroups, reports_the_shape_of_a_group_before_its_values) {
  EXPECT_EQ(parties("453=1|448=A|447=@|452=1|"), violation(Reason::value_is_incorrect, 447));
  EXPECT_EQ(parties("453=2|448=A|447=@|452=1|"), violation(Reason::incorrect_num_in_group_count, 453));
  EXPECT_EQ(parties("453=1|448=|447=@|452=1|"), violation(Reason::tag_specified_without_a_value, 448));
  EXPECT_EQ(parties("453=1|448=A|802=x|523=a|"), violation(Reason::incorrect_num_in_group_count, 802));
}

TEST(ValidateGroups, reports_a_groups_values_before_what_follows_it) {
  EXPECT_EQ(parties("453=1|448=A|452=x|999=y|"), violation(Reason::incorrect_data_format, 452));
}

constexpr std::string_view shared_member_xml = R"(<fix type="FIX" major="4" minor="4">
  <header><field name="BeginString" required="Y"/><field name="BodyLength" required="Y"/><field name="MsgType" required="Y"/></header>
  <messages><message name="Shared" msgtype="U1" msgcat="app">
    <group name="NoAllocs" required="N"><field name="AllocAccount" required="Y"/><field name="Text" required="N"/></group>
    <field name="Text" required="N"/><field name="AllocAccount" required="N"/>
  </message></messages>
  <trailer><field name="CheckSum" required="Y"/></trailer>
  <fields>
    <field number="8" name="BeginString" type="STRING"/><field number="9" name="BodyLength" type="LENGTH"/>
    <field number="10" name="CheckSum" type="STRING"/><field number="35" name="MsgType" type="STRING"/>
    <field number="58" name="Text" type="STRING"/><field number="78" name="NoAllocs" type="NUMINGROUP"/>
    <field number="79" name="AllocAccount" type="STRING"/><field number="6000" name="Own" type="CHAR"/>
  </fields></fix>)";

TEST(ValidateGroups, leaves_a_repeated_member_to_the_fields_around_the_group_when_they_have_it) {
  const Dictionary d = Dictionary::parse(shared_member_xml, "shared.xml");
  EXPECT_EQ(validate_fields(d, "U1", "78=1|79=a|58=in|58=behind|79=behind|"), std::nullopt);
  EXPECT_EQ(validate_fields(d, "U1", "78=0|79=behind|58=behind|"), std::nullopt);
  EXPECT_EQ(validate_fields(d, "U1", "78=2|79=a|58=in|79=b|58=in|79=behind|"), std::nullopt);
  EXPECT_EQ(validate_fields(d, "U1", "78=1|79=a|58=in|58=behind|58=more|"),
            violation(Reason::tag_appears_more_than_once, 58));
}

TEST_P(InBothVersions, tolerates_unknown_fields_when_configured) {
  const ValidationPolicy policy = without(&ValidationChecks::unknown_fields);
  EXPECT_EQ(heartbeat("999=x|", policy), std::nullopt);
  EXPECT_EQ(heartbeat("5000=x|", policy), violation(Reason::invalid_tag_number, 5000));
  EXPECT_EQ(heartbeat("55=x|", policy), violation(Reason::tag_not_defined_for_this_message_type, 55));
  EXPECT_EQ(heartbeat("0=x|", policy), violation(Reason::invalid_tag_number, 0));
  EXPECT_EQ(heartbeat("-7=x|", policy), violation(Reason::invalid_tag_number, -7));
}

TEST_P(InBothVersions, tolerates_user_defined_fields_when_configured) {
  const ValidationPolicy policy = without(&ValidationChecks::user_defined_fields);
  EXPECT_EQ(heartbeat("5000=x|20001=y|", policy), std::nullopt);
  EXPECT_EQ(heartbeat("4999=x|", policy), violation(Reason::invalid_tag_number, 4999));
  EXPECT_EQ(heartbeat("5000=|", policy), violation(Reason::tag_specified_without_a_value, 5000));
}

TEST_P(InBothVersions, tolerates_user_defined_fields_within_a_group_when_configured) {
  const ValidationPolicy policy = without(&ValidationChecks::user_defined_fields);
  EXPECT_EQ(order_with("386=2|336=A|5001=x|336=B|5001=y|58=text|", policy), std::nullopt);
  EXPECT_EQ(order_with("386=2|336=A|5001=x|58=text|", policy), violation(Reason::incorrect_num_in_group_count, 386));
}

TEST_P(InBothVersions, tolerates_fields_of_other_messages_when_configured) {
  const ValidationPolicy policy = without(&ValidationChecks::fields_not_in_message);
  EXPECT_EQ(heartbeat("55=x|", policy), std::nullopt);
  EXPECT_EQ(heartbeat("999=x|", policy), violation(Reason::invalid_tag_number, 999));
}

TEST(ValidateChecks, known_user_defined_fields_follow_the_check_for_user_defined_ones) {
  const Dictionary d = Dictionary::parse(shared_member_xml, "shared.xml");
  EXPECT_EQ(validate_fields(d, "U1", "6000=x|"), violation(Reason::tag_not_defined_for_this_message_type, 6000));
  EXPECT_EQ(validate_fields(d, "U1", "6000=x|", without(&ValidationChecks::user_defined_fields)), std::nullopt);
}

TEST_P(InBothVersions, tolerates_sections_out_of_order_when_configured) {
  const ValidationPolicy policy = without(&ValidationChecks::field_order);
  EXPECT_EQ(validate_fields(dictionary(), "D", with("34=2|49=TW|52=20240102-03:04:05|56=ISLD|"), policy), std::nullopt);
  EXPECT_EQ(validate_fields(dictionary(), "D", with("34=x|49=TW|52=20240102-03:04:05|56=ISLD|"), policy),
            violation(Reason::incorrect_data_format, 34));
}

TEST(ValidateChecks, tolerates_group_members_out_of_order_but_not_repeated_when_configured) {
  const ValidationPolicy policy = without(&ValidationChecks::groups);
  EXPECT_EQ(parties("453=1|448=A|452=1|447=D|", policy), std::nullopt);
  EXPECT_EQ(parties("453=1|448=A|452=1|447=D|452=3|", policy), violation(Reason::tag_appears_more_than_once, 452));
}

TEST_P(InBothVersions, tolerates_empty_values_when_configured) {
  const ValidationPolicy policy = without(&ValidationChecks::values_present);
  EXPECT_EQ(order_with("44=|167=|386=|126=|", policy), std::nullopt);
  EXPECT_EQ(validate_fields(dictionary(), "0", "34=2|49=TW|52=20240102-03:04:05|56=|", policy), std::nullopt);
}

TEST_P(InBothVersions, leaves_formats_unchecked_when_configured) {
  const ValidationPolicy policy = without(&ValidationChecks::formats);
  EXPECT_EQ(order_with("44=+200.00|126=x|", policy), std::nullopt);
  EXPECT_EQ(order_with("167=BOO|", policy), violation(Reason::value_is_incorrect, 167));
  EXPECT_EQ(order_with("386=x|", policy), violation(Reason::incorrect_num_in_group_count, 386));
}

TEST_P(InBothVersions, leaves_listed_values_unchecked_when_configured) {
  const ValidationPolicy policy = without(&ValidationChecks::enum_values);
  EXPECT_EQ(order_with("167=BOO|", policy), std::nullopt);
  EXPECT_EQ(order_with("44=+1|", policy), violation(Reason::incorrect_data_format, 44));
}

TEST_P(InBothVersions, leaves_required_fields_unchecked_when_configured) {
  const ValidationPolicy policy = without(&ValidationChecks::required_fields);
  EXPECT_EQ(validate_fields(dictionary(), "D", "34=2|", policy), std::nullopt);
  EXPECT_EQ(validate_fields(dictionary(), "D", "34=|", policy), violation(Reason::tag_specified_without_a_value, 34));
}

TEST_P(InBothVersions, tolerates_repeated_fields_when_configured) {
  const ValidationPolicy policy = without(&ValidationChecks::duplicate_fields);
  EXPECT_EQ(order_with("40=2|386=1|336=A|386=1|336=B|", policy), std::nullopt);
  EXPECT_EQ(order_with("40=x|", policy), violation(Reason::value_is_incorrect, 40));
}

TEST_P(InBothVersions, tolerates_unknown_message_types_when_configured) {
  const ValidationPolicy policy = without(&ValidationChecks::message_types);
  EXPECT_EQ(validate_body(dictionary(), "ZZ9", "999=x|40=|", policy), std::nullopt);
  EXPECT_EQ(validate_fields(dictionary(), "ZZ9", "34=2|49=TW|52=yesterday|56=ISLD|40=1|", policy),
            violation(Reason::incorrect_data_format, 52));
  EXPECT_EQ(validate_fields(dictionary(), "ZZ9", "34=2|49=|", policy),
            violation(Reason::tag_specified_without_a_value, 49));
}

TEST_P(InBothVersions, leaves_group_counts_unchecked_when_configured) {
  const ValidationPolicy policy = without(&ValidationChecks::group_counts);
  EXPECT_EQ(order_with("386=7|336=A|336=B|58=text|", policy), std::nullopt);
  EXPECT_EQ(order_with("386=7|336=A|58=|", policy), violation(Reason::tag_specified_without_a_value, 58));
}

}  // namespace
}  // namespace nfx
