// Measures how many messages per second are committed: appended and, if the row waits for it, synced. With `group` one
// sync serves all waiting messages, so a disk commits more if more messages wait.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "nexusfix/base/latency_histogram.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "store/journal_store.hpp"

namespace nfx::bench {

struct CommitRow {
  std::string name;
  Durability durability;
  std::uint32_t sessions;
  std::uint32_t waiting;         // waiting messages per session; 0: does not wait
  LatencyHistogram wait_ns{};    // from append to durable
  std::vector<double> rates{};   // one per repeat
  std::vector<double> a_sync{};  // messages per sync, one per repeat
};

struct CommitPlan {
  double seconds;
  const std::filesystem::path& folder;
  const CpuSet& flusher_cores;
  const std::vector<std::string>& messages;
};

[[nodiscard]] std::vector<CommitRow> commit_rows();

// One repeat of a row. Throws WrongAnswerError if a journal does not return what was appended, std::runtime_error if it
// fails.
void run_commits(CommitRow& row, const CommitPlan& plan);

void print_commits(const std::vector<CommitRow>& rows);

}  // namespace nfx::bench
