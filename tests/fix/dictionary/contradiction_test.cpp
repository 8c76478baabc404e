// Dictionaries with contradictions, which are repaired and reported with the contradicting places, or above the limits,
// which are refused.
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

std::string outcome_of(std::string_view text) {
  return dictionary_test::outcome_of([&] { return Dictionary::parse(text, "my.xml"); });
}
std::string outcome_of(const Parts& parts) { return outcome_of(xml(parts)); }

constexpr std::string_view allocs =
    R"(<group name="NoAllocs" required="N"><field name="AllocAccount" required="N"/></group>)";

TEST(Contradiction, a_second_message_of_one_name_has_its_type_in_its_name) {
  EXPECT_EQ(outcome_of({.messages = R"(<message name="Order" msgtype="E" msgcat="app"/>)"}),
            "repaired: my.xml:5: message Order is defined twice, and message type 'E' is called Order_E; rename or "
            "remove one");
}

TEST(Contradiction, a_field_that_is_a_group_in_one_place_of_a_message_is_a_group) {
  EXPECT_EQ(outcome_of({.body = R"(<field name="NoAllocs" required="N"/>)"
                                "\n" +
                                std::string(allocs)}),
            "repaired: my.xml:5: message Order has NoAllocs as a group, and as a field elsewhere (my.xml:4), read as a "
            "group; "
            "keep one of them");
  EXPECT_EQ(outcome_of({.body = R"(<component name="A" required="N"/><field name="NoAllocs" required="N"/>)",
                        .components = R"(<component name="A">)" + std::string(allocs) + "</component>"}),
            "repaired: my.xml:4: message Order has NoAllocs as a field, and as a group elsewhere (my.xml:6), read as a "
            "group; "
            "keep one of them");
}

TEST(Contradiction, the_first_of_two_groups_with_one_count_has_the_members) {
  EXPECT_EQ(outcome_of({.body = std::string(allocs) + std::string(allocs)}), "sound");
  EXPECT_EQ(
      outcome_of({.body = std::string(allocs) +
                          R"(<group name="NoAllocs" required="N"><field name="Symbol" required="N"/></group>)"}),
      "repaired: my.xml:4: message Order has the group NoAllocs with other members elsewhere (my.xml:4), which count; "
      "keep one of them");
}

TEST(Contradiction, a_count_within_its_own_group_is_ignored) {
  EXPECT_EQ(outcome_of({.body = R"(<group name="NoAllocs" required="N"><field name="AllocAccount" required="N"/>
<field name="NoAllocs" required="N"/></group>)"}),
            "repaired: my.xml:5: group NoAllocs (my.xml:4) holds the field that counts it, which is ignored; remove "
            "that from "
            "its entry");
  const std::string outer = R"(<group name="NoOuter" required="N"><field name="Symbol" required="N"/>
<group name="NoAllocs" required="N"><field name="AllocAccount" required="N"/><field name="NoOuter" required="N"/></group>
</group>)";
  EXPECT_EQ(
      outcome_of({.body = outer, .fields = R"(<field number="1" name="NoOuter" type="INT"/>)"}),
      "repaired: my.xml:5: group NoOuter (my.xml:4) holds the field that counts it, which is ignored; remove that from "
      "its entry");
}

TEST(Contradiction, being_named_by_a_group_makes_a_field_a_count) {
  EXPECT_EQ(
      outcome_of({.body = R"(<group name="Symbol" required="N"><field name="AllocAccount" required="N"/></group>)"}),
      "repaired: my.xml:4: group Symbol is counted by a field of the type STRING (my.xml:8), read as NUMINGROUP; give "
      "that "
      "the type NUMINGROUP");
}

TEST(Contradiction, data_that_does_not_follow_its_length_is_read_to_soh) {
  EXPECT_EQ(outcome_of({.body = R"(<field name="RawDataLength" required="N"/><field name="RawData" required="N"/>)"}),
            "sound");
  EXPECT_EQ(outcome_of({.body = R"(<field name="Symbol" required="N"/>
<field name="RawData" required="N"/>)"}),
            "repaired: my.xml:5: message Order has the data field RawData after Symbol (my.xml:4), which is not its "
            "length; it "
            "has none, so that its value ends at SOH; put its LENGTH field before it");
  EXPECT_EQ(outcome_of({.body = R"(<group name="NoAllocs" required="N"><field name="RawData" required="N"/></group>)"}),
            "repaired: my.xml:4: group NoAllocs has the data field RawData after nothing, which is not its length; it "
            "has none, "
            "so that its value ends at SOH; put its LENGTH field before it");
}

TEST(Contradiction, a_component_that_nothing_uses_still_names_what_there_is) {
  EXPECT_EQ(outcome_of({.components = R"(<component name="A"><field name="Symbl" required="N"/></component>)"}),
            "repaired: my.xml:6: component A names the field Symbl, which is ignored because <fields> does not define "
            "it; did "
            "you mean Symbol?");
}

TEST(HostileXml, entities_of_a_doctype_are_not_expanded) {
  const std::string text = xml({.fields = R"(<field number="1" name="&b;" type="STRING"/>)"});
  EXPECT_EQ(outcome_of("<!DOCTYPE fix SYSTEM \"file:///etc/passwd\">\n" + text), "sound");
  const std::string bomb = "<!DOCTYPE fix [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>\n" + text;
  EXPECT_EQ(
      outcome_of(bomb),
      "repaired: my.xml:1: the DOCTYPE defines entities or attributes, which are ignored; write their values where "
      "they are used");
  EXPECT_EQ(Dictionary::parse(bomb, "my.xml").find_field(Tag{1})->name, "&b;");
}

TEST(HostileXml, elements_are_nested_to_a_bound) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<group>";
  EXPECT_TRUE(outcome_of(deep).starts_with("refused: my.xml:1: ")) << "not closed";
  for (int i = 0; i < 100'000; ++i) deep += "</group>";
  EXPECT_EQ(outcome_of("<fix>\n" + deep + "</fix>"),
            "refused: my.xml:2: elements are nested more than 64 deep; nest fewer");
}

TEST(HostileXml, small_files_do_not_become_large_trees) {
  std::string many = "<fix>";
  for (std::size_t i = 0; i <= max_dictionary_elements; ++i) many += "<a/>";
  EXPECT_EQ(outcome_of(many), "refused: my.xml:1: more than 4000000 elements and attributes; give a dictionary");
}

TEST(HostileXml, texts_beyond_the_bound_are_refused) {
  EXPECT_EQ(outcome_of(std::string(max_dictionary_size + 1, ' ')),
            "refused: my.xml:1: the file is larger than 64 MiB; give a dictionary");
}

TEST(HostileXml, the_number_of_repairs_kept_in_words_has_a_bound) {
  std::string fields;
  for (int i = 0; i < 10'000; ++i) fields += "<field number=\"x\" name=\"A\" type=\"INT\"/>\n";
  const Dictionary d = Dictionary::parse(xml({.fields = fields}), "my.xml");
  EXPECT_EQ(d.repairs().lines().size(), Repairs::max_listed);
  EXPECT_EQ(d.repairs().total(), 10'000u);
  ASSERT_EQ(d.repairs().summary().size(), 1u);
  EXPECT_TRUE(d.repairs().summary()[0].ends_with(" (and 9999 more like this)")) << d.repairs().summary()[0];
}

// Each name would be compared with every other one: 40,000 times 40,000 without the limit on suggestions.
TEST(HostileXml, unknown_names_are_explained_in_time_that_grows_with_their_number_only) {
  std::string fields, body;
  for (int i = 0; i < 40'000; ++i) {
    fields +=
        "<field number=\"" + std::to_string(1000 + i) + "\" name=\"Known" + std::to_string(i) + "\" type=\"INT\"/>\n";
    body += "<field name=\"Unknown" + std::to_string(i) + "\" required=\"N\"/>\n";
  }
  const Dictionary d = Dictionary::parse(xml({.body = body, .fields = fields}), "my.xml");
  EXPECT_EQ(d.repairs().count(RepairKind::undefined_field), 40'000u);
}

}  // namespace
}  // namespace nfx
