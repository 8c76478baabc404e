// Parses the text files of /proc: lines, words, values, the mount table, a task's stat line.
// Thread: any; pure but for read_mounts. Lifetime: views are into the given text. Source: proc(5), proc_pid_stat(5).
#pragma once

#include <charconv>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/placement/machine.hpp"

namespace nfx {

// Removes and returns the first line, or word, of `rest`; empty at the end.
[[nodiscard]] std::string_view next_line(std::string_view& rest) noexcept;
[[nodiscard]] std::string_view next_word(std::string_view& rest) noexcept;

// The whole text as a number; none if it is not one.
template <typename Number>
[[nodiscard]] std::optional<Number> number(std::string_view text) noexcept {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

[[nodiscard]] bool all_digits(std::string_view text) noexcept;

// The text after "key:", "key :" or "key" and blanks at the beginning of a line; may be empty.
[[nodiscard]] std::optional<std::string_view> value_of(std::string_view text, std::string_view key) noexcept;

// The same as a count.
[[nodiscard]] std::optional<std::uint64_t> count_of(std::string_view text, std::string_view key) noexcept;

// "cpu3" of /proc/stat, "CPU3" of the first lines of tables.
[[nodiscard]] std::optional<int> cpu_number(std::string_view word) noexcept;

struct Mount {
  std::string folder;
  std::string type;
  std::string options;

  [[nodiscard]] bool has_option(std::string_view option) const;
};
// In the order of mounting. Returns an errno if the table cannot be read.
[[nodiscard]] std::expected<std::vector<Mount>, int> read_mounts(const HostFiles& files);

struct TaskStat {
  // A task flag of include/linux/sched.h.
  static constexpr std::uint64_t exiting = 0x00000004;
  static constexpr std::uint64_t kernel_thread = 0x00200000;
  static constexpr std::uint64_t no_set_affinity = 0x04000000;

  std::string name;  // any bytes
  char state = '?';
  int parent = 0;
  std::uint64_t flags = 0;
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::uint64_t start_ticks = 0;
  int cpu = -1;  // -1 and 0 if the line ends before them
  int priority = 0;
  int policy = 0;
};
// None if the line ends before the start time.
[[nodiscard]] std::optional<TaskStat> parse_task_stat(std::string_view text);

}  // namespace nfx
