// nfx market: order books and statistics from recordings of market data.
#include "market/market.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "command.hpp"
#include "market/price_text.hpp"
#include "nexusfix/config/engine_config.hpp"

namespace nfx::app {
namespace market {

cli::Option json_option(bool& json) { return {.names = "--json", .target = &json, .help = "Print a JSON document"}; }

UtcTime parse_time(const std::string& option, const std::string& text, std::optional<UtcTime> midnight) {
  std::int64_t nanoseconds = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), nanoseconds);
  if (status == std::errc{} && end == text.data() + text.size() && text.size() > 8) {
    return UtcTime{Duration{nanoseconds}};
  }
  std::string stamp = text;
  if (stamp.ends_with('Z')) stamp.pop_back();
  if (stamp.size() > 10 && stamp[4] == '-' && stamp[7] == '-' && (stamp[10] == 'T' || stamp[10] == ' ')) {
    stamp[10] = '-';
    std::erase_if(stamp, [place = 0](char) mutable { return place++, place == 5 || place == 8; });
  }
  if (const auto time = parse_utc_timestamp(stamp)) return time->time;
  if (const auto of_day = parse_utc_timestamp("19700101-" + stamp)) {
    if (midnight) return *midnight + of_day->time.time_since_epoch();
    throw ConfigError(option + ": \"" + text + "\" has no date; write 2023-12-25T" + text + 'Z');
  }
  throw ConfigError(option + ": \"" + text +
                    "\" is not a time; write 2023-12-25T17:00:00.5Z, 20231225-17:00:00.5, nanoseconds since 1970, " +
                    "or 09:30:00.5 in an ITCH file");
}

std::string time_text(UtcTime time) {
  if (time.time_since_epoch().count() == -1 || time == UtcTime{}) return "-";
  std::array<char, max_utc_timestamp_size> stamp;
  const std::size_t size = write_utc_timestamp(stamp.data(), time, 9);
  const std::string_view text{stamp.data(), size};
  if (const auto since = time.time_since_epoch(); since > Duration{} && since < std::chrono::days{4}) {
    const std::string hours = std::to_string(since / std::chrono::hours{1});
    return (hours.size() < 2 ? "0" : "") + hours + std::string{text.substr(11)};
  }
  return std::string{text.substr(0, 4)} + '-' + std::string{text.substr(4, 2)} + '-' + std::string{text.substr(6, 2)} +
         'T' + std::string{text.substr(9)} + 'Z';
}

std::string short_price(nfx::market::Price price) {
  std::array<char, 48> out;
  std::string text{out.data(), write_decimal(out.data(), price)};
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string floored_price(nfx::market::Price price) {
  std::array<char, 48> out;
  return {out.data(), write_floored(out.data(), price)};
}

}  // namespace market

cli::Command market_command() {
  using namespace market;
  return {
      .name = "market",
      .summary = "Order books and statistics of market data, live and from recordings",
      .commands = {book_command(), stats_command(), convert_command(), generate_command(), record_command(),
                   replay_command(), live_command(), publish_command()},
      .details =
          "Reads files of Databento's binary encoding (DBN 1 to 3, market by order) and of ITCH 5.0 messages, "
          "compressed with Zstandard or not. Files may have any size: memory depends on the orders that are open at "
          "the same time.",
      .exit_codes = "0 done, 1 the file is damaged, ends early or cannot be read, 2 wrong usage",
  };
}

}  // namespace nfx::app
