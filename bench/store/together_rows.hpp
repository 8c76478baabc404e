// Several journals that one thread fills at one total rate, with one flusher: what an append costs, and which appends
// are refused because the ring is full or the next step is not reserved yet.
// Thread: one owner, pinned; the flusher runs on the other cores.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/cycle_clock.hpp"
#include "nexusfix/placement/cpu_set.hpp"
#include "observe/latency_histogram.hpp"

namespace nfx::bench {

struct TogetherPlan {
  const std::filesystem::path& folder;  // empty before and after
  const CpuSet& flusher_cores;
  const std::vector<std::string>& messages;
  const CycleClock& clock;
  double own_cost_ticks = 0;
  double seconds = 0;
  double mb_per_s = 0;  // of messages, all journals together
};

struct TogetherRow {
  std::string name;
  std::uint32_t journals = 0;
  std::uint64_t segment_size = 0;
  LatencyHistogram ns{};
  LatencyHistogram refused_ns{};  // from the first refusal of a message until it is taken
  std::uint64_t ring_full = 0;    // refusals
  std::uint64_t not_reserved = 0;
  std::uint64_t segments = 0;      // begun meanwhile
  std::vector<double> mb_per_s{};  // of the repeats: less than the plan where the thread is too slow
};

[[nodiscard]] std::vector<TogetherRow> together_rows();
// One repeat. Throws WrongAnswerError when a journal does not give back every message in order, std::runtime_error when
// one fails.
void run_together(TogetherRow& row, const TogetherPlan& plan);
void print_together(const std::vector<TogetherRow>& rows, const TogetherPlan& plan);

}  // namespace nfx::bench
