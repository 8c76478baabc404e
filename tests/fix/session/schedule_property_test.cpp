// Every result of a schedule compared with a naive model: an observer that reads the zone's clocks every minute for two
// years. It opens and closes the session when they show the time, and does so only once if they show it twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <ostream>
#include <random>
#include <span>
#include <string>

#include "nexusfix/session/schedule.hpp"
#include "session/zones.hpp"

namespace nfx {
namespace {

using namespace zones;
using std::chrono::weekday;

constexpr int minutes_per_day = 24 * 60;
constexpr int minutes_per_week = 7 * minutes_per_day;

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  int below(int end) { return std::uniform_int_distribution<int>{0, end - 1}(engine_); }
  bool one_in(int n) { return below(n) == 0; }
  // Often within the hours in which clocks are changed.
  minutes time() { return minutes{one_in(2) ? below(4 * 60) : below(minutes_per_day)}; }
  weekday day() { return weekday{static_cast<unsigned>(below(7))}; }

 private:
  std::mt19937_64 engine_;
};

ScheduleConfig draw(Random& random, bool always_open) {
  ScheduleConfig c;
  if (!always_open) {
    c.start_time = random.time();
    c.end_time = random.one_in(4) ? *c.start_time : random.time();
    if (random.one_in(2)) {
      c.start_day = random.day();
      c.end_day = random.one_in(4) ? *c.start_day : random.day();
    } else if (random.one_in(2)) {
      for (int n = 1 + random.below(5); n > 0; --n) c.weekdays.insert(random.day());
    }
    if (random.one_in(2)) c.logon_time = random.time();
    if (random.one_in(2)) c.logout_time = random.time();
    if (c.start_day && random.one_in(3)) c.logon_day = random.day();
    if (c.start_day && random.one_in(3)) c.logout_day = random.day();
  }
  if (always_open || random.one_in(3)) c.reset_time = random.time();
  return c;
}

ScheduleConfig draw_possible(Random& random) {
  const bool always_open = random.one_in(10);
  ScheduleConfig config = draw(random, always_open);
  while (find_problem(config)) config = draw(random, always_open);
  return config;
}

std::string describe(const ScheduleConfig& c) {
  std::string text{c.zone.name()};
  const auto add = [&](const char* name, const auto& time, const auto& day) {
    text += std::string{", "} + name + ' ';
    if (day) text += "day " + std::to_string(day->c_encoding()) + ' ';
    text += time ? std::to_string(*time / hours{1}) + ':' + std::to_string(*time / minutes{1} % 60) : "-";
  };
  add("start", c.start_time, c.start_day);
  add("end", c.end_time, c.end_day);
  add("logon", c.logon_time, c.logon_day);
  add("logout", c.logout_time, c.logout_day);
  add("reset", c.reset_time, std::optional<weekday>{});
  for (unsigned day = 0; day < 7; ++day) {
    if (c.weekdays.contains(weekday{day})) text += ", on day " + std::to_string(day);
  }
  return text;
}

// The event at each minute of the week that the clocks may show.
struct Event {
  bool open = false, close = false, allow = false, forbid = false, reset = false;
};
using Week = std::array<Event, minutes_per_week>;

Week events_of(const ScheduleConfig& c) {
  Week week{};
  const bool has_logon = c.logon_time || c.logout_time || c.logon_day || c.logout_day;
  const bool logon_weekly = c.logon_day || c.logout_day;
  for (int m = 0; m < minutes_per_week; ++m) {
    Event& event = week[static_cast<std::size_t>(m)];
    const weekday day{static_cast<unsigned>(m / minutes_per_day)};
    const seconds time = minutes{m % minutes_per_day};
    if (c.start_time) {
      const bool starts_today = c.start_day ? day == *c.start_day : c.weekdays.empty() || c.weekdays.contains(day);
      event.open = time == *c.start_time && starts_today;
      event.close = time == *c.end_time && (!c.end_day || day == *c.end_day);
    }
    if (has_logon) {
      const auto logon_day = c.logon_day ? c.logon_day : c.start_day;
      const auto logout_day = c.logout_day ? c.logout_day : c.end_day;
      event.allow = time == c.logon_time.value_or(*c.start_time) && (!logon_weekly || day == *logon_day);
      event.forbid = time == c.logout_time.value_or(*c.end_time) && (!logon_weekly || day == *logout_day);
    }
    event.reset = c.reset_time && time == *c.reset_time;
  }
  return week;
}

struct State {
  bool open = false;
  bool logon = false;
  sys_seconds begin{};        // of the session, while it is open
  sys_seconds logon_begin{};  // of the logon window, while it is open
  sys_seconds since{};        // when the sequence numbers last restarted, as far as observed

  friend bool operator==(const State&, const State&) = default;
  friend std::ostream& operator<<(std::ostream& out, const State& s) {
    return out << (s.open ? "open since " : "closed ") << s.begin.time_since_epoch().count()
               << (s.logon ? ", logon since " : ", no logon ") << s.logon_begin.time_since_epoch().count()
               << ", numbers since " << s.since.time_since_epoch().count();
  }
};

// Reads the clocks, minute by minute.
class Watchman {
 public:
  Watchman(const ScheduleConfig& config, local_seconds from)
      : week_(events_of(config)),
        shown_(from),
        always_open_(!config.start_time),
        has_logon_(config.logon_time || config.logout_time || config.logon_day || config.logout_day) {}

  // The clocks show `local` at `now`. Skipped minutes pass immediately; repeated ones are ignored.
  State look(sys_seconds now, local_seconds local) {
    bool opened = false, allowed = false, reset = false;
    while (shown_ < local) {
      shown_ += minutes{1};
      const auto day = floor<days>(shown_);
      const auto minute = static_cast<std::size_t>((shown_ - day) / minutes{1}) +
                          minutes_per_day * std::size_t{weekday{day}.c_encoding()};
      const Event& event = week_[minute];
      if (event.close) open_ = opened = reset = false;
      if (event.forbid) allowed_ = allowed = false;
      if (event.open) open_ = opened = true;
      if (event.allow) allowed_ = allowed = true;
      if (event.reset) reset = true;
    }
    if (opened) begin_ = since_ = now;
    if (opened || allowed) logon_begin_ = now;
    if (reset && (open_ || always_open_)) since_ = now;
    State state;
    state.open = open_ || always_open_;
    state.logon = state.open && (allowed_ || !has_logon_);
    if (open_) state.begin = begin_;
    if (open_ && state.logon) state.logon_begin = has_logon_ ? logon_begin_ : begin_;
    state.since = since_;
    return state;
  }

 private:
  Week week_;
  local_seconds shown_;
  bool always_open_;
  bool has_logon_;
  bool open_ = false;
  bool allowed_ = false;
  sys_seconds begin_{};
  sys_seconds logon_begin_{};
  sys_seconds since_{};
};

// The schedule's results at the same time. Events before the observation are omitted, because the observer cannot know
// them.
State answers(const Schedule& schedule, sys_seconds now, sys_seconds watched_from) {
  State state;
  if (const auto session = schedule.session_at(now)) {
    state.open = true;
    if (session->begin > watched_from) state.begin = floor<seconds>(session->begin);
  }
  if (const auto logon = schedule.logon_window_at(now)) {
    state.logon = true;
    if (logon->begin > watched_from) state.logon_begin = floor<seconds>(logon->begin);
  }
  const UtcTime since = schedule.numbers_since(now);
  if (since > watched_from) state.since = floor<seconds>(since);
  return state;
}

struct Years {
  TimeZone zone;
  sys_seconds from;  // two weeks earlier, the start of the observer
  sys_seconds to;
};

// The schedule's prediction must equal its report at that time.
void expect_future(const Schedule& schedule, sys_seconds now) {
  if (const auto next = schedule.next_session(now)) {
    ASSERT_GT(next->begin, now);
    ASSERT_EQ(schedule.session_at(next->begin), next);
    ASSERT_NE(schedule.session_at(next->begin - Duration{1}), next);
  }
  if (const auto next = schedule.next_logon_window(now)) {
    ASSERT_GT(next->begin, now);
    ASSERT_EQ(schedule.logon_window_at(next->begin), next);
    ASSERT_NE(schedule.logon_window_at(next->begin - Duration{1}), next);
  }
  const auto logon = schedule.logon_window_at(now);
  if (logon && logon->end != UtcTime::max()) {
    ASSERT_EQ(schedule.logon_window_at(logon->end - Duration{1}), logon);
    ASSERT_NE(schedule.logon_window_at(logon->end), logon);
  }
  if (const UtcTime reset = schedule.next_reset(now); reset != UtcTime::max()) {
    ASSERT_EQ(schedule.numbers_since(reset), reset);
    ASSERT_TRUE(schedule.same_session(now, reset - Duration{1}));
    ASSERT_FALSE(schedule.same_session(now, reset));
  }
}

void expect_agreement(const ScheduleConfig& config, const Years& years) {
  const Schedule schedule{config};
  const std::span<const TimeZonePeriod> periods = config.zone.periods();
  const sys_seconds begin = years.from - days{14};
  Watchman watchman{config, config.zone.local(begin)};
  State before;
  UtcTime boundary = years.from;
  std::size_t period = 0;  // advances with the time, so that the search in TimeZone is tested too
  for (sys_seconds now = begin; now < years.to; now += minutes{1}) {
    while (period + 1 < periods.size() && periods[period + 1].from <= now) ++period;
    const auto seen = watchman.look(now, local_seconds{now.time_since_epoch() + periods[period].offset});
    if (now >= years.from) {
      ASSERT_EQ(answers(schedule, now, begin), seen) << "at " << now.time_since_epoch().count();
      if (now > years.from) {
        ASSERT_EQ(now == boundary, seen != before) << "at " << now.time_since_epoch().count();
      }
      if (now == boundary) {
        boundary = schedule.next_boundary(now);
        ASSERT_GT(boundary, now);
        ASSERT_NO_FATAL_FAILURE(expect_future(schedule, now));
      } else if (now.time_since_epoch() % minutes{61} == seconds{0}) {
        ASSERT_EQ(schedule.next_boundary(now + seconds{30}), boundary) << "at " << now.time_since_epoch().count();
      }
    }
    before = seen;
  }
}

class TwoYears : public testing::TestWithParam<std::size_t> {};

TEST_P(TwoYears, random_schedule_agrees_with_a_watchman_at_every_minute) {
  const Years table[] = {
      {new_york(), at_utc(2025, 7, 1), at_utc(2027, 7, 1)},  {london(), at_utc(2025, 7, 1), at_utc(2027, 7, 1)},
      {lord_howe(), at_utc(2025, 1, 1), at_utc(2027, 1, 1)}, {sao_paulo(), at_utc(2017, 6, 1), at_utc(2019, 6, 1)},
      {apia(), at_utc(2011, 2, 1), at_utc(2013, 2, 1)},
  };
  const std::uint64_t seed = 20260310 + GetParam();
  Random random{seed};
  ScheduleConfig config = draw_possible(random);
  config.zone = table[GetParam()].zone;
  SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(config));
  expect_agreement(config, table[GetParam()]);
}

INSTANTIATE_TEST_SUITE_P(ScheduleProperty, TwoYears, testing::Range(std::size_t{0}, std::size_t{5}));

// The weeks around clock changes, with many more schedules.
TEST(ScheduleProperty, random_schedules_agree_with_a_watchman_around_changes) {
  const Years table[] = {
      {new_york(), at_utc(2026, 3, 5), at_utc(2026, 3, 12)},   {new_york(), at_utc(2026, 10, 29), at_utc(2026, 11, 5)},
      {lord_howe(), at_utc(2026, 10, 1), at_utc(2026, 10, 8)}, {lord_howe(), at_utc(2026, 4, 2), at_utc(2026, 4, 9)},
      {sao_paulo(), at_utc(2018, 11, 1), at_utc(2018, 11, 8)}, {sao_paulo(), at_utc(2019, 2, 14), at_utc(2019, 2, 21)},
      {apia(), at_utc(2011, 12, 25), at_utc(2012, 1, 10)},
  };
  constexpr std::uint64_t seed = 20261101;
  Random random{seed};
  for (int round = 0; round < 12; ++round) {
    for (const Years& years : table) {
      ScheduleConfig config = draw_possible(random);
      config.zone = years.zone;
      SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round) + ": " + describe(config));
      expect_agreement(config, years);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace nfx
