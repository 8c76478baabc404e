// Accounts for the engine's time, phase by phase, in two ways: between points of the engine, and by calling functions
// alone with the same messages at the same pace. A phase without a point at one end is the difference of both.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine_time/one_session.hpp"
#include "harness/figures.hpp"

namespace nfx::bench {

struct TimeOptions {
  std::uint32_t measured = 0;
  std::uint32_t pace_ns = 0;
};

// p50, p99 and so on in nanoseconds, minus the cost of the readings; reorders the ticks. The mean excludes disturbed
// samples. The counter may step by 10 ns, so only a mean has fractions of a step.
[[nodiscard]] Figures figures_of_ticks(std::vector<std::uint32_t>& ticks, const CycleClock& clock, double own);

struct EnginePhase {
  const char* name;
  const char* what;
  bool incoming;
  bool measured;  // measured directly; a difference has no percentiles
};
[[nodiscard]] const std::vector<EnginePhase>& engine_phases();

// One row for each phase, over `measured` messages. Throws WrongAnswerError.
[[nodiscard]] std::vector<Figures> account_of(OneSession& session, const TimeOptions& options, const CycleClock& clock,
                                              double own);

}  // namespace nfx::bench
