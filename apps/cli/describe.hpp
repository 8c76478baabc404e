// The description of an option in help, manual page and completion: its names, its value, its limits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.hpp"

namespace nfx::cli {

[[nodiscard]] inline bool is_argument(const Option& option) noexcept { return !option.names.starts_with('-'); }
[[nodiscard]] inline bool is_flag(const Option& option) noexcept {
  return std::holds_alternative<bool*>(option.target);
}
[[nodiscard]] inline bool is_list(const Option& option) noexcept {
  return std::holds_alternative<std::vector<std::string>*>(option.target);
}

// "-n", "--last".
[[nodiscard]] std::vector<std::string_view> names_of(const Option& option);
// "N", "FILE", "text|json"; empty for a flag.
[[nodiscard]] std::string value_name(const Option& option);
// "-n, --last N".
[[nodiscard]] std::string heading(const Option& option);
// Its text in the help: the meaning, then limits and default in brackets.
[[nodiscard]] std::string explanation(const Option& option);
// "100 to 5000", "at least 1"; empty without a range.
[[nodiscard]] std::string range_text(const Option& option);
// "nfx store ls".
[[nodiscard]] std::string full_name(const Path& path);
// "[OPTIONS] CONFIG".
[[nodiscard]] std::string synopsis(const Command& command);
// Its own examples, otherwise the first example of each subcommand.
[[nodiscard]] std::vector<Example> examples_of(const Command& command);
// The options that every command has.
[[nodiscard]] std::vector<Option> standard_options(const Command& command);
[[nodiscard]] std::string joined(const std::vector<std::string_view>& words, std::string_view between);

}  // namespace nfx::cli
