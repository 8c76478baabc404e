// The interface of a poll thread for the latency monitor.
// Thread: stated at each function. Cost, errors: as the implementation's.
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
