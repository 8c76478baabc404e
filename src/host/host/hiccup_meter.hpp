// How long a thread that only reads a clock cannot run: the worst stall between two readings per millisecond, and
// every stall above a threshold.
// Thread: measure_hiccups() makes one per CPU and waits for them; a recorder has one owner. Cost: the measured CPUs are
// fully used for the duration; 8 bytes per window and 24 per stored stall and CPU, allocated before, none while
// measuring. Errors: a CPU that could not be measured has the reason in CpuHiccups::error.
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
  int cpu = -1;  // where it was read
};

template <typename Source>
concept TickSource = requires(Source& source) {
  { source.now() } -> std::same_as<TickReading>;
};

// The clock that was read, and how to place what others time by it.
struct TickClock {
  bool tsc = false;  // else CLOCK_MONOTONIC_RAW, whose ticks are nanoseconds
  double ticks_per_ns = 1;
  std::uint64_t origin_ticks = 0;   // time 0 of a measurement ...
  std::uint64_t origin_raw_ns = 0;  // ... and CLOCK_MONOTONIC_RAW at that moment
  std::string why_not_tsc;

  [[nodiscard]] std::int64_t ns_since_origin(std::uint64_t ticks) const noexcept {
    return static_cast<std::int64_t>(static_cast<double>(static_cast<std::int64_t>(ticks - origin_ticks)) /
                                     ticks_per_ns);
  }
  [[nodiscard]] std::string description() const;
};

struct HiccupGap {
  std::uint64_t begin_ns = 0;  // since the measurement began
  std::uint64_t length_ns = 0;
  int cpu = -1;         // at its end
  int cpu_before = -1;  // at its begin
};

// Stalls above each of these are counted.
inline constexpr std::array<std::uint64_t, 6> hiccup_limits_ns{1'000, 10'000, 50'000, 100'000, 1'000'000, 10'000'000};

struct CpuHiccups {
  int cpu = -1;       // requested; not pinned: the thread's number
  std::string error;  // empty: it was measured
  std::uint64_t duration_ns = 0;
  std::uint64_t readings = 0;
  std::vector<std::uint64_t> window_worst_ns;  // per window; a stall across several counts in each
  std::vector<HiccupGap> gaps;                 // above the threshold, by begin; when too many, the longest
  std::uint64_t gaps_not_kept = 0;
  std::uint64_t gaps_ns_not_kept = 0;
  std::array<std::uint64_t, hiccup_limits_ns.size()> over{};  // by hiccup_limits_ns
  std::uint64_t lost_ns = 0;                                  // sum of the stalls above the first limit
  std::uint64_t hops = 0;                                     // to other CPUs
  std::uint64_t went_back = 0;                                // readings that were earlier than the one before
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
  std::uint64_t page_faults = 0;
  int thread_id = 0;
};

// Takes readings of a clock; all memory is allocated and touched by the constructor.
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

  // Time 0. What passes until the first record() is a stall already.
  void begin(TickReading start) noexcept;
  // False: the time is up.
  bool record(TickReading now) noexcept {
    const std::uint64_t gap = now.ticks - last_.ticks;
    ++readings_;
    if (gap > notable_ || now.ticks >= window_end_ || now.cpu != last_.cpu) [[unlikely]]
      return record_notable(now);
    if (gap > *window_) *window_ = gap;
    last_ = now;
    return true;
  }
  // Allocates. Windows that were not completed are left out.
  [[nodiscard]] CpuHiccups result() const;

 private:
  // In ticks, as long as it is being measured.
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
  std::uint64_t notable_ = 0;  // stalls up to this need no more than the window's worst
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

// Reads until the time is up or it is stopped.
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
  int fifo_priority = 0;          // 0: the ordinary scheduler
  bool pinned = true;             // false: as many threads, wherever the scheduler puts them
};

struct HiccupRun {
  TickClock clock;
  std::vector<CpuHiccups> cpus;
  bool interrupted = false;
  std::vector<std::string> notes;  // what could not be had, and what follows
};

// Measures all CPUs at the same time with threads named nfx-noise-N. The caller's thread sleeps meanwhile.
[[nodiscard]] HiccupRun measure_hiccups(const HiccupOptions& options, const std::atomic<bool>& stop);

// The bytes that measure_hiccups() would need.
[[nodiscard]] std::uint64_t hiccup_memory_bytes(const HiccupOptions& options) noexcept;

}  // namespace nfx
