// What an append costs where a journal grows: the first one after opening, and those at each step of its file and ring.
// Thread: one owner, pinned; the flusher runs on the other cores.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/cycle_clock.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "observe/latency_histogram.hpp"
#include "store/journal_format.hpp"

namespace nfx::bench {

struct GrowthPlan {
  const std::filesystem::path& folder;  // empty before and after
  const CpuSet& flusher_cores;
  const std::vector<std::string>& messages;
  const CycleClock& clock;
  double own_cost_ticks = 0;
  double pace_ns = 0;  // from one message to the next
};

// The append that comes to this position of a new journal, or is the first one where it is 0.
struct GrowthRow {
  std::string name;
  JournalPosition at = 0;
  LatencyHistogram ns{};
  std::uint64_t refused = 0;
};

[[nodiscard]] std::vector<GrowthRow> growth_rows();
// One journal, from its opening until the last row.
void run_growth(std::vector<GrowthRow>& rows, const GrowthPlan& plan);
void print_growth(const std::vector<GrowthRow>& rows);

}  // namespace nfx::bench
