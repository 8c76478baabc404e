// The dictionaries that come with the project: facts of FIX, and every message of theirs against the validator.
#include <random>
#include <set>

#include "dictionary/support.hpp"

namespace nfx {
namespace {

using dictionary_test::fix42;
using dictionary_test::fix44;
using dictionary_test::validate_bytes;

// A text that is a value of the field.
std::string value_of(const FieldDef& field) {
  if (!field.values.empty()) return std::string(field.values.all().front().value);
  switch (field.type) {
    case FieldType::integer:
    case FieldType::length:
    case FieldType::seq_num:
    case FieldType::num_in_group:
    case FieldType::tag_num:
    case FieldType::day_of_month: return "1";
    case FieldType::float_number:
    case FieldType::quantity:
    case FieldType::price:
    case FieldType::price_offset:
    case FieldType::amount:
    case FieldType::percentage: return "-1.50";
    case FieldType::boolean: return "Y";
    case FieldType::month_year: return "202402w1";
    case FieldType::utc_timestamp: return "20240229-23:59:59.123";
    case FieldType::utc_time_only: return "23:59:59.123";
    case FieldType::utc_date_only:
    case FieldType::local_mkt_date: return "20240229";
    case FieldType::local_mkt_time: return "23:59:59";
    case FieldType::tz_time_only: return "23:59Z";
    case FieldType::tz_timestamp: return "20240229-23:59Z";
    case FieldType::character:
    case FieldType::string:
    case FieldType::multiple_char_value:
    case FieldType::multiple_string_value:
    case FieldType::country:
    case FieldType::currency:
    case FieldType::exchange:
    case FieldType::language:
    case FieldType::data:
    case FieldType::xml_data:
    case FieldType::xid:
    case FieldType::xid_ref: return "x";
  }
  return {};
}

struct Plan {
  bool required_only = true;
  int entries = 1;
  const MemberDef* left_out = nullptr;
};

void append_members(FieldWriter& out, const Scope& scope, const Plan& plan) {
  for (const MemberDef& member : scope.members()) {
    // BeginString, BodyLength, MsgType and CheckSum are the encoder's.
    if (member.tag == Tag::BeginString || member.tag == Tag::BodyLength || member.tag == Tag::MsgType ||
        member.tag == Tag::CheckSum || &member == plan.left_out) {
      continue;
    }
    const bool delimiter = &member == &scope.members().front();
    if (plan.required_only && !member.required && !delimiter) continue;
    if (member.group == nullptr) {
      out.append(member.tag, std::string_view(value_of(*member.field)));
      continue;
    }
    out.append(member.tag, plan.entries);
    for (int i = 0; i < plan.entries; ++i) append_members(out, member.group->scope, plan);
  }
}

std::string build(const Dictionary& dictionary, const MessageDef& message, const Plan& plan) {
  static std::vector<char> buffer(1 << 22);
  Encoder encoder(buffer);
  encoder.begin(dictionary.begin_string(), message.msg_type);
  append_members(encoder.fields(), message.scope, plan);
  return std::string(encoder.finish());
}

bool written_by_encoder(Tag tag) {
  return tag == Tag::BeginString || tag == Tag::BodyLength || tag == Tag::MsgType || tag == Tag::CheckSum;
}

class ShippedDictionary : public testing::TestWithParam<const Dictionary& (*)()> {
 protected:
  const Dictionary& dictionary() const { return GetParam()(); }
};

TEST_P(ShippedDictionary, accepts_the_smallest_form_of_every_message) {
  for (const MessageDef& message : dictionary().messages()) {
    EXPECT_EQ(validate_bytes(dictionary(), build(dictionary(), message, {})), std::nullopt) << message.name;
  }
}

TEST_P(ShippedDictionary, accepts_every_message_with_all_fields_and_two_entries_per_group) {
  for (const MessageDef& message : dictionary().messages()) {
    EXPECT_EQ(validate_bytes(dictionary(), build(dictionary(), message, {false, 2, nullptr})), std::nullopt)
        << message.name;
  }
}

TEST_P(ShippedDictionary, misses_each_required_field_by_its_tag) {
  std::size_t missed = 0;
  for (const MessageDef& message : dictionary().messages()) {
    for (const MemberDef& member : message.scope.members()) {
      if (!member.required || written_by_encoder(member.tag)) continue;
      ++missed;
      EXPECT_EQ(validate_bytes(dictionary(), build(dictionary(), message, {true, 1, &member})),
                (Violation{SessionRejectReason::required_tag_missing, member.tag}))
          << message.name;
    }
  }
  EXPECT_GT(missed, 300u);
}

void collect_entry_members(const Scope& scope, std::vector<const MemberDef*>& out) {
  for (const MemberDef& member : scope.members()) {
    if (member.group == nullptr) continue;
    const auto entry = member.group->scope.members();
    for (const MemberDef& inner : entry.subspan(1)) {
      if (inner.required) out.push_back(&inner);
    }
    collect_entry_members(member.group->scope, out);
  }
}

TEST_P(ShippedDictionary, misses_each_required_field_of_a_group_by_its_tag) {
  std::size_t missed = 0;
  for (const MessageDef& message : dictionary().messages()) {
    std::vector<const MemberDef*> members;
    collect_entry_members(message.scope, members);
    for (const MemberDef* member : members) {
      ++missed;
      EXPECT_EQ(validate_bytes(dictionary(), build(dictionary(), message, {false, 1, member})),
                (Violation{SessionRejectReason::required_tag_missing, member->tag}))
          << message.name;
    }
  }
  EXPECT_GT(missed, 10u);
}

TEST_P(ShippedDictionary, never_accepts_random_fields_without_the_required_ones) {
  constexpr unsigned seed = 20240229;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto fields = dictionary().fields();
  std::size_t accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    const auto messages = dictionary().messages();
    const MessageDef& message = messages[random() % messages.size()];
    std::string text;
    std::set<Tag> present;
    // Mostly the message in its right order, with fields left out and strange ones put in.
    for (const MemberDef& member : message.scope.members()) {
      if (written_by_encoder(member.tag)) continue;
      const FieldDef& field = random() % 64 == 0 ? fields[random() % fields.size()] : *member.field;
      if (written_by_encoder(field.tag) || field.type == FieldType::length || field.type == FieldType::data) continue;
      if (random() % 64 == 0 || (!member.required && random() % 4 != 0)) continue;
      present.insert(field.tag);
      text += std::to_string(value(field.tag)) + "=" + value_of(field) + "|";
      if (member.group != nullptr && random() % 2 == 0) text.replace(text.size() - 2, 1, "0");
    }
    if (validate_bytes(dictionary(), dictionary_test::message(dictionary().begin_string(), message.msg_type, text)))
      continue;
    ++accepted;
    for (const MemberDef& member : message.scope.members()) {
      if (member.required && !written_by_encoder(member.tag)) {
        EXPECT_TRUE(present.contains(member.tag)) << text;
      }
    }
  }
  EXPECT_GT(accepted, 100u) << "the test does not reach what it is about";
}

INSTANTIATE_TEST_SUITE_P(, ShippedDictionary, testing::Values(&fix42, &fix44),
                         [](const auto& suite) { return std::string(suite.param == &fix42 ? "FIX42" : "FIX44"); });

TEST(ShippedFacts, both_versions_name_themselves_and_their_sizes) {
  EXPECT_EQ(fix42().begin_string(), "FIX.4.2");
  EXPECT_EQ(fix42().messages().size(), 46u);
  EXPECT_EQ(fix42().fields().size(), 405u);
  EXPECT_EQ(fix44().begin_string(), "FIX.4.4");
  EXPECT_EQ(fix44().messages().size(), 93u);
  EXPECT_EQ(fix44().fields().size(), 912u);
}

TEST(ShippedFacts, names_of_fields_values_and_messages_are_those_of_fix) {
  for (const Dictionary* d : {&fix42(), &fix44()}) {
    EXPECT_EQ(d->field_name(Tag{11}), "ClOrdID");
    EXPECT_EQ(d->value_name(Tag{54}, "1"), "BUY");
    EXPECT_EQ(d->message_name("D"), "NewOrderSingle");
    EXPECT_EQ(d->message_name("8"), "ExecutionReport");
    EXPECT_EQ(d->find_field(Tag{999}), nullptr);
    EXPECT_EQ(d->find_field(Tag{5000}), nullptr);
    EXPECT_TRUE(d->find_message("A")->admin);
    EXPECT_FALSE(d->find_message("D")->admin);
    EXPECT_TRUE(d->find_field(Tag{167})->values.contains("CS"));
    EXPECT_FALSE(d->find_field(Tag{167})->values.contains("BOO"));
    EXPECT_EQ(d->find_field(Tag{21})->values.all().size(), 3u);
    EXPECT_TRUE(d->find_field(Tag{336})->values.empty());
    EXPECT_EQ(d->find_field(Tag{126})->type, FieldType::utc_timestamp);
    EXPECT_EQ(d->find_field(Tag{34})->type, FieldType::seq_num);
    EXPECT_EQ(d->find_field(Tag{386})->type, FieldType::num_in_group);
    ASSERT_NE(d->group_shape("D", Tag{386}), nullptr);
    EXPECT_EQ(d->group_shape("D", Tag{386})->members.front(), Tag{336});
  }
}

TEST(ShippedFacts, parties_of_fix44_nest_their_sub_ids) {
  const GroupShape* parties = fix44().group_shape("D", Tag{453});
  ASSERT_NE(parties, nullptr);
  EXPECT_EQ(parties->members.front(), Tag{448});
  ASSERT_EQ(parties->nested.size(), 1u);
  EXPECT_EQ(parties->nested.front().count, Tag{802});
  EXPECT_EQ(parties->nested.front().members.front(), Tag{523});
}

TEST(ShippedFacts, the_header_is_that_of_the_standard) {
  for (const Dictionary* d : {&fix42(), &fix44()}) {
    for (const MemberDef& member : d->find_message("0")->scope.members()) {
      const bool header = member.section == Section::header;
      const bool trailer = member.section == Section::trailer;
      EXPECT_EQ(header, is_header_tag(member.tag)) << value(member.tag);
      EXPECT_EQ(trailer, is_trailer_tag(member.tag)) << value(member.tag);
    }
  }
}

TEST(ShippedFacts, every_data_field_of_the_standard_pairs_is_data_behind_a_length) {
  for (const Dictionary* d : {&fix42(), &fix44()}) {
    for (const FieldDef& field : d->fields()) {
      const Tag data = data_tag_of(field.tag);
      if (data == Tag{0}) continue;
      EXPECT_EQ(field.type, FieldType::length) << field.name;
      ASSERT_NE(d->find_field(data), nullptr) << field.name;
      EXPECT_EQ(d->find_field(data)->type, FieldType::data) << field.name;
    }
  }
}

}  // namespace
}  // namespace nfx
