// Overlays: a counterparty's changes applied to a dictionary.
#include <filesystem>
#include <fstream>

#include "dictionary/model_overlay.hpp"
#include "dictionary/support.hpp"

namespace nfx {
namespace {

using dictionary_test::fix44;
using dictionary_test::validate_body;
using Reason = SessionRejectReason;

const DictionaryModel& base() {
  static const DictionaryModel model = load_model(NFX_SOURCE_DIR "/dictionaries/FIX44.xml");
  return model;
}

DictionaryModel changed(std::string_view overlay) { return apply_overlay(base(), read_overlay(overlay, "o.xml")); }
Dictionary built(std::string_view overlay) { return Dictionary::build(changed(overlay)); }

std::string outcome_of(std::string_view overlay) {
  return dictionary_test::outcome_of([&] { return built(overlay); });
}

constexpr std::string_view order =
    "11=a|453=2|448=x|447=D|452=1|448=y|447=D|452=3|55=S|54=1|60=20240102-03:04:05|38=1|40=1|";

TEST(Overlay, adds_fields_to_a_message_and_nothing_to_others) {
  const Dictionary d = built(R"(<overlay><fields><field number="9730" name="VenueFlag" type="INT"/></fields>
      <messages><message name="NewOrderSingle"><field name="VenueFlag"/></message></messages></overlay>)");
  EXPECT_EQ(validate_body(d, "D", std::string(order) + "9730=7|"), std::nullopt);
  EXPECT_EQ(validate_body(d, "D", std::string(order) + "9730=x|"),
            dictionary_test::violation(Reason::incorrect_data_format, 9730));
  EXPECT_EQ(d.find_message("G")->find(Tag{9730}), nullptr);
  EXPECT_EQ(fix44().find_field(Tag{9730}), nullptr);
}

TEST(Overlay, puts_a_member_where_requested_inside_a_group_that_a_component_brings) {
  const Dictionary d = built(R"(<overlay><fields><field number="9730" name="VenueFlag" type="INT"/></fields>
      <messages><message name="NewOrderSingle"><group name="NoPartyIDs">
        <field name="VenueFlag" required="N" after="PartyID"/></group></message></messages></overlay>)");
  const GroupDef* parties = d.find_message("D")->find_group(Tag{453});
  EXPECT_EQ(parties->scope.position(Tag{9730}), 1);
  EXPECT_EQ(d.find_message("G")->find_group(Tag{453})->find(Tag{9730}), nullptr) << "the component is as it was";
  EXPECT_EQ(
      validate_body(d, "D", "11=a|453=2|448=x|9730=1|447=D|448=y|9730=2|55=S|54=1|60=20240102-03:04:05|38=1|40=1|"),
      std::nullopt);
}

TEST(Overlay, adds_a_member_to_a_component_for_all_who_use_it) {
  const Dictionary d = built(R"(<overlay><fields><field number="9730" name="VenueFlag" type="INT"/></fields>
      <components><component name="Instrument"><field name="VenueFlag" required="N"/></component></components>
      </overlay>)");
  EXPECT_NE(d.find_message("D")->find(Tag{9730}), nullptr);
  EXPECT_NE(d.find_message("8")->find(Tag{9730}), nullptr);
}

TEST(Overlay, relaxes_and_removes_what_components_bring_for_one_message_alone) {
  const Dictionary d = built(R"(<overlay><messages><message name="ExecutionReport">
      <field name="AvgPx" required="N"/><field name="Symbol" remove="Y"/></message></messages></overlay>)");
  EXPECT_TRUE(fix44().find_message("8")->find(Tag{6})->required);
  EXPECT_FALSE(d.find_message("8")->find(Tag{6})->required);
  EXPECT_EQ(d.find_message("8")->find(Tag{55}), nullptr);
  EXPECT_NE(d.find_message("8")->find(Tag{48}), nullptr) << "the rest of the component is there";
  EXPECT_NE(d.find_message("D")->find(Tag{55}), nullptr);
}

TEST(Overlay, adds_values_renames_and_removes_them_and_opens_a_list) {
  const Dictionary d = built(R"(<overlay><fields>
      <field number="54"><value enum="Z" description="ODD"/><value enum="1" description="BID"/><value enum="9" remove="Y"/></field>
      <field name="OrdType" allowOtherValues="Y"/></fields></overlay>)");
  EXPECT_EQ(d.value_name(Tag{54}, "Z"), "ODD");
  EXPECT_EQ(d.value_name(Tag{54}, "1"), "BID");
  EXPECT_EQ(d.value_name(Tag{54}, "2"), "SELL");
  EXPECT_FALSE(d.find_field(Tag{54})->values.contains("9"));
  EXPECT_TRUE(d.find_field(Tag{40})->open);
}

TEST(Overlay, changes_the_type_of_a_field) {
  EXPECT_EQ(
      built(R"(<overlay><fields><field number="44" type="STRING"/></fields></overlay>)").find_field(Tag{44})->type,
      FieldType::string);
}

TEST(Overlay, gives_a_field_of_fix_40_any_text_where_it_writes_char) {
  const DictionaryModel first = load_model(NFX_SOURCE_DIR "/dictionaries/FIX40.xml");
  const OverlayModel overlay =
      read_overlay(R"(<overlay><fields><field number="44" type="CHAR"/></fields></overlay>)", "o.xml");
  EXPECT_EQ(apply_overlay(first, overlay).find_field(Tag{44})->type, FieldType::string);
}

TEST(Overlay, adds_and_removes_whole_messages_fields_and_header_members) {
  const Dictionary d = built(R"(<overlay><fields><field number="9730" name="VenueFlag" type="INT"/></fields>
      <header><field name="VenueFlag"/></header><messages>
      <message name="Ping" msgtype="U1" msgcat="app"><field name="Text" required="Y"/></message>
      <message name="Email" remove="Y"/></messages></overlay>)");
  ASSERT_NE(d.find_message("U1"), nullptr);
  EXPECT_TRUE(d.find_message("U1")->find(Tag{58})->required);
  EXPECT_EQ(d.find_message("C"), nullptr);
  EXPECT_EQ(d.find_message("0")->find(Tag{9730})->section, Section::header);
}

TEST(Overlay, reports_what_the_base_does_not_have) {
  const auto message = [](std::string_view body) {
    return "<overlay><messages>\n<message name=\"News\">" + std::string(body) + "</message></messages></overlay>";
  };
  EXPECT_EQ(outcome_of(message(R"(<field name="Price" remove="Y"/>)")),
            "repaired: o.xml:2: message News has no field Price to be removed; remove this element");
  EXPECT_EQ(outcome_of(message(R"(<field name="Price" after="Side"/>)")),
            "refused: o.xml:2: message News has no Side for Price to be inserted after; name one of its members");
  EXPECT_EQ(outcome_of(message(R"(<field name="Priec"/>)")),
            "repaired: o.xml:2: message News names the field Priec, which is ignored because <fields> does not define "
            "it; did "
            "you mean Price?");
  EXPECT_TRUE(outcome_of(message(R"(<field name="NoLinesOfText"/>)"))
                  .starts_with("refused: o.xml:2: message News has NoLinesOfText as a group in the base ("))
      << outcome_of(message(R"(<field name="NoLinesOfText"/>)"));
  EXPECT_EQ(outcome_of(R"(<overlay><messages><message name="Newz"/></messages></overlay>)"),
            "refused: o.xml:1: message Newz is not in the base; did you mean News?");
  EXPECT_EQ(outcome_of(R"(<overlay><messages><message name="VenueStatus"/></messages></overlay>)"),
            "refused: o.xml:1: message VenueStatus is not in the base; give it a msgtype to add it");
  EXPECT_EQ(outcome_of(R"(<overlay><fields><field number="9730" type="INT"/></fields></overlay>)"),
            "refused: o.xml:1: field 9730 is not in the base; give it a number, a name and a type to add it");
  EXPECT_EQ(outcome_of(R"(<overlay><fields><field number="9730" remove="Y"/></fields></overlay>)"),
            "repaired: o.xml:1: field 9730 is to be removed, but the base does not have it; remove this element");
  EXPECT_TRUE(outcome_of(R"(<overlay><fields><field number="54" name="Seite"/></fields></overlay>)")
                  .starts_with("repaired: o.xml:1: field number 54 already belongs to Side ("));
  EXPECT_TRUE(
      outcome_of(R"(<overlay><fields><field number="54"><value enum="ZZ" remove="Y"/></field></fields></overlay>)")
          .starts_with("repaired: o.xml:1: field Side has no value 'ZZ' to be removed ("));
  EXPECT_TRUE(outcome_of(R"(<overlay><messages><message name="News" msgtype="ZZ"/></messages></overlay>)")
                  .starts_with("refused: o.xml:1: message News has the type 'ZZ' here and 'B' in the base ("));
  EXPECT_EQ(outcome_of(R"(<overlay><components><component name="Nope" remove="Y"/></components></overlay>)"),
            "repaired: o.xml:1: component Nope is to be removed, but the base does not have it; remove this element");
}

TEST(Overlay, ignores_elements_it_does_not_know) {
  EXPECT_EQ(outcome_of("<overlay><field/></overlay>"),
            "repaired: o.xml:1: the overlay holds <field>, which is ignored; write fields, messages, components, "
            "header or trailer");
  EXPECT_EQ(outcome_of("<overlay><fields><message/></fields></overlay>"),
            "repaired: o.xml:1: <fields> holds <message>, which is ignored; write field");
  EXPECT_EQ(outcome_of("<overlay><fields><field/></fields></overlay>"),
            "repaired: o.xml:1: <field> has neither number nor name, and is ignored; write one of them");
  EXPECT_EQ(outcome_of(R"(<overlay><fields><field number="54" remove="maybe"/></fields></overlay>)"),
            "repaired: o.xml:1: remove is 'maybe', read as N; write Y or N");
  EXPECT_TRUE(outcome_of("<fix/>").starts_with("refused: o.xml:1: the root element is <fix>; write <overlay"));
}

TEST(Overlay, is_written_so_that_it_reads_back_the_same) {
  const OverlayModel overlay = read_overlay(R"(<overlay base="FIX44.xml" transport="T.xml" name="V&amp;W">
      <fields><field number="9730" name="VenueFlag" type="INT" allowOtherValues="Y"><value enum="1" description="ONE"/>
      <value enum="2" remove="Y"/></field><field name="Text" remove="Y"/></fields>
      <components><component name="Instrument"><field name="VenueFlag"/></component><component name="X" remove="Y"/>
      </components><header><field name="VenueFlag" after="MsgType"/></header>
      <messages><message name="News" msgtype="B" msgcat="app"><group name="LinesOfText" required="N">
      <field name="VenueFlag" required="Y" after="Text"/></group></message><message name="Email" remove="Y"/></messages>
      <trailer><field name="VenueFlag"/></trailer></overlay>)",
                                            "o.xml");
  const std::string xml = overlay_to_xml(overlay);
  EXPECT_EQ(overlay_to_xml(read_overlay(xml, "again.xml")), xml);
  for (const std::string_view part :
       {"base=\"FIX44.xml\" transport=\"T.xml\" name=\"V&amp;W\"", "<value enum=\"2\" remove=\"Y\"/>", "after=\"Text\"",
        "msgtype=\"B\"", "<component name=\"X\" remove=\"Y\"/>", "allowOtherValues=\"Y\"", "<trailer>"}) {
    EXPECT_NE(xml.find(part), std::string::npos) << part << " in " << xml;
  }
}

// Files that name each other, in a folder that is removed after the test.
class OverlayFiles : public testing::Test {
 protected:
  OverlayFiles() { std::filesystem::create_directories(folder_); }
  ~OverlayFiles() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& name, std::string_view text) {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  static std::string error_of(const std::filesystem::path& file) {
    try {
      static_cast<void>(load_dictionary(file));
    } catch (const DictionaryError& error) {
      return error.what();
    }
    return "no error";
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string("nfx_overlay_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

constexpr std::string_view flag_field = R"(<fields><field number="9730" name="VenueFlag" type="INT"/></fields>)";

TEST_F(OverlayFiles, loads_an_overlay_over_an_overlay_over_a_shipped_dictionary) {
  write("a.xml", R"(<overlay base="FIX44.xml">)" + std::string(flag_field) + "</overlay>");
  const auto b = write("b.xml", R"(<overlay base="a.xml"><messages><message name="News"><field name="VenueFlag"/>
      </message></messages></overlay>)");
  EXPECT_NE(load_dictionary(b).find_message("B")->find(Tag{9730}), nullptr);
}

TEST_F(OverlayFiles, a_bare_name_that_no_file_here_has_is_that_of_a_shipped_dictionary) {
  EXPECT_EQ(load_dictionary("FIX42.xml").begin_string(), "FIX.4.2");
  EXPECT_EQ(load_dictionary(DictionaryFiles{"FIXT11.xml", "FIX50SP2.xml", {}}).appl_ver_id(), "9");
  EXPECT_THROW(static_cast<void>(load_dictionary("FIX49.xml")), DictionaryError);
  EXPECT_THROW(static_cast<void>(load_dictionary("no_folder/FIX42.xml")), DictionaryError);
}

TEST_F(OverlayFiles, applies_overlays_to_transport_and_application_together) {
  const auto a = write("a.xml", R"(<overlay base="FIX44.xml">)" + std::string(flag_field) +
                                    R"(<messages><message name="Logon"><field name="VenueFlag"/></message>
      <message name="News"><field name="VenueFlag"/></message></messages></overlay>)");
  const std::filesystem::path shipped = NFX_SOURCE_DIR "/dictionaries";
  const Dictionary d = load_dictionary(DictionaryFiles{shipped / "FIXT11.xml", shipped / "FIX50SP2.xml", {a}});
  EXPECT_EQ(d.appl_ver_id(), "9");
  EXPECT_NE(d.find_message("A")->find(Tag{9730}), nullptr);
  EXPECT_NE(d.find_message("B")->find(Tag{9730}), nullptr);
}

TEST_F(OverlayFiles, joins_the_base_with_the_transport_that_the_overlay_names) {
  const auto a = write("a.xml", R"(<overlay base="FIX50SP2.xml" transport="FIXT11.xml">)" + std::string(flag_field) +
                                    R"(<messages><message name="Logon"><field name="VenueFlag"/></message></messages>
      </overlay>)");
  const Dictionary d = load_dictionary(a);
  EXPECT_EQ(d.begin_string(), "FIXT.1.1");
  EXPECT_NE(d.find_message("A")->find(Tag{9730}), nullptr);
  EXPECT_NE(d.find_message("D"), nullptr);
}

TEST_F(OverlayFiles, names_the_chain_when_overlays_are_each_others_bases) {
  const auto a = write("a.xml", R"(<overlay base="b.xml"/>)");
  write("b.xml", R"(<overlay base="a.xml"/>)");
  EXPECT_EQ(error_of(a), path("a.xml") + ": the overlay is its own base (" + path("a.xml") + " -> " + path("b.xml") +
                             " -> " + path("a.xml") + "); let the last one name a dictionary");
  for (int i = 0; i < 20; ++i) {
    write("c" + std::to_string(i) + ".xml", "<overlay base=\"c" + std::to_string(i + 1) + ".xml\"/>");
  }
  EXPECT_NE(error_of(path("c0.xml")).find("too many overlays are each other's bases"), std::string::npos);
}

TEST_F(OverlayFiles, reports_when_a_base_is_missing) {
  EXPECT_EQ(error_of(write("a.xml", "<overlay/>")),
            path("a.xml") + ":1: the overlay names no base; write base=\"FIX44.xml\", or give it together with one");
  EXPECT_EQ(error_of(write("a.xml", R"(<overlay base="Nope.xml"/>)")),
            path("a.xml") +
                ":1: the base 'Nope.xml' is neither in the overlay's folder nor a shipped dictionary; write its "
                "path");
  EXPECT_THROW(static_cast<void>(Dictionary::parse(R"(<overlay base="FIX44.xml"/>)", "o.xml")), DictionaryError);
}

TEST_F(OverlayFiles, refuses_empty_files_folders_and_files_beyond_the_bound_without_reading_them) {
  EXPECT_EQ(error_of(write("empty.xml", "")),
            "cannot read " + path("empty.xml") + ": it is empty; give the path of a dictionary file");
  EXPECT_NE(error_of(folder_).find("cannot read "), std::string::npos);
  const auto huge = write("huge.xml", "<fix/>");
  std::filesystem::resize_file(huge, std::uintmax_t{1} << 40);  // uses no disk space: a sparse file
  EXPECT_EQ(error_of(huge),
            "cannot read " + huge.string() + ": it is larger than 64 MiB; give the path of a dictionary file");
}

}  // namespace
}  // namespace nfx
