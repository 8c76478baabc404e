// The shipped dictionaries: facts of FIX, and validation of every message that they define.
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <ostream>
#include <random>
#include <set>
#include <vector>

#include "dictionary/support.hpp"

namespace nfx {
namespace {

using dictionary_test::fix42;
using dictionary_test::fix44;
using dictionary_test::validate_bytes;

// A valid text for the field.
std::string value_of(const FieldDef& field) {
  if (!field.values.empty()) return std::string(field.values.all().front().value);
  switch (format_of(field.type)) {
    case ValueFormat::integer:
    case ValueFormat::number:
    case ValueFormat::sequence_number:
    case ValueFormat::day_of_month: return "1";
    case ValueFormat::decimal: return "-1.50";
    case ValueFormat::boolean: return "Y";
    case ValueFormat::month_year: return "202402w1";
    case ValueFormat::timestamp: return "20240229-23:59:59.123";
    case ValueFormat::time: return "23:59:59.123";
    case ValueFormat::local_time: return "23:59:59";
    case ValueFormat::date: return "20240229";
    case ValueFormat::zoned_time: return "23:59Z";
    case ValueFormat::zoned_timestamp: return "20240229-23:59Z";
    case ValueFormat::character:
    case ValueFormat::text:
    case ValueFormat::data:
    case ValueFormat::character_list:
    case ValueFormat::text_list: return "x";
  }
  return {};
}

struct Plan {
  bool required_only = true;
  int entries = 1;
  const MemberDef* left_out = nullptr;
};

// Deeply nested groups have one entry, because the messages would not end otherwise.
void append_members(FieldWriter& out, const Scope& scope, const Plan& plan, int depth = 0) {
  for (const MemberDef& member : scope.members()) {
    // The encoder writes BeginString, BodyLength, MsgType and CheckSum.
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
    const int entries = depth < 2 ? plan.entries : 1;
    out.append(member.tag, entries);
    for (int i = 0; i < entries; ++i) append_members(out, member.group->scope, plan, depth + 1);
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

// A version, with its transport if that is a separate dictionary.
struct Version {
  std::string_view name;
  bool over_transport;
};

void PrintTo(const Version& version, std::ostream* out) {
  *out << version.name << (version.over_transport ? " over FIXT" : "");
}

const Dictionary& dictionary_of(const Version& version) {
  static std::map<std::string, Dictionary, std::less<>> loaded;
  const std::string key = std::string(version.name) + (version.over_transport ? "+" : "");
  const auto found = loaded.find(key);
  if (found != loaded.end()) return found->second;
  const std::filesystem::path folder = NFX_SOURCE_DIR "/dictionaries";
  DictionaryFiles files{.transport = {}, .application = folder / shipped_file(version.name), .overlays = {}};
  if (version.over_transport) files.transport = folder / transport_version.file;
  return loaded.emplace(key, load_dictionary(files)).first->second;
}

std::vector<Version> all_versions() {
  std::vector<Version> all;
  for (const FixVersion& each : fix_versions) all.push_back({each.name, !each.session.has_value()});
  return all;
}
const std::vector<Version> versions = all_versions();

class ShippedDictionary : public testing::TestWithParam<Version> {
 protected:
  const Dictionary& dictionary() const { return dictionary_of(GetParam()); }
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
  EXPECT_GE(missed, 4 * dictionary().messages().size()) << "the header alone has that many";
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
  EXPECT_EQ(missed == 0, GetParam().name == "FIXT.1.1") << missed;
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
    // Mostly the message in its right order, with some fields omitted and undefined ones added.
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

INSTANTIATE_TEST_SUITE_P(, ShippedDictionary, testing::ValuesIn(all_versions()), [](const auto& suite) {
  return std::string(shipped_file(suite.param.name).substr(0, shipped_file(suite.param.name).find('.')));
});

struct Size {
  Version version;
  std::size_t messages;
  std::size_t fields;
};

TEST(ShippedFacts, every_version_names_itself_and_its_size) {
  constexpr std::array sizes{
      Size{{"FIX.4.0", false}, 27, 138},      Size{{"FIX.4.1", false}, 28, 206},
      Size{{"FIX.4.2", false}, 46, 405},      Size{{"FIX.4.3", false}, 68, 635},
      Size{{"FIX.4.4", false}, 93, 912},      Size{{"FIX.5.0", false}, 93, 1090},
      Size{{"FIX.5.0SP1", false}, 105, 1373}, Size{{"FIX.5.0SP2", false}, 156, 6028},
      Size{{"FIXT.1.1", false}, 8, 74},
  };
  EXPECT_EQ(sizes.size(), fix_versions.size()) << "write the sizes of the missing version";
  for (const Size& size : sizes) {
    const Dictionary& d = dictionary_of(size.version);
    EXPECT_EQ(d.version_name(), size.version.name);
    EXPECT_EQ(d.begin_string(), size.version.name.substr(0, size.version.name.find("SP")));
    EXPECT_EQ(d.appl_ver_id(), appl_ver_id_of(size.version.name));
    EXPECT_EQ(d.messages().size(), size.messages) << size.version.name;
    EXPECT_EQ(d.fields().size(), size.fields) << size.version.name;
  }
}

TEST(ShippedFacts, every_file_has_a_row_and_every_row_a_file) {
  std::set<std::string> files, rows;
  for (const auto& each : std::filesystem::directory_iterator{NFX_SOURCE_DIR "/dictionaries"})
    if (each.path().extension() == ".xml") files.insert(each.path().filename());
  for (const FixVersion& each : fix_versions) rows.emplace(each.file);
  EXPECT_EQ(files, rows) << "include/nexusfix/dictionary/version.hpp has one row for each file in dictionaries/";
}

TEST(ShippedFacts, the_documentation_names_every_file) {
  std::ifstream page{NFX_SOURCE_DIR "/docs/dictionaries.md"};
  const std::string text{std::istreambuf_iterator<char>{page}, {}};
  for (const FixVersion& each : fix_versions) {
    const std::string name{each.file.substr(0, each.file.find('.'))};
    EXPECT_NE(text.find(name), std::string::npos) << "docs/dictionaries.md does not name " << name;
  }
}

TEST(ShippedFacts, application_versions_have_their_numbers_and_files) {
  EXPECT_EQ(appl_ver_id_of("FIX.4.0"), "2");
  EXPECT_EQ(appl_ver_id_of("FIX.5.0SP2"), "9");
  EXPECT_EQ(appl_ver_id_of("FIXT.1.1"), "");
  EXPECT_EQ(appl_ver_id_of("FIX.6.0"), "");
  EXPECT_EQ(version_of_appl_ver_id("8"), "FIX.5.0SP1");
  EXPECT_EQ(version_of_appl_ver_id("1"), "");
  EXPECT_EQ(version_of_appl_ver_id(""), "");
  EXPECT_EQ(shipped_file("FIX.5.0SP2"), "FIX50SP2.xml");
  EXPECT_EQ(shipped_file("FIXT.1.1"), "FIXT11.xml");
  EXPECT_EQ(shipped_file("FIX.4.5"), "");
  EXPECT_EQ(newest_application_version.name, "FIX.5.0SP2");
}

TEST(ShippedFacts, what_fix_5_carries_comes_from_two_files) {
  for (const std::string_view name : {"FIX.5.0", "FIX.5.0SP1", "FIX.5.0SP2"}) {
    const Dictionary& alone = dictionary_of({name, false});
    EXPECT_EQ(alone.find_message("A"), nullptr) << "the transport has the session's messages";
    EXPECT_EQ(alone.find_message("D")->find(Tag::MsgSeqNum), nullptr) << "and the header";
    const Dictionary& both = dictionary_of({name, true});
    EXPECT_EQ(both.begin_string(), "FIXT.1.1");
    EXPECT_EQ(both.version_name(), name);
    EXPECT_EQ(both.appl_ver_id(), appl_ver_id_of(name));
    EXPECT_TRUE(both.find_message("A")->find(Tag{1137})->required);
    EXPECT_NE(both.find_message("D")->find(Tag::MsgSeqNum), nullptr);
    EXPECT_TRUE(both.find_field(Tag{1128})->values.contains("9"));
    EXPECT_TRUE(both.find_field(Tag{373})->values.contains("18"));
  }
}

// A session's messages must pass the dictionary of every version.
TEST(ShippedFacts, the_sessions_messages_have_what_each_version_gives_them) {
  for (const Version& version : versions) {
    if (version.name == "FIXT.1.1") continue;
    const Dictionary& d = dictionary_of(version);
    const std::string appl = d.begin_string() == "FIXT.1.1" ? "1137=" + std::string(d.appl_ver_id()) + "|" : "";
    const auto accepted = [&](std::string_view type, const std::string& body) {
      EXPECT_EQ(dictionary_test::validate_body(d, type, body), std::nullopt) << version.name << " " << type;
    };
    accepted("A", "98=0|108=30|" + appl);
    accepted("0", "112=id|");
    accepted("1", "112=id|");
    accepted("2", "7=1|16=0|");
    accepted("3", "45=2|58=why|");
    accepted("4", "123=Y|36=10|");
    accepted("5", "58=bye|");
    if (version.name == "FIX.4.0") continue;
    accepted("A", "98=0|108=30|141=Y|" + appl);
    if (version.name == "FIX.4.1") continue;
    accepted("A", "98=0|108=30|141=Y|383=8192|384=2|372=D|385=S|372=8|385=R|" + appl);
    accepted("3", "45=2|371=44|372=D|373=6|58=why|");
    if (version.name == "FIX.4.2") continue;
    accepted("A", "98=0|108=30|464=Y|553=me|554=secret|" + appl);
  }
}

TEST(ShippedFacts, lists_and_counts_of_the_first_versions_are_corrected) {
  for (const std::string_view name : {"FIX.4.0", "FIX.4.1"}) {
    const Dictionary& d = dictionary_of({name, false});
    EXPECT_EQ(d.find_field(Tag{18})->type, FieldType::multiple_string_value);
    ASSERT_NE(d.group_shape("B", Tag{33}), nullptr) << name;
    EXPECT_EQ(d.group_shape("B", Tag{33})->members.front(), Tag{58});
  }
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
  for (const Version& version : versions) {
    for (const MemberDef& member : dictionary_of(version).find_message("0")->scope.members()) {
      const bool header = member.section == Section::header;
      const bool trailer = member.section == Section::trailer;
      EXPECT_EQ(header, is_header_tag(member.tag)) << value(member.tag);
      EXPECT_EQ(trailer, is_trailer_tag(member.tag)) << value(member.tag);
    }
  }
}

void expect_lengths_in_front(const Scope& scope) {
  const auto members = scope.members();
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].group != nullptr) expect_lengths_in_front(members[i].group->scope);
    const FieldType type = members[i].field->type;
    if (type != FieldType::data && type != FieldType::xml_data) continue;
    ASSERT_GT(i, 0u);
    EXPECT_EQ(members[i - 1].field->type, FieldType::length) << members[i].field->name;
  }
}

TEST(ShippedFacts, every_data_field_follows_its_length) {
  for (const Version& version : versions) {
    for (const MessageDef& message : dictionary_of(version).messages()) expect_lengths_in_front(message.scope);
  }
}

TEST(ShippedFacts, every_data_field_of_the_standard_pairs_is_data_after_a_length) {
  for (const Version& version : versions) {
    if (version.name == "FIX.5.0SP2") continue;  // uses some of these numbers for other fields
    const Dictionary& d = dictionary_of(version);
    for (const FieldDef& field : d.fields()) {
      const Tag data = data_tag_of(field.tag);
      if (data == Tag{0}) continue;
      EXPECT_EQ(field.type, FieldType::length) << field.name;
      ASSERT_NE(d.find_field(data), nullptr) << field.name;
      const FieldType type = d.find_field(data)->type;
      EXPECT_TRUE(type == FieldType::data || type == FieldType::xml_data) << field.name;
    }
  }
}

}  // namespace
}  // namespace nfx
