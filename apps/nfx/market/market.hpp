// The subcommands of nfx market, and their common formats of times and prices.
// Thread: any one. Errors: ConfigError for a wrong option, std::runtime_error for unreadable files.
#pragma once

#include <optional>
#include <string>

#include "cli/command_line.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/market/event.hpp"
#include "nexusfix/transport/socket_options.hpp"
#include "output.hpp"

namespace nfx::app::market {

[[nodiscard]] cli::Command book_command();
[[nodiscard]] cli::Command stats_command();
[[nodiscard]] cli::Command convert_command();
[[nodiscard]] cli::Command generate_command();
[[nodiscard]] cli::Command record_command();
[[nodiscard]] cli::Command replay_command();
[[nodiscard]] cli::Command live_command();
[[nodiscard]] cli::Command publish_command();

[[nodiscard]] cli::Option json_option(bool& json);

// "2023-12-25T17:00:00.5Z", "20231225-17:00:00.5", or nanoseconds since 1970; with a midnight also "09:30:00.5" after
// it. Throws ConfigError.
[[nodiscard]] UtcTime parse_time(const std::string& option, const std::string& text,
                                 std::optional<UtcTime> midnight = std::nullopt);
// "2023-12-25T17:00:00.500000000Z", or "-" for an undefined time. A time in the first four days of 1970 belongs to an
// ITCH file without a date: "09:30:00.500000000" since midnight.
[[nodiscard]] std::string time_text(UtcTime time);

// "127.0.0.1:9880". Throws ConfigError.
[[nodiscard]] Endpoint parse_endpoint(const std::string& option, const std::string& text);

// Prices as text, without zeros at the end of the fraction.
[[nodiscard]] std::string short_price(nfx::market::Price price);
[[nodiscard]] std::string floored_price(nfx::market::Price price);

}  // namespace nfx::app::market
