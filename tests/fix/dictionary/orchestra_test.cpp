// Dictionaries from FIX Orchestra repositories.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "dictionary/model_overlay.hpp"
#include "dictionary/support.hpp"

namespace nfx {
namespace {

std::string file_text() {
  std::ifstream in(NFX_SOURCE_DIR "/tests/fix/dictionary/data/orchestra.xml", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// The file with one of its texts replaced.
std::string with(std::string_view from, std::string_view to) {
  std::string text = file_text();
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string outcome_of(std::string_view text) {
  return dictionary_test::outcome_of([&] { return Dictionary::parse(text, "o.xml"); });
}

TEST(Orchestra, gives_fields_their_types_and_values) {
  const Dictionary d = Dictionary::parse(file_text(), "o.xml");
  EXPECT_EQ(d.find_field(Tag{54})->type, FieldType::character);
  EXPECT_EQ(d.value_name(Tag{54}, "1"), "Buy");
  EXPECT_FALSE(d.find_field(Tag{54})->values.contains("B")) << "that is another scenario's";
  EXPECT_FALSE(d.find_field(Tag{54})->open);
  EXPECT_TRUE(d.find_field(Tag{103})->open) << "parties agree on further values";
  EXPECT_EQ(d.find_field(Tag{80})->type, FieldType::integer) << "by way of the types it is based on";
  EXPECT_EQ(d.find_field(Tag{5000})->type, FieldType::string);
}

TEST(Orchestra, gives_messages_header_trailer_components_and_groups) {
  const Dictionary d = Dictionary::parse(file_text(), "o.xml");
  EXPECT_EQ(d.begin_string(), "FIX.4.4");
  EXPECT_EQ(d.messages().size(), 2u);
  EXPECT_TRUE(d.find_message("0")->admin);
  const MessageDef* order = d.find_message("D");
  EXPECT_FALSE(order->admin);
  EXPECT_EQ(order->find(Tag{34})->section, Section::header);
  EXPECT_EQ(order->find(Tag{10})->section, Section::trailer);
  EXPECT_TRUE(order->find(Tag{55})->required);
  EXPECT_FALSE(order->find(Tag{5000})->required);
  EXPECT_FALSE(order->find(Tag{78})->required);
  EXPECT_EQ(order->find(Tag{5001}), nullptr) << "forbidden, and required in another scenario only";
  const GroupDef* allocs = order->find_group(Tag{78});
  ASSERT_NE(allocs, nullptr);
  EXPECT_TRUE(allocs->find(Tag{79})->required);
  EXPECT_FALSE(allocs->find(Tag{80})->required);
}

TEST(Orchestra, a_char_of_fix_40_and_41_is_any_text) {
  for (const std::string version : {"FIX.4.0", "FIX.4.1"}) {
    const DictionaryModel model = read_dictionary(with("version=\"FIX.4.4\"", "version=\"" + version + "\""), "o.xml");
    EXPECT_EQ(model.find_field(Tag{54})->type, FieldType::string);
    EXPECT_EQ(to_xml(read_dictionary(to_xml(model), "q.xml")), to_xml(model)) << "as in QuickFIX's format";
  }
}

TEST(Orchestra, messages_of_fix_5_and_latest_travel_over_fixt) {
  for (const std::string version : {"FIX.5.0SP2", "FIX.Latest_EP269"}) {
    const Dictionary d = Dictionary::parse(with("version=\"FIX.4.4\"", "version=\"" + version + "\""), "o.xml");
    EXPECT_EQ(d.begin_string(), "FIXT.1.1");
    EXPECT_EQ(d.version_name(), "FIX.5.0SP2");
  }
}

TEST(Orchestra, says_where_something_is_wrong) {
  EXPECT_EQ(
      outcome_of(with("version=\"FIX.4.4\"", "version=\"1.0\"")),
      "refused: o.xml:2: version '1.0' is the file's own; give the FIX version, such as --fix-version FIX.4.4, or "
      "give the file as an overlay");
  EXPECT_EQ(outcome_of(with("<x:numInGroup id=\"78\"/>", "")),
            "repaired: o.xml:55: group AllocGrp has no count, and is ignored; write <numInGroup id=\"...\"/>");
  EXPECT_EQ(outcome_of(with("<x:fieldRef id=\"103\"/>", "<x:fieldRef id=\"104\"/>")),
            "repaired: o.xml:71: message Order refers to '104' with <x:fieldRef>, which is ignored because nothing "
            "defines it; "
            "define it");
  EXPECT_EQ(outcome_of(with("type=\"Tenor\"", "type=\"Tenner\"")),
            "repaired: o.xml:36: field Term has the unknown type 'Tenner', read as STRING; define it in <datatypes>");
  const Dictionary twice = Dictionary::parse(with("id=\"5001\" name=\"Gone\"", "id=\"5000\" name=\"Gone\""), "o.xml");
  EXPECT_EQ(twice.repairs().count(RepairKind::duplicate_number), 1u);
  EXPECT_EQ(outcome_of("<repository version=\"FIX.4.4\"/>"),
            "refused: o.xml:1: there is no <message> in <messages>; add those to be exchanged, or give the file as an "
            "overlay");
}

TEST(Orchestra, a_file_with_a_version_of_its_own_is_read_for_the_version_given_named_or_added_last) {
  const auto version_of = [](const std::string& text, const std::string& given) {
    const auto file = std::filesystem::path(testing::TempDir()) / "nfx_orchestra_version.xml";
    std::ofstream(file) << text;
    const Dictionary d =
        load_dictionary(DictionaryFiles{.transport = {}, .application = file, .overlays = {}, .version = given});
    std::filesystem::remove(file);
    return std::string(d.version_name()) + (d.repairs().count(RepairKind::version_taken) == 0 ? "" : ", noted");
  };
  const std::string own = with("version=\"FIX.4.4\"", "version=\"1.0\"");
  EXPECT_EQ(version_of(own, "FIX.4.2"), "FIX.4.2");
  EXPECT_EQ(version_of(own, "FIX.5.0SP2"), "FIX.5.0SP2");
  EXPECT_EQ(version_of(with("name=\"Example\" version=\"FIX.4.4\"", "name=\"FIX.4.3\" version=\"1.0\""), ""),
            "FIX.4.3, noted");
  std::string added = own;
  added.insert(added.find("<x:field ") + 9, "added=\"FIX.4.2\" ");
  EXPECT_EQ(version_of(added, ""), "FIX.4.2, noted");
}

TEST(Orchestra, a_code_list_without_messages_is_an_overlay) {
  const OverlayModel overlay = read_overlay(R"(<fixr:repository xmlns:fixr="x" name="Codes" version="1.0">
<fixr:codeSets><fixr:codeSet name="SideCodeSet" id="10006" type="char"><fixr:code name="Odd" value="Z"/></fixr:codeSet>
<fixr:codeSet name="FlagSet" id="2" type="int"><fixr:code name="On" value="1"/></fixr:codeSet></fixr:codeSets>
<fixr:fields><fixr:field id="9730" name="VenueFlag" codeSet="FlagSet"/></fixr:fields></fixr:repository>)",
                                            "codes.xml");
  const Dictionary d = Dictionary::build(apply_overlay(load_model(NFX_SOURCE_DIR "/dictionaries/FIX44.xml"), overlay));
  EXPECT_EQ(d.value_name(Tag{54}, "Z"), "Odd");
  EXPECT_EQ(d.value_name(Tag{54}, "1"), "BUY") << "the base's remain";
  EXPECT_EQ(d.find_field(Tag{9730})->type, FieldType::integer);
  EXPECT_EQ(d.value_name(Tag{9730}, "1"), "On");
}

TEST(Orchestra, conditions_and_scenarios_are_kept) {
  const DictionaryModel model = read_dictionary(
      with(
          "<x:fieldRef id=\"103\"/>",
          R"(<x:fieldRef id="103" presence="conditional"><x:rule name="r" presence="required"><x:when>Side == ^Sell</x:when>
</x:rule></x:fieldRef>)"),
      "o.xml");
  const auto text_of = [&](std::string_view where) {
    const auto at = std::ranges::find(model.rules, where, &ModelRule::where);
    return at == model.rules.end() ? std::string("none") : at->text;
  };
  const std::string name(model.find_field(Tag{103})->name);
  EXPECT_EQ(text_of("message Order, field " + name), "required when Side == ^Sell");
  EXPECT_TRUE(std::ranges::any_of(model.rules, [](const ModelRule& rule) {
    return rule.where.starts_with("codeSet ") && rule.text.starts_with("has the scenario ");
  }));
}

TEST(Orchestra, types_based_on_each_other_end) {
  EXPECT_NE(outcome_of(
                with("<x:datatype name=\"Count\" baseType=\"int\"/>", "<x:datatype name=\"Count\" baseType=\"Lots\"/>"))
                .find("unknown type"),
            std::string::npos);
}

}  // namespace
}  // namespace nfx
