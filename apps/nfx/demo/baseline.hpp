// The baseline of every round trip: the same bytes through a raw TCP connection between two busy-polling threads.
// Thread: starts two of its own and waits for them. Errors: an empty result when the sockets cannot be created.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "nexusfix/base/time.hpp"
#include "observe/latency_histogram.hpp"

namespace nfx::app::demo {

struct BaselinePlan {
  std::size_t request_bytes = 0;
  std::size_t answer_bytes = 0;
  std::size_t round_trips = 20000;
  std::size_t warm_up = 2000;  // not counted
  // It ends after this time with fewer: where other work shares every CPU, each round trip waits for the scheduler
  // twice.
  Duration at_most = std::chrono::seconds{3};
};

[[nodiscard]] std::optional<LatencyHistogram> measure_baseline(const BaselinePlan& plan);

}  // namespace nfx::app::demo
