// The protocol of NATS, as a server speaks it to a client.
#include "nats/server_bytes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace nfx::nats {
namespace {

// Digits alone, and few enough for libnats.
std::optional<std::uint64_t> number_of(std::string_view text, std::size_t digits_max) noexcept {
  std::uint64_t number = 0;
  if (text.empty() || text.size() > digits_max) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

bool ServerBytes::fail() noexcept {
  failed_ = true;
  return false;
}

bool ServerBytes::take(std::string_view bytes) {
  if (failed_) return false;
  while (!bytes.empty()) {
    if (message_ > 0) {
      const std::size_t here = std::min(message_, bytes.size());
      message_ -= here;
      bytes.remove_prefix(here);
      continue;
    }
    if (end_ > 0) {
      if (bytes.front() != (end_ == 2 ? '\r' : '\n')) return fail();
      --end_;
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = bytes.find('\n');
    const std::size_t size = std::min(end, bytes.size());
    const std::string_view begin = line_.empty() ? bytes : std::string_view{line_};
    if (line_.size() + size > (begin.starts_with('I') ? info_max : line_max)) return fail();
    if (end == std::string_view::npos) {
      line_ += bytes;
      return true;
    }
    std::string_view line = bytes.substr(0, end);
    if (!line_.empty()) line = line_ += line;
    bytes.remove_prefix(end + 1);
    if (!take_line(line)) return fail();
    line_.clear();
  }
  return true;
}

bool ServerBytes::take_line(std::string_view line) {
  if (!line.ends_with('\r')) return false;
  line.remove_suffix(1);
  if (line.contains('\r') || line.contains('\0')) return false;
  if (line == "PING" || line == "PONG" || line == "+OK" || line.starts_with("-ERR ") || line.starts_with("INFO "))
    return true;
  if (line.starts_with("MSG ")) return take_message(line.substr(4), false);
  if (line.starts_with("HMSG ")) return take_message(line.substr(5), true);
  return false;
}

// SUBJECT SID [REPLY] SIZE, and with a header SUBJECT SID [REPLY] HEADER-SIZE SIZE.
bool ServerBytes::take_message(std::string_view arguments, bool has_header) {
  std::array<std::string_view, 5> words;
  std::size_t count = 0;
  while (true) {
    arguments.remove_prefix(std::min(arguments.find_first_not_of(" \t"), arguments.size()));
    if (arguments.empty()) break;
    if (count == words.size()) return false;
    words[count] = arguments.substr(0, arguments.find_first_of(" \t"));
    arguments.remove_prefix(words[count++].size());
  }
  const std::size_t fewest = has_header ? 4 : 3;
  if (count != fewest && count != fewest + 1) return false;
  const auto sid = number_of(words[1], 18), size = number_of(words[count - 1], 9);
  if (!sid || !size || *size > message_max) return false;
  if (has_header) {
    const auto header = number_of(words[count - 2], 9);
    if (!header || *header > header_max || *header > *size) return false;
  }
  message_ = *size;
  end_ = 2;
  return true;
}

}  // namespace nfx::nats
