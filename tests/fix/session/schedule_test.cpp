// Sessions in local time: daily, weekly, over midnight, over week ends, over clock changes.
#include "nexusfix/session/schedule.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "session/zones.hpp"

namespace nfx {
namespace {

using namespace zones;
using std::chrono::Friday;
using std::chrono::Monday;
using std::chrono::Saturday;
using std::chrono::Sunday;
using std::chrono::Thursday;
using std::chrono::Tuesday;
using std::chrono::Wednesday;

constexpr seconds at(int hour, int minute = 0, int second = 0) {
  return hours{hour} + minutes{minute} + seconds{second};
}

TimeZone tokyo() { return {"Asia/Tokyo", {{at_utc(2024, 1, 1), hours{9}, "JST"}}}; }

ScheduleConfig daily(TimeZone zone, seconds start, seconds end) {
  return {.zone = std::move(zone), .start_time = start, .end_time = end};
}

ScheduleConfig weekly(TimeZone zone, std::chrono::weekday start_day, seconds start, std::chrono::weekday end_day,
                      seconds end) {
  ScheduleConfig config = daily(std::move(zone), start, end);
  config.start_day = start_day;
  config.end_day = end_day;
  return config;
}

WeekdaySet monday_to_friday() {
  WeekdaySet set;
  for (const auto day : {Monday, Tuesday, Wednesday, Thursday, Friday}) set.insert(day);
  return set;
}

ScheduleConfig new_york_equities() {
  ScheduleConfig config = daily(new_york(), at(8), at(17));
  config.weekdays = monday_to_friday();
  return config;
}

ScheduleConfig globex() {
  ScheduleConfig config = weekly(chicago(), Sunday, at(17), Friday, at(16));
  config.logon_time = at(17);
  config.logout_time = at(16);
  return config;
}

std::optional<TimeWindow> window(sys_seconds begin, sys_seconds end) { return TimeWindow{begin, end}; }

TEST(Schedule, daily_session_holds_its_begin_and_not_its_end) {
  const Schedule schedule{new_york_equities()};
  const auto monday = window(at_utc(2026, 3, 2, 13), at_utc(2026, 3, 2, 22));
  EXPECT_EQ(schedule.session_at(at_utc(2026, 3, 2, 12, 59, 59)), std::nullopt);
  EXPECT_EQ(schedule.session_at(at_utc(2026, 3, 2, 13) - Duration{1}), std::nullopt);
  EXPECT_EQ(schedule.session_at(at_utc(2026, 3, 2, 13)), monday);
  EXPECT_EQ(schedule.session_at(at_utc(2026, 3, 2, 22) - Duration{1}), monday);
  EXPECT_EQ(schedule.session_at(at_utc(2026, 3, 2, 22)), std::nullopt);
}

TEST(Schedule, weekdays_leave_the_week_end_out) {
  const Schedule schedule{new_york_equities()};
  const UtcTime friday_evening = at_utc(2026, 2, 27, 22);
  EXPECT_EQ(schedule.session_at(at_utc(2026, 2, 28, 15)), std::nullopt);
  EXPECT_EQ(schedule.next_session(friday_evening), window(at_utc(2026, 3, 2, 13), at_utc(2026, 3, 2, 22)));
  EXPECT_EQ(schedule.next_boundary(friday_evening), at_utc(2026, 3, 2, 13));
}

TEST(Schedule, sessions_follow_daylight_saving_in_new_york) {
  const Schedule schedule{new_york_equities()};
  EXPECT_EQ(schedule.next_session(at_utc(2026, 3, 6, 0)), window(at_utc(2026, 3, 6, 13), at_utc(2026, 3, 6, 22)));
  EXPECT_EQ(schedule.next_session(at_utc(2026, 3, 9, 0)), window(at_utc(2026, 3, 9, 12), at_utc(2026, 3, 9, 21)));
  EXPECT_EQ(schedule.next_session(at_utc(2026, 10, 30, 0)), window(at_utc(2026, 10, 30, 12), at_utc(2026, 10, 30, 21)));
  EXPECT_EQ(schedule.next_session(at_utc(2026, 11, 2, 0)), window(at_utc(2026, 11, 2, 13), at_utc(2026, 11, 2, 22)));
}

TEST(Schedule, weeks_between_the_changes_of_london_and_new_york_have_both_right) {
  const Schedule there{daily(london(), at(8), at(16, 30))};
  const Schedule here{daily(new_york(), at(8), at(16, 30))};
  const UtcTime between = at_utc(2026, 3, 16);
  EXPECT_EQ(there.next_session(between), window(at_utc(2026, 3, 16, 8), at_utc(2026, 3, 16, 16, 30)));
  EXPECT_EQ(here.next_session(between), window(at_utc(2026, 3, 16, 12), at_utc(2026, 3, 16, 20, 30)));
  const UtcTime after = at_utc(2026, 3, 30);
  EXPECT_EQ(there.next_session(after), window(at_utc(2026, 3, 30, 7), at_utc(2026, 3, 30, 15, 30)));
  EXPECT_EQ(here.next_session(after), window(at_utc(2026, 3, 30, 12), at_utc(2026, 3, 30, 20, 30)));
}

TEST(Schedule, overnight_session_belongs_to_the_day_it_begins_on) {
  ScheduleConfig config = daily(TimeZone::utc(), at(22), at(6));
  config.weekdays.insert(Friday);
  const Schedule schedule{config};
  const auto friday_night = window(at_utc(2026, 3, 6, 22), at_utc(2026, 3, 7, 6));
  EXPECT_EQ(schedule.session_at(at_utc(2026, 3, 6, 5)), std::nullopt);
  EXPECT_EQ(schedule.session_at(at_utc(2026, 3, 7, 5, 59, 59)), friday_night);
  EXPECT_EQ(schedule.session_at(at_utc(2026, 3, 7, 22)), std::nullopt);
  EXPECT_EQ(schedule.next_session(at_utc(2026, 3, 6, 22)), window(at_utc(2026, 3, 13, 22), at_utc(2026, 3, 14, 6)));
}

TEST(Schedule, equal_start_and_end_make_sessions_of_a_day_that_touch) {
  const Schedule schedule{daily(new_york(), at(17), at(17))};
  const UtcTime reset = at_utc(2026, 3, 2, 22);
  EXPECT_EQ(schedule.session_at(reset - Duration{1}), window(at_utc(2026, 3, 1, 22), at_utc(2026, 3, 2, 22)));
  EXPECT_EQ(schedule.session_at(reset), window(at_utc(2026, 3, 2, 22), at_utc(2026, 3, 3, 22)));
  EXPECT_FALSE(schedule.same_session(reset - Duration{1}, reset));
  EXPECT_TRUE(schedule.same_session(reset, reset + hours{23}));
  // The day on which the clocks go forward has 23 hours.
  EXPECT_EQ(schedule.session_at(at_utc(2026, 3, 8, 7)), window(at_utc(2026, 3, 7, 22), at_utc(2026, 3, 8, 21)));
}

TEST(Schedule, end_at_midnight_is_the_midnight_after_the_start) {
  const Schedule schedule{daily(TimeZone::utc(), at(8), at(0))};
  EXPECT_EQ(schedule.session_at(at_utc(2026, 3, 2, 23, 59, 59)), window(at_utc(2026, 3, 2, 8), at_utc(2026, 3, 3)));
  EXPECT_EQ(schedule.session_at(at_utc(2026, 3, 3)), std::nullopt);
}

TEST(Schedule, weekly_session_runs_through_its_nights) {
  const Schedule schedule{weekly(chicago(), Sunday, at(17), Friday, at(16))};
  const auto week = window(at_utc(2026, 3, 1, 23), at_utc(2026, 3, 6, 22));
  EXPECT_EQ(schedule.session_at(at_utc(2026, 3, 1, 22, 59)), std::nullopt);
  EXPECT_EQ(schedule.session_at(at_utc(2026, 3, 1, 23)), week);
  EXPECT_EQ(schedule.session_at(at_utc(2026, 3, 4, 4)), week);
  EXPECT_EQ(schedule.session_at(at_utc(2026, 3, 6, 22)), std::nullopt);
  EXPECT_EQ(schedule.next_session(at_utc(2026, 3, 6, 22)), window(at_utc(2026, 3, 8, 22), at_utc(2026, 3, 13, 21)));
}

TEST(Schedule, weekly_session_may_span_the_week_end) {
  const Schedule schedule{weekly(TimeZone::utc(), Friday, at(22), Monday, at(4))};
  const auto week_end = window(at_utc(2026, 3, 6, 22), at_utc(2026, 3, 9, 4));
  EXPECT_EQ(schedule.session_at(at_utc(2026, 3, 7, 12)), week_end);
  EXPECT_EQ(schedule.session_at(at_utc(2026, 3, 9, 3, 59, 59)), week_end);
  EXPECT_EQ(schedule.session_at(at_utc(2026, 3, 10)), std::nullopt);
}

TEST(Schedule, weekly_session_of_one_day_is_short_or_nearly_a_week) {
  const Schedule brief{weekly(TimeZone::utc(), Wednesday, at(8), Wednesday, at(17))};
  EXPECT_EQ(brief.session_at(at_utc(2026, 3, 4, 9)), window(at_utc(2026, 3, 4, 8), at_utc(2026, 3, 4, 17)));
  EXPECT_EQ(brief.session_at(at_utc(2026, 3, 5, 9)), std::nullopt);
  const Schedule wide{weekly(TimeZone::utc(), Wednesday, at(17), Wednesday, at(8))};
  EXPECT_EQ(wide.session_at(at_utc(2026, 3, 5, 9)), window(at_utc(2026, 3, 4, 17), at_utc(2026, 3, 11, 8)));
  EXPECT_EQ(wide.session_at(at_utc(2026, 3, 11, 9)), std::nullopt);
  const Schedule whole{weekly(TimeZone::utc(), Wednesday, at(17), Wednesday, at(17))};
  EXPECT_EQ(whole.session_at(at_utc(2026, 3, 11, 16)), window(at_utc(2026, 3, 4, 17), at_utc(2026, 3, 11, 17)));
  EXPECT_EQ(whole.session_at(at_utc(2026, 3, 11, 17)), window(at_utc(2026, 3, 11, 17), at_utc(2026, 3, 18, 17)));
}

TEST(Schedule, without_times_it_is_always_open) {
  const Schedule schedule{ScheduleConfig{}};
  const UtcTime now = at_utc(2026, 3, 2);
  EXPECT_EQ(schedule.session_at(now), (TimeWindow{UtcTime::min(), UtcTime::max()}));
  EXPECT_EQ(schedule.logon_window_at(now), (TimeWindow{UtcTime::min(), UtcTime::max()}));
  EXPECT_EQ(schedule.next_session(now), std::nullopt);
  EXPECT_EQ(schedule.next_logon_window(now), std::nullopt);
  EXPECT_EQ(schedule.numbers_since(now), UtcTime::min());
  EXPECT_EQ(schedule.next_reset(now), UtcTime::max());
  EXPECT_EQ(schedule.next_boundary(now), UtcTime::max());
  EXPECT_TRUE(schedule.same_session(at_utc(1999, 1, 1), at_utc(2099, 1, 1)));
}

// Daylight saving.

TEST(Schedule, begin_that_is_skipped_is_at_the_change) {
  const Schedule schedule{daily(new_york(), at(2, 30), at(12))};
  EXPECT_EQ(schedule.next_session(at_utc(2026, 3, 8, 6)), window(at_utc(2026, 3, 8, 7), at_utc(2026, 3, 8, 16)));
}

TEST(Schedule, end_that_is_skipped_is_at_the_change) {
  const Schedule schedule{daily(new_york(), at(20), at(2, 30))};
  EXPECT_EQ(schedule.session_at(at_utc(2026, 3, 8, 6)), window(at_utc(2026, 3, 8, 1), at_utc(2026, 3, 8, 7)));
}

TEST(Schedule, begin_that_occurs_twice_is_the_first_and_happens_once) {
  const Schedule schedule{daily(new_york(), at(1, 30), at(12))};
  const auto session = window(at_utc(2026, 11, 1, 5, 30), at_utc(2026, 11, 1, 17));
  EXPECT_EQ(schedule.next_session(at_utc(2026, 11, 1, 5)), session);
  EXPECT_EQ(schedule.session_at(at_utc(2026, 11, 1, 6, 15)), session);
  EXPECT_TRUE(schedule.same_session(at_utc(2026, 11, 1, 5, 30), at_utc(2026, 11, 1, 6, 30)));
}

TEST(Schedule, end_that_occurs_twice_is_the_first_and_the_session_stays_closed) {
  const Schedule schedule{daily(new_york(), at(20), at(1, 30))};
  EXPECT_EQ(schedule.session_at(at_utc(2026, 11, 1, 5)), window(at_utc(2026, 11, 1, 0), at_utc(2026, 11, 1, 5, 30)));
  // The clocks show 01:15 again.
  EXPECT_EQ(schedule.session_at(at_utc(2026, 11, 1, 6, 15)), std::nullopt);
}

TEST(Schedule, session_that_is_skipped_does_not_take_place) {
  const Schedule schedule{daily(new_york(), at(2, 10), at(2, 50))};
  EXPECT_EQ(schedule.next_session(at_utc(2026, 3, 8, 0)), window(at_utc(2026, 3, 9, 6, 10), at_utc(2026, 3, 9, 6, 50)));
  EXPECT_EQ(schedule.session_at(at_utc(2026, 3, 8, 7)), std::nullopt);
  EXPECT_EQ(schedule.next_boundary(at_utc(2026, 3, 8, 0)), at_utc(2026, 3, 9, 6, 10));
  EXPECT_EQ(schedule.numbers_since(at_utc(2026, 3, 8, 12)), at_utc(2026, 3, 7, 7, 10));
}

TEST(Schedule, half_an_hour_of_lord_howe_is_enough) {
  const Schedule schedule{daily(lord_howe(), at(2, 15), at(17))};
  EXPECT_EQ(schedule.next_session(at_utc(2026, 10, 3, 15)),
            window(at_utc(2026, 10, 3, 15, 30), at_utc(2026, 10, 4, 6)));
  const Schedule twice{daily(lord_howe(), at(1, 45), at(17))};
  EXPECT_EQ(twice.next_session(at_utc(2026, 4, 4, 12)), window(at_utc(2026, 4, 4, 14, 45), at_utc(2026, 4, 5, 6, 30)));
}

TEST(Schedule, midnight_that_does_not_exist_begins_the_session_at_one) {
  const Schedule schedule{daily(sao_paulo(), at(0), at(0))};
  EXPECT_EQ(schedule.session_at(at_utc(2018, 11, 4, 2, 59)), window(at_utc(2018, 11, 3, 3), at_utc(2018, 11, 4, 3)));
  EXPECT_EQ(schedule.session_at(at_utc(2018, 11, 4, 3)), window(at_utc(2018, 11, 4, 3), at_utc(2018, 11, 5, 2)));
}

TEST(Schedule, hour_before_midnight_that_occurs_twice_is_in_one_session) {
  const Schedule schedule{daily(sao_paulo(), at(0), at(0))};
  EXPECT_EQ(schedule.session_at(at_utc(2019, 2, 17, 2, 30)), window(at_utc(2019, 2, 16, 2), at_utc(2019, 2, 17, 3)));
}

TEST(Schedule, sessions_of_a_day_that_apia_skipped_do_not_take_place) {
  const Schedule schedule{daily(apia(), at(9), at(17))};
  EXPECT_EQ(schedule.session_at(at_utc(2011, 12, 29, 20)), window(at_utc(2011, 12, 29, 19), at_utc(2011, 12, 30, 3)));
  EXPECT_EQ(schedule.next_session(at_utc(2011, 12, 29, 20)), window(at_utc(2011, 12, 30, 19), at_utc(2011, 12, 31, 3)));
}

// Logon windows.

TEST(Schedule, logon_window_defaults_to_the_session) {
  const Schedule schedule{new_york_equities()};
  EXPECT_EQ(schedule.logon_window_at(at_utc(2026, 3, 2, 15)), schedule.session_at(at_utc(2026, 3, 2, 15)));
  EXPECT_EQ(schedule.next_logon_window(at_utc(2026, 3, 2, 15)), schedule.next_session(at_utc(2026, 3, 2, 15)));
}

TEST(Schedule, daily_logon_window_is_within_the_session) {
  ScheduleConfig config = new_york_equities();
  config.logon_time = at(8, 30);
  config.logout_time = at(16, 45);
  const Schedule schedule{config};
  const auto allowed = window(at_utc(2026, 3, 2, 13, 30), at_utc(2026, 3, 2, 21, 45));
  EXPECT_FALSE(schedule.logon_allowed(at_utc(2026, 3, 2, 13, 29, 59)));
  EXPECT_EQ(schedule.logon_window_at(at_utc(2026, 3, 2, 13, 30)), allowed);
  EXPECT_FALSE(schedule.logon_allowed(at_utc(2026, 3, 2, 21, 45)));
  EXPECT_TRUE(schedule.session_at(at_utc(2026, 3, 2, 21, 45)));
  EXPECT_FALSE(schedule.logon_allowed(at_utc(2026, 3, 1, 15)));
  EXPECT_EQ(schedule.next_logon_window(at_utc(2026, 2, 27, 22)), allowed);
  EXPECT_EQ(schedule.next_boundary(at_utc(2026, 3, 2, 13)), at_utc(2026, 3, 2, 13, 30));
  EXPECT_EQ(schedule.next_boundary(at_utc(2026, 3, 2, 13, 30)), at_utc(2026, 3, 2, 21, 45));
  EXPECT_EQ(schedule.next_boundary(at_utc(2026, 3, 2, 21, 45)), at_utc(2026, 3, 2, 22));
}

TEST(Schedule, logon_window_of_an_overnight_session_may_open_after_midnight) {
  ScheduleConfig config = daily(TimeZone::utc(), at(18), at(17));
  config.weekdays = monday_to_friday();
  config.logon_time = at(0, 30);
  const Schedule schedule{config};
  EXPECT_FALSE(schedule.logon_allowed(at_utc(2026, 3, 6, 18)));
  EXPECT_EQ(schedule.logon_window_at(at_utc(2026, 3, 7, 1)), window(at_utc(2026, 3, 7, 0, 30), at_utc(2026, 3, 7, 17)));
  EXPECT_FALSE(schedule.logon_allowed(at_utc(2026, 3, 8, 1)));
}

TEST(Schedule, weekly_session_has_a_break_every_day_and_keeps_its_sequence_numbers) {
  const Schedule schedule{globex()};
  EXPECT_EQ(schedule.logon_window_at(at_utc(2026, 3, 2, 1)), window(at_utc(2026, 3, 1, 23), at_utc(2026, 3, 2, 22)));
  EXPECT_FALSE(schedule.logon_allowed(at_utc(2026, 3, 2, 22, 30)));
  EXPECT_TRUE(schedule.session_at(at_utc(2026, 3, 2, 22, 30)));
  EXPECT_EQ(schedule.next_logon_window(at_utc(2026, 3, 2, 22, 30)),
            window(at_utc(2026, 3, 2, 23), at_utc(2026, 3, 3, 22)));
  EXPECT_TRUE(schedule.same_session(at_utc(2026, 3, 2, 1), at_utc(2026, 3, 6, 21)));
  // Friday's window opens after the session ends, and so does Saturday's.
  EXPECT_FALSE(schedule.logon_allowed(at_utc(2026, 3, 6, 23, 30)));
  EXPECT_EQ(schedule.next_logon_window(at_utc(2026, 3, 6, 22)), window(at_utc(2026, 3, 8, 22), at_utc(2026, 3, 9, 21)));
}

TEST(Schedule, session_that_begins_within_a_daily_window_may_log_on_at_once) {
  ScheduleConfig config = weekly(TimeZone::utc(), Sunday, at(23), Friday, at(16));
  config.logon_time = at(17);
  config.logout_time = at(16);
  const Schedule schedule{config};
  EXPECT_EQ(schedule.next_logon_window(at_utc(2026, 3, 1, 18)), window(at_utc(2026, 3, 1, 23), at_utc(2026, 3, 2, 16)));
}

TEST(Schedule, weekly_logon_window_has_days_of_its_own) {
  ScheduleConfig config = weekly(TimeZone::utc(), Sunday, at(17), Friday, at(16));
  config.logon_day = Monday;
  config.logon_time = at(7);
  const Schedule schedule{config};
  EXPECT_FALSE(schedule.logon_allowed(at_utc(2026, 3, 2, 6)));
  EXPECT_EQ(schedule.logon_window_at(at_utc(2026, 3, 4, 3)), window(at_utc(2026, 3, 2, 7), at_utc(2026, 3, 6, 16)));
}

// Sequence numbers.

TEST(Schedule, sequence_numbers_are_reset_when_a_session_begins_and_not_when_it_ends) {
  const Schedule schedule{new_york_equities()};
  const UtcTime monday = at_utc(2026, 3, 2, 15);
  EXPECT_EQ(schedule.numbers_since(monday), at_utc(2026, 3, 2, 13));
  EXPECT_TRUE(schedule.same_session(monday, at_utc(2026, 3, 3, 12, 59)));
  EXPECT_FALSE(schedule.same_session(monday, at_utc(2026, 3, 3, 13)));
  EXPECT_EQ(schedule.next_reset(monday), at_utc(2026, 3, 3, 13));
}

TEST(Schedule, store_of_another_week_is_not_of_this_session) {
  const Schedule schedule{globex()};
  const UtcTime created = at_utc(2026, 3, 4, 12);
  EXPECT_TRUE(schedule.same_session(created, at_utc(2026, 3, 6, 12)));
  EXPECT_FALSE(schedule.same_session(created, at_utc(2026, 3, 11, 12)));
  EXPECT_FALSE(schedule.same_session(at_utc(2026, 3, 11, 12), created));
}

TEST(Schedule, reset_time_resets_sequence_numbers_within_a_session) {
  ScheduleConfig config = globex();
  config.reset_time = at(16, 30);
  const Schedule schedule{config};
  EXPECT_EQ(schedule.numbers_since(at_utc(2026, 3, 2, 22, 29)), at_utc(2026, 3, 1, 23));
  EXPECT_EQ(schedule.numbers_since(at_utc(2026, 3, 2, 22, 30)), at_utc(2026, 3, 2, 22, 30));
  // Friday's is after the end of the session, so Thursday's is the last.
  EXPECT_EQ(schedule.numbers_since(at_utc(2026, 3, 7, 12)), at_utc(2026, 3, 5, 22, 30));
  EXPECT_EQ(schedule.next_reset(at_utc(2026, 3, 5, 22, 30)), at_utc(2026, 3, 8, 22));
  EXPECT_EQ(schedule.next_boundary(at_utc(2026, 3, 2, 22)), at_utc(2026, 3, 2, 22, 30));
}

TEST(Schedule, always_open_session_may_reset_every_day) {
  ScheduleConfig config{.zone = new_york(), .reset_time = at(2, 30)};
  const Schedule schedule{config};
  EXPECT_EQ(schedule.next_reset(at_utc(2026, 3, 7, 7, 29)), at_utc(2026, 3, 7, 7, 30));
  EXPECT_EQ(schedule.next_reset(at_utc(2026, 3, 7, 7, 30)), at_utc(2026, 3, 8, 7));  // 02:30 is skipped
  EXPECT_EQ(schedule.next_reset(at_utc(2026, 3, 8, 7)), at_utc(2026, 3, 9, 6, 30));
  EXPECT_EQ(schedule.next_boundary(at_utc(2026, 3, 8, 7)), at_utc(2026, 3, 9, 6, 30));
  EXPECT_FALSE(schedule.same_session(at_utc(2026, 3, 8, 6, 59), at_utc(2026, 3, 8, 7)));
  EXPECT_EQ(schedule.session_at(at_utc(2026, 3, 8)), (TimeWindow{UtcTime::min(), UtcTime::max()}));
}

// New York is five hours behind UTC in winter, four in summer from 8 March; Tokyo is nine ahead.
TEST(Schedule, session_may_end_in_another_time_zone_than_it_begins) {
  ScheduleConfig config = daily(new_york(), at(18), at(17));
  config.end_zone = tokyo();
  const Schedule schedule{config};
  EXPECT_EQ(schedule.session_at(at_utc(2026, 3, 2, 23)), (TimeWindow{at_utc(2026, 3, 2, 23), at_utc(2026, 3, 3, 8)}));
  EXPECT_EQ(schedule.session_at(at_utc(2026, 3, 3, 8)), std::nullopt);
  EXPECT_EQ(schedule.next_boundary(at_utc(2026, 3, 3, 8)), at_utc(2026, 3, 3, 23));
  EXPECT_EQ(schedule.session_at(at_utc(2026, 3, 10, 22)), (TimeWindow{at_utc(2026, 3, 10, 22), at_utc(2026, 3, 11, 8)}))
      << "the start moves with New York's clocks, the end stays";
  EXPECT_EQ(schedule.numbers_since(at_utc(2026, 3, 11, 12)), at_utc(2026, 3, 10, 22));
}

TEST(Schedule, weekly_session_may_end_in_another_time_zone_than_it_begins) {
  ScheduleConfig config = weekly(new_york(), Sunday, at(17), Saturday, at(6));
  config.end_zone = tokyo();
  const Schedule schedule{config};
  EXPECT_EQ(schedule.session_at(at_utc(2026, 3, 3)), (TimeWindow{at_utc(2026, 3, 1, 22), at_utc(2026, 3, 6, 21)}));
  EXPECT_EQ(schedule.next_session(at_utc(2026, 3, 3)), (TimeWindow{at_utc(2026, 3, 8, 21), at_utc(2026, 3, 13, 21)}));
}

TEST(Schedule, session_with_an_end_in_another_zone_is_over_when_the_next_begins) {
  ScheduleConfig config = daily(new_york(), at(17), at(7));
  config.end_zone = tokyo();  // 22:00 UTC: the start in winter, an hour after it in summer
  const Schedule schedule{config};
  for (UtcTime time = at_utc(2026, 2, 1, 0, 30); time < at_utc(2026, 4, 1); time += hours{1}) {
    const auto open = schedule.session_at(time);
    const auto next = schedule.next_session(time);
    ASSERT_TRUE(next.has_value());
    EXPECT_LE(open ? open->end : time, next->begin);
    EXPECT_GT(schedule.next_boundary(time), time);
  }
}

TEST(Schedule, end_in_another_zone_has_neither_a_logon_window_nor_a_reset) {
  ScheduleConfig config = daily(new_york(), at(9), at(17));
  config.end_zone = tokyo();
  EXPECT_FALSE(find_problem(config).has_value());
  config.logon_time = at(10);
  EXPECT_EQ(find_problem(config)->key, "end_time_zone");
  config.logon_time.reset();
  config.reset_time = at(10);
  EXPECT_EQ(find_problem(config)->key, "end_time_zone");
}

TEST(Schedule, ends_of_time_have_answers) {
  const Schedule schedule{globex()};
  EXPECT_LE(schedule.next_boundary(UtcTime::min()), at_utc(1677, 9, 30));
  EXPECT_EQ(schedule.next_boundary(UtcTime::max()), UtcTime::max());
  EXPECT_LE(schedule.numbers_since(UtcTime::min()), UtcTime::min());
  EXPECT_GE(schedule.numbers_since(UtcTime::max()), at_utc(2262, 3, 1));
}

// Invalid configurations.

struct Wrong {
  std::string_view key;
  void (*make)(ScheduleConfig&);
};

TEST(ScheduleProblem, names_the_key_that_is_missing_or_wrong) {
  const Wrong table[] = {
      {"end_time", [](ScheduleConfig& c) { c.end_time.reset(); }},
      {"start_time", [](ScheduleConfig& c) { c.start_time.reset(); }},
      {"end_day", [](ScheduleConfig& c) { c.start_day = Monday; }},
      {"start_day", [](ScheduleConfig& c) { c.end_day = Monday; }},
      {"start_time", [](ScheduleConfig& c) { c = {}, c.start_day = c.end_day = Monday; }},
      {"start_time", [](ScheduleConfig& c) { c = {}, c.weekdays.insert(Monday); }},
      {"start_time", [](ScheduleConfig& c) { c = {}, c.logon_time = at(9); }},
      {"weekdays", [](ScheduleConfig& c) { c.start_day = c.end_day = Monday, c.weekdays.insert(Monday); }},
      {"logon_day", [](ScheduleConfig& c) { c.logon_day = Monday; }},
      {"logout_day", [](ScheduleConfig& c) { c.logout_day = Monday; }},
      {"logon_time", [](ScheduleConfig& c) { c.start_day = Monday, c.end_day = Friday, c.logout_time = at(16); }},
      {"logout_time", [](ScheduleConfig& c) { c.start_day = Monday, c.end_day = Friday, c.logon_time = at(9); }},
      {"logon_time", [](ScheduleConfig& c) { c.logon_time = at(7); }},
      {"logon_time", [](ScheduleConfig& c) { c.logon_time = at(17); }},
      {"logout_time", [](ScheduleConfig& c) { c.logout_time = at(18); }},
      {"logout_time", [](ScheduleConfig& c) { c.logon_time = at(12), c.logout_time = at(11); }},
      {"logout_time", [](ScheduleConfig& c) { c.logon_time = c.logout_time = at(12); }},
      {"logon_day", [](ScheduleConfig& c) { c.start_day = Monday, c.end_day = Friday, c.logon_day = Sunday; }},
      {"logout_day", [](ScheduleConfig& c) { c.start_day = Monday, c.end_day = Friday, c.logout_day = Saturday; }},
      {"logout_time",
       [](ScheduleConfig& c) { c.start_day = Monday, c.end_day = Friday, c.logon_time = c.logout_time = at(9); }},
      {"logon_time",
       [](ScheduleConfig& c) { c.start_day = c.end_day = Monday, c.logon_time = at(17), c.logout_time = at(18); }},
      {"reset_time", [](ScheduleConfig& c) { c.reset_time = at(17); }},
      {"reset_time", [](ScheduleConfig& c) { c.reset_time = at(24); }},
      {"start_time", [](ScheduleConfig& c) { c.start_time = seconds{-1}; }},
      {"end_time", [](ScheduleConfig& c) { c.end_time = at(24); }},
      {"logon_time", [](ScheduleConfig& c) { c.logon_time = at(25); }},
      {"logout_time", [](ScheduleConfig& c) { c.logout_time = at(25); }},
      {"start_day", [](ScheduleConfig& c) { c.start_day = c.end_day = std::chrono::weekday{8}; }},
  };
  for (const Wrong& each : table) {
    ScheduleConfig config = daily(TimeZone::utc(), at(8), at(17));
    each.make(config);
    const auto problem = find_problem(config);
    ASSERT_TRUE(problem) << "row " << &each - table;
    EXPECT_EQ(problem->key, each.key) << "row " << &each - table << ": " << problem->text;
  }
}

TEST(ScheduleProblem, is_none_for_what_makes_sense) {
  EXPECT_FALSE(find_problem(ScheduleConfig{}));
  EXPECT_FALSE(find_problem(new_york_equities()));
  EXPECT_FALSE(find_problem(globex()));
  ScheduleConfig config = daily(TimeZone::utc(), at(8), at(17));
  config.logon_time = at(8);
  config.logout_time = at(17);
  config.reset_time = at(16, 59, 59);
  EXPECT_FALSE(find_problem(config));
}

TEST(ScheduleDeathTest, wrong_configuration_aborts) {
  ScheduleConfig config{.start_time = at(8)};
  EXPECT_DEATH(Schedule{config}, "assertion failed");
}

}  // namespace
}  // namespace nfx
