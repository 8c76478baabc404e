// Keeps the windows of the latencies and the slowest moments, with what the kernel counts of the poll threads.
// Thread: made and ended by the owner of the engine; it has one of its own, "nfx-latency", between begin() and end();
// window() and slowest() from any. Cost: ten times a second some files of /proc for each poll thread, and once a second
// a copy of all latencies; none for the poll threads. Errors: what the kernel does not report counts as 0.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/engine_placement.hpp"
#include "engine/latency_history.hpp"
#include "engine/measured_thread.hpp"
#include "engine/slow_moments.hpp"
#include "engine/trace_log.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/engine/latency.hpp"
#include "placement/counter_files.hpp"

namespace nfx {

class LatencyMonitor {
 public:
  static constexpr Duration period{std::chrono::milliseconds{100}};
  static constexpr Duration copy_period{std::chrono::seconds{1}};
  static constexpr std::size_t most_samples = 64;  // of each thread

  // `traces` outlives the monitor; null: none are written.
  LatencyMonitor(std::vector<const MeasuredThread*> threads, TraceLog* traces);
  ~LatencyMonitor() { end(); }
  LatencyMonitor(const LatencyMonitor&) = delete;
  LatencyMonitor& operator=(const LatencyMonitor&) = delete;

  // Starts the thread.
  void begin(EnginePlacement& placement);
  // Takes what is left, and ends the thread.
  void end() noexcept;

  // One period: what the thread does. `now` is of the clocks of the poll threads.
  void step(Instant now);

  [[nodiscard]] LatencyReport window(LatencyWindow window) const;
  [[nodiscard]] std::vector<SlowMoment> slowest(LatencyWindow window) const;

 private:
  struct Watched {
    const MeasuredThread* thread;
    int tid = 0;
    std::optional<ThreadCounterFiles> files{};  // of tid
    CpuInterruptions cpu{.cpu = -1};            // in the last sample
    std::deque<HostSample> samples{};
    std::vector<SlowRecord> records{};
  };

  void run();
  void sample(Watched& watched, MonotonicTime now);
  void take(Watched& watched, std::uint32_t number, Instant now);
  void write_traces();
  [[nodiscard]] LatencyReport since_start(UtcTime now) const;
  [[nodiscard]] const std::string& name_of(std::uint64_t serial);

  std::vector<Watched> watched_;
  CpuCounterFiles cpu_files_{HostFiles{}};
  std::span<const CpuInterruptions> cpus_;
  TraceLog* const traces_;
  const UtcTime made_at_;
  LatencyHistory history_;
  SlowMoments moments_;
  MonotonicTime next_copy_{};
  std::map<std::uint64_t, std::string> names_;  // of the sessions in the last copy

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace nfx
