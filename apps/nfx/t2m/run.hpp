// One run: a publisher and a receiver, two processes, and what became of every message.
// Thread: the calling one receives. Errors: std::runtime_error names what could not be done; ConfigError for a plan
// that is refused.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nexusfix/strategy/risk_gate.hpp"
#include "strategy/stages.hpp"
#include "t2m/host_watch.hpp"
#include "t2m/messages.hpp"
#include "t2m/publisher.hpp"

namespace nfx::app::t2m {

enum class WaitMode : std::uint8_t { block, spin };
inline constexpr std::array wait_modes{std::string_view{"block"}, std::string_view{"spin"}};

struct RunOptions {
  MessageOptions messages;
  WaitMode mode = WaitMode::block;
  bool pin = false;
  bool isolate = false;                // and pin
  unsigned noise = 0;                  // processes that use all the CPU time they get
  bool orders = false;                 // quotes the first name at the demonstration's venue
  std::string record;                  // a folder: everything that was received; empty: nothing
  bool raw = false;                    // a loop around recvmsg() in place of feed, books and models: the baseline
  std::uint32_t slow_model_every = 0;  // a model that takes 50 us once in this number of messages; 0: none does
};

// The percentiles shown, and how many messages each needs: ten that are beyond it.
struct PercentileRow {
  double percent;
  std::string_view name;
  std::uint64_t messages;
};
inline constexpr std::array<PercentileRow, 6> percentile_rows{{{50, "P50", 20},
                                                               {75, "P75", 40},
                                                               {90, "P90", 100},
                                                               {95, "P95", 200},
                                                               {99, "P99", 1'000},
                                                               {99.9, "P99.9", 10'000}}};

struct StageFigures {
  strategy::Stage stage{};
  std::uint64_t count = 0;
  std::array<std::optional<std::uint64_t>, percentile_rows.size()> ns{};  // nothing: too few messages for it
  std::uint64_t max_ns = 0;
  double mean_ns = 0;
};
[[nodiscard]] StageFigures figures_of(strategy::Stage stage, const LatencyHistogram& histogram);

struct SlowLine {
  strategy::SlowMessage message;
  HostWindow host;  // while it was on its way
};

struct RunResult {
  RunOptions options;
  std::string where;                  // "CPU 1, isolated"
  std::vector<std::string> warnings;  // of the placement plan, and of what disturbed the run
  std::vector<StageFigures> stages;   // stages that occurred
  std::vector<SlowLine> slowest;      // the slowest first
  std::uint64_t messages = 0;         // measured
  std::uint64_t missing = 0;          // sent and not received
  std::uint64_t not_kept = 0;         // received, without stamps: there was no space
  std::uint64_t anomalies = 0;        // events that did not fit the books
  std::uint64_t book_hash = 0;        // of all books at the end
  std::uint64_t order_hash = 0;       // of all orders that left
  std::uint64_t packets_stamped_by_kernel = 0;
  strategy::RiskCounters orders;
  PublisherReport publisher;
  HostWindow host;

  [[nodiscard]] const StageFigures* find(strategy::Stage stage) const noexcept;
};

[[nodiscard]] RunResult run_once(const RunOptions& options);

// The result of giving the input of a run with RunOptions::record to the same handlers, books, models and limits.
// Throws StoreError or ConfigError for another recording.
struct ReplayResult {
  FeedKind feed{};
  std::uint64_t inputs = 0;
  std::uint64_t orders = 0;
  std::uint64_t book_hash = 0;
  std::uint64_t order_hash = 0;
  bool complete = false;
  std::string end;  // how the recording ends, in a sentence
};
[[nodiscard]] ReplayResult replay(const std::string& recording);

}  // namespace nfx::app::t2m
