// Compares kernels with the scalar one on generated messages next to inaccessible pages, and reports.
// Thread: starts its own and waits for them. Cost: all of them are busy until the number or the time is reached. Seed,
// number of executions and number of threads make a run reproducible.
#pragma once

#include <cstdint>
#include <vector>

#include "wire/kernels/kernels.hpp"

namespace nfx::test {

struct DifferentialOptions {
  std::vector<const kernels::KernelTable*> kernels;  // to compare with the scalar one
  std::uint64_t executions = 0;  // one is one message read by index_fields of one kernel; used if seconds is 0
  std::uint32_t seconds = 0;
  std::uint64_t seed = 1;
  std::uint32_t threads = 1;
};

// Returns the program's exit status: 0 without a difference, otherwise 1. Prints a summary to stdout, and a difference
// with everything needed to reproduce it to stderr. A kernel that touches inaccessible memory ends the program, after
// the same report.
[[nodiscard]] int run_differential(const DifferentialOptions& options);

}  // namespace nfx::test
