// The handling of each violation in the modes of a policy, and the contents of the report.
#include <ostream>
#include <random>

#include "base/count_allocations.hpp"
#include "dictionary/support.hpp"

namespace nfx {
namespace {

using namespace dictionary_test;
using Reason = SessionRejectReason;
using Violations = std::vector<Violation>;
using Mode = ValidationMode;
using Check = Mode ValidationChecks::*;

constexpr Check all_checks[] = {&ValidationChecks::unknown_fields,        &ValidationChecks::user_defined_fields,
                                &ValidationChecks::fields_not_in_message, &ValidationChecks::field_order,
                                &ValidationChecks::values_present,        &ValidationChecks::formats,
                                &ValidationChecks::enum_values,           &ValidationChecks::required_fields,
                                &ValidationChecks::group_counts,          &ValidationChecks::duplicate_fields,
                                &ValidationChecks::message_types,         &ValidationChecks::groups};

ValidationChecks all(Mode mode) {
  ValidationChecks checks;
  for (const Check check : all_checks) checks.*check = mode;
  return checks;
}

ValidationChecks strict_but(Check check, Mode mode) {
  ValidationChecks checks = all(Mode::strict);
  checks.*check = mode;
  return checks;
}

struct Outcome {
  std::optional<Violation> rejected;
  Violations reported;
  std::size_t total = 0;
};

Outcome judge(std::string_view msg_type, std::string_view body, const ValidationPolicy& policy) {
  ValidationReport report;
  Outcome outcome{validate_body(fix44(), msg_type, body, policy, &report), {}, report.total()};
  outcome.reported.assign(report.violations().begin(), report.violations().end());
  return outcome;
}

constexpr std::string_view order = "11=ID|21=1|40=1|54=1|38=002000.00|55=INTC|60=20240102-03:04:05|";

Outcome judge_order(std::string_view more, const ValidationPolicy& policy) {
  return judge("D", std::string(order) + std::string(more), policy);
}

// A fault that exactly one check finds.
struct Fault {
  std::string_view name;
  Check check;
  std::string_view msg_type;
  std::string body;
  Violation violation;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

std::string in_order(std::string_view more) { return std::string(order) + std::string(more); }

std::vector<Fault> faults() {
  using C = ValidationChecks;
  const std::string list = "66=L|394=1|68=1|73=1|11=a|55=A|54=1|38=1|";
  return {
      {"unknown_field", &C::unknown_fields, "0", "999=x|", {Reason::invalid_tag_number, Tag{999}}},
      {"unknown_field_in_entry",
       &C::unknown_fields,
       "D",
       in_order("453=1|448=A|999=x|452=1|"),
       {Reason::invalid_tag_number, Tag{999}}},
      {"user_defined_field", &C::user_defined_fields, "0", "5000=x|", {Reason::invalid_tag_number, Tag{5000}}},
      {"field_of_other_messages",
       &C::fields_not_in_message,
       "0",
       "55=x|",
       {Reason::tag_not_defined_for_this_message_type, Tag{55}}},
      {"member_outside_its_group",
       &C::fields_not_in_message,
       "D",
       in_order("448=A|"),
       {Reason::tag_not_defined_for_this_message_type, Tag{448}}},
      {"body_behind_trailer",
       &C::field_order,
       "D",
       in_order("93=3|89=abc|58=text|"),
       {Reason::tag_specified_out_of_required_order, Tag{58}}},
      {"members_out_of_order",
       &C::groups,
       "D",
       in_order("453=1|448=A|452=1|447=D|58=text|"),
       {Reason::repeating_group_fields_out_of_order, Tag{447}}},
      {"delimiter_not_first",
       &C::groups,
       "D",
       in_order("453=1|447=D|448=A|802=1|523=a|58=text|"),
       {Reason::repeating_group_fields_out_of_order, Tag{447}}},
      {"nested_delimiter_not_first",
       &C::groups,
       "D",
       in_order("453=2|448=A|802=1|803=1|523=a|448=B|452=1|"),
       {Reason::repeating_group_fields_out_of_order, Tag{803}}},
      {"empty_value", &C::values_present, "D", in_order("44=|"), {Reason::tag_specified_without_a_value, Tag{44}}},
      {"empty_value_in_entry",
       &C::values_present,
       "D",
       in_order("453=1|448=|452=1|"),
       {Reason::tag_specified_without_a_value, Tag{448}}},
      {"format", &C::formats, "D", in_order("44=+1|"), {Reason::incorrect_data_format, Tag{44}}},
      {"format_in_entry", &C::formats, "D", in_order("78=1|79=a|80=x|"), {Reason::incorrect_data_format, Tag{80}}},
      {"listed_value", &C::enum_values, "D", in_order("167=BOO|"), {Reason::value_is_incorrect, Tag{167}}},
      {"listed_value_in_entry",
       &C::enum_values,
       "D",
       in_order("453=1|448=A|447=@|"),
       {Reason::value_is_incorrect, Tag{447}}},
      {"required_field", &C::required_fields, "0", "", {Reason::required_tag_missing, Tag::TargetCompID}},
      {"required_member", &C::required_fields, "E", list, {Reason::required_tag_missing, Tag{67}}},
      {"too_few_entries",
       &C::group_counts,
       "D",
       in_order("386=3|336=A|336=B|58=text|"),
       {Reason::incorrect_num_in_group_count, Tag{386}}},
      {"too_many_entries",
       &C::group_counts,
       "D",
       in_order("386=1|336=A|336=B|58=text|"),
       {Reason::incorrect_num_in_group_count, Tag{386}}},
      {"no_entries",
       &C::group_counts,
       "D",
       in_order("386=1|58=text|"),
       {Reason::incorrect_num_in_group_count, Tag{386}}},
      {"nested_count",
       &C::group_counts,
       "D",
       in_order("453=2|448=A|802=3|523=a|523=b|448=B|452=1|"),
       {Reason::incorrect_num_in_group_count, Tag{802}}},
      {"repeated_field", &C::duplicate_fields, "D", in_order("40=2|"), {Reason::tag_appears_more_than_once, Tag{40}}},
      {"repeated_member",
       &C::duplicate_fields,
       "D",
       in_order("453=1|448=A|447=D|452=1|452=3|58=text|"),
       {Reason::tag_appears_more_than_once, Tag{452}}},
      {"message_type", &C::message_types, "ZZ9", "999=x|40=w|", {Reason::invalid_msg_type, Tag::MsgType}},
  };
}

class EachFault : public testing::TestWithParam<Fault> {
 protected:
  Outcome found(const ValidationPolicy& policy) const {
    const Fault& fault = GetParam();
    if (fault.name != "required_field") return judge(fault.msg_type, fault.body, policy);
    ValidationReport report;  // the one fault in the header
    Outcome outcome{
        validate_fields(fix44(), "0", "34=2|49=TW|52=20240102-03:04:05|", policy, &report), {}, report.total()};
    outcome.reported.assign(report.violations().begin(), report.violations().end());
    return outcome;
  }
};

INSTANTIATE_TEST_SUITE_P(, EachFault, testing::ValuesIn(faults()),
                         [](const auto& suite) { return std::string(suite.param.name); });

TEST_P(EachFault, is_rejected_by_its_check_alone) {
  ValidationChecks checks = all(Mode::off);
  checks.*GetParam().check = Mode::strict;
  const Outcome outcome = found(checks);
  EXPECT_EQ(outcome.rejected, GetParam().violation);
  EXPECT_EQ(outcome.reported, Violations{});
}

TEST_P(EachFault, is_delivered_with_a_report_when_its_check_is_lenient) {
  const Outcome outcome = found(strict_but(GetParam().check, Mode::lenient));
  EXPECT_EQ(outcome.rejected, std::nullopt);
  EXPECT_EQ(outcome.reported, Violations{GetParam().violation});
  EXPECT_EQ(outcome.total, 1U);
}

TEST_P(EachFault, is_ignored_when_its_check_is_off) {
  const Outcome outcome = found(strict_but(GetParam().check, Mode::off));
  EXPECT_EQ(outcome.rejected, std::nullopt);
  EXPECT_EQ(outcome.total, 0U);
}

TEST_P(EachFault, is_at_most_what_the_overall_mode_allows) {
  EXPECT_EQ(found({all(Mode::strict), Mode::lenient}).reported, Violations{GetParam().violation});
  EXPECT_EQ(found({all(Mode::strict), Mode::lenient}).rejected, std::nullopt);
  EXPECT_EQ(found({all(Mode::strict), Mode::off}).rejected, std::nullopt);
  EXPECT_EQ(found({all(Mode::strict), Mode::off}).total, 0U);
  EXPECT_EQ(found({strict_but(GetParam().check, Mode::off), Mode::lenient}).total, 0U);
}

TEST_P(EachFault, follows_the_override_for_its_message_and_tag) {
  for (const Mode mode : {Mode::off, Mode::lenient, Mode::strict}) {
    ValidationPolicy policy{strict_but(GetParam().check, Mode::lenient)};
    policy.set(GetParam().msg_type, GetParam().violation.tag, mode);
    const Outcome outcome = found(policy);
    EXPECT_EQ(outcome.rejected.has_value(), mode == Mode::strict);
    EXPECT_EQ(outcome.reported, mode == Mode::lenient ? Violations{GetParam().violation} : Violations{});
  }
}

TEST_P(EachFault, stays_ignored_under_an_override_when_its_check_is_off) {
  ValidationPolicy policy{strict_but(GetParam().check, Mode::off)};
  policy.set({}, {}, Mode::strict);
  EXPECT_EQ(found(policy).rejected, std::nullopt);
}

TEST(ValidateModes, by_default_deliver_and_report_only_undefined_fields_and_groups_in_another_order) {
  for (const Fault& fault : faults()) {
    if (fault.name == "required_field") continue;
    const Outcome outcome = judge(fault.msg_type, fault.body, {});
    const bool delivered =
        fault.check == &ValidationChecks::unknown_fields || fault.check == &ValidationChecks::user_defined_fields ||
        fault.check == &ValidationChecks::fields_not_in_message || fault.check == &ValidationChecks::groups;
    EXPECT_EQ(outcome.rejected, delivered ? std::nullopt : std::optional{fault.violation}) << fault.name;
    EXPECT_EQ(outcome.reported, delivered ? Violations{fault.violation} : Violations{}) << fault.name;
  }
}

TEST(ValidateModes, no_check_lets_a_number_through_that_is_not_a_tag) {
  EXPECT_EQ(judge("0", "0=x|", all(Mode::off)).rejected, violation(Reason::invalid_tag_number, 0));
  EXPECT_EQ(judge("0", "-5=x|", {{}, Mode::lenient}).reported, (Violations{{Reason::invalid_tag_number, Tag{-5}}}));
  EXPECT_EQ(judge("0", "0=x|", {{}, Mode::off}).rejected, std::nullopt);
}

TEST(ValidateModes, lenient_continues_after_every_violation) {
  const Outcome outcome =
      judge("D",
            "11=|21=4|40=1|54=1|38=x|55=INTC|453=2|447=D|9001=y|448=A|58=text|386=3|336=A|336=|78=1|79=a|80=z|58=more|"
            "93=3|89=abc|44=1|",
            {all(Mode::strict), Mode::lenient});
  EXPECT_EQ(outcome.rejected, std::nullopt);
  EXPECT_EQ(outcome.reported, (Violations{{Reason::tag_specified_without_a_value, Tag{11}},
                                          {Reason::value_is_incorrect, Tag{21}},
                                          {Reason::incorrect_data_format, Tag{38}},
                                          {Reason::repeating_group_fields_out_of_order, Tag{447}},
                                          {Reason::invalid_tag_number, Tag{9001}},
                                          {Reason::incorrect_num_in_group_count, Tag{453}},
                                          {Reason::tag_specified_without_a_value, Tag{336}},
                                          {Reason::incorrect_num_in_group_count, Tag{386}},
                                          {Reason::incorrect_data_format, Tag{80}},
                                          {Reason::tag_appears_more_than_once, Tag{58}},
                                          {Reason::tag_specified_out_of_required_order, Tag{44}},
                                          {Reason::required_tag_missing, Tag{60}}}));
}

TEST(ValidateModes, lenient_reports_every_missing_field) {
  EXPECT_EQ(judge("D", "11=a|", {{}, Mode::lenient}).reported, (Violations{{Reason::required_tag_missing, Tag{54}},
                                                                           {Reason::required_tag_missing, Tag{60}},
                                                                           {Reason::required_tag_missing, Tag{40}}}));
}

TEST(ValidateModes, a_rejection_ends_the_report) {
  const Outcome outcome =
      judge("0", "5000=x|999=y|55=z|40=w|", strict_but(&ValidationChecks::fields_not_in_message, Mode::strict));
  EXPECT_EQ(outcome.rejected, violation(Reason::invalid_tag_number, 5000));
  const Outcome later = judge("0", "5000=x|999=y|55=|40=w|", {});
  EXPECT_EQ(later.rejected, violation(Reason::tag_specified_without_a_value, 55));
  EXPECT_EQ(later.reported,
            (Violations{{Reason::invalid_tag_number, Tag{5000}}, {Reason::invalid_tag_number, Tag{999}}}));
}

TEST(ValidateModes, a_rejected_group_is_named_by_its_shape_even_after_rejected_values) {
  ValidationChecks checks = all(Mode::strict);
  EXPECT_EQ(judge_order("453=2|448=A|447=@|", checks).rejected, violation(Reason::incorrect_num_in_group_count, 453));
  checks.group_counts = Mode::lenient;
  const Outcome outcome = judge_order("453=2|448=A|447=@|", checks);
  EXPECT_EQ(outcome.rejected, violation(Reason::value_is_incorrect, 447));
  EXPECT_EQ(outcome.total, 0U) << "what follows the violation that is rejected is not reported";
}

TEST(ValidateModes, an_unknown_message_type_leaves_its_header_to_be_validated) {
  const ValidationPolicy policy = strict_but(&ValidationChecks::message_types, Mode::lenient);
  EXPECT_EQ(judge("ZZ9", "999=x|40=w|", policy).rejected, std::nullopt);
  ValidationReport report;
  EXPECT_EQ(validate_fields(fix44(), "ZZ9", "34=two|49=TW|", policy, &report),
            violation(Reason::incorrect_data_format, 34));
  EXPECT_EQ(report.total(), 1U);
  EXPECT_EQ(validate_fields(fix44(), "ZZ9", "34=2|49=|", policy, &report),
            violation(Reason::tag_specified_without_a_value, 49));
  EXPECT_EQ(validate_fields(fix44(), "ZZ9", "34=2|49=A|49=B|", policy, &report),
            violation(Reason::tag_appears_more_than_once, 49));
  EXPECT_EQ(validate_fields(fix44(), "", "34=2|49=TW|", policy, &report),
            violation(Reason::tag_specified_without_a_value, 35));
}

TEST(ValidateModes, one_message_type_can_be_let_through_by_name) {
  ValidationPolicy policy = ValidationPolicy::strict();
  policy.set("ZZ9", {}, Mode::off);
  EXPECT_EQ(judge("ZZ9", "1=x|", policy).rejected, std::nullopt);
  EXPECT_EQ(judge("ZZ8", "1=x|", policy).rejected, violation(Reason::invalid_msg_type, 35));
}

TEST(ValidationReport, keeps_the_first_violations_and_counts_all) {
  std::string body;
  Violations expected;
  for (int tag = 5000; tag < 5020; ++tag) {
    body += std::to_string(tag) + "=x|";
    if (expected.size() < ValidationReport::capacity) expected.push_back({Reason::invalid_tag_number, Tag{tag}});
  }
  const Outcome outcome = judge("0", body, {});
  EXPECT_EQ(outcome.rejected, std::nullopt);
  EXPECT_EQ(outcome.reported, expected);
  EXPECT_EQ(outcome.total, 20U);
}

TEST(ValidationReport, is_cleared_by_the_next_message) {
  for (const auto overall : {Mode::strict, Mode::off}) {
    ValidationReport report;
    EXPECT_EQ(validate_body(fix44(), "0", "5000=x|", {}, &report), std::nullopt);
    EXPECT_FALSE(report.empty());
    EXPECT_EQ(validate_body(fix44(), "0", "", {{}, overall}, &report), std::nullopt);
    EXPECT_TRUE(report.empty());
    EXPECT_TRUE(report.violations().empty());
  }
}

TEST(ValidateStrangers, stay_in_the_entry_they_stand_in) {
  const Outcome outcome = judge_order(
      "453=2|448=A|9001=x|447=D|999=y|452=1|802=2|523=a|9002=z|803=1|523=b|448=B|9001=x|452=3|58=text|", {});
  EXPECT_EQ(outcome.rejected, std::nullopt);
  EXPECT_EQ(outcome.reported, (Violations{{Reason::invalid_tag_number, Tag{9001}},
                                          {Reason::invalid_tag_number, Tag{999}},
                                          {Reason::invalid_tag_number, Tag{9002}},
                                          {Reason::invalid_tag_number, Tag{9001}}}));
}

TEST(ValidateStrangers, need_a_value_within_an_entry_too) {
  EXPECT_EQ(judge_order("453=1|448=A|9001=|447=D|", {}).rejected,
            violation(Reason::tag_specified_without_a_value, 9001));
  EXPECT_EQ(judge_order("453=1|448=A|9001=|447=D|", {{}, Mode::lenient}).reported,
            (Violations{{Reason::tag_specified_without_a_value, Tag{9001}}, {Reason::invalid_tag_number, Tag{9001}}}));
}

TEST(ValidateStrangers, are_rejected_wherever_they_stand_in_a_group) {
  const ValidationPolicy strict = ValidationPolicy::strict();
  for (const std::string_view group : {"453=2|448=A|9001=x|448=B|", "453=1|448=A|452=1|9001=x|",
                                       "453=1|448=A|802=2|523=a|9001=x|803=1|523=b|", "453=1|9001=x|448=A|"}) {
    EXPECT_EQ(judge_order(group, strict).rejected, violation(Reason::invalid_tag_number, 9001)) << group;
  }
  ValidationChecks checks = all(Mode::lenient);
  checks.user_defined_fields = Mode::strict;
  EXPECT_EQ(judge_order("453=1|447=D|9001=x|448=A|", checks).rejected, violation(Reason::invalid_tag_number, 9001))
      << "also in a group that cannot be divided";
}

TEST(ValidateStrangers, of_one_message_can_be_rejected_while_others_are_delivered) {
  ValidationPolicy policy;
  policy.set("D", Tag{9001}, Mode::strict);
  EXPECT_EQ(judge_order("453=2|448=A|9002=y|9001=x|448=B|", policy).rejected,
            violation(Reason::invalid_tag_number, 9001));
  EXPECT_EQ(judge("0", "9001=x|", policy).rejected, std::nullopt);
}

struct GroupCase {
  std::string_view group;
  std::optional<Violation> strict, tolerant;
};

TEST(ValidateGroupModes, say_which_orders_of_members_are_whole_entries) {
  const auto order_of = [](int tag) { return violation(Reason::repeating_group_fields_out_of_order, tag); };
  const auto count_of = [](int tag) { return violation(Reason::incorrect_num_in_group_count, tag); };
  const auto elsewhere = [](int tag) { return violation(Reason::tag_not_defined_for_this_message_type, tag); };
  const auto twice = [](int tag) { return violation(Reason::tag_appears_more_than_once, tag); };
  const auto right = std::nullopt;
  const GroupCase cases[] = {
      {"453=2|448=A|447=D|452=1|448=B|452=3|58=x|", right, right},
      {"453=2|448=A|452=1|447=D|448=B|58=x|", order_of(447), right},
      {"453=2|452=1|448=A|452=3|448=B|447=D|58=x|", order_of(452), right},
      {"453=2|452=1|448=A|9001=x|447=D|452=3|448=B|", order_of(452), right},
      {"453=2|447=D|448=A|452=1|448=B|", order_of(447), right},
      {"453=2|448=A|447=D|447=D|448=B|58=x|", twice(447), right},
      {"453=3|448=A|447=D|447=D|448=B|452=1|448=C|58=x|", twice(447), right},
      {"453=1|448=A|802=2|803=1|523=a|803=2|523=b|452=1|", order_of(803), right},
      {"453=1|448=A|802=2|523=a|803=1|523=b|452=1|", order_of(452), right},
      {"453=2|802=2|803=1|523=a|803=2|523=b|448=A|802=1|523=c|448=B|452=1|", order_of(802), right},
      {"453=3|452=1|448=A|452=3|448=B|58=x|", order_of(452), count_of(453)},
      {"453=1|452=1|448=A|452=3|448=B|58=x|", order_of(452), count_of(453)},
      {"453=2|448=A|447=D|452=1|447=D|58=x|", twice(447), right},
      {"453=2|448=A|447=D|447=D|448=B|447=D|58=x|", twice(447), twice(447)},
      {"453=1|448=A|447=D|447=D|58=x|", twice(447), twice(447)},
      {"453=2|448=A|448=B|448=C|58=x|", count_of(453), count_of(453)},
      {"453=1|58=x|", count_of(453), count_of(453)},
      {"453=0|58=x|", right, right},
      {"453=0|447=D|58=x|", elsewhere(447), elsewhere(447)},
  };
  for (const GroupCase& each : cases) {
    ValidationChecks checks = all(Mode::strict);
    checks.user_defined_fields = Mode::lenient;
    EXPECT_EQ(judge_order(each.group, checks).rejected, each.strict) << each.group;
    for (const Mode mode : {Mode::lenient, Mode::off}) {
      checks.groups = mode;
      const Outcome outcome = judge_order(each.group, checks);
      EXPECT_EQ(outcome.rejected, each.tolerant) << each.group;
      if (each.tolerant) continue;
      EXPECT_EQ(outcome.total != 0, (mode == Mode::lenient && each.strict) || each.group.contains("9001"))
          << each.group;
    }
  }
}

// Messages of valid and invalid pieces in random order.
std::string random_body(std::mt19937_64& random) {
  static constexpr std::string_view pieces[] = {
      "11=ID|", "21=1|",  "40=1|",   "54=1|",  "38=1|",      "55=A|",  "60=20240102-03:04:05|",
      "453=1|", "453=2|", "448=A|",  "447=D|", "452=1|",     "802=1|", "523=a|",
      "803=1|", "803=|",  "9001=x|", "999=y|", "386=1|",     "336=A|", "58=x|",
      "44=+1|", "0=x|",   "453=|",   "802=x|", "90=1|91=a|", "78=1|",  "79=a|",
      "539=1|", "524=b|", "804=1|",  "545=c|", "93=1|89=s|", "49=X|",  "453=0|"};
  std::string body = random() % 2 == 0 ? std::string(order) : std::string();
  for (std::uint64_t n = random() % 16; n > 0; --n) body += pieces[random() % std::size(pieces)];
  return body;
}

TEST(ValidateModes, lenient_reports_nothing_exactly_when_strict_rejects_nothing) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  int accepted = 0;
  for (int i = 0; i < 6000; ++i) {
    const std::string body = random_body(random);
    const Outcome strict = judge("D", body, all(Mode::strict));
    const Outcome lenient = judge("D", body, {all(Mode::strict), Mode::lenient});
    ASSERT_EQ(strict.total, 0U) << body;
    ASSERT_EQ(lenient.rejected, std::nullopt) << body;
    ASSERT_EQ(lenient.total == 0, !strict.rejected) << body;
    accepted += !strict.rejected;
  }
  EXPECT_GT(accepted, 50);
}

TEST(ValidateStrangers, leave_a_group_that_is_whole_as_many_entries_to_iterate_over) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  static constexpr std::string_view pieces[] = {"448=A|", "448=B|", "447=D|", "452=1|",  "802=1|",
                                                "523=a|", "803=1|", "58=x|",  "9001=x|", "999=y|"};
  std::size_t entries = 0;
  MessageView view;
  ValidationReport report;
  for (int i = 0; i < 20000; ++i) {
    ValidationChecks checks = all(Mode::strict);
    checks.groups = random() % 2 == 0 ? Mode::strict : Mode::off;
    checks.unknown_fields = checks.user_defined_fields = checks.required_fields = Mode::off;
    std::string body(header);
    body += random() % 3 == 0 ? "453=1|" : "453=2|";
    for (std::uint64_t n = random() % 9; n > 0; --n) body += pieces[random() % std::size(pieces)];
    const std::string text = message("FIX.4.4", "D", body);
    ASSERT_EQ(view.parse(text), WireError::none);
    if (validate(view, fix44(), checks, report)) continue;
    const GroupView group = view.group(*fix44().group_shape("D", Tag{453}));
    ASSERT_EQ(group.size(), group.declared_size()) << text;
    entries += group.size();
  }
  EXPECT_GT(entries, 300U);
}

TEST(ValidateModes, allocate_nothing) {
  ValidationPolicy policy{{}, Mode::lenient};
  policy.set("D", {}, Mode::lenient);
  policy.set("a_message_type_too_long_for_any_small_string", {}, Mode::off);
  policy.set({}, Tag{9009}, Mode::strict);
  MessageView view;
  ValidationReport report;
  std::vector<std::string> messages;
  for (const Fault& fault : faults()) {
    messages.push_back(message("FIX.4.4", fault.msg_type, std::string(header) + fault.body));
  }
  messages.push_back(message("FIX.4.4", "0", std::string(header) + "9009=x|"));
  std::size_t found = 0;
  static_cast<void>(fix44());
  const std::size_t before = test::allocations;
  for (const std::string& each : messages) {
    if (view.parse(each) != WireError::none) continue;
    found += validate(view, fix44(), policy, report).has_value();
    found += report.total();
  }
  const std::size_t after = test::allocations;
  EXPECT_EQ(after, before);
  EXPECT_EQ(found, messages.size() - 1) << "all but the one fault in the header";
}

}  // namespace
}  // namespace nfx
