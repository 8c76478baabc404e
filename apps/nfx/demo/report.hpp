// The demonstration's results: one table as text, one JSON file for programs, and the result of its check.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "demo/trader.hpp"
#include "demo/venue_process.hpp"
#include "output.hpp"

namespace nfx::app::demo {

struct Outcome {
  const Trader* trader = nullptr;
  VenueReport venue;
  SessionCounters trader_session;
  std::uint64_t trader_next_inbound = 0;
  std::uint64_t trader_next_outbound = 0;
  std::optional<LatencyHistogram> baseline;
  Disturbance baseline_disturbance;
  std::optional<Disturbance> baseline_first_run;
  std::string idle;
  std::string idle_reason;
  unsigned noise = 0;         // number of noisy processes
  std::string isolated_cpus;  // empty: none was isolated
};

// All differences between the two sides; empty if they agree.
[[nodiscard]] std::vector<std::string> disagreements(const Outcome& outcome);

[[nodiscard]] SafeText table(const Outcome& outcome, const std::vector<std::string>& problems);

// Throws std::runtime_error naming the file if it cannot be written.
void write_json(const std::filesystem::path& file, const Outcome& outcome, const std::vector<std::string>& problems);

}  // namespace nfx::app::demo
