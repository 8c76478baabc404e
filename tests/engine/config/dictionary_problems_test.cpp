// Irregular dictionaries in a configuration: repaired with a warning, or refused on request.
#include <gtest/gtest.h>

#include <string>

#include "config/dictionary_warnings.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/dictionary/dictionary.hpp"

namespace nfx {
namespace {

std::string document(const std::string& keys) {
  return "[[session]]\nrole = \"acceptor\"\nsender_comp_id = \"US\"\ntarget_comp_id = \"THEM\"\nlisten = "
         "\"127.0.0.1:0\"\n" +
         keys;
}

EngineConfig parsed(const std::string& keys) {
  return parse_config(document(keys), "test.toml", NFX_SOURCE_DIR "/tests/fix/dictionary/irregular");
}

std::string error_of(const std::string& keys) {
  try {
    static_cast<void>(parsed(keys));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(DictionaryProblems, an_irregular_dictionary_is_loaded_with_one_warning_per_kind) {
  const EngineConfig config =
      parsed("begin_string = \"FIX.4.4\"\ndictionary = \"elements_and_attributes_unknown.xml\"\n");
  const std::vector<std::string> warnings = dictionary_warnings(config);
  ASSERT_EQ(warnings.size(), 3U) << "the third: it has no session messages";
  EXPECT_NE(warnings[0].find("elements_and_attributes_unknown.xml:46: field Side holds <doc>, which is ignored; write "
                             "value (and 1 more like this)"),
            std::string::npos)
      << warnings[0];
  EXPECT_TRUE(dictionary_warnings(parsed("begin_string = \"FIX.4.4\"\n")).empty()) << "the shipped one";
}

TEST(DictionaryProblems, refuse_names_the_first_problem_and_how_many_more_there_are) {
  const std::string error = error_of(
      "begin_string = \"FIX.4.4\"\ndictionary = \"elements_and_attributes_unknown.xml\"\ndictionary_problems = "
      "\"refuse\"\n");
  EXPECT_TRUE(error.starts_with("test.toml:7:14: [session] dictionary: ")) << error;
  EXPECT_NE(error.find("(and 3 more, which 'nfx dict check' lists); or write dictionary_problems = \"repair\""),
            std::string::npos)
      << error;
  EXPECT_EQ(error_of("begin_string = \"FIX.4.4\"\ndictionary_problems = \"refuse\"\n"), "no error");
}

TEST(DictionaryProblems, session_messages_that_a_dictionary_lacks_are_the_shipped_ones_with_a_warning) {
  const EngineConfig config = parsed("begin_string = \"FIX.4.4\"\ndictionary = \"sound.xml\"\n");
  const std::vector<std::string> warnings = dictionary_warnings(config);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(warnings[0].ends_with(
      "sound.xml:1: the dictionary has no Logon, Heartbeat, TestRequest, ResendRequest, Reject, SequenceReset, Logout: "
      "taken from FIX44.xml; add them, or write an overlay with base=\"FIX44.xml\""))
      << warnings[0];
  const MessageDef* const logon = config.sessions[0].dictionary->find_message("A");
  ASSERT_NE(logon, nullptr);
  EXPECT_NE(logon->find(Tag::HeartBtInt), nullptr);
  const std::string refused =
      error_of("begin_string = \"FIX.4.4\"\ndictionary = \"sound.xml\"\ndictionary_problems = \"refuse\"\n");
  EXPECT_NE(refused.find("the dictionary has no Logon, Heartbeat"), std::string::npos) << refused;
}

TEST(DictionaryProblems, a_dictionary_without_a_service_pack_fits_the_sessions_version) {
  for (const std::string version : {"FIX.5.0", "FIX.5.0SP1", "FIX.5.0SP2"}) {
    const EngineConfig config = parse_config(document("begin_string = \"FIXT.1.1\"\ndefault_appl_ver_id = \"" +
                                                      version + "\"\ndictionary = \"no_service_pack.xml\"\n"),
                                             "test.toml", NFX_SOURCE_DIR "/tests/engine/config/data");
    EXPECT_EQ(config.sessions[0].dictionary->version_name(), version);
    EXPECT_TRUE(dictionary_warnings(config).empty());
  }
}

}  // namespace
}  // namespace nfx
