// A time zone as a table: the offset from UTC of each period, and conversions between UTC and local time.
// Schedules use local times as boundaries, so every local time is converted to exactly one instant: the first at which
// the zone's clocks show that time or a later one. This resolves both cases of daylight saving and preserves the order.
//
//   clocks       ... 01:58  01:59 | 03:00  03:01 ...    02:30 does not exist: it means the instant of the change
//   clocks       ... 01:58  01:59 | 01:00  01:01 ...    01:30 occurs twice: it means the first one
//
// Thread: any, read-only once constructed. Cost: a binary search over the periods, no allocation; the constructor
// allocates. Lifetime: owns its table. Pure: the table is an argument (from load_time_zone, or written by hand).
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/language.hpp"

namespace nfx {

struct TimeZonePeriod {
  std::chrono::sys_seconds from;  // ignored for the first period, which has no beginning
  std::chrono::seconds offset;    // local time minus UTC
  std::string abbreviation;       // "EST"
};

// How often a local time occurs.
enum class LocalTimeKind : std::uint8_t {
  once,   // the clocks show it once
  never,  // the clocks skip it: it means the instant of the change
  twice,  // the clocks are set back past it: it means the first instant
};

struct LocalInstant {
  std::chrono::sys_seconds time;
  LocalTimeKind kind = LocalTimeKind::once;

  friend bool operator==(const LocalInstant&, const LocalInstant&) = default;
};

class TimeZone {
 public:
  // At least one period, sorted by strictly ascending `from`, no offset of more than a day; anything else aborts.
  TimeZone(std::string name, std::vector<TimeZonePeriod> periods);

  [[nodiscard]] static TimeZone utc();

  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  [[nodiscard]] std::span<const TimeZonePeriod> periods() const noexcept { return periods_; }

  [[nodiscard]] const TimeZonePeriod& period_at(std::chrono::sys_seconds time) const noexcept;
  // The first period that begins after `time`; null when none does.
  [[nodiscard]] const TimeZonePeriod* next_period(std::chrono::sys_seconds time) const noexcept;

  // The local time at this instant.
  [[nodiscard]] std::chrono::local_seconds local(std::chrono::sys_seconds time) const noexcept;

  // The latest local time shown up to this instant: local(), except in an hour that is repeated. It never decreases,
  // and for every local time c, latest_local(t) >= c exactly when t >= to_utc(c).time.
  [[nodiscard]] std::chrono::local_seconds latest_local(std::chrono::sys_seconds time) const noexcept;

  [[nodiscard]] LocalInstant to_utc(std::chrono::local_seconds local) const noexcept;

 private:
  [[nodiscard]] std::size_t index_at(std::chrono::sys_seconds time) const noexcept;

  std::string name_;
  std::vector<TimeZonePeriod> periods_;
  std::vector<std::chrono::local_seconds> shown_before_;  // per period: the latest local time shown before it began
};

}  // namespace nfx
