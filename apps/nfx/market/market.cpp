// nfx market: order books and statistics from recordings of market data.
#include "market/market.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "cli/progress.hpp"
#include "command.hpp"
#include "market/byte_input.hpp"
#include "market/price_text.hpp"
#include "nexusfix/config/engine_config.hpp"

namespace nfx::app {
namespace market {

cli::Option file_option(std::string& file) {
  return {.names = "FILE",
          .target = &file,
          .help = "Recording in Databento's binary encoding, .dbn or .dbn.zst; - for standard input",
          .required = true,
          .kind = cli::Kind::file};
}

cli::Option json_option(bool& json) { return {.names = "--json", .target = &json, .help = "Print a JSON document"}; }

cli::Option instrument_option(std::optional<std::uint32_t>& instrument) {
  return {.names = "--instrument",
          .target = &instrument,
          .help = "Only this instrument: its number in the recording",
          .value = "ID"};
}

bool read_file(const std::string& file, nfx::market::DbnReader& reader,
               const std::function<bool(std::span<const std::byte>)>& read) {
  cli::Progress progress{"reading " + file, cli::file_size_or_zero(file)};
  const auto fail = [&](const SafeText& text) {
    progress.end();
    print_error(text);
    return false;
  };
  std::string problem;
  try {
    ByteInput input{file};
    for (std::uint64_t before = 0;;) {
      const auto chunk = input.next();
      progress.add(input.bytes_read() - before);
      before = input.bytes_read();
      if (chunk.empty()) break;
      if (read(chunk)) continue;
      if (reader.error().problem == nfx::market::DbnProblem::none) return true;  // no more is wanted
      break;
    }
    if (reader.finish()) return true;
  } catch (const std::runtime_error& error) {
    if (reader.offset() == 0) throw;
    problem = error.what();
  }
  const nfx::market::DbnError& error = reader.error();
  if (!problem.empty()) return fail(made("nfx market: {}; shown is what precedes\n", problem));
  return fail(made("nfx market: {}: {}, at byte {} of its content; shown is what precedes\n", file,
                   to_string(error.problem), error.offset));
}

UtcTime parse_time(const std::string& option, const std::string& text) {
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
  throw ConfigError(option + ": \"" + text +
                    "\" is not a time; write 2023-12-25T17:00:00.5Z, 20231225-17:00:00.5, or nanoseconds since 1970");
}

std::string time_text(UtcTime time) {
  if (time.time_since_epoch().count() == -1 || time == UtcTime{}) return "-";
  std::array<char, max_utc_timestamp_size> stamp;
  const std::size_t size = write_utc_timestamp(stamp.data(), time, 9);
  const std::string_view text{stamp.data(), size};
  return std::string{text.substr(0, 4)} + '-' + std::string{text.substr(4, 2)} + '-' + std::string{text.substr(6, 2)} +
         'T' + std::string{text.substr(9)} + 'Z';
}

std::string symbol_of(const nfx::market::DbnReader& reader, nfx::market::InstrumentId instrument) {
  if (!reader.metadata()) return {};
  const auto& symbols = reader.metadata()->symbols;
  const auto found = std::ranges::find(symbols, instrument, &nfx::market::DbnMetadata::Symbol::instrument);
  return found == symbols.end() ? std::string{} : found->name;
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
          "Reads files of Databento's binary encoding (DBN 1 to 3, market by order), compressed with Zstandard "
          "or not, of any size: memory depends on the orders that are open at the same time.",
      .exit_codes = "0 done, 1 the file is damaged, ends early or cannot be read, 2 wrong usage",
  };
}

}  // namespace nfx::app
