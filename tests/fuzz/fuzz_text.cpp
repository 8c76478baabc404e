// Whatever bytes come from a peer or a file, the text made from them for a terminal or a log has no control character,
// and no more lines than this program put there.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json_text.hpp"
#include "fuzz_target.hpp"
#include "log/message_text.hpp"
#include "log/print.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "text.hpp"
#include "text_check.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{};

namespace {

using nfx::fuzz::require;

void require_printable(std::string_view text, const char* what) { require(nfx::fuzz::is_printable(text), what, text); }

void check_text(const std::string& bytes) {
  nfx::SafeText text;
  text += bytes;
  require_printable(text.view(), "an appended text is printable");
  const nfx::SafeText again = nfx::made("{}", text.view());
  require(again.view() == text.view(), "escaping again changes nothing", again.view());

  const nfx::SafeText line = nfx::made("{}: {}\n", bytes, bytes.c_str());
  require(line.view().ends_with('\n'), "a line ends as its format does", line.view());
  require_printable(line.view().substr(0, line.size() - 1), "a formatted line is printable");

  std::string_view lines;
  const nfx::SafeText several = nfx::SafeText::lines(bytes);
  for (lines = several.view(); !lines.empty();) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    require_printable(lines.substr(0, end), "each of several lines is printable");
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
}

void check_json(const std::string& bytes) {
  const std::string json = nfx::json_text(bytes);
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
  nfx::SafeText text;
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
