// A configuration with comments: read back, and explained by the table of keys.
#include "config/commented_config.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "nexusfix/config/engine_config.hpp"

namespace nfx {
namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(CommentedConfig, is_read_back_with_each_key_explained_once) {
  const std::array sections{
      ConfigSection{"engine", {{"poll_threads", "2"}}},
      ConfigSection{"placement", {{"mapping", "\"balanced\""}}},
      ConfigSection{"log", {{"keep_files", "7"}}},
      ConfigSection{"control", {{"socket", "\"control.sock\""}, {"audit", "\"audit.log\""}}},
      ConfigSection{"defaults", {{"sender_comp_id", toml_text("A")}, {"listen", toml_text("127.0.0.1:0")}}},
      ConfigSection{"session", {{"target_comp_id", toml_text("B")}}},
      ConfigSection{"session", {{"target_comp_id", toml_text("C")}}},
  };
  const std::string text = commented_config("A title.", sections);
  EXPECT_TRUE(text.starts_with("# A title.\n\n[engine]\n# Number of poll threads.")) << text;
  EXPECT_NE(text.find("\n# integer, 1 to 1024; default 1\npoll_threads = 2\n"), std::string::npos) << text;
  EXPECT_EQ(count_of(text, "# The peer's CompID"), 1U);
  EXPECT_EQ(count_of(text, "\n[[session]]\n"), 2U);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    EXPECT_LE(end - begin, 102U) << text.substr(begin, end - begin);
    begin = end + 1;
  }
  const EngineConfig config = parse_config(text, "text", ".");
  EXPECT_EQ(config.poll_threads, 2U);
  EXPECT_EQ(config.placement.mapping, SessionMapping::balanced);
  EXPECT_EQ(config.log.keep_files, 7U);
  EXPECT_EQ(config.control.audit, "./audit.log");
  ASSERT_EQ(config.sessions.size(), 2U);
  EXPECT_EQ(config.sessions[0].session.sender_comp_id, "A");
  EXPECT_EQ(config.sessions[1].session.target_comp_id, "C");
}

TEST(CommentedConfig, quotes_any_text) {
  std::string every{"\"#[x]\\ \xC3\xA9 "};
  for (char c = 2; c < 0x20; ++c) every += c;
  every += '\x7F';
  const std::array sections{ConfigSection{"session",
                                          {{"sender_comp_id", "\"A\""},
                                           {"target_comp_id", "\"B\""},
                                           {"listen", "\"[::1]:0\""},
                                           {"store_directory", toml_text(every)}}}};
  const std::string text = commented_config("", sections);
  EXPECT_TRUE(parse_config(text, "text", ".").sessions.at(0).journal.directory.ends_with(every)) << text;
  EXPECT_EQ(toml_text("a\"b\\c\n\x7F"), R"("a\"b\\c\u000A\u007F")");
}

}  // namespace
}  // namespace nfx
