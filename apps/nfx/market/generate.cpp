// nfx market generate: writes a day of invented market data as an ITCH file.
#include <array>
#include <string>

#include "cli/progress.hpp"
#include "command.hpp"
#include "market/itch_generator.hpp"
#include "market/market.hpp"
#include "output_file.hpp"

namespace nfx::app::market {
namespace {

using nfx::market::ItchGenerator;

struct GenerateOptions {
  std::string out;
  std::uint64_t messages = 1'000'000;
  std::uint16_t names = 8000;
  std::uint32_t resting = 150;
  std::uint64_t seed = 1;
  bool force = false;
};

int run(const GenerateOptions& options) {
  OutputFile out{{.path = options.out, .overwrite = options.force}};
  ItchGenerator generator{
      {.seed = options.seed, .messages = options.messages, .stocks = options.names, .resting_orders = options.resting}};
  cli::Progress progress{"generating " + options.out};
  std::uint64_t messages = 0, bytes = 0;
  for (auto message = generator.next(); !message.empty(); message = generator.next()) {
    out.bytes += static_cast<char>(message.size() >> 8);
    out.bytes += static_cast<char>(message.size());
    out.bytes.append(reinterpret_cast<const char*>(message.data()), message.size());
    ++messages;
    bytes += 2 + message.size();
    if (messages % 4096 == 0) {
      progress.add(bytes);
      bytes = 0;
    }
    out.flush_when_large();
  }
  out.finish();
  progress.end();
  const SafeText done = made("{}: {} messages of {} stocks, {} orders are open at the end\n", options.out, messages,
                             options.names, generator.resting_orders());
  options.out == "-" ? print_error(done) : print(done);
  return exit_done;
}

}  // namespace

cli::Command generate_command() {
  static GenerateOptions options;
  return {
      .name = "generate",
      .summary = "Write a generated day of NASDAQ ITCH 5.0",
      .run = [] { return run(options); },
      .options = {{.names = "FILE",
                   .target = &options.out,
                   .help = "File to write; - for standard output",
                   .required = true,
                   .kind = cli::Kind::file},
                  {.names = "--messages",
                   .target = &options.messages,
                   .help = "Number of messages between opening and closing; each stock adds a few",
                   .value = "N",
                   .range = cli::Range{1, 1e12}},
                  {.names = "--names",
                   .target = &options.names,
                   .help = "Stocks: AAAA, AAAB, ...",
                   .value = "N",
                   .range = cli::Range{1, 65000}},
                  {.names = "--resting",
                   .target = &options.resting,
                   .help = "Average number of resting orders per stock once the books have filled",
                   .value = "N",
                   .range = cli::Range{1, 1e6}},
                  {.names = "--seed", .target = &options.seed, .help = "Random seed of the day", .value = "N"},
                  {.names = "--force", .target = &options.force, .help = "Overwrite the file"}},
      .details =
          R"(A day has every type of message, orders that exist when they are changed, prices around a touch that drifts, and books that never cross. Few stocks have most of the messages, which come in bursts. The same options give the same bytes on every machine.)",
      .examples = {{.line = "nfx market generate day.itch --messages 10000000", .about = "8,000 stocks"},
                   {.line = "nfx market generate - --messages 100000 | nfx market stats -"}},
  };
}

}  // namespace nfx::app::market
