// Compares kernels with the scalar one on generated messages next to inaccessible pages, and reports.
// Thread: starts its own and waits for them. Cost: all of them busy until the number or the time is reached.
// The same seed, number of executions and number of threads do the same again.
#pragma once

#include <cstdint>
#include <vector>

#include "wire/kernels/kernels.hpp"

namespace nfx::test {

struct DifferentialOptions {
  std::vector<const kernels::KernelTable*> kernels;  // to compare with the scalar one
  std::uint64_t executions = 0;  // one is one message read by index_fields of one kernel; used when seconds is 0
  std::uint32_t seconds = 0;
  std::uint64_t seed = 1;
  std::uint32_t threads = 1;
};

// What the program exits with: 0 when nothing differs, 1 when something does. Prints what was done to stdout, and a
// difference with all that is needed to see it again to stderr. A kernel that touches memory it must not ends the
// program, after the same report.
[[nodiscard]] int run_differential(const DifferentialOptions& options);

}  // namespace nfx::test
