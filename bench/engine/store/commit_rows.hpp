// How many messages a second are committed: taken, and where the row waits for it, synced. With `group` one sync serves
// all messages that wait, so the more wait, the more a disk of the same speed commits.
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
  std::uint32_t waiting;         // messages of each session at a time; 0: none is waited for
  LatencyHistogram wait_ns{};    // from append until it is durable
  std::vector<double> rates{};   // of the repeats
  std::vector<double> a_sync{};  // messages for each sync, of the repeats
};

struct CommitPlan {
  double seconds;
  const std::filesystem::path& folder;
  const CpuSet& flusher_cores;
  const std::vector<std::string>& messages;
};

[[nodiscard]] std::vector<CommitRow> commit_rows();

// One repeat of a row. Throws WrongAnswerError when a journal does not give back what it took, std::runtime_error when
// it fails.
void run_commits(CommitRow& row, const CommitPlan& plan);

void print_commits(const std::vector<CommitRow>& rows);

}  // namespace nfx::bench
