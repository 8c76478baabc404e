// Configuration files in practice: saved by any editor, with wide permissions, or with something other than a file in
// their place.
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "config/config_text.hpp"
#include "config/quickfix_text.hpp"
#include "nexusfix/session/schedule.hpp"

namespace nfx {
namespace {

namespace fs = std::filesystem;

class ConfigFiles : public ::testing::Test {
 protected:
  ConfigFiles() {
    std::string name = (fs::temp_directory_path() / "nfx-config-file-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~ConfigFiles() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  [[nodiscard]] fs::path write(std::string_view text, unsigned mode = 0600) const {
    const fs::path file = folder_ / "engine.cfg";
    std::ofstream{file, std::ios::binary} << text;
    ::chmod(file.c_str(), mode);
    return file;
  }
  [[nodiscard]] static std::string refusal_of(const fs::path& file) {
    try {
      static_cast<void>(load_any_config(file));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no error";
  }
  [[nodiscard]] std::string warnings_of_mode(std::string_view text, unsigned mode) const {
    std::vector<std::string> warnings;
    const fs::path file = write(text, mode);
    static_cast<void>(load_any_config(file, &warnings));
    EXPECT_EQ(explain_config(file).warnings, warnings);
    std::string all;
    for (const std::string& each : warnings) all += each + '\n';
    return all;
  }

  fs::path folder_;
};

std::string utf16(std::string_view text, bool big) {
  std::string out;
  const auto add = [&](char high, char low) {
    out += big ? high : low;
    out += big ? low : high;
  };
  add('\xFE', '\xFF');
  for (const char c : text) add('\0', c);
  return out;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

TEST_F(ConfigFiles, a_key_that_was_dropped_is_accepted_with_a_warning) {
  const std::string toml = test::document({{"latency_every", "1"}}, test::initiator_keys);
  const fs::path file = write(toml, 0600);
  const std::string line = std::to_string(1 + std::ranges::count(toml.substr(0, toml.find("latency_every")), '\n'));
  EXPECT_EQ(
      warnings_of_mode(toml, 0600),
      file.string() + ":" + line + ": [engine] latency_every has no effect: each message is measured; remove it\n");
}

TEST_F(ConfigFiles, settings_are_read_in_utf16_and_with_any_line_ends) {
  const std::string text = initiator + "SenderSubID=DESK\n";
  const std::string toml = test::document({}, test::initiator_keys);
  for (const std::string& each : {text, toml}) {
    for (const std::string& saved : {utf16(each, false), utf16(each, true), "\xEF\xBB\xBF" + each,
                                     replaced(each, "\n", "\r\n"), replaced(each, "\n", "\r")}) {
      const EngineConfig config = load_any_config(write(saved));
      ASSERT_EQ(config.sessions.size(), 1U);
      EXPECT_EQ(config.sessions[0].session.sender_comp_id, "US");
    }
  }
}

TEST_F(ConfigFiles, an_error_in_a_file_with_carriage_returns_alone_names_its_line) {
  const fs::path file = write(replaced(initiator + "ResetOnLogon=sure\n", "\n", "\r"));
  EXPECT_EQ(refusal_of(file), file.string() + ":11: [SESSION] ResetOnLogon: expected Y or N");
}

TEST_F(ConfigFiles, a_fifo_and_a_device_in_place_of_the_file_are_refused_at_once) {
  const fs::path fifo = folder_ / "fifo.toml";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(refusal_of(fifo),
            "cannot read " + fifo.string() + ": it is a FIFO, not a regular file; give the path of a readable file");
  EXPECT_TRUE(refusal_of("/dev/zero").contains("it is a device, not a regular file"));
  EXPECT_TRUE(refusal_of(folder_).contains("it is a folder"));
}

TEST_F(ConfigFiles, a_file_of_more_than_16_mib_is_refused_before_it_is_read) {
  const fs::path file = write("");
  fs::resize_file(file, (std::uintmax_t{16} << 20) + 1);
  EXPECT_TRUE(refusal_of(file).contains("it is larger than 16 MiB")) << refusal_of(file);
}

std::string dotted(std::size_t parts) {
  std::string key = "a";
  for (std::size_t i = 1; i < parts; ++i) key += ".a";
  return key;
}

TEST_F(ConfigFiles, a_key_of_many_parts_is_refused_before_the_parser_follows_it) {
  const std::string good = test::document({}, test::acceptor_keys);
  const std::string deep = dotted(40'000);
  for (const std::string& text : {good + "x = {" + deep + " = 1}\n", good + deep + " = 1\n", good + '[' + deep + "]\n",
                                  good + "[[" + deep + "]]\n", good + "y = [ 1,\n {" + deep + " = \"\"\"\n\"\"\"}]\n",
                                  good + "z = '#'\n" + deep + " = 1\n", good + "z = \"\\\"\"\n" + deep + " = 1\n"}) {
    const std::string said = refusal_of(write(text));
    EXPECT_TRUE(said.contains("a key of more than 8 parts")) << said.substr(0, 200);
  }
  EXPECT_TRUE(
      refusal_of(write(deep + " = 1\n")).starts_with((folder_ / "engine.cfg").string() + ":1:1: a key of more"));
}

TEST_F(ConfigFiles, dots_in_texts_comments_and_numbers_make_no_deep_key) {
  const std::string good = test::document({}, test::acceptor_keys);
  const std::string dots = dotted(100);
  for (const std::string& text : {good + "session_qualifier = \"" + dots + "\"\n", good + "# " + dots + "\n",
                                  good + "username = '" + dots + "'\n", good + "username = \"\"\"" + dots + "\"\"\"\n",
                                  good + "username = '''" + dots + "\n'''\n"}) {
    EXPECT_FALSE(refusal_of(write(text)).contains("more than 8 parts")) << text;
  }
}

TEST_F(ConfigFiles, tables_as_deep_as_the_parser_allows_are_an_error_and_no_crash) {
  std::string text = test::document({}, test::acceptor_keys) + "x = ";
  for (int i = 0; i < 250; ++i) text += "{" + dotted(8) + " = ";
  text += '1' + std::string(250, '}') + '\n';
  EXPECT_TRUE(refusal_of(write(text)).contains("unknown key")) << refusal_of(write(text)).substr(0, 200);
}

TEST_F(ConfigFiles, a_file_with_a_password_that_others_may_read_or_change_is_a_warning) {
  const std::string cfg = initiator + "LogonTag=554=secret\n";
  const std::string toml = test::document({}, test::initiator_keys) + "password = \"secret\"\n";
  const std::string fields = test::document({}, test::initiator_keys) + "logon_fields = [\"925=secret\"]\n";
  const std::string file = (folder_ / "engine.cfg").string();
  for (const std::string& text : {cfg, toml, fields}) {
    EXPECT_EQ(warnings_of_mode(text, 0600), "");
    EXPECT_EQ(warnings_of_mode(text, 0640), "") << "the group may be the service's";
    EXPECT_EQ(warnings_of_mode(text, 0644), file +
                                                ": mode 0644 lets other users read its passwords: run 'chmod "
                                                "go-w,o-rwx " +
                                                file + "', or name variables in password_env\n");
    EXPECT_EQ(warnings_of_mode(text, 0666), file +
                                                ": mode 0666 lets other users read its passwords and change it: run "
                                                "'chmod go-w,o-rwx " +
                                                file +
                                                "', or name variables in "
                                                "password_env\n");
    EXPECT_TRUE(warnings_of_mode(text, 0660).contains("mode 0660 lets other users change it"));
  }
}

TEST_F(ConfigFiles, a_file_without_a_password_may_be_read_by_all_and_changed_by_its_owner_and_group) {
  const std::string toml = test::document({}, test::initiator_keys) + "password_env = \"HOME\"\n";
  EXPECT_EQ(warnings_of_mode(toml, 0644), "");
  EXPECT_EQ(warnings_of_mode(toml, 0664), "");
  const std::string file = (folder_ / "engine.cfg").string();
  EXPECT_EQ(warnings_of_mode(toml, 0666),
            file + ": mode 0666 lets other users change it: run 'chmod o-w " + file + "'\n");
}

TEST_F(ConfigFiles, zone_of_the_end_is_that_of_its_key) {
  std::string text = test::document({}, test::initiator_keys) +
                     "start_time = \"18:00\"\nend_time = \"17:00\"\ntime_zone = \"America/New_York\"\n";
  EXPECT_FALSE(load_any_config(write(text)).sessions[0].schedule->config().end_zone.has_value());
  EXPECT_EQ(
      load_any_config(write(text + "end_time_zone = \"Asia/Tokyo\"\n")).sessions[0].schedule->config().end_zone->name(),
      "Asia/Tokyo");
  EXPECT_TRUE(refusal_of(write(text + "end_time_zone = \"Asia/Tokio\"\n"))
                  .contains("[session] end_time_zone: \"Asia/Tokio\" is not a time zone"));
  EXPECT_TRUE(refusal_of(write(text + "end_time_zone = \"UTC\"\nreset_time = \"12:00\"\n"))
                  .contains("end_time_zone: is for sessions without"));
}

TEST_F(ConfigFiles, zones_of_windows_are_named_in_the_error_of_a_toml_file_and_former_names_are_read) {
  const std::string text = test::document({}, test::initiator_keys) + "start_time = \"8:00\"\nend_time = \"17:00\"\n";
  EXPECT_TRUE(refusal_of(write(replaced(text, "\"8:", "\"08:") + "time_zone = \"Tokyo Standard Time\"\n"))
                  .contains("is the name of a time zone in Windows: write \"Asia/Tokyo\""));
}

}  // namespace
}  // namespace nfx
