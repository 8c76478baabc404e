// Repeating groups: entries, nested groups, wrong counts, and fields that are not in the shape.
#include "nexusfix/wire/group_view.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "wire/fix_text.hpp"

namespace nfx {
namespace {

constexpr Tag sub_id_members[] = {Tag::PartySubID, Tag::PartySubIDType};
constexpr GroupShape sub_ids{Tag::NoPartySubIDs, sub_id_members, {}};
constexpr GroupShape party_groups[] = {sub_ids};
constexpr Tag party_members[] = {Tag::PartyID, Tag::PartyIDSource, Tag::PartyRole, Tag::NoPartySubIDs};
constexpr GroupShape party_ids{Tag::NoPartyIDs, party_members, party_groups};

static_assert(std::forward_iterator<GroupView::Iterator>);

struct Parsed {
  explicit Parsed(std::string text) : message(std::move(text)) { EXPECT_EQ(view.parse(message), WireError::none); }
  std::string message;
  MessageView view;
};

// "A(a1 a2) B()" for the parties of a message.
std::string describe(const MessageView& view) {
  std::string result;
  for (const GroupEntry party : view.group(party_ids)) {
    if (!result.empty()) result += ' ';
    result += std::string{party.get_view(Tag::PartyID)} + '(';
    std::string inner;
    for (const GroupEntry sub : party.group(sub_ids)) {
      if (!inner.empty()) inner += ' ';
      inner += sub.get_view(Tag::PartySubID);
    }
    result += inner + ')';
  }
  return result;
}

TEST(group_view, walks_entries_and_nested_entries_in_order) {
  const Parsed p{test::parties};
  EXPECT_EQ(describe(p.view), "A(a1 a2) B()");
  const GroupView group = p.view.group(party_ids);
  EXPECT_EQ(group.size(), 2u);
  EXPECT_EQ(group.declared_size(), 2);
  const GroupEntry first = *group.begin();
  EXPECT_EQ(first.size(), 8u);
  EXPECT_EQ(first[0].tag, Tag::PartyID);
  EXPECT_EQ(first.group(sub_ids).declared_size(), 2);
  const GroupEntry second = *std::next(group.begin());
  EXPECT_TRUE(second.group(sub_ids).empty());
  EXPECT_EQ(second.group(sub_ids).declared_size(), -1);
  EXPECT_FALSE(second.has(Tag::Symbol)) << "fields after the group are not its last entry's";
}

TEST(group_view, is_empty_without_its_count_field) {
  const Parsed p{test::order};
  const GroupView group = p.view.group(party_ids);
  EXPECT_TRUE(group.empty());
  EXPECT_EQ(group.size(), 0u);
  EXPECT_EQ(group.declared_size(), -1);
  EXPECT_EQ(group.begin(), group.end());
}

TEST(group_view, does_not_hide_a_count_that_differs_from_the_entries) {
  for (const auto& [count, declared] : {std::pair{"0", 0}, {"1", 1}, {"3", 3}, {"x", -1}, {"-2", -1}, {"", -1}}) {
    const Parsed p{test::frame("35=D|453=" + std::string{count} + "|448=A|452=1|448=B|452=2|55=x|")};
    const GroupView group = p.view.group(party_ids);
    EXPECT_EQ(group.size(), 2u) << count;
    EXPECT_EQ(group.declared_size(), declared) << count;
  }
}

TEST(group_view, has_no_entries_when_no_member_follows_the_count) {
  for (const char* fields : {"453=1|9001=x|448=A|", "453=1|", "453=0|55=x|", "453=1|523=a|448=A|", "453=0|452=1|",
                             "453=|452=1|", "453=x|452=1|"}) {
    const Parsed p{test::frame(std::string("35=D|") + fields)};
    EXPECT_TRUE(p.view.group(party_ids).empty()) << fields;
  }
}

TEST(group_view, ends_with_the_message) {
  const Parsed empty{test::frame("35=D|453=0|")};
  EXPECT_TRUE(empty.view.group(party_ids).empty());
  EXPECT_EQ(empty.view.group(party_ids).declared_size(), 0);
  const std::string text = test::with_soh("453=1|448=A|");
  MessageView view;
  EXPECT_EQ(view.parse_leniently(text), WireError::header_order);
  EXPECT_EQ(describe(view), "A()");
  const std::string only_count = test::with_soh("453=1|");
  EXPECT_EQ(view.parse_leniently(only_count), WireError::header_order);
  EXPECT_TRUE(view.group(party_ids).empty());
}

TEST(group_view, a_nested_group_ends_with_its_entry) {
  // The first party's count declares two sub ids, but only one follows before the next party.
  const Parsed p{test::frame("35=D|453=2|448=A|802=2|523=a1|448=B|802=1|523=b1|803=5|55=x|")};
  EXPECT_EQ(describe(p.view), "A(a1) B(b1)");
  EXPECT_EQ((*p.view.group(party_ids).begin()).group(sub_ids).declared_size(), 2);
}

TEST(group_view, a_shape_contains_the_members_of_its_nested_groups) {
  EXPECT_TRUE(party_ids.contains(Tag::PartyID));
  EXPECT_TRUE(party_ids.contains(Tag::PartySubIDType));
  EXPECT_FALSE(party_ids.contains(Tag::NoPartyIDs));
  EXPECT_FALSE(sub_ids.contains(Tag::PartyID));
}

TEST(group_view, three_levels_of_nesting_keep_their_entries_apart) {
  static constexpr Tag inner_members[] = {Tag{7001}};
  static constexpr GroupShape inner{Tag{7000}, inner_members, {}};
  static constexpr GroupShape middle_nested[] = {inner};
  static constexpr Tag middle_members[] = {Tag{6001}, Tag{7000}};
  static constexpr GroupShape middle{Tag{6000}, middle_members, middle_nested};
  static constexpr GroupShape outer_nested[] = {middle};
  static constexpr Tag outer_members[] = {Tag{5001}, Tag{6000}};
  static constexpr GroupShape outer{Tag{5000}, outer_members, outer_nested};
  const Parsed p{
      test::frame("35=D|5000=2|5001=A|6000=2|6001=Aa|7000=2|7001=Aa1|7001=Aa2|6001=Ab|5001=B|6000=1|6001=Ba|7000=1|"
                  "7001=Ba1|58=x|")};
  std::vector<std::string> leaves;
  for (const GroupEntry o : p.view.group(outer)) {
    for (const GroupEntry m : o.group(middle)) {
      for (const GroupEntry i : m.group(inner)) leaves.emplace_back(i.get_view(Tag{7001}));
    }
  }
  EXPECT_EQ(leaves, (std::vector<std::string>{"Aa1", "Aa2", "Ba1"}));
}

// The tags of each entry: "448 9001 | 448".
std::string tags(const GroupView& group) {
  std::string result;
  for (const GroupEntry entry : group) {
    if (!result.empty()) result += " |";
    for (std::uint32_t i = 0; i < entry.size(); ++i) {
      if (!result.empty()) result += ' ';
      result += std::to_string(value(entry[i].tag));
    }
  }
  return result;
}

struct Strangers {
  std::string fields;
  std::string entries;
};

void PrintTo(const Strangers& strangers, std::ostream* out) { *out << strangers.fields; }

class group_strangers : public testing::TestWithParam<Strangers> {};

INSTANTIATE_TEST_SUITE_P(
    , group_strangers,
    testing::Values(Strangers{"453=2|448=A|9001=x|452=1|448=B|452=2|55=x|", "448 9001 452 | 448 452"},
                    Strangers{"453=2|448=A|452=1|1023=x|448=B|55=x|", "448 452 1023 | 448"},
                    Strangers{"453=2|448=A|9001=x|452=1|448=B|9001=y|452=2|55=x|54=1|", "448 9001 452 | 448 9001 452"},
                    Strangers{"453=1|448=A|9001=x|9002=y|452=1|9003=z|55=x|", "448 9001 9002 452"},
                    Strangers{"453=1|448=A|452=1|9001=z|55=x|", "448 452"},
                    Strangers{"453=1|448=A|9001=x|452=1|1023=y|447=D|", "448 9001 452 1023 447"},
                    Strangers{"453=1|448=A|802=1|9001=x|523=a|9002=y|803=1|55=x|", "448 802 9001 523 9002 803"},
                    Strangers{"453=1|448=A|452=1|9001=x|452=2|55=x|", "448 452"},
                    Strangers{"453=3|448=A|9001=x|448=B|9001=x|448=C|9001=x|", "448 9001 | 448 9001 | 448"},
                    Strangers{"453=1|448=A|", "448"}),
    [](const auto& suite) { return "case_" + std::to_string(suite.index); });

TEST_P(group_strangers, stay_in_their_entry_and_out_of_what_is_after_the_last) {
  const Parsed p{test::frame("35=D|" + GetParam().fields)};
  EXPECT_EQ(tags(p.view.group(party_ids)), GetParam().entries);
}

TEST_P(group_strangers, are_the_same_with_tags_too_large_for_the_narrow_index) {
  const Parsed p{test::frame("35=D|70000=x|" + GetParam().fields)};
  EXPECT_EQ(tags(p.view.group(party_ids)), GetParam().entries);
}

TEST(group_view, nested_groups_keep_undefined_fields_too) {
  const Parsed p{
      test::frame("35=D|453=2|448=A|802=2|523=a1|9001=x|803=1|523=a2|9001=y|452=1|448=B|802=1|9002=z|55=x|")};
  EXPECT_EQ(describe(p.view), "A(a1 a2) B()");
  const GroupEntry first = *p.view.group(party_ids).begin();
  EXPECT_EQ(tags(first.group(sub_ids)), "523 9001 803 | 523") << "the last entry ends with its last member";
}

struct Reordered {
  std::string fields;
  std::string entries;
};

void PrintTo(const Reordered& reordered, std::ostream* out) { *out << reordered.fields; }

class group_in_another_order : public testing::TestWithParam<Reordered> {};

INSTANTIATE_TEST_SUITE_P(
    , group_in_another_order,
    testing::Values(
        // Another member begins some or all entries.
        Reordered{"453=2|452=1|448=A|447=D|452=3|448=B|55=x|", "452 448 447 | 452 448"},
        Reordered{"453=2|452=1|448=A|448=B|447=D|55=x|", "452 448 | 448 447"},
        Reordered{"453=3|452=1|448=A|448=B|452=3|448=C|452=4|", "452 448 | 448 452 | 448 452"},
        Reordered{"453=2|448=A|452=1|452=3|448=B|447=D|55=x|", "448 452 | 452 448 447"},
        Reordered{"453=2|452=1|452=3|448=B|", "452 | 452 448"},
        // The delimiter begins them, the rest is in any order.
        Reordered{"453=2|448=A|452=1|447=D|448=B|447=D|452=3|55=x|", "448 452 447 | 448 447 452"},
        // With undefined fields.
        Reordered{"453=2|452=1|448=A|447=D|452=3|9001=x|447=D|448=B|55=x|", "452 448 447 | 452 9001 447 448"},
        Reordered{"453=2|452=1|448=A|9001=x|448=B|447=D|55=x|", "452 448 9001 | 448 447"},
        Reordered{"453=2|448=A|452=1|9001=x|452=3|9001=y|448=B|9002=z|55=x|", "448 452 9001 | 452 9001 448"},
        // If no interpretation has the declared number of entries, the tag that began the first one divides.
        Reordered{"453=1|452=1|448=A|452=3|448=B|55=x|", "452 448 | 452 448"},
        Reordered{"453=3|452=1|448=A|452=3|448=B|55=x|", "452 448 | 452 448"},
        Reordered{"453=2|448=A|452=1|452=3|448=B|452=4|55=x|", "448 452 452 | 448 452"},
        Reordered{"453=1|448=A|452=1|452=3|55=x|", "448 452 452"},
        Reordered{"453=1|447=D|448=A|448=B|55=x|", "447 448 448"},
        // One entry.
        Reordered{"453=1|447=D|448=A|55=x|", "447 448"}, Reordered{"453=1|447=D|", "447"}),
    [](const auto& suite) { return "case_" + std::to_string(suite.index); });

TEST_P(group_in_another_order, has_the_entries_that_its_count_announces) {
  for (const char* before : {"35=D|", "35=D|70000=x|"}) {  // also with a wide index
    const Parsed p{test::frame(before + GetParam().fields)};
    const GroupView group = p.view.group(party_ids);
    EXPECT_EQ(tags(group), GetParam().entries);
    EXPECT_EQ(tags(group), GetParam().entries) << "and a second time";
  }
}

TEST(group_view, nested_groups_are_divided_as_each_of_them_begins) {
  const Parsed p{test::frame(
      "35=D|453=2|447=D|448=A|802=2|803=1|523=a1|803=2|523=a2|802=2|523=b1|803=1|803=2|523=b2|448=B|55=x|")};
  EXPECT_EQ(describe(p.view), "A(a1 a2) B(b1 b2)");
}

}  // namespace
}  // namespace nfx
