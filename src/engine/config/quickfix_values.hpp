// The values of a QuickFIX settings file, one at a time. Empty when the text does not have the format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nfx::quickfix {

// "Y" or "N", or yes, no, true, false, on, off, 1 and 0, which the engines do not know; in any case.
[[nodiscard]] std::optional<bool> read_flag(std::string_view text) noexcept;
[[nodiscard]] bool is_plain_flag(std::string_view text) noexcept;

// Equal texts in any case, or flags that mean `b`, "Y" or "N".
[[nodiscard]] bool same_value(std::string_view a, std::string_view b) noexcept;

// Digits only, at most 18.
[[nodiscard]] std::optional<std::int64_t> read_count(std::string_view text) noexcept;

// Seconds, or a duration as Go writes it: "30", "10s", "1m30s", "500ms". In milliseconds.
[[nodiscard]] std::optional<std::int64_t> read_milliseconds(std::string_view text) noexcept;

// "0.5" as 50, rounded to whole percent.
[[nodiscard]] std::optional<std::int64_t> read_percent(std::string_view text) noexcept;

// The English name of the day that begins with the same two letters, in lower case.
[[nodiscard]] std::optional<std::string_view> read_day(std::string_view text) noexcept;

// "HH:MM:SS", with the time zone that may follow it. Reads "9:30" too.
struct LocalTime {
  std::string time;
  std::string zone;
};
[[nodiscard]] std::optional<LocalTime> read_time(std::string_view text);

// The parts between separators, trimmed; empty parts are left out.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

// A path of Windows as one of this system: without its drive, relative, and with '/' between folders. Others stay.
[[nodiscard]] std::string unix_path(std::string_view path);

// Why a text is not the name or address of a host, and what to write; empty: it is.
[[nodiscard]] std::string host_problem(std::string_view host, std::string_view host_key, std::string_view port_key);

// "host:port" for TOML, with brackets around an IPv6 address.
[[nodiscard]] std::string endpoint_text(std::string_view host, std::string_view port);

// A TOML basic string, or an array of them.
[[nodiscard]] std::string toml_text(std::string_view text);
[[nodiscard]] std::string toml_list(const std::vector<std::string>& texts);

}  // namespace nfx::quickfix
