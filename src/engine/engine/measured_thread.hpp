// What the monitor of the latencies needs of a poll thread. Thread: stated at each function. Cost, errors: those of the
// implementation.
#pragma once

#include "engine/slow_ring.hpp"
#include "engine/trace_sampler.hpp"
#include "nexusfix/engine/latency.hpp"

namespace nfx {

class MeasuredThread {
 public:
  virtual ~MeasuredThread() = default;
  virtual void add_latency(LatencyReport& into) const = 0;       // from any thread
  [[nodiscard]] virtual SlowRing& slow() const noexcept = 0;     // for the monitor
  [[nodiscard]] virtual TraceRing* traces() const noexcept = 0;  // for the monitor; null: there are none
  [[nodiscard]] virtual int thread_id() const noexcept = 0;      // from any thread; 0: it has not begun
};

}  // namespace nfx
