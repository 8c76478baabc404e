// Dictionaries from FIX Orchestra repositories.
#include <fstream>
#include <iterator>

#include "dictionary/support.hpp"

namespace nfx {
namespace {

std::string file_text() {
  std::ifstream in(NFX_SOURCE_DIR "/tests/dictionary/data/orchestra.xml", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// The file with one of its texts replaced.
std::string with(std::string_view from, std::string_view to) {
  std::string text = file_text();
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string error_of(std::string_view text) {
  try {
    static_cast<void>(Dictionary::parse(text, "o.xml"));
  } catch (const DictionaryError& error) {
    return error.what();
  }
  return "no error";
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

TEST(Orchestra, reports_where_something_is_wrong) {
  EXPECT_EQ(error_of(with("version=\"FIX.4.4\"", "version=\"new\"")),
            "o.xml:2: version is 'new'; write a version such as FIX.4.4");
  EXPECT_EQ(error_of(with("<x:numInGroup id=\"78\"/>", "")),
            "o.xml:55: group AllocGrp has no count; write <numInGroup id=\"...\"/>");
  EXPECT_EQ(error_of(with("<x:fieldRef id=\"103\"/>", "<x:fieldRef id=\"104\"/>")),
            "o.xml:71: message Order refers to '104' with <x:fieldRef>, which nothing defines; define it");
  EXPECT_EQ(error_of(with("type=\"Tenor\"", "type=\"Tenner\"")),
            "o.xml:36: field Term has the unknown type 'Tenner'; define it in <datatypes>");
  EXPECT_EQ(error_of(with("id=\"5001\" name=\"Gone\"", "id=\"5000\" name=\"Gone\"")),
            "o.xml:37: field 5000 is defined twice (o.xml:36); remove one");
  EXPECT_EQ(error_of("<repository version=\"FIX.4.4\"/>"),
            "o.xml:1: there is no <message> in <messages>; add those to be exchanged");
}

TEST(Orchestra, types_based_on_each_other_end) {
  EXPECT_NE(
      error_of(with("<x:datatype name=\"Count\" baseType=\"int\"/>", "<x:datatype name=\"Count\" baseType=\"Lots\"/>"))
          .find("unknown type"),
      std::string::npos);
}

}  // namespace
}  // namespace nfx
