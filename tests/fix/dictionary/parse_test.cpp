// Reading dictionary files: their definitions, and the error messages for wrong ones.

#include "dictionary/support.hpp"

namespace nfx {
namespace {

using dictionary_test::fix44;

// Nested groups, each with a count of its own, because no group may contain itself.
std::string counts(int n) {
  std::string fields;
  for (int i = 0; i < n; ++i) {
    fields += "<field number=\"" + std::to_string(900 + i) + "\" name=\"NoLevel" + std::to_string(i) +
              "\" type=\"NUMINGROUP\"/>";
  }
  return fields;
}

constexpr std::string_view standard_fields = R"(
    <field number="8" name="BeginString" type="STRING"/>
    <field number="9" name="BodyLength" type="LENGTH"/>
    <field number="10" name="CheckSum" type="STRING"/>
    <field number="35" name="MsgType" type="STRING"><value enum="D" description="ORDER"/></field>
    <field number="55" name="Symbol" type="STRING"/>
    <field number="78" name="NoAllocs" type="NUMINGROUP"/>
    <field number="79" name="AllocAccount" type="STRING"/>
    <field number="539" name="NoNestedPartyIDs" type="NUMINGROUP"/>
    <field number="524" name="NestedPartyID" type="STRING"/>)";

struct Parts {
  std::string root = R"(<fix type="FIX" major="4" minor="4" servicepack="0">)";
  std::string header = R"(<header><field name="BeginString" required="Y"/></header>)";
  std::string body = R"(<field name="Symbol" required="Y"/>)";
  std::string messages{};
  std::string components{};
  std::string fields{};
};

// Line 1 is the root, 2 the header, 3 the message, 4 its body, 6 the components, 7 the fields' start; `fields` follow.
std::string xml(const Parts& parts) {
  return parts.root + "\n" + parts.header + "\n<messages><message name=\"Order\" msgtype=\"D\" msgcat=\"app\">\n" +
         parts.body + "\n</message>" + parts.messages +
         "</messages><trailer><field name=\"CheckSum\" required=\"Y\"/></trailer>\n<components>" + parts.components +
         "</components>\n<fields>" + parts.fields + std::string(standard_fields) + "</fields>\n</fix>";
}

std::string outcome_of(std::string_view text) {
  return dictionary_test::outcome_of([&] { return Dictionary::parse(text, "my.xml"); });
}

TEST(ParseDictionary, resolves_components_and_nested_groups) {
  const Dictionary d = Dictionary::parse(
      xml({
          .body = R"(<component name="Allocs" required="N"/><field name="Symbol" required="N"/>)",
          .components =
              R"(<component name="Allocs"><group name="NoAllocs" required="Y"><field name="AllocAccount" required="Y"/>
          <component name="Parties" required="N"/></group></component>
          <component name="Parties"><group name="NoNestedPartyIDs" required="N"><field name="NestedPartyID" required="Y"/></group></component>)",
      }),
      "my.xml");
  EXPECT_EQ(d.begin_string(), "FIX.4.4");
  const MessageDef* order = d.find_message("D");
  ASSERT_NE(order, nullptr);
  EXPECT_EQ(order->name, "Order");
  EXPECT_FALSE(order->admin);
  const MemberDef* allocs = order->find(Tag{78});
  ASSERT_NE(allocs, nullptr);
  EXPECT_FALSE(allocs->required) << "the component is not required, so nothing in it is";
  ASSERT_NE(allocs->group, nullptr);
  EXPECT_TRUE(allocs->group->find(Tag{79})->required);

  const GroupShape* shape = d.group_shape("D", Tag{78});
  ASSERT_NE(shape, nullptr);
  EXPECT_EQ(shape->count, Tag{78});
  ASSERT_EQ(shape->members.size(), 2u);
  EXPECT_EQ(shape->members[0], Tag{79});
  EXPECT_EQ(shape->members[1], Tag{539});
  ASSERT_EQ(shape->nested.size(), 1u);
  EXPECT_EQ(shape->nested[0].count, Tag{539});
  EXPECT_EQ(d.group_shape("D", Tag{539})->members[0], Tag{524});
  EXPECT_EQ(d.group_shape("D", Tag{55}), nullptr);
  EXPECT_EQ(d.group_shape("X", Tag{78}), nullptr);
}

TEST(ParseDictionary, pointers_survive_moving_the_dictionary) {
  Dictionary first = Dictionary::parse(xml({}), "my.xml");
  const FieldDef* symbol = first.find_field("Symbol");
  const Dictionary second = std::move(first);
  EXPECT_EQ(second.find_field(Tag{55}), symbol);
  EXPECT_EQ(symbol->name, "Symbol");
}

TEST(ParseDictionary, counts_a_repeated_field_once_and_as_required_when_one_place_requires_it) {
  const Dictionary d = Dictionary::parse(
      xml({.body = R"(<field name="Symbol" required="N"/><field name="Symbol" required="Y"/>)"}), "my.xml");
  EXPECT_EQ(d.find_message("D")->scope.members().size(), 3u);  // BeginString, Symbol, CheckSum
  EXPECT_TRUE(d.find_message("D")->find(Tag{55})->required);
}

TEST(ParseDictionary, takes_characters_for_texts_in_the_first_two_versions) {
  const std::string field = R"(<field number="1" name="Account" type="CHAR"/>)";
  EXPECT_EQ(Dictionary::parse(xml({.fields = field}), "").find_field(Tag{1})->type, FieldType::character);
  const std::string root = R"(<fix type="FIX" major="4" minor="1">)";
  EXPECT_EQ(Dictionary::parse(xml({.root = root, .fields = field}), "").find_field(Tag{1})->type, FieldType::string);
}

TEST(ParseDictionary, finds_values_longer_than_eight_characters_and_alike_at_their_start) {
  const Dictionary d = Dictionary::parse(xml({.fields = R"(<field number="1" name="Account" type="STRING">
      <value enum="ABCDEFGH" description="EIGHT"/><value enum="ABCDEFGHI" description="NINE"/>
      <value enum="ABCDEFGHJ" description="OTHER"/><value enum="A" description="ONE"/></field>)"}),
                                         "");
  EXPECT_EQ(d.value_name(Tag{1}, "ABCDEFGH"), "EIGHT");
  EXPECT_EQ(d.value_name(Tag{1}, "ABCDEFGHI"), "NINE");
  EXPECT_EQ(d.value_name(Tag{1}, "ABCDEFGHJ"), "OTHER");
  EXPECT_EQ(d.value_name(Tag{1}, "A"), "ONE");
  EXPECT_EQ(d.value_name(Tag{1}, "ABCDEFG"), "");
  EXPECT_EQ(d.value_name(Tag{2}, "A"), "");
  EXPECT_FALSE(d.find_field(Tag{1})->values.contains(std::string_view("A\0", 2)));
}

TEST(ParseDictionary, finds_no_message_for_a_type_with_a_zero_byte_after) {
  const Dictionary d = Dictionary::parse(xml({}), "");
  EXPECT_NE(d.find_message("D"), nullptr);
  EXPECT_EQ(d.find_message(std::string_view("D\0", 2)), nullptr);
  EXPECT_EQ(d.find_message(""), nullptr);
  EXPECT_EQ(d.find_message("DDDDDDDDD"), nullptr);
}

TEST(ParseDictionary, reports_where_the_xml_is_broken) {
  EXPECT_TRUE(outcome_of("<fix>\n<header>\n</fix>").starts_with("refused: my.xml:3: this is not well-formed XML: "));
  EXPECT_TRUE(outcome_of("").starts_with("refused: my.xml:1: this is not well-formed XML: "));
  EXPECT_EQ(outcome_of("\n<dictionary/>"),
            "refused: my.xml:2: the root element is <dictionary>; write <fix type=\"FIX\" major=\"4\" minor=\"4\">");
}

TEST(ParseDictionary, names_a_missing_section_or_attribute) {
  EXPECT_EQ(
      outcome_of(xml({.header = ""})),
      "repaired: my.xml:1: <header> is missing in <fix> and read as empty; add it, or <header/> if it has no fields");
  EXPECT_EQ(outcome_of(xml({.root = R"(<fix type="FIX" major="4">)"})),
            "refused: my.xml:1: <fix> has no minor; write minor=\"...\"");
  EXPECT_EQ(outcome_of(xml({.body = R"(<field name="Symbol"/>)"})),
            "repaired: my.xml:4: <field> has no required, read as N; write required=\"Y\" or \"N\"");
  EXPECT_EQ(outcome_of(xml({.body = R"(<field name="Symbol" required="yes"/>)"})),
            "repaired: my.xml:4: required is 'yes', read as N; write Y or N");
}

TEST(ParseDictionary, suggests_the_field_that_a_mistyped_name_may_mean) {
  EXPECT_EQ(
      outcome_of(xml({.body = R"(<field name="Symbl" required="Y"/>)"})),
      "repaired: my.xml:4: message Order names the field Symbl, which is ignored because <fields> does not define it; "
      "did you mean Symbol?");
  EXPECT_EQ(outcome_of(xml({.body = R"(<field name="SettlementPlace" required="Y"/>)"})),
            "repaired: my.xml:4: message Order names the field SettlementPlace, which is ignored because <fields> does "
            "not define it; define it there");
}

TEST(ParseDictionary, the_first_of_two_definitions_counts) {
  EXPECT_EQ(outcome_of(xml({.fields = "\n"
                                      R"(<field number="55" name="Sign" type="STRING"/>)"})),
            "repaired: my.xml:13: field number 55 already belongs to Sign (my.xml:8), which counts; give Symbol its "
            "own number");
  EXPECT_EQ(
      outcome_of(xml({.fields = R"(<field number="1" name="Symbol" type="STRING"/>)"})),
      "repaired: my.xml:12: field Symbol is defined twice with different numbers, and number 55 is called Symbol_55; "
      "rename or remove one");
  EXPECT_EQ(outcome_of(xml({.messages = R"(<message name="Trade" msgtype="D" msgcat="app"/>)"})),
            "repaired: my.xml:5: message type 'D' already belongs to Order (my.xml:3), which counts; give Trade its "
            "own type");
  EXPECT_EQ(outcome_of(xml({.components = R"(<component name="A"/><component name="A"/>)"})),
            "repaired: my.xml:6: component A is defined twice (my.xml:6), and the first counts; rename or remove one");
  EXPECT_EQ(
      outcome_of(xml(
          {.fields = R"(<field number="1" name="Account" type="STRING"><value enum="1"/><value enum="1"/></field>)"})),
      "repaired: my.xml:7: field Account lists the value '1' twice (my.xml:7), and the first counts; remove one");
}

TEST(ParseDictionary, ignores_fields_without_a_number_and_reads_unknown_types_as_texts) {
  for (const std::string number : {"0", "-1", "x", "1x", "99999999999"}) {
    EXPECT_EQ(
        outcome_of(xml({.fields = "<field number=\"" + number + "\" name=\"Account\" type=\"STRING\"/>"})),
        "repaired: my.xml:7: field Account has the number '" + number + "', and is ignored; write a number above zero");
  }
  EXPECT_EQ(outcome_of(xml({.fields = R"(<field number="1" name="Account" type="STRNG"/>)"})),
            "repaired: my.xml:7: field Account has the unknown type 'STRNG', read as STRING; did you mean STRING?");
  EXPECT_EQ(
      outcome_of(xml({.fields = R"(<field number="1" name="Account" type="HEXADECIMAL"/>)"})),
      "repaired: my.xml:7: field Account has the unknown type 'HEXADECIMAL', read as STRING; write a FIX type such as "
      "STRING, INT or UTCTIMESTAMP");
}

TEST(ParseDictionary, ignores_references_to_components_that_are_missing_or_contain_themselves) {
  EXPECT_EQ(outcome_of(xml({.body = R"(<component name="Partys" required="N"/>)",
                            .components = R"(<component name="Parties"/>)"})),
            "repaired: my.xml:4: message Order uses the component Partys, which is ignored because <components> does "
            "not define it; did you mean Parties?");
  EXPECT_EQ(outcome_of(xml({.body = R"(<component name="A" required="N"/>)",
                            .components = R"(<component name="A"><component name="B" required="N"/></component>)"
                                          "\n"
                                          R"(<component name="B"><component name="A" required="N"/></component>)"})),
            "repaired: my.xml:7: component A contains itself (my.xml:6), and this reference is ignored; remove it");
  EXPECT_EQ(
      outcome_of(xml(
          {.body = R"(<component name="A" required="N"/>)",
           .components =
               R"(<component name="A"><group name="NoAllocs" required="N"><field name="AllocAccount" required="N"/>)"
               R"(<component name="A" required="N"/></group></component>)"})),
      "repaired: my.xml:6: component A contains itself (my.xml:6), and this reference is ignored; remove it");
}

TEST(ParseDictionary, reads_groups_without_fields_and_groups_too_deep_as_plain_fields) {
  EXPECT_EQ(
      outcome_of(xml({.body = R"(<group name="NoAllocs" required="N"/>)"})),
      "repaired: my.xml:4: group NoAllocs has no fields, so that it is read as a plain field; list them, the one that "
      "starts each entry first");
  std::string deep = R"(<field name="Symbol" required="N"/>)";
  for (std::size_t i = 0; i < max_group_depth; ++i)
    deep = "<group name=\"NoLevel" + std::to_string(i) + "\" required=\"N\">" + deep + "</group>";
  EXPECT_EQ(outcome_of(xml({.body = deep, .fields = counts(9)})), "sound");
  deep = R"(<group name="NoLevel8" required="N">)" + deep + "</group>";
  EXPECT_EQ(
      outcome_of(xml({.body = deep, .fields = counts(9)})),
      "repaired: my.xml:4: group NoLevel0 is more than 8 groups deep, so that it is read as a plain field; nest fewer");
}

TEST(ParseDictionary, finds_groups_too_deep_that_components_hide) {
  std::string components;
  for (int i = 0; i < 9; ++i) {
    const std::string n = std::to_string(i);
    components = "<component name=\"C" + n + "\"><group name=\"NoLevel" + n +
                 "\" required=\"N\"><field name=\"AllocAccount\" required=\"N\"/>" +
                 (i == 0 ? "" : "<component name=\"C" + std::to_string(i - 1) + "\" required=\"N\"/>") +
                 "</group></component>" + components;
  }
  // The deepest ones are resolved first, so that none is too deep on its own when the last one adds its level.
  std::string body;
  for (int i = 0; i < 8; ++i) body += "<component name=\"C" + std::to_string(i) + "\" required=\"N\"/>";
  EXPECT_EQ(outcome_of(xml({.body = body, .components = components, .fields = counts(9)})), "sound");
  std::string messages;
  for (int i = 0; i < 9; ++i) {
    const std::string n = std::to_string(i);
    messages +=
        "<message name=\"M" + n + "\" msgtype=\"M" + n + "\"><component name=\"C" + n + "\" required=\"N\"/></message>";
  }
  const Dictionary d =
      Dictionary::parse(xml({.messages = messages, .components = components, .fields = counts(9)}), "my.xml");
  EXPECT_GT(d.repairs().count(RepairKind::group_depth), 0u);
}

// Each of ten groups has the ten groups of the next level, which is 10 to the power of the level in all.
TEST(ParseDictionary, reads_groups_that_hold_thousands_of_groups_as_plain_fields) {
  std::string components = R"(<component name="C0"><field name="AllocAccount" required="N"/></component>)";
  std::string fields;
  for (int level = 1; level <= 7; ++level) {
    components += "<component name=\"C" + std::to_string(level) + "\">";
    for (int i = 0; i < 10; ++i) {
      const std::string name = "NoOf" + std::to_string(level) + "_" + std::to_string(i);
      components += "<group name=\"" + name + "\" required=\"N\"><field name=\"AllocAccount\" required=\"N\"/>" +
                    "<component name=\"C" + std::to_string(level - 1) + "\" required=\"N\"/></group>";
      fields += "<field number=\"" + std::to_string(20000 + 10 * level + i) + "\" name=\"" + name +
                "\" type=\"NUMINGROUP\"/>";
    }
    components += "</component>";
  }
  const Dictionary d = Dictionary::parse(
      xml({.body = R"(<component name="C7" required="N"/>)", .components = components, .fields = fields}), "my.xml");
  EXPECT_EQ(d.repairs().count(RepairKind::group_depth), 10u) << "those of level 5, which those above hold as fields";
}

TEST(ParseDictionary, ignores_fields_beyond_those_that_the_validator_can_hold) {
  std::string fields;
  std::string body;
  for (std::size_t i = 0; i < max_scope_members; ++i) {
    const std::string n = std::to_string(10000 + i);
    fields += "<field number=\"" + n + "\" name=\"F" + n + "\" type=\"STRING\"/>";
    body += "<field name=\"F" + n + "\" required=\"N\"/>";
  }
  EXPECT_EQ(outcome_of(xml({.body = body, .fields = fields})),
            "repaired: my.xml:4: message Order has more than 1024 fields, and F11022 is ignored; remove some");
}

TEST(ParseDictionary, bounds_the_work_that_nested_components_make) {
  std::string components = R"(<component name="C0"><field name="Symbol" required="N"/></component>)";
  for (int i = 1; i < 30; ++i) {
    const std::string inner = "<component name=\"C" + std::to_string(i - 1) + "\" required=\"N\"/>";
    components += "<component name=\"C" + std::to_string(i) + "\">" + inner + inner + "</component>";
  }
  EXPECT_NE(outcome_of(xml({.body = R"(<component name="C29" required="N"/>)", .components = components}))
                .find("too many elements"),
            std::string::npos);
}

TEST(ParseDictionary, ignores_elements_it_does_not_know) {
  EXPECT_EQ(outcome_of(xml({.body = R"(<filed name="Symbol" required="Y"/>)"})),
            "repaired: my.xml:4: message Order holds <filed>, which is ignored; write field, group or component");
}

TEST(ParseDictionary, finds_message_types_of_any_length) {
  const Dictionary d = Dictionary::parse(xml({.messages = R"(<message name="Long" msgtype="LONGTYPE1" msgcat="app"/>
<message name="Longer" msgtype="LONGTYPE12" msgcat="app"/>)"}),
                                         "my.xml");
  EXPECT_EQ(d.message_name("LONGTYPE1"), "Long");
  EXPECT_EQ(d.message_name("LONGTYPE12"), "Longer");
  EXPECT_EQ(d.find_message("LONGTYPE"), nullptr);
  EXPECT_EQ(d.find_message("LONGTYPE13"), nullptr);
}

TEST(LoadDictionary, names_a_file_that_cannot_be_read) {
  try {
    static_cast<void>(load_dictionary("/nonexistent/FIX44.xml"));
    FAIL();
  } catch (const DictionaryError& error) {
    EXPECT_STREQ(error.what(),
                 "cannot read /nonexistent/FIX44.xml: No such file or directory; give the path of a dictionary file");
  }
}

TEST(LoadDictionary, every_look_up_agrees_with_the_lists) {
  const Dictionary& d = fix44();
  for (std::int32_t tag = -2; tag < 12000; ++tag) {
    const auto fields = d.fields();
    const auto listed = std::ranges::lower_bound(fields, Tag{tag}, {}, &FieldDef::tag);
    const bool present = listed != fields.end() && listed->tag == Tag{tag};
    EXPECT_EQ(d.find_field(Tag{tag}), present ? &*listed : nullptr) << tag;
  }
  for (const FieldDef& field : d.fields()) EXPECT_EQ(d.find_field(field.name), &field);
  for (const MessageDef& message : d.messages()) {
    EXPECT_EQ(d.find_message(message.msg_type), &message);
    for (const MemberDef& member : message.scope.members()) {
      EXPECT_EQ(message.find(member.tag), &member);
      EXPECT_EQ(member.field, d.find_field(member.tag));
    }
  }
}

}  // namespace
}  // namespace nfx
