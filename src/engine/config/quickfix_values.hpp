// Parses single values of a QuickFIX settings file. Each function returns nothing if the text has another format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nfx::quickfix {

// "Y" or "N"; also yes, no, true, false, on, off, 1 and 0, which the engines do not accept. Ignores case.
[[nodiscard]] std::optional<bool> read_flag(std::string_view text) noexcept;
[[nodiscard]] bool is_plain_flag(std::string_view text) noexcept;

// True for equal texts, ignoring case, or if `a` is a flag with the meaning of `b`, which is "Y" or "N".
[[nodiscard]] bool same_value(std::string_view a, std::string_view b) noexcept;

// Digits only, at most 18.
[[nodiscard]] std::optional<std::int64_t> read_count(std::string_view text) noexcept;

// Seconds, or a duration in Go's syntax: "30", "10s", "1m30s", "500ms". Returns milliseconds.
[[nodiscard]] std::optional<std::int64_t> read_milliseconds(std::string_view text) noexcept;

// "0.5" is 50: a fraction as whole percent, rounded.
[[nodiscard]] std::optional<std::int64_t> read_percent(std::string_view text) noexcept;

// The English name of the day with the same two first letters, in lower case.
[[nodiscard]] std::optional<std::string_view> read_day(std::string_view text) noexcept;

// "HH:MM:SS", with the time zone that may follow it. Reads "9:30" too.
struct LocalTime {
  std::string time;
  std::string zone;
};
[[nodiscard]] std::optional<LocalTime> read_time(std::string_view text);

// The parts between separators, trimmed and without empty parts.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

// Converts a Windows path: removes the drive, makes it relative, and uses '/' between folders. Other paths are
// unchanged.
[[nodiscard]] std::string unix_path(std::string_view path);

// The reason why a text is not a host name or address, with the fix; empty if it is one.
[[nodiscard]] std::string host_problem(std::string_view host, std::string_view host_key, std::string_view port_key);

// "host:port" for TOML, with brackets around an IPv6 address.
[[nodiscard]] std::string endpoint_text(std::string_view host, std::string_view port);

// A TOML basic string, or an array of them.
[[nodiscard]] std::string toml_text(std::string_view text);
[[nodiscard]] std::string toml_list(const std::vector<std::string>& texts);

}  // namespace nfx::quickfix
