// Live, with market data and orders by one FIX session: market_maker CONFIG.toml SYMBOL [RECORDING]
// The same program on what it recorded:                 market_maker --backtest RECORDING SYMBOL
#include <nexusfix/engine/engine.hpp>
#include <nexusfix/engine/program.hpp>
#include <nexusfix/engine/stop_on_signal.hpp>
#include <nexusfix/recording/recording_thread.hpp>

#include <cstdio>

#include "market_maker.hpp"

namespace {

void print(const Maker& maker) {
  for (const auto& [number, intent] : maker.sent) std::printf("%s\n", to_text(number, intent).c_str());
  for (const auto& row : nfx::counter_rows<nfx::strategy::RiskCounters>) {
    if (const std::uint64_t count = maker.pipeline.gate().counters().*row.member; count != 0)
      std::printf("%s %s %llu\n", row.metric.data(), row.label_value.data(), static_cast<unsigned long long>(count));
  }
  std::printf("position %lld\n", static_cast<long long>(maker.pipeline.orders().exposure(Maker::only).position));
}

int run_backtest(const char* folder, const char* symbol) {
  nfx::market::NoPorts ports;
  Maker maker{symbol, ports};
  const auto scan =
      backtest(maker, {.folder = folder}, {.queue = nfx::strategy::QueueModel::by_order, .fills_by_trade = true});
  print(maker);
  std::printf("%s\n", scan.reason.c_str());
  return scan.records == 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 4 && std::string_view{argv[1]} == "--backtest") return run_backtest(argv[2], argv[3]);
  if (argc != 3 && argc != 4) return std::fputs("usage: market_maker CONFIG.toml SYMBOL [RECORDING]\n", stderr), 2;
  std::optional<nfx::market::RecordingThread> recording;
  if (argc == 4) recording.emplace(nfx::market::RecorderOptions{.folder = argv[3]});
  nfx::market::FixSessionPorts ports;
  Maker maker{argv[2], ports};
  nfx::market::FixSessionTrader live{{.orders = {.symbol = argv[2]},
                                      .report = [&](const auto& report) { maker.pipeline.report(report); },
                                      .recorder = recording ? &recording->recorder() : nullptr},
                                     ports,
                                     maker.handler,
                                     maker.books};
  maker.now = &live.now();
  maker.send = [&](const auto& intent, const auto& order) { return live.send(intent, order); };
  nfx::EngineConfig config = nfx::load_config(argv[1]);
  nfx::market::make_room_for_snapshots(config);
  nfx::Engine engine{config, live};
  const nfx::StopOnSignal stop{engine};
  engine.run();
  recording.reset();
  print(maker);
} catch (const std::exception&) {
  return nfx::report_exception("market_maker");
}
