// Finds a dictionary by path or shipped name, and reads the messages of a log for the dict commands.
#include "dict/files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "base/error_text.hpp"
#include "cli/progress.hpp"
#include "decode/scanner.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/wire/encoder.hpp"

namespace nfx::app {
namespace {

constexpr std::uint32_t max_fields = 32768;
constexpr std::size_t read_size = 256 * 1024;

// The message with a corrected BodyLength and CheckSum; empty if its frame is not a message's.
std::string corrected(std::string_view message) {
  const std::size_t begin_string = message.find(soh), trailer = message.rfind(
                                                          "\x01"
                                                          "10=");
  if (begin_string == std::string_view::npos || trailer == std::string_view::npos || trailer < begin_string) return {};
  std::string_view body = message.substr(begin_string + 1, trailer - begin_string);
  if (body.starts_with("9=")) body.remove_prefix(std::min(body.find(soh), body.size() - 1) + 1);
  std::string text{message.substr(0, begin_string + 1)};
  text += "9=" + std::to_string(body.size()) + soh;
  text += body;
  std::array<char, 7> sum;
  write_check_sum_field(sum.data(), check_sum(text));
  text.append(sum.data(), sum.size());
  return text;
}

}  // namespace

std::filesystem::path dictionary_path(const std::string& name) {
  std::error_code ignored;
  if (std::filesystem::exists(name, ignored)) return name;
  const std::string_view file = shipped_file(name);
  if (const auto shipped = find_shipped_dictionary(file.empty() ? name : file)) return *shipped;
  return name;
}

LogCount for_each_message(const std::string& log, std::string_view doing,
                          const std::function<void(const MessageView&)>& visit) {
  std::ifstream file;
  if (log != "-") {
    file.open(log, std::ios::binary);
    if (!file.is_open())
      throw ConfigError(cannot("read", log, errno) + "; give the path of a readable file, or - for standard input");
  }
  std::istream& in = log == "-" ? std::cin : file;
  MessageScanner scanner;
  MessageView view(max_fields);
  LogCount count;
  const auto take = [&] {
    while (const auto found = scanner.next()) {
      std::string text;  // outlives the view
      bool readable = !found->too_long && view.parse(found->text) == WireError::none;
      if (!readable && !found->too_long && !found->cut_off) {
        text = corrected(found->text);
        readable = view.parse(text) == WireError::none;
        if (readable) ++count.corrected;
      }
      if (!readable) {
        ++count.unreadable;
        continue;
      }
      ++count.messages;
      visit(view);
    }
  };
  cli::Progress progress{std::string{doing} + " " + log, cli::file_size_or_zero(log)};
  std::vector<char> buffer(read_size);
  while (in.read(buffer.data(), read_size), in.gcount() > 0) {
    scanner.feed({buffer.data(), static_cast<std::size_t>(in.gcount())});
    take();
    progress.add(static_cast<std::uint64_t>(in.gcount()));
  }
  if (in.bad()) throw std::runtime_error(cannot("read", log, errno));
  scanner.finish();
  take();
  return count;
}

}  // namespace nfx::app
