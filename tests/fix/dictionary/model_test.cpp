// Dictionary models: read, combined, written and read again.
#include "nexusfix/dictionary/model.hpp"

#include "dictionary/support.hpp"

namespace nfx {
namespace {

constexpr std::string_view transport_xml = R"(<fix type="FIXT" major="1" minor="1">
<header><field name="BeginString" required="Y"/><component name="Hops" required="N"/></header>
<messages><message name="Logon" msgtype="A" msgcat="admin"><field name="EncryptMethod" required="Y"/></message></messages>
<trailer><field name="CheckSum" required="Y"/></trailer>
<components><component name="Hops"><field name="Hop" required="Y"/></component></components>
<fields>
<field number="8" name="BeginString" type="STRING"/>
<field number="10" name="CheckSum" type="STRING"/>
<field number="98" name="EncryptMethod" type="INT"><value enum="0" description="NONE"/></field>
<field number="628" name="Hop" type="STRING"/>
</fields></fix>)";

// Line 1 is the root, 3 the message, 6 where the fields begin.
std::string application_xml(std::string_view fields, std::string_view message = "", std::string_view components = "") {
  return R"(<fix type="FIX" major="5" minor="0" servicepack="2">
<header/>
<messages><message name="Order" msgtype="D" msgcat="app"><field name="Symbol" required="Y"/></message>)" +
         std::string(message) + "</messages>\n<trailer/>\n<components>" + std::string(components) +
         "</components><fields>\n<field number=\"55\" name=\"Symbol\" type=\"STRING\"/>\n" + std::string(fields) +
         "</fields></fix>";
}

DictionaryModel both(std::string_view fields, std::string_view message = "", std::string_view components = "") {
  return combine(read_dictionary(transport_xml, "T.xml"),
                 read_dictionary(application_xml(fields, message, components), "A.xml"));
}

std::string outcome_of(std::string_view fields, std::string_view message = "") {
  return dictionary_test::outcome_of([&] { return Dictionary::build(both(fields, message)); });
}

TEST(DictionaryModel, knows_the_place_of_everything) {
  const DictionaryModel model = read_dictionary(transport_xml, "T.xml");
  EXPECT_EQ(to_string(model.header[1].place), "T.xml:2");
  EXPECT_EQ(to_string(model.find_message("Logon")->place), "T.xml:3");
  EXPECT_EQ(to_string(model.find_component("Hops")->members[0].place), "T.xml:5");
  EXPECT_EQ(to_string(model.find_field(Tag{98})->values[0].place), "T.xml:9");
}

TEST(DictionaryModel, names_its_version) {
  EXPECT_EQ(read_dictionary(application_xml(""), "A.xml").version.name(), "FIX.5.0SP2");
  EXPECT_EQ(read_dictionary(application_xml(""), "A.xml").version.begin_string(), "FIX.5.0");
  EXPECT_EQ(parse_version("FIX.5.0SP2"), (ModelVersion{"FIX", "5", "0", "2"}));
  EXPECT_EQ(parse_version("FIXT.1.1"), (ModelVersion{"FIXT", "1", "1", "0"}));
  for (const std::string_view none : {"", "FIX", "FIX.5", "FIX.5.", "FIX..0", ".5.0", "FIX.5.0SP"}) {
    EXPECT_EQ(parse_version(none), std::nullopt) << none;
  }
}

TEST(DictionaryModel, joins_the_transports_session_with_the_applications_messages) {
  const Dictionary d = Dictionary::build(both(""));
  EXPECT_EQ(d.begin_string(), "FIXT.1.1");
  EXPECT_EQ(d.version_name(), "FIX.5.0SP2");
  EXPECT_EQ(d.appl_ver_id(), "9");
  ASSERT_NE(d.find_message("D"), nullptr);
  EXPECT_NE(d.find_message("D")->find(Tag{55}), nullptr);
  EXPECT_NE(d.find_message("D")->find(Tag{628}), nullptr) << "the transport's header";
  EXPECT_TRUE(d.find_message("A")->admin);
}

TEST(DictionaryModel, leaves_out_the_applications_own_session_messages) {
  const Dictionary d = Dictionary::build(both("", R"(<message name="Logon" msgtype="A" msgcat="admin">
      <field name="Symbol" required="Y"/></message>)"));
  EXPECT_EQ(d.find_message("A")->find(Tag{55}), nullptr);
}

TEST(DictionaryModel, unites_the_values_of_a_field_that_both_define) {
  const DictionaryModel model = both(R"(<field number="98" name="EncryptMethod" type="INT">
      <value enum="0" description="NO"/><value enum="7" description="NEW"/></field>)");
  const ModelField* method = model.find_field(Tag{98});
  ASSERT_EQ(method->values.size(), 2u);
  EXPECT_EQ(method->values[0].name, "NONE");
  EXPECT_EQ(method->values[1].value, "7");
}

TEST(DictionaryModel, joins_what_contradicts_and_names_both_places) {
  EXPECT_EQ(outcome_of(R"(<field number="98" name="Method" type="INT"/>)"),
            "repaired: A.xml:7: field number 98 already belongs to EncryptMethod (T.xml:9), which counts; give Method "
            "its own number");
  EXPECT_EQ(outcome_of(R"(<field number="98" name="EncryptMethod" type="UTCTIMESTAMP"/>)"),
            "repaired: A.xml:7: field EncryptMethod has the type UTCTIMESTAMP here and INT in the transport (T.xml:9), "
            "and is read as STRING; give dictionaries that belong together");
  EXPECT_EQ(outcome_of(R"(<field number="99" name="EncryptMethod" type="INT"/>)"),
            "repaired: A.xml:7: field EncryptMethod has the number 99 here and 98 in the transport (T.xml:9), and is "
            "called EncryptMethod_99; give dictionaries that belong together");
  EXPECT_EQ(
      outcome_of("", R"(<message name="Other" msgtype="A" msgcat="app"/>)"),
      "repaired: A.xml:3: message type 'A' is Other here and Logon in the transport (T.xml:3), which counts; give "
      "dictionaries that belong together");
}

TEST(DictionaryModel, one_name_of_two_numbers_means_each_models_own) {
  const Dictionary d = Dictionary::build(both(R"(<field number="99" name="EncryptMethod" type="INT"/>)",
                                              R"(<message name="M" msgtype="M" msgcat="app">
      <field name="EncryptMethod" required="Y"/></message>)"));
  EXPECT_NE(d.find_message("M")->find(Tag{99}), nullptr);
  EXPECT_EQ(d.find_message("M")->find(Tag{98}), nullptr);
  EXPECT_NE(d.find_message("A")->find(Tag{98}), nullptr);
}

TEST(DictionaryModel, a_file_without_a_service_pack_fits_any) {
  std::string xml = application_xml("");
  xml.replace(xml.find(" servicepack=\"2\""), 16, "");
  for (const std::string_view version : {"FIX.5.0", "FIX.5.0SP1", "FIX.5.0SP2"}) {
    DictionaryModel model = read_dictionary(xml, "A.xml");
    take_version(model, version);
    EXPECT_EQ(model.version.name(), version);
    EXPECT_TRUE(model.repairs.empty());
  }
  DictionaryModel other = read_dictionary(application_xml(""), "A.xml");
  take_version(other, "FIX.5.0SP1");
  EXPECT_EQ(other.version.name(), "FIX.5.0SP1");
  EXPECT_EQ(other.repairs.count(RepairKind::service_pack), 1u);
  take_version(other, "FIX.4.4");
  EXPECT_EQ(other.version.name(), "FIX.5.0SP1") << "another version stays";
}

TEST(DictionaryModel, keeps_what_each_side_means_by_a_component_of_the_same_name) {
  const Dictionary d =
      Dictionary::build(both("", R"(<message name="Quote" msgtype="S" msgcat="app">
      <component name="Hops" required="Y"/></message>)",
                             R"(<component name="Hops"><field name="Symbol" required="Y"/></component>)"));
  EXPECT_NE(d.find_message("A")->find(Tag{628}), nullptr);
  EXPECT_FALSE(d.find_message("A")->find(Tag{628})->required) << "the reference is not required";
  EXPECT_EQ(d.find_message("A")->find(Tag{55}), nullptr);
  EXPECT_TRUE(d.find_message("S")->find(Tag{55})->required);
}

TEST(DictionaryModel, is_written_so_that_it_reads_back_the_same) {
  for (const std::string file : {"FIX40", "FIX42", "FIX44", "FIX50SP2", "FIXT11"}) {
    const DictionaryModel model = load_model(NFX_SOURCE_DIR "/dictionaries/" + file + ".xml");
    const std::string xml = to_xml(model);
    const DictionaryModel again = read_dictionary(xml, "again.xml");
    EXPECT_TRUE(to_xml(again) == xml) << file;
    EXPECT_EQ(again.fields.size(), model.fields.size());
    for (const ModelMessage& message : model.messages) {
      ASSERT_NE(again.find_message(message.name), nullptr);
      EXPECT_TRUE(same_members(again.find_message(message.name)->members, message.members)) << message.name;
    }
  }
  const DictionaryModel again = read_dictionary(to_xml(both("")), "again.xml");
  ASSERT_TRUE(again.application.has_value());
  EXPECT_EQ(again.application->name(), "FIX.5.0SP2");
}

TEST(DictionaryModel, writes_what_xml_reserves_as_references) {
  const DictionaryModel model = both(R"(<field number="1" name="Account" type="STRING">
      <value enum="&lt;&amp;&quot;" description="A>B"/></field>)");
  const DictionaryModel again = read_dictionary(to_xml(model), "again.xml");
  EXPECT_EQ(again.find_field(Tag{1})->values[0].value, "<&\"");
  EXPECT_EQ(again.find_field(Tag{1})->values[0].name, "A>B");
}

TEST(DictionaryModel, keeps_all_repairs_in_order) {
  const std::string xml = application_xml(
      R"(<field number="x" name="A" type="INT"/>
<field number="2" name="B" type="INTEGER"/>
<field number="55" name="C" type="INT"/>
)",
      R"(<message name="M" msgtype="M" msgcat="app"><field name="Nope" required="N"/><field name="Symbol"/></message>)");
  const DictionaryModel model = read_dictionary(xml, "A.xml");
  Repairs repairs;
  EXPECT_TRUE(find_problems(model, &repairs).empty());
  EXPECT_EQ(
      repairs.lines(),
      (std::vector<std::string>{
          "A.xml:7: field A has the number 'x', and is ignored; write a number above zero",
          "A.xml:8: field B has the unknown type 'INTEGER', read as STRING; write a FIX type such as STRING, INT or "
          "UTCTIMESTAMP",
          "A.xml:3: <field> has no required, read as N; write required=\"Y\" or \"N\"",
          "A.xml:9: field number 55 already belongs to Symbol (A.xml:6), which counts; give C its own number",
          "A.xml:3: message M names the field Nope, which is ignored because <fields> does not define it; define it "
          "there"}));
}

}  // namespace
}  // namespace nfx
