// Parsers for the text files of /proc.
#include "placement/proc_text.hpp"

#include <algorithm>

#include "nexusfix/placement/cpu_affinity.hpp"

namespace nfx {
namespace {

constexpr std::string_view blanks = " \t\r";

}  // namespace

std::string_view next_line(std::string_view& rest) noexcept {
  const std::size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  return line;
}

std::string_view next_word(std::string_view& rest) noexcept {
  rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
  const std::string_view word = rest.substr(0, rest.find_first_of(blanks));
  rest.remove_prefix(word.size());
  return word;
}

bool all_digits(std::string_view text) noexcept {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<std::string_view> value_of(std::string_view text, std::string_view key) noexcept {
  while (!text.empty()) {
    std::string_view line = next_line(text);
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    const std::size_t colon = line.find_first_not_of(blanks);
    if (colon == std::string_view::npos) return std::string_view{};
    if (line[colon] == ':') {
      line.remove_prefix(colon + 1);
    } else if (colon == 0) {
      continue;  // a longer key
    }
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    return line;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> count_of(std::string_view text, std::string_view key) noexcept {
  return number<std::uint64_t>(value_of(text, key).value_or(""));
}

std::optional<int> cpu_number(std::string_view word) noexcept {
  if (!word.starts_with("cpu") && !word.starts_with("CPU")) return std::nullopt;
  const auto cpu = number<int>(word.substr(3));
  return cpu && *cpu >= 0 && *cpu < CpuSet::max_cpus ? cpu : std::nullopt;
}

bool Mount::has_option(std::string_view option) const {
  return (',' + options + ',').contains(',' + std::string{option} + ',');
}

std::expected<std::vector<Mount>, int> read_mounts(const HostFiles& files) {
  const auto text = files.read("/proc/self/mounts");
  if (!text) return std::unexpected(text.error());
  std::vector<Mount> mounts;
  std::string_view rest = *text;
  while (!rest.empty()) {
    std::string_view line = next_line(rest);
    static_cast<void>(next_word(line));  // the device
    const std::string_view folder = next_word(line), type = next_word(line), options = next_word(line);
    if (!options.empty()) mounts.push_back({std::string{folder}, std::string{type}, std::string{options}});
  }
  return mounts;
}

std::optional<TaskStat> parse_task_stat(std::string_view text) {
  // "12 (a name) with ) in it) S 1 ...": the name ends with the last parenthesis.
  const std::size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  TaskStat stat;
  stat.name = text.substr(open + 1, close - open - 1);
  std::string_view rest = text.substr(close + 1);
  int field = 3;  // in the numbering of proc_pid_stat(5)
  for (; field <= 41; ++field) {
    const std::string_view word = next_word(rest);
    if (word.empty()) break;
    switch (field) {
      case 3: stat.state = word.front(); break;
      case 4: stat.parent = number<int>(word).value_or(-1); break;
      case 9: stat.flags = number<std::uint64_t>(word).value_or(0); break;
      case 10: stat.minor_faults = number<std::uint64_t>(word).value_or(0); break;
      case 12: stat.major_faults = number<std::uint64_t>(word).value_or(0); break;
      case 22: stat.start_ticks = number<std::uint64_t>(word).value_or(0); break;
      case 39: stat.cpu = number<int>(word).value_or(-1); break;
      case 40: stat.priority = number<int>(word).value_or(0); break;
      case 41: stat.policy = number<int>(word).value_or(0); break;
      default: break;
    }
  }
  if (field <= 22) return std::nullopt;
  return stat;
}

}  // namespace nfx
