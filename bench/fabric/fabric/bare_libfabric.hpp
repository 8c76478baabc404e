// Direct calls of libfabric between two processes over provider shm: the comparison for the rails.
// Thread: the caller's, on CPU 0; a child busy-polls on CPU 1. Errors: std::runtime_error with libfabric's error.
#pragma once

#include <cstdint>

#include "nexusfix/base/latency_histogram.hpp"

namespace nfx::bench {

struct BareOptions {
  std::uint32_t bytes = 64;
  std::uint32_t round_trips = 20'000;
};

// Half of each round trip of a write with a number, answered by a number.
[[nodiscard]] LatencyHistogram bare_round_trips(const BareOptions& options);

struct BareCosts {
  double poll_ns = 0;        // a queue without an entry
  double post_ns = 0;        // a write that is taken
  double refused_ns = 0;     // a write that is refused
  double completion_ns = 0;  // each entry read, in addition to the poll
};
[[nodiscard]] BareCosts bare_costs();

}  // namespace nfx::bench
