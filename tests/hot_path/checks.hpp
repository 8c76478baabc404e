// Prints the checks of this folder, and records whether all succeeded.
#pragma once

#include <cstdio>
#include <utility>

#include "trap.hpp"

namespace nfx::test {

inline bool all_right = true;

inline void check(bool right, const char* what) {
  std::printf("%s %s\n", right ? "ok    " : "FAILED", what);
  all_right = all_right && right;
}

inline void check_counts(const TrapCounts& counts, const char* what) {
  const bool right = counts.nothing();
  std::printf("%s %s: %llu allocations, %llu releases, %llu locks, %llu throws, %llu system calls not allowed",
              right ? "ok    " : "FAILED", what, static_cast<unsigned long long>(counts.allocations),
              static_cast<unsigned long long>(counts.releases), static_cast<unsigned long long>(counts.locks),
              static_cast<unsigned long long>(counts.throws), static_cast<unsigned long long>(counts.calls.unexpected));
  if (counts.calls.unexpected != 0)
    std::printf(", the first has number %lld", static_cast<long long>(counts.calls.first));
  if (counts.library_allocations != 0)
    std::printf("; OpenSSL: %llu allocations", static_cast<unsigned long long>(counts.library_allocations));
  const char* separator = "; calls: ";
  for (std::size_t i = 0; i < call_kinds; ++i) {
    if (counts.calls.counts[i] == 0) continue;
    std::printf("%s%s %llu", std::exchange(separator, ", "), name_of(static_cast<Call>(i)),
                static_cast<unsigned long long>(counts.calls.counts[i]));
  }
  std::printf("\n");
  all_right = all_right && right;
}

// The work beside the path from a message to its answer, each part separately; in side_paths.cpp.
void check_side_paths();
// Receiving UDP and recording it; in recording_path.cpp.
void check_recording();

// Pages and records over the fabric's rails; in fabric_path.cpp.
void check_fabric();

// Market data from packets to books; in market_paths.cpp.
void check_market_paths();
// Inputs of live feeds to books; in live_paths.cpp.
void check_live_paths();

}  // namespace nfx::test
