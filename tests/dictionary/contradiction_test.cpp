// Dictionaries with contradictions or above the bounds: refused, with the places that contradict each other.
#include "dictionary/support.hpp"
#include "nexusfix/dictionary/model.hpp"

namespace nfx {
namespace {

struct Parts {
  std::string body = R"(<field name="Symbol" required="Y"/>)";
  std::string components{};
  std::string fields{};
  std::string messages{};
};

// Line 1 is the root, 3 the message, 4 its body, 6 the components, 7 the given fields, 8 the first standard one.
std::string xml(const Parts& parts) {
  return "<fix type=\"FIX\" major=\"4\" minor=\"4\">\n<header/>\n<messages><message name=\"Order\" msgtype=\"D\" "
         "msgcat=\"app\">\n" +
         parts.body + "\n</message>" + parts.messages + "</messages><trailer/>\n<components>" + parts.components +
         "</components>\n<fields>" + parts.fields + R"(
<field number="55" name="Symbol" type="STRING"/>
<field number="78" name="NoAllocs" type="NUMINGROUP"/>
<field number="79" name="AllocAccount" type="STRING"/>
<field number="95" name="RawDataLength" type="LENGTH"/>
<field number="96" name="RawData" type="DATA"/>
</fields></fix>)";
}

std::string error_of(std::string_view text) {
  try {
    static_cast<void>(Dictionary::parse(text, "my.xml"));
  } catch (const DictionaryError& error) {
    return error.what();
  }
  return "no error";
}
std::string error_of(const Parts& parts) { return error_of(xml(parts)); }

constexpr std::string_view allocs =
    R"(<group name="NoAllocs" required="N"><field name="AllocAccount" required="N"/></group>)";

TEST(Contradiction, a_message_has_one_name_only_once) {
  EXPECT_EQ(error_of({.messages = R"(<message name="Order" msgtype="E" msgcat="app"/>)"}),
            "my.xml:5: message Order is defined twice (my.xml:3); rename or remove one");
}

TEST(Contradiction, a_count_is_not_a_plain_field_of_the_same_scope) {
  EXPECT_EQ(error_of({.body = R"(<field name="NoAllocs" required="N"/>)"
                              "\n" +
                              std::string(allocs)}),
            "my.xml:5: message Order has NoAllocs as a group, and as a field elsewhere (my.xml:4); keep one of them");
  EXPECT_EQ(error_of({.body = R"(<component name="A" required="N"/><field name="NoAllocs" required="N"/>)",
                      .components = R"(<component name="A">)" + std::string(allocs) + "</component>"}),
            "my.xml:4: message Order has NoAllocs as a field, and as a group elsewhere (my.xml:6); keep one of them");
}

TEST(Contradiction, a_group_has_the_same_members_wherever_a_scope_has_it) {
  EXPECT_EQ(error_of({.body = std::string(allocs) + std::string(allocs)}), "no error");
  EXPECT_EQ(error_of({.body = std::string(allocs) +
                              R"(<group name="NoAllocs" required="N"><field name="Symbol" required="N"/></group>)"}),
            "my.xml:4: message Order has the group NoAllocs with other members elsewhere (my.xml:4); keep one of them");
}

TEST(Contradiction, a_group_does_not_hold_its_own_count) {
  EXPECT_EQ(error_of({.body = R"(<group name="NoAllocs" required="N"><field name="AllocAccount" required="N"/>
<field name="NoAllocs" required="N"/></group>)"}),
            "my.xml:5: group NoAllocs (my.xml:4) holds the field that counts it; remove that from its entry");
  const std::string outer = R"(<group name="NoOuter" required="N"><field name="Symbol" required="N"/>
<group name="NoAllocs" required="N"><field name="AllocAccount" required="N"/><field name="NoOuter" required="N"/></group>
</group>)";
  EXPECT_EQ(error_of({.body = outer, .fields = R"(<field number="1" name="NoOuter" type="INT"/>)"}),
            "my.xml:5: group NoOuter (my.xml:4) holds the field that counts it; remove that from its entry");
}

TEST(Contradiction, a_count_is_a_number) {
  EXPECT_EQ(
      error_of({.body = R"(<group name="Symbol" required="N"><field name="AllocAccount" required="N"/></group>)"}),
      "my.xml:4: group Symbol is counted by a field of the type STRING (my.xml:8); give that the type NUMINGROUP");
}

TEST(Contradiction, data_follows_its_length) {
  EXPECT_EQ(error_of({.body = R"(<field name="RawDataLength" required="N"/><field name="RawData" required="N"/>)"}),
            "no error");
  EXPECT_EQ(error_of({.body = R"(<field name="Symbol" required="N"/>
<field name="RawData" required="N"/>)"}),
            "my.xml:5: message Order has the data field RawData after Symbol (my.xml:4), which is not a length; put "
            "its LENGTH field before it");
  EXPECT_EQ(error_of({.body = R"(<group name="NoAllocs" required="N"><field name="RawData" required="N"/></group>)"}),
            "my.xml:4: group NoAllocs has the data field RawData after nothing, which is not a length; put its LENGTH "
            "field before it");
}

TEST(Contradiction, a_component_that_nothing_uses_still_names_what_there_is) {
  EXPECT_EQ(error_of({.components = R"(<component name="A"><field name="Symbl" required="N"/></component>)"}),
            "my.xml:6: component A names the field Symbl, which <fields> does not define; did you mean Symbol?");
}

TEST(HostileXml, no_doctype_is_accepted_so_that_no_entity_is_expanded) {
  const std::string bomb = R"(<?xml version="1.0"?>
<!DOCTYPE fix [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>
<fix type="FIX" major="4" minor="&b;"/>)";
  EXPECT_EQ(error_of(bomb), "my.xml:2: a DOCTYPE is not accepted, nor the entities it may define; remove it");
  EXPECT_EQ(error_of("<!DOCTYPE fix SYSTEM \"file:///etc/passwd\">\n<fix/>"),
            "my.xml:1: a DOCTYPE is not accepted, nor the entities it may define; remove it");
}

TEST(HostileXml, elements_are_nested_to_a_bound) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<group>";
  EXPECT_TRUE(error_of(deep).starts_with("my.xml:1: ")) << "not closed";
  for (int i = 0; i < 100'000; ++i) deep += "</group>";
  EXPECT_EQ(error_of("<fix>\n" + deep + "</fix>"), "my.xml:2: elements are nested more than 64 deep; nest fewer");
}

TEST(HostileXml, small_files_do_not_become_large_trees) {
  std::string many = "<fix>";
  for (std::size_t i = 0; i <= max_dictionary_elements; ++i) many += "<a/>";
  EXPECT_EQ(error_of(many), "my.xml:1: more than 4000000 elements and attributes; give a dictionary");
}

TEST(HostileXml, texts_beyond_the_bound_are_refused) {
  EXPECT_EQ(error_of(std::string(max_dictionary_size + 1, ' ')),
            "my.xml:1: the file is larger than 64 MiB; give a dictionary");
}

TEST(HostileXml, the_number_of_problems_gathered_has_a_bound) {
  std::string fields;
  for (int i = 0; i < 10'000; ++i) fields += "<field number=\"x\" name=\"A\" type=\"INT\"/>\n";
  std::vector<std::string> problems;
  static_cast<void>(read_dictionary(xml({.fields = fields}), "my.xml", &problems));
  EXPECT_EQ(problems.size(), max_dictionary_problems);
}

}  // namespace
}  // namespace nfx
