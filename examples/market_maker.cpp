// Live, with market data and orders by one FIX session, recorded if a folder is given:
//   market_maker CONFIG.toml SYMBOL [RECORDING]
// The same program on what it recorded:
//   market_maker --backtest RECORDING SYMBOL
#include <nexusfix/engine/engine.hpp>
#include <nexusfix/engine/program.hpp>
#include <nexusfix/engine/stop_on_signal.hpp>
#include <nexusfix/store/journal_flusher.hpp>

#include <cstdio>
#include <thread>

#include "market_maker.hpp"

namespace {

nfx::Instant clocks() {
  return {std::chrono::time_point_cast<nfx::Duration>(std::chrono::system_clock::now()),
          std::chrono::time_point_cast<nfx::Duration>(std::chrono::steady_clock::now())};
}

void print(const Maker& maker) {
  for (const Sent& each : maker.sent) {
    std::printf("%llu %s %s %lld x %llu\n", static_cast<unsigned long long>(each.number),
                to_string(each.intent.action).data(), to_string(each.intent.side).data(),
                static_cast<long long>(each.intent.price.nano), static_cast<unsigned long long>(each.intent.quantity));
  }
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
  nfx::JournalFlusher flusher;
  std::optional<nfx::market::Recorder> recorder;
  if (argc == 4)
    recorder.emplace(nfx::posix_disk(), nfx::market::RecorderOptions{.folder = argv[3]}, flusher, clocks().utc);
  nfx::market::FixSessionPorts ports;
  Maker maker{argv[2], ports};
  LiveMaker live{maker, argv[2], ports, recorder ? &*recorder : nullptr};
  nfx::EngineConfig config = nfx::load_config(argv[1]);
  config.max_fields = 32768;  // for a snapshot of the whole book
  config.max_message_size = 1u << 20;
  for (auto& each : config.sessions) each.send_buffer_size = std::max<std::size_t>(each.send_buffer_size, 2u << 20);
  nfx::Engine engine{config, live};
  const nfx::StopOnSignal stop{engine};
  {
    std::jthread writer{[&](const std::stop_token& end) {
      while (!end.stop_requested())
        flusher.wait(std::min<nfx::Duration>(flusher.turn(clocks()), std::chrono::milliseconds{100}));
    }};
    engine.run();
  }
  recorder.reset();
  print(maker);
} catch (const std::exception&) {
  return nfx::report_exception("market_maker");
}
