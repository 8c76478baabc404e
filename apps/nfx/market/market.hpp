// The subcommands of nfx market, and what they share: the file, its progress, times on the command line.
// Thread: any one. Errors: ConfigError for a wrong file or option, std::runtime_error for what cannot be read.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "cli/command_line.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/market/dbn.hpp"
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

[[nodiscard]] cli::Option file_option(std::string& file);
[[nodiscard]] cli::Option json_option(bool& json);
[[nodiscard]] cli::Option instrument_option(std::optional<std::uint32_t>& instrument);

// Gives the chunks of the file to `read` until it returns false, with a line of progress, and ends the reader. False:
// the file is damaged or ends early, which was printed; what precedes has been read.
[[nodiscard]] bool read_file(const std::string& file, nfx::market::DbnReader& reader,
                             const std::function<bool(std::span<const std::byte>)>& read);

// "2023-12-25T17:00:00.5Z", "20231225-17:00:00.5", or nanoseconds since 1970. Throws ConfigError.
[[nodiscard]] UtcTime parse_time(const std::string& option, const std::string& text);
// "2023-12-25T17:00:00.500000000Z"; "-" for a time that is not defined.
[[nodiscard]] std::string time_text(UtcTime time);
// The symbol of an instrument, or nothing.
[[nodiscard]] std::string symbol_of(const nfx::market::DbnReader& reader, nfx::market::InstrumentId instrument);

// The last midnight in New York, at which the times of ITCH messages begin. Throws ConfigError without time zone data.
[[nodiscard]] UtcTime midnight_in_new_york(UtcTime now);
// "127.0.0.1:9880". Throws ConfigError.
[[nodiscard]] Endpoint parse_endpoint(const std::string& option, const std::string& text);

// Prices in text: no zeros at the end of the fraction.
[[nodiscard]] std::string short_price(nfx::market::Price price);
[[nodiscard]] std::string floored_price(nfx::market::Price price);

}  // namespace nfx::app::market
