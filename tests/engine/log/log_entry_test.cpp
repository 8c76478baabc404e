// The formats of a log line, and that nothing in it can end a line or a JSON string.
#include "log/log_entry.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "nexusfix/base/enum_values.hpp"

namespace nfx {
namespace {

std::string line_of(LineFormat format, const LogEntry& entry) {
  SafeText out;
  append_entry(out, format, entry);
  return std::string{out.view()};
}

constexpr UtcTime noon{std::chrono::sys_days{std::chrono::year{2024} / 3 / 15} + std::chrono::hours{12} +
                       std::chrono::milliseconds{7}};

TEST(LogEntry, has_three_forms) {
  const std::array fields{LogField{"reason", "the \"end\""}, LogField{"next_in", std::uint64_t{18446744073709551615U}}};
  const LogEntry entry{.time = noon,
                       .level = LogLevel::warning,
                       .what = "logged out",
                       .session = "FIX.4.4:ME->YOU",
                       .text = "logged out: the \"end\"",
                       .fields = fields};
  EXPECT_EQ(line_of(LineFormat::text, entry), "20240315-12:00:00.007 FIX.4.4:ME->YOU logged out: the \"end\"\n");
  EXPECT_EQ(line_of(LineFormat::journald, entry), "<4>FIX.4.4:ME->YOU logged out: the \"end\"\n");
  EXPECT_EQ(line_of(LineFormat::json, entry),
            R"({"time":"2024-03-15T12:00:00.007Z","level":"warning","what":"logged out","session":"FIX.4.4:ME->YOU",)"
            R"("text":"logged out: the \"end\"","fields":{"reason":"the \"end\"","next_in":18446744073709551615}})"
            "\n");
}

TEST(LogEntry, of_the_engine_has_no_session) {
  const LogEntry entry{.time = noon, .text = "idle: block"};
  EXPECT_EQ(line_of(LineFormat::text, entry), "20240315-12:00:00.007 idle: block\n");
  EXPECT_EQ(line_of(LineFormat::journald, entry), "<6>idle: block\n");
  EXPECT_NE(line_of(LineFormat::json, entry).find(R"("what":"engine","session":"","text":"idle: block","fields":{}})"),
            std::string::npos);
}

TEST(LogEntry, levels_are_those_of_syslog) {
  constexpr std::array levels{LogLevel::error, LogLevel::warning, LogLevel::notice, LogLevel::info};
  constexpr std::array<std::string_view, 4> names{"error", "warning", "notice", "info"};
  for (std::size_t i = 0; i < levels.size(); ++i) {
    EXPECT_EQ(line_of(LineFormat::journald, {.level = levels[i], .text = "t"}), '<' + std::to_string(i + 3) + ">t\n");
    EXPECT_EQ(to_string(levels[i]), names[i]);
  }
}

// Parses the JSON of a line: every quote within a string is escaped, and all braces are outside of strings.
bool is_one_object(std::string_view line) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const char c = line[i];
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return false;
    if (in_string) {
      if (c == '\\') {
        ++i;
        if (std::string_view{"\"\\u"}.find(line[i]) == std::string_view::npos) return false;
      }
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    if (c == '{') ++depth;
    if (c == '}' && --depth == 0 && i + 2 != line.size()) return false;
  }
  return !in_string && depth == 0 && line.ends_with('\n');
}

TEST(LogEntry, hostile_text_ends_neither_a_line_nor_a_string) {
  std::string every;
  for (int byte = 0; byte < 256; ++byte) every += static_cast<char>(byte);
  const std::array<std::string, 6> texts{
      every, "\n<0>kernel panic",           "\"},\"level\":\"error\",\"x\":{\"y\":\"",
      "\\",  "\x1b[2J\xE2\x80\xAE\xC2\x85", std::string(100'000, '"')};
  for (const std::string& text : texts) {
    const std::array fields{LogField{text, text}};
    for (const LineFormat format : enum_values<LineFormat>()) {
      const std::string line =
          line_of(format, {.time = noon, .what = text, .session = text, .text = text, .fields = fields});
      EXPECT_EQ(line.find('\n'), line.size() - 1) << to_string(format);
      EXPECT_EQ(line.find('\x1b'), std::string::npos) << to_string(format);
      EXPECT_TRUE(format != LineFormat::json || is_one_object(line)) << line.substr(0, 500);
      EXPECT_TRUE(format != LineFormat::journald || line.starts_with("<6>")) << line.substr(0, 500);
    }
  }
}

}  // namespace
}  // namespace nfx
