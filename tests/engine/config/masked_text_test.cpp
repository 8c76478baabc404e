// Passwords of a configuration in its sessions, and in its text after it has been read.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "config/config_changes.hpp"
#include "config/config_text.hpp"
#include "config/quickfix_text.hpp"

namespace nfx {
namespace {

namespace fs = std::filesystem;

class MaskedText : public ::testing::Test {
 protected:
  MaskedText() {
    std::string name = (fs::temp_directory_path() / "nfx-masked-text-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~MaskedText() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  [[nodiscard]] EngineConfig load(const std::string& text) const {
    const fs::path file = folder_ / "engine.cfg";
    std::ofstream{file, std::ios::binary} << text;
    return load_any_config(file);
  }
  [[nodiscard]] EngineConfig load_session(const std::string& keys) const {
    return load(test::document({}, test::initiator_keys) + keys);
  }

 private:
  fs::path folder_;
};

struct Written {
  std::string toml;
  std::string password;
};

TEST_F(MaskedText, passwords_mean_the_same_and_are_not_in_the_text) {
  for (const Written& each : {
           Written{R"(password = "hidden")", "hidden"},
           Written{R"(password='hidden')", "hidden"},
           Written{R"("password" = "hidden")", "hidden"},
           Written{R"('password'	=	"hidden" # "a comment")", "hidden"},
           Written{R"(password = "hidden\\\"\\")", R"(hidden\"\)"},
           Written{R"(password = 'hidden\n')", R"(hidden\n)"},
           Written{R"(password = "hidden = [#{'x'},]")", "hidden = [#{'x'},]"},
           Written{R"(username = "password = 'no'" # password = "no"
password = "hidden")",
                   "hidden"},
           Written{"username = '''\npassword = \"no\"'''\npassword = \"hidden\"", "hidden"},
       }) {
    const EngineConfig config = load_session(each.toml + '\n');
    EXPECT_EQ(config.sessions[0].session.password.reveal(), each.password) << each.toml;
    EXPECT_EQ(config.file_text.find("hidden"), std::string::npos) << config.file_text;
  }
}

TEST_F(MaskedText, passwords_in_defaults_and_in_tables_on_one_line_are_masked) {
  const std::string session =
      "sender_comp_id = \"A\"\ntarget_comp_id = \"B\"\nconnect = \"a:1\"\nrole = \"initiator\"\n";
  for (const std::string& toml : {"[defaults]\npassword = \"hidden\"\n[[session]]\n" + session,
                                  "defaults.password = \"hidden\"\n[[session]]\n" + session,
                                  "defaults = {username = \"u\", password = \"hidden\"}\n[[session]]\n" + session}) {
    const EngineConfig config = load(toml);
    EXPECT_EQ(config.sessions[0].session.password.reveal(), "hidden") << toml;
    EXPECT_EQ(config.file_text.find("hidden"), std::string::npos) << config.file_text;
  }
}

// Escaped, so that the text does not show the password. The parser reads it, and leaves copies.
TEST_F(MaskedText, passwords_with_escapes_or_over_lines_stay_as_they_are) {
  for (const Written& each : {
           Written{R"(password = "h\u0069dden")", "hidden"},
           Written{R"(password = "hidd\u00e9n")", "hidd\xC3\xA9n"},
           Written{"password = \"\"\"hidden\"\"\"", "hidden"},
           Written{"password = '''\nhidden'''", "hidden"},
           Written{"password = \"hidd\xC3\xA9n\"", "hidd\xC3\xA9n"},
       }) {
    EXPECT_EQ(load_session(each.toml + '\n').sessions[0].session.password.reveal(), each.password) << each.toml;
  }
}

TEST_F(MaskedText, of_logon_fields_the_secret_values_are_masked) {
  const std::string fields =
      "1408=1.0\001"
      "95=6\001"
      "96=hidden\001"
      "925=hidden, \"too\"\001";
  for (const std::string& toml : {
           std::string{R"(logon_fields = ["1408=1.0", "95=6", "96=hidden", "925=hidden, \"too\""])"},
           std::string{"logon_fields = [ # \"96=no\"\n  '1408=1.0',\n  '95=6',\n  '96=hidden', # secret\n"
                       "  '925=hidden, \"too\"',\n]"},
       }) {
    const EngineConfig config = load_session(toml + "\nusername = \"925=user\"\n");
    EXPECT_EQ(config.sessions[0].session.logon_fields.reveal(), fields) << toml;
    EXPECT_EQ(config.sessions[0].session.username, "925=user");
    EXPECT_EQ(config.file_text.find("hidden"), std::string::npos) << config.file_text;
    EXPECT_NE(config.file_text.find("1408=1.0"), std::string::npos);
  }
  EXPECT_EQ(load_session("logon_fields = \"96=hidden\"\n").file_text.find("hidden"), std::string::npos);
}

TEST_F(MaskedText, passwords_of_quickfix_settings_are_masked) {
  const EngineConfig config =
      load(initiator + "LogonTag=553=user\nLogonTag1=554=hidden #1\nLogonTag2 = 925=hidden 2 \nPassword=hidden\n");
  const SessionConfig& session = config.sessions[0].session;
  EXPECT_EQ(session.username, "user");
  EXPECT_EQ(session.password.reveal(), "hidden #1");
  EXPECT_EQ(session.logon_fields.reveal(), "925=hidden 2\001");
  EXPECT_EQ(config.file_text.find("hidden"), std::string::npos) << config.file_text;
}

TEST_F(MaskedText, mistakes_after_a_password_are_where_the_file_has_them) {
  const std::string text = test::document({}, test::initiator_keys);
  const std::string line = std::to_string(std::ranges::count(text, '\n') + 1);
  for (const auto& [keys, place] : {
           std::pair<std::string, std::string>{"logon_fields = [\"96=hidden\", \"name=x\"]\n", ":16: "},
           {"password = \"hidden\" \"x\"\n", ":21: "},
           {"password = \"hidden\"; x = 1\n", ":20: "},
       }) {
    try {
      static_cast<void>(load_session(keys));
      ADD_FAILURE() << keys;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string{error.what()}.find(line + place), std::string::npos) << error.what();
      EXPECT_EQ(std::string{error.what()}.find("hidden"), std::string::npos) << error.what();
    }
  }
}

TEST_F(MaskedText, a_text_that_was_read_before_equals_one_that_was_not) {
  const std::string text = test::document({}, test::initiator_keys) + "password = \"hidden\"\n";
  const ConfigKeys before = keys_of(load(text).file_text, "engine.toml");
  EXPECT_TRUE(changes_of_session(before.sessions[0], keys_of(text, "engine.toml").sessions[0]).empty());
}

}  // namespace
}  // namespace nfx
