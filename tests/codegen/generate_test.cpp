// The generator alone: names, selection, determinism, and refusals.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <unordered_map>

#include "dictionary/codegen.hpp"
#include "dictionary/codegen/names.hpp"
#include "nexusfix/dictionary/load.hpp"

namespace nfx::codegen_test {
namespace {

using codegen::NameTable;
using codegen::snake_case;
using codegen::type_case;

const Dictionary& fix44() {
  static const Dictionary dictionary = load_dictionary(NFX_SOURCE_DIR "/dictionaries/FIX44.xml");
  return dictionary;
}

std::string text_of(const std::vector<GeneratedFile>& files, std::string_view name) {
  for (const GeneratedFile& file : files) {
    if (file.name == name) return file.text;
  }
  return {};
}

TEST(Names, are_split_where_words_begin) {
  for (const auto& [fix, expected] : std::initializer_list<std::pair<const char*, const char*>>{
           {"ClOrdID", "cl_ord_id"},
           {"NoMDEntries", "no_md_entries"},
           {"NoPartyIDs", "no_party_ids"},
           {"CFICode", "cfi_code"},
           {"Nested2PartyID", "nested2_party_id"},
           {"SettlDate2", "settl_date2"},
           {"IOIID", "ioi_id"},
           {"IOIid", "ioi_id"},
           {"IOI", "ioi"},
           {"NoIOIQualifiers", "no_ioi_qualifiers"},
           {"IOIOthSvc", "ioi_oth_svc"},
           {"LegIOIQty", "leg_ioi_qty"},
           {"XMLnonFIX", "xml_non_fix"},
           {"XmlDataLen", "xml_data_len"},
           {"URLLink", "url_link"},
           {"AsOfIndicator", "as_of_indicator"},
           {"SELL_SHORT_EXEMPT", "sell_short_exempt"},
           {"PartiallyFilled", "partially_filled"},
           {"two  words", "two_words"},
           {"__x__", "x"},
       }) {
    EXPECT_EQ(snake_case(fix, "value"), expected);
  }
}

TEST(Names, are_always_identifiers) {
  EXPECT_EQ(snake_case("NEW", "value"), "new_");
  EXPECT_EQ(snake_case("1_DAY", "value"), "value_1_day");
  EXPECT_EQ(snake_case("", "value"), "value");
  EXPECT_EQ(snake_case("+", "value"), "value");
  EXPECT_EQ(snake_case("errno", "value"), "errno_");
  EXPECT_EQ(type_case("side"), "Side");
  EXPECT_EQ(type_case("Order Qty-2"), "OrderQty2");
  EXPECT_EQ(type_case("2nd"), "Type2nd");
}

TEST(Names, are_given_once) {
  NameTable names;
  EXPECT_EQ(names.take_free("a", "_x"), "a");
  EXPECT_EQ(names.take_free("a", "_x"), "a_x");
  EXPECT_EQ(names.take_free("a", "_x"), "a_x2");
  EXPECT_EQ(names.take_free("a_x", "_x"), "a_x_x");
}

TEST(Generator, gives_the_same_bytes_every_time) {
  const CodegenOptions options{.source = "FIX44.xml", .name_space = "fix44", .messages = {}};
  const auto first = generate_code(fix44(), options);
  const auto again = generate_code(load_dictionary(NFX_SOURCE_DIR "/dictionaries/FIX44.xml"), options);
  ASSERT_EQ(first.size(), again.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].name, again[i].name);
    EXPECT_EQ(first[i].text, again[i].text) << first[i].name;
  }
}

TEST(Generator, gives_each_file_a_name_of_its_own) {
  std::unordered_map<std::string, int> names;
  for (const GeneratedFile& file : generate_code(fix44(), {.source = "x", .name_space = "a", .messages = {}})) {
    EXPECT_EQ(++names[file.name], 1) << file.name;
  }
  EXPECT_GT(names.size(), fix44().messages().size());
}

TEST(Generator, takes_messages_by_type_and_by_name) {
  const auto files = generate_code(fix44(), {.source = "x", .name_space = "a", .messages = {"D", "OrderCancelReject"}});
  EXPECT_FALSE(text_of(files, "new_order_single.hpp").empty());
  EXPECT_FALSE(text_of(files, "order_cancel_reject.hpp").empty());
  EXPECT_TRUE(text_of(files, "execution_report.hpp").empty());
}

TEST(Generator, leaves_out_enumerations_that_no_chosen_message_has) {
  const auto files = generate_code(fix44(), {.source = "x", .name_space = "a", .messages = {"OrderCancelReject"}});
  EXPECT_NE(text_of(files, "fields.hpp").find("enum class CxlRejReason"), std::string::npos);
  EXPECT_EQ(text_of(files, "fields.hpp").find("enum class MDEntryType"), std::string::npos);
}

TEST(Generator, names_the_nearest_message_to_an_unknown_one) {
  try {
    static_cast<void>(
        generate_code(fix44(), {.source = "FIX44.xml", .name_space = "a", .messages = {"NewOrderSingel"}}));
    FAIL() << "nothing was thrown";
  } catch (const DictionaryError& error) {
    EXPECT_EQ(
        std::string_view{error.what()},
        "FIX44.xml has no message \"NewOrderSingel\"; did you mean NewOrderSingle? (messages are given by type or "
        "name)");
  }
}

TEST(Generator, refuses_what_is_no_namespace) {
  for (const char* name : {"", "namespace", "a::", "::a", "a b", "1a", "_a", "a__b", "a::new"}) {
    EXPECT_THROW(static_cast<void>(generate_code(fix44(), {.source = "x", .name_space = name, .messages = {"0"}})),
                 DictionaryError)
        << name;
  }
}

TEST(Generator, puts_a_plain_namespace_under_nfx_and_leaves_a_qualified_one) {
  const auto plain = generate_code(fix44(), {.source = "x", .name_space = "mine", .messages = {"0"}});
  EXPECT_NE(text_of(plain, "heartbeat.hpp").find("namespace nfx::mine {"), std::string::npos);
  const auto qualified = generate_code(fix44(), {.source = "x", .name_space = "my::own", .messages = {"0"}});
  EXPECT_NE(text_of(qualified, "heartbeat.hpp").find("namespace my::own {"), std::string::npos);
}

TEST(Generator, keeps_a_source_name_on_the_comments_line) {
  const auto files = generate_code(fix44(), {.source = "a\nint x;\\", .name_space = "a", .messages = {"0"}});
  EXPECT_EQ(text_of(files, "heartbeat.hpp").find("\nint x"), std::string::npos);
}

TEST(Documentation, shows_the_example_that_is_compiled_here) {
  const auto read = [](const char* file) {
    std::ifstream in(file, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  };
  const std::string example = read(NFX_SOURCE_DIR "/tests/codegen/doc_example.cpp");
  ASSERT_FALSE(example.empty());
  EXPECT_NE(read(NFX_SOURCE_DIR "/docs/codegen.md").find("```cpp\n" + example + "```"), std::string::npos)
      << "docs/codegen.md does not show tests/codegen/doc_example.cpp as it is";
}

}  // namespace
}  // namespace nfx::codegen_test
