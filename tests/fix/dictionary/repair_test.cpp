// Dictionaries with irregularities from real files of users: each is read, and its irregularity is recorded once. Every
// file of tests/fix/dictionary/irregular has one irregularity, given by its name; QuickFIX reads them too
// (tests/interop).
#include "nexusfix/dictionary/model.hpp"

#include <filesystem>
#include <map>
#include <set>

#include "config/doc_table.hpp"
#include "dictionary/irregular_verdicts.hpp"
#include "dictionary/support.hpp"

namespace nfx {
namespace {

const std::filesystem::path folder = NFX_SOURCE_DIR "/tests/fix/dictionary/irregular";

// The repair for each file. Files that are not listed are sound.
const std::map<std::string, RepairKind> repaired{
    {"blanks_around_names_and_types", RepairKind::blanks},
    {"blanks_around_values", RepairKind::blanks},
    {"component_undefined", RepairKind::undefined_component},
    {"component_within_itself", RepairKind::recursive_component},
    {"components_defined_twice", RepairKind::duplicate_component},
    {"count_within_its_own_group", RepairKind::own_count},
    {"counts_of_other_types", RepairKind::group_count},
    {"data_after_another_field", RepairKind::data_length},
    {"data_without_length", RepairKind::data_length},
    {"elements_and_attributes_unknown", RepairKind::unknown_element},
    {"entities_of_a_doctype", RepairKind::entities},
    {"field_and_group_of_one_name", RepairKind::repeated_member},
    {"field_undefined", RepairKind::undefined_field},
    {"field_number_zero", RepairKind::bad_number},
    {"field_with_two_numbers", RepairKind::duplicate_name},
    {"fields_defined_twice_alike", RepairKind::duplicate_number},
    {"fields_defined_twice_with_other_names", RepairKind::duplicate_number},
    {"fields_defined_twice_with_other_values", RepairKind::duplicate_number},
    {"group_without_members", RepairKind::empty_group},
    {"groups_nine_deep", RepairKind::group_depth},
    {"groups_with_other_members", RepairKind::repeated_member},
    {"header_missing", RepairKind::missing_section},
    {"latin_1_undeclared", RepairKind::encoding},
    {"message_category_missing", RepairKind::message_category},
    {"message_name_missing", RepairKind::missing_name},
    {"message_names_twice", RepairKind::duplicate_message},
    {"message_types_twice_alike", RepairKind::duplicate_type},
    {"message_types_twice_with_other_members", RepairKind::duplicate_type},
    {"required_is_another_letter", RepairKind::required_value},
    {"required_missing", RepairKind::missing_required},
    {"type_empty", RepairKind::missing_type},
    {"types_in_small_letters", RepairKind::type_case},
    {"types_unknown", RepairKind::unknown_type},
    {"values_twice", RepairKind::duplicate_value},
};

TEST(Repair, reads_every_irregular_file_and_notes_its_irregularity) {
  std::size_t files = 0;
  std::set<std::string> left;
  for (const auto& [name, kind] : repaired) left.insert(name);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".xml") continue;
    const std::string name = entry.path().stem().string();
    SCOPED_TRACE(name);
    ++files;
    left.erase(name);
    const Dictionary d = load_dictionary(entry.path());
    EXPECT_NE(d.find_message("D"), nullptr);
    const auto expected = repaired.find(name);
    if (expected == repaired.end()) {
      EXPECT_TRUE(d.repairs().empty()) << d.repairs().lines().front();
      continue;
    }
    EXPECT_GT(d.repairs().count(expected->second), 0u);
    for (const std::string& line : d.repairs().lines()) {
      EXPECT_TRUE(line.starts_with(entry.path().string() + ":")) << line;
      EXPECT_NE(line.find("; "), std::string::npos) << "the remedy: " << line;
    }
  }
  EXPECT_GE(files, 40u);
  EXPECT_TRUE(left.empty()) << "no such file: " << *left.begin();
}

// QuickFIX is tested against the same table.
TEST(Repair, irregular_dictionaries_have_the_verdicts_of_the_table) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".xml" || name == "header_missing") continue;  // without header, all is undefined
    SCOPED_TRACE(name);
    const Dictionary d = load_dictionary(entry.path());
    for (const irregular::Message& message : irregular::messages) {
      const irregular::Exception* exception = irregular::exception_of(name, message.name);
      const auto found = dictionary_test::validate_body(d, "D", message.body);
      EXPECT_EQ(!found, exception == nullptr ? message.valid : exception->ours)
          << message.name << ": " << (found ? to_text(found->reason) : "valid");
    }
  }
}

TEST(Repair, the_shipped_dictionaries_need_none) {
  for (const FixVersion& each : fix_versions) {
    const Dictionary d = load_dictionary(NFX_SOURCE_DIR "/dictionaries/" + std::string(each.file));
    EXPECT_TRUE(d.repairs().empty()) << d.repairs().lines().front();
  }
}

Dictionary irregular_file(const std::string& name) { return load_dictionary(folder / (name + ".xml")); }

TEST(Repair, a_field_defined_twice_has_the_values_of_both_and_the_first_type) {
  const Dictionary d = irregular_file("fields_defined_twice_with_other_values");
  const FieldDef* side = d.find_field("Side");
  EXPECT_TRUE(side->values.contains("1") && side->values.contains("7"));
  EXPECT_EQ(side->type, FieldType::character);
}

TEST(Repair, both_names_of_a_number_mean_its_field) {
  const Dictionary d = irregular_file("fields_defined_twice_with_other_names");
  EXPECT_EQ(d.find_field("OrderID2"), d.find_field(Tag{11}));
  EXPECT_EQ(d.field_name(Tag{11}), "ClOrdID");
}

TEST(Repair, a_count_of_another_type_is_a_number) {
  const Dictionary d = irregular_file("counts_of_other_types");
  EXPECT_EQ(d.find_field("NoLegs")->type, FieldType::num_in_group);
  EXPECT_NE(d.group_shape("D", Tag{555}), nullptr);
}

TEST(Repair, utf_16_is_read_in_either_order_of_bytes) {
  for (const char* name : {"utf16_little", "utf16_big"}) {
    EXPECT_EQ(irregular_file(name).value_name(Tag{54}, "1"), "K\xC3\x84UFER") << name;
  }
  EXPECT_EQ(irregular_file("latin_1_declared").value_name(Tag{54}, "1"), "K\xC3\x84UFER");
}

TEST(Repair, a_summary_has_one_line_per_kind) {
  Repairs repairs;
  for (int i = 0; i < 300; ++i) repairs.add(RepairKind::blanks, "f.xml:" + std::to_string(i + 1) + ": blank");
  repairs.add(RepairKind::type_case, "f.xml:9: type");
  EXPECT_EQ(repairs.summary(), (std::vector<std::string>{"f.xml:1: blank (and 299 more like this)", "f.xml:9: type"}));
  Repairs both;
  both.add(repairs);
  both.add(repairs);
  EXPECT_EQ(both.total(), 602u);
  EXPECT_EQ(both.count(RepairKind::blanks), 600u);
}

TEST(Repair, the_documents_list_every_kind) {
  std::string table = "| irregular | read as |\n|---|---|\n";
  for (const RepairRow& row : repair_rows) {
    table.append("| ").append(row.found).append(" | ").append(row.taken).append(" |\n");
  }
  test::expect_table_in("docs/dictionaries.md", table);
}

TEST(Repair, every_type_of_fix_50_sp2_and_fix_latest_is_known) {
  for (const std::string_view name : {"int",
                                      "Length",
                                      "TagNum",
                                      "SeqNum",
                                      "NumInGroup",
                                      "DayOfMonth",
                                      "float",
                                      "Qty",
                                      "Price",
                                      "PriceOffset",
                                      "Amt",
                                      "Percentage",
                                      "char",
                                      "Boolean",
                                      "String",
                                      "MultipleCharValue",
                                      "MultipleStringValue",
                                      "Country",
                                      "Currency",
                                      "Exchange",
                                      "MonthYear",
                                      "UTCTimestamp",
                                      "UTCTimeOnly",
                                      "UTCDateOnly",
                                      "LocalMktDate",
                                      "LocalMktTime",
                                      "TZTimeOnly",
                                      "TZTimestamp",
                                      "data",
                                      "XMLData",
                                      "Language",
                                      "Pattern",
                                      "Tenor",
                                      "Reserved100Plus",
                                      "Reserved1000Plus",
                                      "Reserved4000Plus",
                                      "xid",
                                      "xidref"}) {
    EXPECT_TRUE(parse_field_type_in_any_case(name)) << name;
  }
}

// A session's dictionary, which a file with application messages alone is not.
TEST(Repair, session_messages_that_are_missing_are_those_of_the_shipped_dictionary) {
  const auto session_of = [](const std::string& file) {
    return load_dictionary(
        DictionaryFiles{.transport = {}, .application = file, .overlays = {}, .version = {}, .for_session = true});
  };
  const Dictionary shipped = load_dictionary("FIX44.xml");
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".xml") continue;
    SCOPED_TRACE(entry.path().stem().string());
    const Dictionary alone = load_dictionary(entry.path());
    const Dictionary d = session_of(entry.path());
    std::size_t missing = 0;
    for (const std::string_view type : {"0", "1", "2", "3", "4", "5", "A"}) {
      missing += alone.find_message(type) == nullptr;
      const MessageDef* const message = d.find_message(type);
      ASSERT_NE(message, nullptr) << type;
      EXPECT_TRUE(message->admin);
      if (alone.find_message(type) != nullptr || alone.begin_string() != "FIX.4.4") continue;
      for (const MemberDef& member : shipped.find_message(type)->scope.members()) {
        if (!member.required) continue;
        EXPECT_NE(message->find(member.field->tag), nullptr) << value(member.field->tag);
      }
    }
    EXPECT_EQ(d.repairs().count(RepairKind::session_messages), missing == 0 ? 0U : 1U);
    EXPECT_EQ(d.repairs().total(), alone.repairs().total() + (missing == 0 ? 0 : 1));
    EXPECT_NE(d.find_message("D"), nullptr);
  }
}

TEST(Repair, shipped_dictionaries_and_those_of_applications_need_no_session_messages) {
  for (const FixVersion& each : fix_versions) {
    if (each.file.empty()) continue;
    SCOPED_TRACE(each.file);
    DictionaryFiles files{.transport = {}, .application = std::string{each.file}, .overlays = {}};
    files.for_session = true;
    EXPECT_TRUE(load_dictionary(files).repairs().empty());
  }
}

// The fields of a file stay what they are: a number of the standard may have another name there, and a name another
// number.
TEST(Repair, session_messages_use_the_names_and_numbers_of_the_file) {
  DictionaryModel model = read_dictionary(R"(<fix type="FIX" major="4" minor="4">
  <messages><message name="Order" msgtype="D" msgcat="app"><field name="HeartBtInt" required="Y"/></message></messages>
  <fields>
    <field number="9001" name="HeartBtInt" type="STRING"/>
    <field number="98" name="Cipher" type="INT"/>
  </fields>
</fix>)",
                                          "order.xml");
  add_session_messages(model, load_model("FIX44.xml"), "FIX44.xml");
  const Dictionary d = Dictionary::build(model);
  ASSERT_NE(d.find_message("A"), nullptr);
  EXPECT_NE(d.find_message("A")->find(Tag::HeartBtInt), nullptr);
  EXPECT_EQ(d.find_field(Tag::EncryptMethod)->name, "Cipher");
  EXPECT_EQ(d.find_field(Tag{9001})->name, "HeartBtInt");
  EXPECT_EQ(d.find_field(Tag::HeartBtInt)->name, "HeartBtInt_108");
  EXPECT_NE(d.find_message("D")->find(Tag{9001}), nullptr);
  EXPECT_NE(d.find_message("D")->find(Tag::SenderCompID), nullptr) << "with the shipped header";
}

}  // namespace
}  // namespace nfx
