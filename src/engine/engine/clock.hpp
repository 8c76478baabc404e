// Where time enters: the poll loop reads a clock and passes Instants down. Tests bring a clock they move themselves.
// Thread: now() and monotonic() are the loop's; any_thread_now() is any thread's.
#pragma once

#include <concepts>
#include <cstdint>

#include "base/clocks.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

template <class C>
concept Clock = requires(const C& clock) {
  { clock.now() } noexcept -> std::same_as<Instant>;
  { clock.monotonic() } noexcept -> std::same_as<MonotonicTime>;  // the same clock as now()'s, alone
  { clock.any_thread_now() } noexcept -> std::same_as<Instant>;
};

struct SystemClock {
  [[nodiscard]] Instant now() const noexcept { return read_clocks(); }
  [[nodiscard]] MonotonicTime monotonic() const noexcept { return read_monotonic(); }
  [[nodiscard]] Instant any_thread_now() const noexcept { return now(); }
};
static_assert(Clock<SystemClock>);

struct ManualClock {
  Instant time{};
  [[nodiscard]] Instant now() const noexcept { return time; }
  [[nodiscard]] MonotonicTime monotonic() const noexcept { return time.monotonic; }
  [[nodiscard]] Instant any_thread_now() const noexcept { return time; }
  void advance(Duration by) noexcept {
    time.utc += by;
    time.monotonic += by;
  }
};
static_assert(Clock<ManualClock>);

}  // namespace nfx
