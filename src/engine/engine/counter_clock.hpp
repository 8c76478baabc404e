// The kernel's clocks, extrapolated with the processor's cycle counter: a reading costs a third of the kernel's. Once
// per `anchor_interval` the kernel's clocks and the counter are read together; in between, the counter gives the time
// since then. The counter's rate is measured while the clock is in use, so a kernel clock that is slewed or set is
// followed within one interval.
// Thread: one owner, since a const reading updates mutable members; any_thread_now() reads the kernel's clocks. Cost:
// some 10 ns; once per interval, always where the counter is not trusted, and until its rate is known: up to three
// readings of the kernel's clocks. Accuracy: within an interval times the error of the rate, some nanoseconds; the
// processor may read its counter a little before preceding instructions have ended. monotonic() never goes back; utc is
// the kernel's, which may. Errors: none. A counter that jumps, or changes its rate by a thousandth (a suspended or
// migrated guest), is not used until its rate is known again. When the thread is interrupted between the two readings,
// they are repeated; after most_readings attempts the kernel's reading alone is used.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/clock.hpp"
#include "nexusfix/concurrent/cycle_counter.hpp"

namespace nfx {

// Whether all cores count together at one rate, as far as the kernel knows: it keeps its own time by the counter.
// Reads a file of /sys.
[[nodiscard]] bool counter_keeps_time() noexcept;

struct ProcessorCounter {
  [[nodiscard]] std::uint64_t operator()() const noexcept { return cycle_count(); }
};

template <Clock Kernel = SystemClock, class Counter = ProcessorCounter>
class CounterClock {
 public:
  static constexpr Duration anchor_interval{std::chrono::milliseconds{1}};
  static constexpr Duration first_measure{std::chrono::milliseconds{10}};  // until the rate is first known
  static constexpr Duration next_measure{std::chrono::seconds{1}};         // between later measurements of the rate
  static constexpr Duration longest_reading{std::chrono::microseconds{1}};
  static constexpr int most_readings = 4;

  explicit CounterClock(bool trusted = counter_keeps_time(), Kernel kernel = {}, Counter counter = {}) noexcept
      : kernel_(kernel), counter_(counter), trusted_(trusted) {}

  [[nodiscard]] Instant now() const noexcept {
    const std::uint64_t since = counter_() - anchor_count_;
    if (since >= usable_counts_) [[unlikely]]
      return anchor();
    const Duration ahead{static_cast<std::int64_t>(since * time_per_count_ >> fraction_bits)};
    return {anchor_.utc + ahead, forward(anchor_.monotonic + ahead)};
  }
  [[nodiscard]] MonotonicTime monotonic() const noexcept { return now().monotonic; }
  [[nodiscard]] Instant any_thread_now() const noexcept { return kernel_.any_thread_now(); }

 private:
  static constexpr unsigned fraction_bits = 32;

  [[nodiscard]] MonotonicTime forward(MonotonicTime time) const noexcept {
    latest_ = std::max(latest_, time);
    return latest_;
  }

  [[gnu::noinline, gnu::cold]] Instant anchor() const noexcept {
    usable_counts_ = 0;
    bool together = false;
    for (int i = 0; i < most_readings && !together; ++i) {
      anchor_ = kernel_.now();
      if (!trusted_) break;
      anchor_count_ = counter_();
      together = kernel_.monotonic() - anchor_.monotonic < longest_reading;
    }
    if (together) measure();
    if (together && time_per_count_ != 0)
      usable_counts_ = (static_cast<std::uint64_t>(anchor_interval.count()) << fraction_bits) / time_per_count_;
    return {anchor_.utc, forward(anchor_.monotonic)};
  }

  // The counter's rate, from how far both have come.
  void measure() const noexcept {
    const Duration passed = anchor_.monotonic - base_time_;
    if (base_count_ != 0 && passed < (time_per_count_ == 0 ? first_measure : next_measure)) return;
    const std::uint64_t counts = anchor_count_ - base_count_;
    const bool first = base_count_ == 0;
    base_time_ = anchor_.monotonic;
    base_count_ = anchor_count_;
    if (first) return;
    const double rate = static_cast<double>(passed.count()) / static_cast<double>(counts) * (1ULL << fraction_bits);
    const auto now = rate >= 1 && rate < 1e15 ? static_cast<std::uint64_t>(rate) : 0;
    const std::uint64_t before = time_per_count_;
    const std::uint64_t change = now > before ? now - before : before - now;
    time_per_count_ = before == 0 || change <= before / 1000 ? now : 0;
  }

  Kernel kernel_;
  [[no_unique_address]] Counter counter_;
  bool trusted_;
  mutable std::uint64_t anchor_count_ = 0;
  mutable std::uint64_t usable_counts_ = 0;   // since the anchor; 0: the kernel's clocks are read
  mutable std::uint64_t time_per_count_ = 0;  // in nanoseconds, times 2^32; 0: not known
  mutable Instant anchor_{};
  mutable MonotonicTime latest_{};
  mutable MonotonicTime base_time_{};
  mutable std::uint64_t base_count_ = 0;
};
static_assert(Clock<CounterClock<>>);

}  // namespace nfx
