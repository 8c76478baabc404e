// A time zone as a table: which offset from UTC holds from when on, and the way between UTC and local time.
// Local times come to schedules as boundaries, so every one of them has exactly one instant: the first at which the
// zone's clocks show that time or a later one. That settles both cases daylight saving makes, and keeps the order.
//
//   clocks       ... 01:58  01:59 | 03:00  03:01 ...    02:30 does not exist: the instant of the change
//   clocks       ... 01:58  01:59 | 01:00  01:01 ...    01:30 comes twice: the first one
//
// Thread: any, read-only once made. Cost: a binary search over the periods, no allocation; making one allocates.
// Lifetime: owns its table. Pure: the table comes from elsewhere (load_time_zone of the engine, or written by hand).
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nfx {

struct TimeZonePeriod {
  std::chrono::sys_seconds from;  // the first period's does not count: it holds since ever
  std::chrono::seconds offset;    // local time minus UTC
  std::string abbreviation;       // "EST"
};

// How a local time came to its instant.
enum class LocalTimeKind : std::uint8_t {
  once,   // the clocks show it once
  never,  // the clocks leap over it: the instant of the change stands for it
  twice,  // the clocks are set back behind it: the first instant stands for it
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

  // What the clocks show.
  [[nodiscard]] std::chrono::local_seconds local(std::chrono::sys_seconds time) const noexcept;

  // The latest that the clocks have shown until then: local(), except in an hour that comes again. It never decreases,
  // and for every local time c, latest_local(t) >= c exactly when t >= to_utc(c).time.
  [[nodiscard]] std::chrono::local_seconds latest_local(std::chrono::sys_seconds time) const noexcept;

  [[nodiscard]] LocalInstant to_utc(std::chrono::local_seconds local) const noexcept;

 private:
  [[nodiscard]] std::size_t index_at(std::chrono::sys_seconds time) const noexcept;

  std::string name_;
  std::vector<TimeZonePeriod> periods_;
  std::vector<std::chrono::local_seconds> shown_before_;  // per period: the latest shown before it began
};

}  // namespace nfx
