// Session times in local time: daylight saving, weekly sessions and daily resets in one place, as pure functions.
#include "nexusfix/session/schedule.hpp"

#include <algorithm>

#include "nexusfix/base/assert.hpp"

namespace nfx {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::local_days;
using std::chrono::local_seconds;
using std::chrono::seconds;
using std::chrono::sys_seconds;
using std::chrono::weekday;

constexpr seconds day_length = days{1};
constexpr seconds week_length = days{7};

// Clocks that skip a whole day (a zone that changed sides of the date line) skip at most two daily sessions in a row,
// or one weekly session.
constexpr int max_skipped = 8;

// The distance from one point of a cycle to another: from 0 to below the cycle, or from above 0 up to the cycle.
constexpr seconds distance(seconds from, seconds to, seconds cycle) { return ((to - from) % cycle + cycle) % cycle; }
constexpr seconds distance_or_cycle(seconds from, seconds to, seconds cycle) {
  const seconds d = distance(from, to, cycle);
  return d == seconds{0} ? cycle : d;
}

constexpr seconds in_week(weekday day, seconds time) { return days{day.c_encoding()} + time; }

bool is_time_of_day(const std::optional<seconds>& time) { return !time || (*time >= seconds{0} && *time < day_length); }
bool is_day(const std::optional<weekday>& day) { return !day || day->ok(); }

UtcTime to_instant(sys_seconds time) noexcept {
  constexpr sys_seconds first = std::chrono::ceil<seconds>(UtcTime::min());
  constexpr sys_seconds last = floor<seconds>(UtcTime::max());
  if (time < first) return UtcTime::min();
  if (time > last) return UtcTime::max();
  return time;
}

// Keys that are missing or must not be set, before any times are compared.
std::optional<ScheduleProblem> find_incomplete(const ScheduleConfig& c) noexcept {
  const bool has_logon = c.logon_time || c.logout_time || c.logon_day || c.logout_day;
  const bool weekly = c.start_day.has_value();
  if (c.end_zone && (has_logon || c.reset_time)) {
    return ScheduleProblem{"end_time_zone",
                           "is for sessions without logon_time, logout_time and reset_time: remove it, or these"};
  }
  if (c.start_time && !c.end_time) return ScheduleProblem{"end_time", "missing: start_time is given"};
  if (!c.start_time && c.end_time) return ScheduleProblem{"start_time", "missing: end_time is given"};
  if (c.start_day && !c.end_day) return ScheduleProblem{"end_day", "missing: start_day is given"};
  if (!c.start_day && c.end_day) return ScheduleProblem{"start_day", "missing: end_day is given"};
  if (!c.start_time && weekly) return ScheduleProblem{"start_time", "missing: start_day is given"};
  if (!c.start_time && !c.weekdays.empty()) return ScheduleProblem{"start_time", "missing: weekdays is given"};
  if (!c.start_time && has_logon) {
    return ScheduleProblem{"start_time", "missing: a time to log on or out is given, which must be within a session"};
  }
  if (weekly && !c.weekdays.empty()) {
    return ScheduleProblem{"weekdays", "is for daily sessions: remove it, or start_day and end_day"};
  }
  if (!weekly && c.logon_day)
    return ScheduleProblem{"logon_day", "is for weekly sessions: remove it, or add start_day"};
  if (!weekly && c.logout_day)
    return ScheduleProblem{"logout_day", "is for weekly sessions: remove it, or add start_day"};
  if (weekly && !c.logon_day && !c.logout_day && c.logon_time.has_value() != c.logout_time.has_value()) {
    return ScheduleProblem{c.logon_time ? "logout_time" : "logon_time",
                           "missing: a weekly session has both for a window on every day, or logon_day or logout_day "
                           "for one window a week"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Schedule::Recurrence> Schedule::sessions_of(const ScheduleConfig& c) noexcept {
  if (!c.start_time) return std::nullopt;
  if (!c.start_day) {
    return Recurrence{c.weekdays.empty() ? WeekdaySet::all() : c.weekdays, *c.start_time,
                      distance_or_cycle(*c.start_time, *c.end_time, day_length)};
  }
  return Recurrence{
      WeekdaySet::only(*c.start_day), *c.start_time,
      distance_or_cycle(in_week(*c.start_day, *c.start_time), in_week(*c.end_day, *c.end_time), week_length)};
}

// Daily windows need no weekdays: on days without a session they are never inside one.
std::optional<Schedule::Recurrence> Schedule::logons_of(const ScheduleConfig& c) noexcept {
  if (!c.logon_time && !c.logout_time && !c.logon_day && !c.logout_day) return std::nullopt;
  const seconds logon = c.logon_time.value_or(*c.start_time);
  const seconds logout = c.logout_time.value_or(*c.end_time);
  if (!c.logon_day && !c.logout_day) {
    return Recurrence{WeekdaySet::all(), logon, distance_or_cycle(logon, logout, day_length)};
  }
  const weekday logon_day = c.logon_day.value_or(*c.start_day);
  const weekday logout_day = c.logout_day.value_or(*c.end_day);
  return Recurrence{WeekdaySet::only(logon_day), logon,
                    distance_or_cycle(in_week(logon_day, logon), in_week(logout_day, logout), week_length)};
}

std::optional<ScheduleProblem> find_problem(const ScheduleConfig& c) noexcept {
  const auto time = [](std::string_view key) { return ScheduleProblem{key, "is not a time of day"}; };
  const auto day = [](std::string_view key) { return ScheduleProblem{key, "is not a weekday"}; };
  if (!is_time_of_day(c.start_time)) return time("start_time");
  if (!is_time_of_day(c.end_time)) return time("end_time");
  if (!is_time_of_day(c.logon_time)) return time("logon_time");
  if (!is_time_of_day(c.logout_time)) return time("logout_time");
  if (!is_time_of_day(c.reset_time)) return time("reset_time");
  if (!is_day(c.start_day)) return day("start_day");
  if (!is_day(c.end_day)) return day("end_day");
  if (!is_day(c.logon_day)) return day("logon_day");
  if (!is_day(c.logout_day)) return day("logout_day");
  if (const auto incomplete = find_incomplete(c)) return incomplete;

  const auto session = Schedule::sessions_of(c);
  if (!session) return std::nullopt;
  if (c.reset_time && distance(*c.start_time, *c.reset_time, day_length) >= session->length) {
    return ScheduleProblem{"reset_time",
                           "is outside the session, where it has no effect: choose a time within, or "
                           "remove it, as sequence numbers restart with every session"};
  }
  const auto logon = Schedule::logons_of(c);
  if (!logon) return std::nullopt;
  if (c.start_day && !c.logon_day && !c.logout_day) {
    if (*c.logon_time == *c.logout_time) {
      return ScheduleProblem{"logout_time", "equals logon_time, which leaves no break: remove both or change one"};
    }
    // The window that is open when a session begins may have started the day before.
    const seconds offset = distance(session->start, logon->start, day_length);
    if (offset >= session->length && offset - day_length + logon->length <= seconds{0}) {
      return ScheduleProblem{"logon_time", "is outside the session, as is the window it opens: no peer could log on"};
    }
    return std::nullopt;
  }
  const bool weekly = c.start_day.has_value();
  const seconds offset = weekly ? distance(in_week(*c.start_day, *c.start_time),
                                           in_week(c.logon_day.value_or(*c.start_day), logon->start), week_length)
                                : distance(*c.start_time, logon->start, day_length);
  if (offset >= session->length) {
    return ScheduleProblem{c.logon_time || !c.logon_day ? "logon_time" : "logon_day",
                           "is outside the session: choose a time between its start and its end"};
  }
  if (offset + logon->length > session->length) {
    return ScheduleProblem{c.logout_time || !c.logout_day ? "logout_time" : "logout_day",
                           "must come after the logon time and not after the session's end"};
  }
  return std::nullopt;
}

Schedule::Schedule(ScheduleConfig config) : config_(std::move(config)) {
  NFX_REQUIRE(!find_problem(config_));
  sessions_ = sessions_of(config_);
  logons_ = logons_of(config_);
  NFX_ASSERT(!sessions_ || (!sessions_->weekdays.empty() && sessions_->length > seconds{0}));
  NFX_ASSERT(!sessions_ || sessions_->length <= week_length);
  NFX_ASSERT(!logons_ || (!logons_->weekdays.empty() && logons_->length > seconds{0}));
}

// The loops end after at most seven steps: the set is never empty.
local_days Schedule::Recurrence::begun_at(local_seconds time) const noexcept {
  local_days day = floor<days>(time - start);
  while (!weekdays.contains(weekday{day})) day -= days{1};
  return day;
}

local_days Schedule::Recurrence::after(local_days day) const noexcept {
  do day += days{1};
  while (!weekdays.contains(weekday{day}));
  return day;
}

local_days Schedule::Recurrence::before(local_days day) const noexcept {
  do day -= days{1};
  while (!weekdays.contains(weekday{day}));
  return day;
}

Schedule::Span Schedule::span_of(const Recurrence& r, local_days day) const noexcept {
  const sys_seconds begin = config_.zone.to_utc(day + r.start).time;
  if (!config_.end_zone) return {begin, config_.zone.to_utc(day + r.start + r.length).time};
  const sys_seconds next = config_.zone.to_utc(r.after(day) + r.start).time;
  local_days last = floor<days>(config_.end_zone->latest_local(begin));
  for (int i = 0; i < max_skipped + 1; ++i, last += days{1}) {
    if (config_.end_day && weekday{last} != *config_.end_day) continue;
    const sys_seconds end = config_.end_zone->to_utc(last + *config_.end_time).time;
    if (end > begin) return {begin, std::min(end, next)};
  }
  return {begin, next};
}

// Comparing with latest_local() equals comparing with the instants of to_utc(), so most calls need no span; the end of
// another zone does.
std::optional<Schedule::Span> Schedule::current(const Recurrence& r, sys_seconds time) const noexcept {
  const local_seconds local = config_.zone.latest_local(time);
  const local_days day = r.begun_at(local);
  NFX_ASSERT(local >= day + r.start);
  if (!config_.end_zone && local >= day + r.start + r.length) return std::nullopt;
  const Span span = span_of(r, day);
  if (time >= span.end) return std::nullopt;
  NFX_ASSERT(span.begin <= time && time < span.end);
  return span;
}

std::optional<Schedule::Span> Schedule::following(const Recurrence& r, sys_seconds time) const noexcept {
  local_days day = r.begun_at(config_.zone.latest_local(time));
  for (int i = 0; i < max_skipped; ++i) {
    day = r.after(day);
    const Span span = span_of(r, day);
    NFX_ASSERT(span.begin <= span.end && time < span.begin);
    if (span.begin < span.end) return span;
  }
  return std::nullopt;
}

std::optional<Schedule::Span> Schedule::latest(const Recurrence& r, sys_seconds time) const noexcept {
  local_days day = r.begun_at(config_.zone.latest_local(time));
  for (int i = 0; i < max_skipped; ++i) {
    const Span span = span_of(r, day);
    NFX_ASSERT(span.begin <= span.end && span.begin <= time);
    if (span.begin < span.end) return span;
    day = r.before(day);
  }
  return std::nullopt;
}

std::optional<Schedule::Span> Schedule::session_span(sys_seconds time) const noexcept {
  if (!sessions_) return Span{sys_seconds::min(), sys_seconds::max()};
  return current(*sessions_, time);
}

std::optional<Schedule::Span> Schedule::next_session_span(sys_seconds time) const noexcept {
  return sessions_ ? following(*sessions_, time) : std::nullopt;
}

std::optional<Schedule::Span> Schedule::logon_span(sys_seconds time) const noexcept {
  const auto session = session_span(time);
  if (!session || !logons_) return session;
  const auto logon = current(*logons_, time);
  if (!logon) return std::nullopt;
  return Span{std::max(session->begin, logon->begin), std::min(session->end, logon->end)};
}

std::optional<Schedule::Span> Schedule::first_logon_in(const Span& session, sys_seconds time) const noexcept {
  if (time < session.begin) {
    if (!logons_) return session;
    // A window that is already open when the session begins starts with the session.
    if (const auto open = current(*logons_, session.begin)) {
      return Span{session.begin, std::min(session.end, open->end)};
    }
  }
  if (!logons_) return std::nullopt;
  const auto logon = following(*logons_, std::max(time, session.begin));
  if (!logon || logon->begin >= session.end) return std::nullopt;
  return Span{logon->begin, std::min(session.end, logon->end)};
}

std::optional<Schedule::Span> Schedule::next_logon_span(sys_seconds time) const noexcept {
  if (!sessions_) return std::nullopt;
  auto session = session_span(time);
  for (int i = 0; i < max_skipped; ++i) {
    if (session) {
      if (const auto logon = first_logon_in(*session, time)) return logon;
    }
    session = following(*sessions_, session ? session->begin : time);
    if (!session) return std::nullopt;
  }
  return std::nullopt;
}

sys_seconds Schedule::next_reset_after(sys_seconds time) const noexcept {
  if (config_.reset_time) {
    if (const auto session = session_span(time)) {
      const local_days today = floor<days>(config_.zone.latest_local(time) - *config_.reset_time);
      const sys_seconds reset = config_.zone.to_utc(today + days{1} + *config_.reset_time).time;
      if (reset < session->end) return reset;
    }
  }
  const auto session = next_session_span(time);
  return session ? session->begin : sys_seconds::max();
}

std::optional<TimeWindow> Schedule::session_at(UtcTime time) const noexcept {
  const auto span = session_span(floor<seconds>(time));
  if (!span) return std::nullopt;
  return TimeWindow{to_instant(span->begin), to_instant(span->end)};
}

std::optional<TimeWindow> Schedule::next_session(UtcTime time) const noexcept {
  const auto span = next_session_span(floor<seconds>(time));
  if (!span) return std::nullopt;
  return TimeWindow{to_instant(span->begin), to_instant(span->end)};
}

std::optional<TimeWindow> Schedule::logon_window_at(UtcTime time) const noexcept {
  const auto span = logon_span(floor<seconds>(time));
  if (!span) return std::nullopt;
  return TimeWindow{to_instant(span->begin), to_instant(span->end)};
}

std::optional<TimeWindow> Schedule::next_logon_window(UtcTime time) const noexcept {
  const auto span = next_logon_span(floor<seconds>(time));
  if (!span) return std::nullopt;
  return TimeWindow{to_instant(span->begin), to_instant(span->end)};
}

UtcTime Schedule::numbers_since(UtcTime time) const noexcept {
  const sys_seconds now = floor<seconds>(time);
  Span session{sys_seconds::min(), sys_seconds::max()};
  if (sessions_) {
    const auto last = latest(*sessions_, now);
    if (!last) return UtcTime::min();
    session = *last;
  }
  sys_seconds since = session.begin;
  if (config_.reset_time) {
    const local_seconds local = config_.zone.latest_local(std::min(now, session.end - seconds{1}));
    const local_days day = floor<days>(local - *config_.reset_time);
    since = std::max(since, config_.zone.to_utc(day + *config_.reset_time).time);
  }
  NFX_ASSERT(since <= now);
  return to_instant(since);
}

UtcTime Schedule::next_reset(UtcTime time) const noexcept { return to_instant(next_reset_after(floor<seconds>(time))); }

UtcTime Schedule::next_boundary(UtcTime time) const noexcept {
  const sys_seconds now = floor<seconds>(time);
  sys_seconds boundary = next_reset_after(now);
  if (const auto session = session_span(now)) boundary = std::min(boundary, session->end);
  if (const auto logon = logon_span(now)) {
    boundary = std::min(boundary, logon->end);
  } else if (const auto next = next_logon_span(now)) {
    boundary = std::min(boundary, next->begin);
  }
  NFX_ASSERT(boundary > now);  // a caller that waits for it gets on
  return to_instant(boundary);
}

}  // namespace nfx
