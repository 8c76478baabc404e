// The times of a session: time zones, and when a session is open in the local time of one.
// Thread: any, read-only once constructed. Pure: no clock; the time and the table of the zone are arguments.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/language.hpp"
#include "nexusfix/base/time.hpp"

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

// A time zone as a table: the offset from UTC of each period, and conversions between UTC and local time.
// Schedules use local times as boundaries, so every local time is converted to exactly one instant: the first at which
// the zone's clocks show that time or a later one. This resolves both cases of daylight saving and preserves the order.
//
//   clocks       ... 01:58  01:59 | 03:00  03:01 ...    02:30 does not exist: it means the instant of the change
//   clocks       ... 01:58  01:59 | 01:00  01:01 ...    01:30 occurs twice: it means the first one
//
// Cost: a binary search over the periods, no allocation; the constructor allocates. Lifetime: owns its table, which
// comes from load_time_zone or is written by hand.
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

class WeekdaySet {
 public:
  constexpr WeekdaySet() = default;

  [[nodiscard]] static constexpr WeekdaySet all() noexcept { return WeekdaySet{0x7F}; }
  [[nodiscard]] static constexpr WeekdaySet only(std::chrono::weekday day) noexcept { return WeekdaySet{bit(day)}; }

  constexpr void insert(std::chrono::weekday day) noexcept { bits_ |= bit(day); }
  [[nodiscard]] constexpr bool contains(std::chrono::weekday day) const noexcept { return (bits_ & bit(day)) != 0; }
  [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }

  friend constexpr bool operator==(WeekdaySet, WeekdaySet) = default;

 private:
  constexpr explicit WeekdaySet(std::uint8_t bits) noexcept : bits_(bits) {}
  [[nodiscard]] static constexpr std::uint8_t bit(std::chrono::weekday day) noexcept {
    return static_cast<std::uint8_t>(1U << day.c_encoding());
  }

  std::uint8_t bits_ = 0;
};

// Times of day are counted from local midnight, from 0 to below 24 hours.
struct ScheduleConfig {
  TimeZone zone = TimeZone::utc();
  // Time zone of end_time and end_day, if it differs: a session ends at the first such time after it began, and no
  // later than the next one begins. It has neither logon window nor reset_time.
  std::optional<TimeZone> end_zone;

  // Set both or neither; without them the session is always open. If the end is not after the start, the session ends a
  // day (weekly: a week) later; start == end means sessions of 24 hours (of a week) without a break.
  std::optional<std::chrono::seconds> start_time;
  std::optional<std::chrono::seconds> end_time;

  // Set both for one session a week, or neither for one a day.
  std::optional<std::chrono::weekday> start_day;
  std::optional<std::chrono::weekday> end_day;

  // Daily sessions begin on these days only; empty: on all.
  WeekdaySet weekdays;

  // Default: when the session begins and ends. In a weekly session both times without days are a daily window,
  // which makes a daily break; with days there is one window per session.
  std::optional<std::chrono::seconds> logon_time;
  std::optional<std::chrono::seconds> logout_time;
  std::optional<std::chrono::weekday> logon_day;
  std::optional<std::chrono::weekday> logout_day;

  // Sequence numbers are also reset at this time of every day, within a session.
  std::optional<std::chrono::seconds> reset_time;
};

// The name of the member that is wrong, and what is wrong with it.
struct ScheduleProblem {
  std::string_view key;
  std::string_view text;
};

[[nodiscard]] std::optional<ScheduleProblem> find_problem(const ScheduleConfig& config) noexcept;

struct TimeWindow {
  UtcTime begin;
  UtcTime end;  // the first instant outside; UtcTime::max() when never

  friend bool operator==(const TimeWindow&, const TimeWindow&) = default;
};

// When a session is open, when it may log on, and when its sequence numbers start over, in the local time of a zone.
//
//   session        begin ├──────────────────────────────────────────┤ end        half-open: the end is outside
//   logon window            ├────────────────────────────────────┤               inside it, or all of it
//   numbers        reset ▲               reset ▲ (reset_time)                    at every begin and at reset_time
//
// A boundary that daylight saving makes ambiguous is resolved as TimeZone does. A skipped local time counts as the
// moment of the change. A local time that occurs twice counts as its first occurrence. A session whose whole time is
// skipped does not take place that day.
//
// Cost of a query: a few binary searches over the zone, no allocation, bounded loops; meant for boundaries
// (next_boundary), not for every message. Errors: find_problem() names what is wrong with a configuration; constructing
// a Schedule from a wrong configuration aborts.
class Schedule {
 public:
  explicit Schedule(ScheduleConfig config);

  [[nodiscard]] const ScheduleConfig& config() const noexcept { return config_; }

  // The session that is open at this time, and the first one that begins after it. An always open schedule has one,
  // from UtcTime::min() to UtcTime::max().
  [[nodiscard]] std::optional<TimeWindow> session_at(UtcTime time) const noexcept;
  [[nodiscard]] std::optional<TimeWindow> next_session(UtcTime time) const noexcept;

  // The same for the times at which a connection may be logged on.
  [[nodiscard]] std::optional<TimeWindow> logon_window_at(UtcTime time) const noexcept;
  [[nodiscard]] std::optional<TimeWindow> next_logon_window(UtcTime time) const noexcept;
  [[nodiscard]] bool logon_allowed(UtcTime time) const noexcept { return logon_window_at(time).has_value(); }

  // The last instant at or before `time` at which the sequence numbers were reset, and the first one after it. Between
  // two sessions the sequence numbers of the last one are valid. UtcTime::min() and max(): none.
  [[nodiscard]] UtcTime numbers_since(UtcTime time) const noexcept;
  [[nodiscard]] UtcTime next_reset(UtcTime time) const noexcept;

  // True when no reset is between the two times, so that sequence numbers of one are valid at the other. With the time
  // at which a store was created, it reports whether a reset was missed while the process was down.
  [[nodiscard]] bool same_session(UtcTime a, UtcTime b) const noexcept { return numbers_since(a) == numbers_since(b); }

  // The first instant after `time` at which session_at, logon_window_at or numbers_since return another result;
  // UtcTime::max() when never. Until then their results may be cached.
  [[nodiscard]] UtcTime next_boundary(UtcTime time) const noexcept;

 private:
  // A daily or weekly event: it begins on some weekdays at a time of day and lasts, in local time, at most until it
  // begins again.
  struct Recurrence {
    WeekdaySet weekdays;
    std::chrono::seconds start;
    std::chrono::seconds length;

    [[nodiscard]] std::chrono::local_days begun_at(std::chrono::local_seconds time) const noexcept;
    [[nodiscard]] std::chrono::local_days after(std::chrono::local_days day) const noexcept;
    [[nodiscard]] std::chrono::local_days before(std::chrono::local_days day) const noexcept;
  };
  struct Span {
    std::chrono::sys_seconds begin;
    std::chrono::sys_seconds end;
  };

  [[nodiscard]] static std::optional<Recurrence> sessions_of(const ScheduleConfig& config) noexcept;
  [[nodiscard]] static std::optional<Recurrence> logons_of(const ScheduleConfig& config) noexcept;
  friend std::optional<ScheduleProblem> find_problem(const ScheduleConfig& config) noexcept;

  [[nodiscard]] Span span_of(const Recurrence& recurrence, std::chrono::local_days day) const noexcept;
  [[nodiscard]] std::optional<Span> current(const Recurrence&, std::chrono::sys_seconds time) const noexcept;
  [[nodiscard]] std::optional<Span> following(const Recurrence&, std::chrono::sys_seconds time) const noexcept;
  [[nodiscard]] std::optional<Span> latest(const Recurrence&, std::chrono::sys_seconds time) const noexcept;

  [[nodiscard]] std::optional<Span> session_span(std::chrono::sys_seconds time) const noexcept;
  [[nodiscard]] std::optional<Span> next_session_span(std::chrono::sys_seconds time) const noexcept;
  [[nodiscard]] std::optional<Span> logon_span(std::chrono::sys_seconds time) const noexcept;
  [[nodiscard]] std::optional<Span> next_logon_span(std::chrono::sys_seconds time) const noexcept;
  [[nodiscard]] std::optional<Span> first_logon_in(const Span& session, std::chrono::sys_seconds time) const noexcept;
  [[nodiscard]] std::chrono::sys_seconds next_reset_after(std::chrono::sys_seconds time) const noexcept;

  ScheduleConfig config_;
  std::optional<Recurrence> sessions_;  // none: always open
  std::optional<Recurrence> logons_;    // none: whenever a session is open
};

}  // namespace nfx
