// The baseline of every round trip: the same bytes through a plain TCP connection between two threads that wait like
// the two sides of the demonstration.
// Thread: starts one of its own and waits for it. Errors: an empty result if the sockets cannot be created.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "nexusfix/base/latency_histogram.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/concurrent/idle_strategy.hpp"

namespace nfx::app::demo {

struct BaselinePlan {
  std::size_t request_bytes = 0;
  std::size_t answer_bytes = 0;
  IdleMode idle = IdleMode::block;
  std::size_t round_trips = 20000;
  std::size_t warm_up = 2000;  // not counted
  // Stops after this time with fewer round trips: if other work shares every CPU, each one waits for the scheduler
  // twice.
  Duration at_most = std::chrono::seconds{3};
};

[[nodiscard]] std::optional<LatencyHistogram> measure_baseline(const BaselinePlan& plan);

}  // namespace nfx::app::demo
