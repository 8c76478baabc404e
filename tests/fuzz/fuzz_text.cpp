// Whatever bytes a peer or a file holds, what is made of them for a terminal or a log has no control character, and no
// line more than this program put there.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cli/safe_text.hpp"
#include "nexusfix/observe/message_text.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "text.hpp"

extern "C" const std::size_t nfx_fuzz_control_size = 0;

namespace {

void require(bool condition, const char* what, std::string_view text) {
  if (condition) return;
  std::fprintf(stderr, "broken promise: %s\n%.*s\n", what, static_cast<int>(text.size()), text.data());
  std::abort();
}

// Written apart from the code that it checks: by code points.
void require_printable(std::string_view text, const char* what) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = [&](std::size_t i) {
      return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
    };
    const std::size_t size = byte(0) < 0x80 ? 1 : byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
    std::uint32_t code = size == 1 ? byte(0) : byte(0) & (0xFFu >> (size + 1));
    for (std::size_t i = 1; i < size; ++i) {
      require((byte(i) & 0xC0) == 0x80, what, text);
      code = code << 6 | (byte(i) & 0x3F);
    }
    require(code >= (size == 1 ? 0x20u : size == 2 ? 0xA0u : size == 3 ? 0x800u : 0x10000u), what, text);
    require(code != 0x7F && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF), what, text);
    require((code < 0x2028 || code > 0x202E) && (code < 0x2066 || code > 0x2069), what, text);
    at += size;
  }
}

void check_text(const std::string& bytes) {
  nfx::cli::SafeText text;
  text += bytes;
  require_printable(text.view(), "an appended text is printable");
  const nfx::cli::SafeText again = nfx::cli::made("{}", text.view());
  require(again.view() == text.view(), "escaping again changes nothing", again.view());

  const nfx::cli::SafeText line = nfx::cli::made("{}: {}\n", bytes, bytes.c_str());
  require(line.view().ends_with('\n'), "a line ends where the format says", line.view());
  require_printable(line.view().substr(0, line.size() - 1), "a formatted line is printable");

  std::string_view lines;
  const nfx::cli::SafeText several = nfx::cli::SafeText::lines(bytes);
  for (lines = several.view(); !lines.empty();) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    require_printable(lines.substr(0, end), "each of several lines is printable");
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
}

void check_json(const std::string& bytes) {
  const std::string json = nfx::app::json_text(bytes);
  require_printable(json, "a JSON string is printable");
  require(json.size() >= 2 && json.front() == '"' && json.back() == '"', "a JSON string has its quotes", json);
  for (std::size_t i = 1; i + 1 < json.size(); ++i) {
    require(json[i] != '"', "a quote in a JSON string is escaped", json);
    if (json[i] != '\\') continue;
    ++i;
    require(i + 1 < json.size() && (json[i] == '"' || json[i] == '\\' || json[i] == 'u'), "a JSON escape", json);
    if (json[i] == 'u') require(i + 5 < json.size(), "a JSON escape has four digits", json);
  }
}

void check_message(const std::string& bytes) {
  static nfx::MessageView view{256};
  view.parse_leniently(bytes);
  nfx::cli::SafeText text;
  nfx::app::append_raw(text, view, false);
  nfx::app::append_summary(text, view, nullptr, false);
  require_printable(text.view(), "a message is printable");

  std::string logged;
  nfx::append_message_text(logged, bytes, {.separator = nfx::Separator::bar});
  require_printable(logged, "a logged message with bars is printable");
  logged.clear();
  nfx::append_message_text(logged, bytes, {.separator = nfx::Separator::raw});
  require(logged.find('\n') == std::string::npos, "a logged message has one line", logged);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  check_text(bytes);
  check_json(bytes);
  check_message(bytes);
  return 0;
}
