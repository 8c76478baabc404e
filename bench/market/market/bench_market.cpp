// Measures market data from bytes to events and order books, for every kind of feed: bench_market --help. Exit status 1
// if a book is wrong, 2 if the run is not possible.
#include <array>
#include <cstdio>
#include <optional>
#include <string_view>

#include "harness/machine.hpp"
#include "harness/program.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "rows.hpp"

namespace nfx::bench {
namespace {

struct Part {
  std::string_view name;
  void (*run)(const MarketOptions&, const CycleClock&);
};
constexpr std::array parts{Part{"dbn", bench_dbn}, Part{"itch", bench_itch}, Part{"json", bench_json}};

int run(MarketOptions options, const std::optional<std::uint32_t>& core) {
  std::printf("machine   %s\n          %s\n", describe(this_machine()).c_str(), describe_state(this_machine()).c_str());
  options.other_cores = CpuAffinity::get();
  const unsigned own = run_on_core(core);
  if (options.other_cores.size() > 1) options.other_cores.erase(static_cast<int>(own));
  const CycleClock clock = calibrate_clock();
  for (const Part& part : parts) {
    if (options.only.empty() || options.only == part.name) part.run(options, clock);
  }
  return 0;
}

}  // namespace
}  // namespace nfx::bench

int main(int argc, char** argv) {
  using namespace nfx::bench;
  MarketOptions options;
  std::optional<std::uint32_t> core;
  const nfx::cli::Command program{
      .name = "bench_market",
      .summary = "What market data costs from its bytes to order books",
      .options =
          {{.names = "--only", .target = &options.only, .help = "One kind alone", .one_of = {"dbn", "itch", "json"}},
           {.names = "--file",
            .target = &options.dbn,
            .help = "A day in DBN, compressed with Zstandard or not; otherwise one is generated",
            .kind = nfx::cli::Kind::existing_file},
           {.names = "--itch",
            .target = &options.itch,
            .help = "A day in ITCH 5.0, each message after its length; otherwise one is generated",
            .kind = nfx::cli::Kind::existing_file},
           repeats_option(options.repeats),
           {.names = "--records",
            .target = &options.records,
            .help = "Records of the generated day in DBN",
            .range = {{1000, 100'000'000}}},
           {.names = "--messages",
            .target = &options.messages,
            .help = "Messages of the generated day in ITCH",
            .range = {{1000, 1'000'000'000}}},
           {.names = "--frames",
            .target = &options.frames,
            .help = "Frames of book tickers",
            .range = {{1000, 10'000'000}}},
           seed_option(options.seed),
           {.names = "--save", .target = &options.save, .help = "A folder in which the generated days are left"},
           core_option(core)},
  };
  return run_program(program, argc, argv, [&] { return run(options, core); });
}
