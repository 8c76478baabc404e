// A market maker for one instrument, live and in a backtest: this file has the strategy, its limits and where it runs.
// The library connects feed, books, model, limits and orders (nfx::market::Trader). Try it in this folder:
//   nfx market publish --feed fix --listen 127.0.0.1:9880 --rate 1000 &    a venue, with orders of its own
//   market_maker market_maker.toml ALFA                                    live, until Ctrl-C
//   market_maker market_maker.toml ALFA day                                live, recorded in the folder "day"
//   market_maker --backtest day ALFA                                       the same strategy on what was recorded
#include <nexusfix/market.hpp>

#include <chrono>
#include <cstdio>

using namespace nfx::market;
using namespace nfx::strategy;

namespace {

// A bid and an ask of 10 each, 0.02 from the microprice. Prices are in billionths.
const Quoter quoter{{.half_spread = {20'000'000}, .quantity = 10, .most_position = 50}};

const TraderOptions limits{.risk = {.orders_per_second = 1000, .burst = 1000, .max_event_age = std::chrono::seconds{1}},
                           .instruments = {{.tick = {10'000'000}, .collar = {1'000'000'000}, .max_position = 100}},
                           .own_orders_by_number = true};

FixHandlerOptions feed_of(const char* symbol) { return {.instruments = {{symbol}}}; }

// Every request, how many passed the limits and were refused, and the position.
void print(auto& maker) {
  for (const auto& [number, intent] : maker.sent()) std::puts(to_text(number, intent).c_str());
  std::printf("orders: %s\nposition %jd\n", to_text(maker.pipeline().gate().counters()).c_str(),
              std::intmax_t{maker.position()});
}

int run_live(const char* config, const char* symbol, const char* recording) {
  Trader maker{feed_of(symbol), limits, FixSessionVenue{{.symbol = symbol}}, quoter};
  trade(maker, nfx::load_config(config), recording);
  print(maker);
  return 0;
}

int run_backtest(const char* recording, const char* symbol) {
  Trader maker{feed_of(symbol), limits, SimulatedVenue{{.queue = QueueModel::by_order, .fills_by_trade = true}},
               quoter};
  const RecordingScan scan = backtest(maker, {.folder = recording});
  print(maker);
  std::puts(scan.reason.c_str());
  return scan.records == 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 4 && std::string_view{argv[1]} == "--backtest") return run_backtest(argv[2], argv[3]);
  if (argc == 3 || argc == 4) return run_live(argv[1], argv[2], argc == 4 ? argv[3] : "");
  std::fputs("usage: market_maker CONFIG.toml SYMBOL [RECORDING], or market_maker --backtest RECORDING SYMBOL\n",
             stderr);
  return 2;
} catch (const std::exception&) {
  return nfx::report_exception("market_maker");
}
