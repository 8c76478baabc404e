// Keeps the windows of the latencies, samples what the kernel counts of the poll threads, and finds the causes of the
// slowest moments.
// Thread: made and ended by the owner of the engine; it has one of its own, "nfx-latency", between begin() and end();
// window() and slowest() from any. Cost: ten times a second some files of /proc for each poll thread, and once a second
// a copy of all latencies; none for the poll threads. Errors: what the kernel does not report counts as 0.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
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
#include "nexusfix/placement/host_files.hpp"
#include "placement/counter_files.hpp"

namespace nfx {

// Sums what the kernel counts of one thread and of the CPU that it is on.
class HostSampler {
 public:
  explicit HostSampler(HostFiles files = HostFiles{}) : files_(std::move(files)) {}

  // `tid` is a thread of this process. `cpus` are of the same time.
  [[nodiscard]] HostSample sample(int tid, std::span<const CpuInterruptions> cpus, MonotonicTime now);

 private:
  HostFiles files_;
  int tid_ = 0;
  std::optional<ThreadCounterFiles> thread_;  // of tid_
  CpuInterruptions before_{.cpu = -1};
  HostEvidence sum_;
};

class LatencyMonitor {
 public:
  static constexpr Duration period{std::chrono::milliseconds{100}};
  static constexpr Duration copy_period{std::chrono::seconds{1}};

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

  [[nodiscard]] LatencyReport window(LatencyWindow window) const { return history_.window(window); }
  [[nodiscard]] std::vector<SlowMoment> slowest(LatencyWindow window) const { return moments_.slowest(window); }

 private:
  struct Watched {
    const MeasuredThread* thread;
    HostSampler sampler;
    std::deque<HostSample> samples;
    SlowLimit limit;
    std::vector<SlowRecord> records;
  };

  void run();
  void take(Watched& watched, std::uint32_t number, std::span<const CpuInterruptions> cpus, Instant now);
  void write_traces();
  [[nodiscard]] const std::string& name_of(std::uint64_t serial);

  std::vector<Watched> watched_;
  CpuCounterFiles cpus_{HostFiles{}};
  TraceLog* const traces_;
  std::vector<TraceRecord> trace_records_;
  std::vector<NamedTrace> named_traces_;
  WaitsFound waits_found_;
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
