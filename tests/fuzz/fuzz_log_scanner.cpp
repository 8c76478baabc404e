// In any log, the messages found are the same however its bytes arrive, in order and with their lines; each ends with
// SOH, and text in UTF-16 is found as its UTF-8. Other forms and times are read from any text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "decode/log_time.hpp"
#include "decode/scanner.hpp"
#include "decode/text_form.hpp"
#include "fuzz_target.hpp"

// The first byte is the size of the pieces.
extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text, .control_size = 1, .mutations = 20000};

namespace {

using nfx::fuzz::require;

struct Found {
  std::string text;
  std::uint64_t line = 0;
  bool cut_off = false;

  friend bool operator==(const Found&, const Found&) = default;
};

std::vector<Found> messages_in(std::string_view log, std::size_t piece) {
  nfx::app::MessageScanner scanner;
  std::vector<Found> found;
  const auto take = [&] {
    while (const auto message = scanner.next()) {
      require(message->text.ends_with('\x01'), "a message ends with SOH", log);
      require(message->text.starts_with("8=FIX"), "a message begins with BeginString", log);
      found.push_back({std::string{message->text}, message->line, message->cut_off});
    }
  };
  for (; !log.empty(); log.remove_prefix(std::min(piece, log.size()))) {
    scanner.feed(log.substr(0, piece));
    take();
  }
  scanner.finish();
  take();
  return found;
}

std::string usual_form(std::string_view log, std::size_t piece) {
  nfx::app::TextForm form;
  std::string out;
  for (; !log.empty(); log.remove_prefix(std::min(piece, log.size()))) out += form.convert(log.substr(0, piece));
  return out += form.finish();
}

std::string utf16(std::string_view text) {
  std::string out = "\xFF\xFE";
  for (const char c : text) {
    out += c;
    out += '\0';
  }
  return out;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view log = nfx::fuzz::text_of(data + 1, size - 1);
  const std::vector<Found> whole = messages_in(log, log.size() + 1);
  require(messages_in(log, data[0] % 16 + 1U) == whole, "messages do not depend on how the log is cut", log);
  static_cast<void>(nfx::app::time_in(log));
  static_cast<void>(nfx::app::read_typed_time(log));
  require(usual_form(log, data[0] % 16 + 1U) == usual_form(log, log.size() + 1), "forms do not depend on the cut", log);
  std::uint64_t line = 0;
  for (const Found& each : whole) {
    require(each.line >= line && each.line <= nfx::fuzz::lines_of(log), "lines are in order", log);
    line = each.line;
  }
  if (nfx::fuzz::text_of(data + 1, size - 1)
          .find_first_not_of(
              "\r\n\t\x01 "
              "!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~") ==
      std::string_view::npos) {
    require(messages_in(utf16(log), 5) == whole, "UTF-16 is read as its UTF-8", log);
  }
  return 0;
}
