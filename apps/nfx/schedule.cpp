// nfx schedule: prints when the sessions of a configuration open, log on, close and reset in the next days.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "config/quickfix_settings.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/session/schedule.hpp"
#include "text.hpp"

namespace nfx::app {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::local_days;
using std::chrono::local_seconds;
using std::chrono::seconds;
using std::chrono::sys_seconds;
using std::chrono::weekday;

struct ScheduleOptions {
  std::string config;
  std::uint32_t days = 14;
  std::string from;         // empty: now
  std::size_t session = 0;  // counted from 1; 0: all
  bool json = false;
};

enum class EventKind : std::uint8_t { start, logon_end, session_end, clocks, session_begin, reset, logon_begin };

// The name in JSON.
std::string_view json_name(EventKind kind) {
  switch (kind) {
    case EventKind::start: return "start";
    case EventKind::logon_end: return "logon_end";
    case EventKind::session_end: return "session_end";
    case EventKind::clocks: return "clocks_change";
    case EventKind::session_begin: return "session_begin";
    case EventKind::reset: return "reset";
    case EventKind::logon_begin: return "logon_begin";
  }
  return {};
}

// The events of one instant.
struct Row {
  sys_seconds time;
  std::vector<EventKind> events;
  bool open = false;  // open from then on
  bool logon = false;
  std::string note;  // a clock change that affects it
};

// Times as text.

std::string two(std::int64_t number) { return (number < 10 ? "0" : "") + std::to_string(number); }

std::string time_of_day(seconds time) {
  const std::chrono::hh_mm_ss clock{time};
  std::string text = two(clock.hours().count()) + ':' + two(clock.minutes().count());
  if (clock.seconds().count() != 0) text += ':' + two(clock.seconds().count());
  return text;
}

std::string date(std::chrono::year_month_day day) {
  return std::to_string(static_cast<int>(day.year())) + '-' + two(static_cast<unsigned>(day.month())) + '-' +
         two(static_cast<unsigned>(day.day()));
}

std::string date_time(seconds since_1970, char between) {
  const auto day = floor<days>(since_1970);
  const std::chrono::hh_mm_ss clock{since_1970 - day};
  return date(std::chrono::year_month_day{std::chrono::sys_days{day}}) + between + two(clock.hours().count()) + ':' +
         two(clock.minutes().count()) + ':' + two(clock.seconds().count());
}

std::string_view day_name(weekday day) {
  constexpr std::string_view names = "SunMonTueWedThuFriSat";
  return names.substr(std::size_t{3} * day.c_encoding(), 3);
}

// "-05:00", with seconds if a zone needs them.
std::string offset_text(seconds offset) { return (offset < seconds{0} ? "-" : "+") + time_of_day(abs(offset)); }

// The schedule in a line.

std::string when(const std::optional<weekday>& day, seconds time) {
  return (day ? std::string{day_name(*day)} + ' ' : std::string{}) + time_of_day(time);
}

std::string summary(const ScheduleConfig& c) {
  std::string text{c.zone.name()};
  text += ", ";
  if (!c.start_time) {
    text += "always open";
  } else {
    if (c.start_day) text += "weekly";
    if (!c.start_day && c.weekdays.empty()) text += "every day";
    for (unsigned i = 1; i <= 7; ++i) {
      const weekday day{i % 7};
      if (!c.weekdays.contains(day)) continue;
      if (text.back() != ' ') text += ' ';
      text += day_name(day);
    }
    text += " from " + when(c.start_day, *c.start_time) + " to " + when(c.end_day, *c.end_time);
    if (c.end_zone) text += " in " + std::string{c.end_zone->name()};
  }
  if (c.logon_day || c.logout_day) {
    text += ", logon from " + when(c.logon_day ? c.logon_day : c.start_day, c.logon_time.value_or(*c.start_time)) +
            " to " + when(c.logout_day ? c.logout_day : c.end_day, c.logout_time.value_or(*c.end_time));
  } else if (c.logon_time || c.logout_time) {
    text += ", logon every day from " + time_of_day(c.logon_time.value_or(*c.start_time)) + " to " +
            time_of_day(c.logout_time.value_or(*c.end_time));
  }
  if (c.reset_time) text += ", sequence numbers reset every day at " + time_of_day(*c.reset_time);
  return text;
}

// What happens when.

std::optional<seconds> configured_time(const ScheduleConfig& c, EventKind kind) {
  switch (kind) {
    case EventKind::start:
    case EventKind::clocks: return std::nullopt;
    case EventKind::session_begin: return c.start_time;
    case EventKind::session_end: return c.end_zone ? std::nullopt : c.end_time;  // notes use clocks of `zone`
    case EventKind::logon_begin: return c.logon_time;
    case EventKind::logon_end: return c.logout_time;
    case EventKind::reset: return c.reset_time;
  }
  return std::nullopt;
}

// Adds notes about clock changes, and about boundaries that they moved or made ambiguous.
void note_clocks(Row& row, const ScheduleConfig& config) {
  const TimeZone& zone = config.zone;
  const TimeZonePeriod& before = zone.period_at(row.time - seconds{1});
  const TimeZonePeriod& after = zone.period_at(row.time);
  const seconds leap = after.offset - before.offset;
  const auto add = [&](const std::string& text) { row.note += (row.note.empty() ? "" : "; ") + text; };
  if (leap != seconds{0}) {
    add(std::string{"clocks go "} + (leap > seconds{0} ? "forward by " : "back by ") + time_of_day(abs(leap)) + ", " +
        before.abbreviation + " to " + after.abbreviation);
  }
  const local_seconds skipped{row.time.time_since_epoch() + before.offset};
  std::vector<seconds> noted;
  for (const EventKind kind : row.events) {
    const auto time = configured_time(config, kind);
    if (!time || std::ranges::find(noted, *time) != noted.end()) continue;
    noted.push_back(*time);
    const local_seconds nominal = floor<days>(skipped - *time) + *time;
    const bool leapt_over = nominal == skipped || nominal + days{1} < skipped + leap;
    if (leap > seconds{0} && leapt_over) add(time_of_day(*time) + " does not exist on this day");
    const local_seconds local = zone.local(row.time);
    if (local - floor<days>(local) == *time && zone.to_utc(local).kind == LocalTimeKind::twice) {
      add("the first " + time_of_day(*time) + " of two");
    }
  }
}

Row row_at(const Schedule& schedule, sys_seconds time) {
  Row row{.time = time, .events = {}, .note = {}};
  const UtcTime before = UtcTime{time} - Duration{1};
  const auto session_before = schedule.session_at(before);
  const auto session = schedule.session_at(time);
  const auto logon_before = schedule.logon_window_at(before);
  const auto logon = schedule.logon_window_at(time);
  const TimeZone& zone = schedule.config().zone;
  row.open = session.has_value();
  row.logon = logon.has_value();
  if (logon_before && logon_before != logon) row.events.push_back(EventKind::logon_end);
  if (session_before && session_before != session) row.events.push_back(EventKind::session_end);
  if (zone.period_at(time).offset != zone.period_at(time - seconds{1}).offset) row.events.push_back(EventKind::clocks);
  if (session && session_before != session) row.events.push_back(EventKind::session_begin);
  if (schedule.numbers_since(time) == time) row.events.push_back(EventKind::reset);
  if (logon && logon_before != logon) row.events.push_back(EventKind::logon_begin);
  note_clocks(row, schedule.config());
  return row;
}

// The state and events at `from`, then all events before `to`.
std::vector<Row> preview(const Schedule& schedule, sys_seconds from, sys_seconds to) {
  std::vector<Row> rows;
  Row first = row_at(schedule, from);
  first.events.insert(first.events.begin(), EventKind::start);
  rows.push_back(std::move(first));
  sys_seconds time = from;
  while (true) {
    UtcTime next = schedule.next_boundary(time);
    if (const TimeZonePeriod* period = schedule.config().zone.next_period(time)) {
      next = std::min<UtcTime>(next, period->from);
    }
    if (next >= to) return rows;
    time = floor<seconds>(next);
    Row row = row_at(schedule, time);
    if (!row.events.empty()) rows.push_back(std::move(row));
  }
}

// Printing.

std::string describe(const Row& row) {
  std::string text;
  const auto has = [&](EventKind kind) { return std::ranges::find(row.events, kind) != row.events.end(); };
  const auto add = [&](std::string_view piece) {
    if (!text.empty()) text += ", ";
    text += piece;
  };
  if (has(EventKind::start)) add(!row.open ? "closed" : row.logon ? "open" : "open, no logon");
  if (has(EventKind::session_end)) {
    add("session ends");
  } else if (has(EventKind::logon_end)) {
    add("logout");
  }
  if (has(EventKind::session_begin)) add("session begins");
  if (has(EventKind::reset)) add("sequence numbers reset");
  if (has(EventKind::logon_begin)) add("logon allowed");
  if (has(EventKind::session_begin) && !row.logon) add("no logon yet");
  if (!row.note.empty()) text += (text.empty() ? "* " : "  * ") + row.note;
  return text;
}

void print_text(SafeText& out, const Schedule& schedule, const std::vector<Row>& rows) {
  const TimeZone& zone = schedule.config().zone;
  std::size_t width = 0;
  for (const Row& row : rows) width = std::max(width, zone.period_at(row.time).abbreviation.size());
  for (const Row& row : rows) {
    const local_seconds local = zone.local(row.time);
    out.add("  {} {} ", day_name(weekday{floor<days>(local)}), date_time(local.time_since_epoch(), ' '));
    const std::size_t start = out.size();
    out += zone.period_at(row.time).abbreviation;
    out.pad_to(start, width);
    out.add("  {} UTC  {}\n", date_time(row.time.time_since_epoch(), ' '), describe(row));
  }
}

void print_json(SafeText& out, const std::string& head, const Schedule& schedule, const std::vector<Row>& rows) {
  const TimeZone& zone = schedule.config().zone;
  for (const Row& row : rows) {
    const TimeZonePeriod& period = zone.period_at(row.time);
    out += head + ",\"time_zone\":" + json_text(zone.name());
    out += ",\"utc\":" + json_text(date_time(row.time.time_since_epoch(), 'T') + 'Z');
    out +=
        ",\"local\":" + json_text(date_time(zone.local(row.time).time_since_epoch(), 'T') + offset_text(period.offset));
    out += ",\"abbreviation\":" + json_text(period.abbreviation) + ",\"events\":[";
    for (std::size_t i = 0; i < row.events.size(); ++i)
      out += (i == 0 ? "" : ",") + json_text(json_name(row.events[i]));
    out += std::string{"],\"open\":"} + (row.open ? "true" : "false") + ",\"logon\":" + (row.logon ? "true" : "false");
    if (!row.note.empty()) out += ",\"note\":" + json_text(row.note);
    out += "}\n";
  }
}

// The command.

// "2026-03-01" or "2026-03-01T00:00", optionally with seconds and Z; always UTC.
sys_seconds parse_from(std::string text) {
  const ConfigError bad{"--from " + text +
                        ": expected a time in UTC from 1970 to 2100, such as 2026-03-01 or "
                        "2026-03-01T07:30"};
  if (text.ends_with('Z')) text.pop_back();
  if (text.size() == 10) text += "T00:00";
  if (text.size() == 16) text += ":00";
  constexpr std::string_view shape = "dddd-dd-ddTdd:dd:dd";
  if (text.size() != shape.size()) throw bad;
  int parts[6] = {};
  std::size_t part = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (shape[i] == 'd' ? !digit : text[i] != shape[i]) throw bad;
    if (digit) {
      parts[part] = 10 * parts[part] + (text[i] - '0');
    } else {
      ++part;
    }
  }
  const std::chrono::year_month_day day{std::chrono::year{parts[0]},
                                        std::chrono::month{static_cast<unsigned>(parts[1])},
                                        std::chrono::day{static_cast<unsigned>(parts[2])}};
  const bool known = day.ok() && parts[0] >= 1970 && parts[0] <= 2100;
  if (!known || parts[3] > 23 || parts[4] > 59 || parts[5] > 59) throw bad;
  return std::chrono::sys_days{day} + std::chrono::hours{parts[3]} + std::chrono::minutes{parts[4]} + seconds{parts[5]};
}

int show_schedules(const ScheduleOptions& options) {
  const EngineConfig config = load_any_config(options.config);
  if (options.session > config.sessions.size()) {
    throw ConfigError(options.config + ": no such session " + std::to_string(options.session) + "; the file has " +
                      std::to_string(config.sessions.size()));
  }
  const sys_seconds from =
      options.from.empty() ? floor<seconds>(std::chrono::system_clock::now()) : parse_from(options.from);
  const sys_seconds to = from + days{options.days};
  SafeText out;
  for (std::size_t i = 0; i < config.sessions.size(); ++i) {
    if (options.session != 0 && options.session != i + 1) continue;
    const SessionSettings& settings = config.sessions[i];
    const std::string name = identity(settings.session);
    const std::string head = "{\"session\":" + std::to_string(i + 1) + ",\"identity\":" + json_text(name);
    if (!settings.schedule) {
      if (options.json) {
        out.add("{},\"non_stop\":true}\n", head);
      } else {
        out.add("{}\n  non-stop: no schedule\n", name);
      }
      continue;
    }
    const std::vector<Row> rows = preview(*settings.schedule, from, to);
    if (options.json) {
      print_json(out, head, *settings.schedule, rows);
    } else {
      out.add("{}\n  {}\n", name, summary(settings.schedule->config()));
      print_text(out, *settings.schedule, rows);
    }
  }
  print(out);
  return exit_done;
}

}  // namespace

cli::Command schedule_command() {
  static ScheduleOptions options;
  return {
      .name = "schedule",
      .summary = "Show when sessions open, log on, close and reset",
      .run = [] { return show_schedules(options); },
      .options = {{.names = "CONFIG",
                   .target = &options.config,
                   .help = "TOML configuration, as nfx serve takes it",
                   .required = true,
                   .kind = cli::Kind::file},
                  {.names = "--days", .target = &options.days, .help = "Number of days to show", .range = {{1, 3660}}},
                  {.names = "--from",
                   .target = &options.from,
                   .help = "First instant, in UTC: 2026-03-01 or 2026-03-01T07:30",
                   .value = "TIME",
                   .default_text = "now"},
                  {.names = "--session",
                   .target = &options.session,
                   .help = "Only this [[session]] of the file, counted from 1",
                   .range = {{1}}},
                  {.names = "--json", .target = &options.json, .help = "One JSON object per instant and line"}},
      .details =
          "Each line is one instant, in the session's time zone and in UTC, and what happens then. The first is "
          "the state at the beginning. Clock changes are marked with *, as are boundaries at times that do not "
          "exist or occur twice on that day.",
      .examples = {{.line = "nfx schedule engine.toml",
                    .about = "when sessions open, close and reset in the next days"},
                   {.line = "nfx schedule engine.toml --session 2 --from 2026-03-06 --days 4"},
                   {.line = "nfx schedule engine.toml --json | jq 'select(.events | index(\"reset\"))'"}},
  };
}

}  // namespace nfx::app
