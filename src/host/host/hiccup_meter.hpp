// Measures how long a thread that only reads a clock is kept from running: the worst stall per window, and every stall
// above a threshold.
// Thread: measure_hiccups() starts one per CPU and waits for them; a recorder has one owner. Cost: uses the measured
// CPUs fully for the duration; 8 bytes per window and 24 per stored stall and CPU, allocated in advance. Errors:
// CpuHiccups::error has the reason why a CPU could not be measured.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nexusfix/placement/cpu_affinity.hpp"

namespace nfx {

struct TickReading {
  std::uint64_t ticks = 0;
  int cpu = -1;  // where the clock was read
};

template <typename Source>
concept TickSource = requires(Source& source) {
  { source.now() } -> std::same_as<TickReading>;
};

// The clock that was read, and its relation to other clocks.
struct TickClock {
  bool tsc = false;  // false: CLOCK_MONOTONIC_RAW, whose ticks are nanoseconds
  double ticks_per_ns = 1;
  std::uint64_t origin_ticks = 0;   // start of the measurement ...
  std::uint64_t origin_raw_ns = 0;  // ... and CLOCK_MONOTONIC_RAW at the same moment
  std::string why_not_tsc;

  [[nodiscard]] std::int64_t ns_since_origin(std::uint64_t ticks) const noexcept {
    return static_cast<std::int64_t>(static_cast<double>(static_cast<std::int64_t>(ticks - origin_ticks)) /
                                     ticks_per_ns);
  }
  [[nodiscard]] std::string description() const;
};

// Why the TSC is not a clock on this processor; empty: it is one.
[[nodiscard]] std::string why_not_tsc();

struct HiccupGap {
  std::uint64_t begin_ns = 0;  // since the start of the measurement
  std::uint64_t length_ns = 0;
  int cpu = -1;         // at the end of the stall
  int cpu_before = -1;  // at its beginning
};

// Stalls above each of these limits are counted.
inline constexpr std::array<std::uint64_t, 6> hiccup_limits_ns{1'000, 10'000, 50'000, 100'000, 1'000'000, 10'000'000};

struct CpuHiccups {
  int cpu = -1;       // requested CPU; the thread's number if not pinned
  std::string error;  // empty: success
  std::uint64_t duration_ns = 0;
  std::uint64_t readings = 0;
  std::vector<std::uint64_t> window_worst_ns;  // per window; a stall across several counts in each
  std::vector<HiccupGap> gaps;                 // stalls above the threshold, by begin; if too many, the longest
  std::uint64_t gaps_not_kept = 0;
  std::uint64_t gaps_ns_not_kept = 0;
  std::array<std::uint64_t, hiccup_limits_ns.size()> over{};  // by hiccup_limits_ns
  std::uint64_t lost_ns = 0;                                  // sum of the stalls above the first limit
  std::uint64_t hops = 0;                                     // moves to other CPUs
  std::uint64_t went_back = 0;                                // readings that were earlier than the previous one
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
  std::uint64_t page_faults = 0;
  int thread_id = 0;
};

// Collects readings of a clock. The constructor allocates and touches all memory.
class HiccupRecorder {
 public:
  struct Config {
    double ticks_per_ns = 1;
    std::uint64_t duration_ns = 0;
    std::uint64_t window_ns = 1'000'000;
    std::uint64_t threshold_ns = 5'000;
    std::size_t max_gaps = 65'536;
  };
  explicit HiccupRecorder(const Config& config);

  // Sets time 0. The time until the first record() counts as a stall.
  void begin(TickReading start) noexcept;
  // False when the time is up.
  bool record(TickReading now) noexcept {
    const std::uint64_t gap = now.ticks - last_.ticks;
    ++readings_;
    if (gap > notable_ || now.ticks >= window_end_ || now.cpu != last_.cpu) [[unlikely]]
      return record_notable(now);
    if (gap > *window_) *window_ = gap;
    last_ = now;
    return true;
  }
  // Allocates. Incomplete windows are left out.
  [[nodiscard]] CpuHiccups result() const;

 private:
  // In ticks during the measurement.
  struct Gap {
    std::uint64_t begin = 0;
    std::uint64_t length = 0;
    int cpu = -1;
    int cpu_before = -1;
  };

  bool record_notable(TickReading now) noexcept;
  void keep(const Gap& gap) noexcept;
  [[nodiscard]] std::uint64_t ns(std::uint64_t ticks) const noexcept {
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(ticks) / ticks_per_ns_));
  }

  double ticks_per_ns_;
  std::uint64_t window_ticks_;
  std::uint64_t duration_ticks_;
  std::uint64_t threshold_ticks_;
  std::array<std::uint64_t, hiccup_limits_ns.size()> limits_{};
  std::uint64_t notable_ = 0;  // a stall up to this length only updates the window's worst
  TickReading last_;
  std::uint64_t start_ = 0;
  std::uint64_t window_end_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t* window_ = nullptr;  // the current one
  std::vector<std::uint64_t> windows_;
  std::vector<Gap> gaps_;  // a heap with the shortest on top
  std::size_t max_gaps_;
  std::uint64_t readings_ = 0;
  std::uint64_t gaps_not_kept_ = 0;
  std::uint64_t ticks_not_kept_ = 0;
  std::array<std::uint64_t, hiccup_limits_ns.size()> over_{};
  std::uint64_t lost_ = 0;
  std::uint64_t hops_ = 0;
  std::uint64_t went_back_ = 0;
};

// Reads the clock until the time is up or the measurement is stopped.
template <TickSource Source>
void record_hiccups(Source& source, HiccupRecorder& recorder, const std::atomic<bool>& stop) noexcept {
  while (recorder.record(source.now()) && !stop.load(std::memory_order_relaxed)) {
  }
}

struct HiccupOptions {
  CpuSet cpus;
  std::chrono::nanoseconds duration{10'000'000'000};
  std::chrono::nanoseconds window{1'000'000};
  std::chrono::nanoseconds threshold{5'000};
  std::size_t max_gaps = 65'536;  // per CPU
  int fifo_priority = 0;          // 0: the default scheduling policy
  bool pinned = true;             // false: the same number of threads, placed by the scheduler
};

struct HiccupRun {
  TickClock clock;
  std::vector<CpuHiccups> cpus;
  bool interrupted = false;
  std::vector<std::string> notes;  // settings that were not available, and the consequence
};

// Measures all CPUs at the same time with threads named nfx-noise-N. The calling thread sleeps meanwhile.
[[nodiscard]] HiccupRun measure_hiccups(const HiccupOptions& options, const std::atomic<bool>& stop);

// The memory that measure_hiccups() would need, in bytes.
[[nodiscard]] std::uint64_t hiccup_memory_bytes(const HiccupOptions& options) noexcept;

}  // namespace nfx
