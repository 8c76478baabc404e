// Which address is tried next and when, what a schedule wants at a moment, and what a full disk ends.
#include <gtest/gtest.h>

#include <vector>

#include "engine/reconnect.hpp"
#include "engine/session_time.hpp"
#include "engine/store_watch.hpp"
#include "nexusfix/config/engine_config.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;

SessionSettings three_addresses(HostSelection selection) {
  SessionSettings settings;
  settings.session.role = Role::initiator;
  settings.connect = {{"a", 1}, {"b", 1}, {"c", 1}};
  settings.host_selection = selection;
  settings.host_priority_restart = 120s;
  settings.reconnect_delay = 1000ms;
  settings.reconnect_delay_max = 5000ms;
  return settings;
}

TEST(ReconnectDelay, delays_double_up_to_the_longest_and_begin_anew_after_a_logon) {
  const SessionSettings settings = three_addresses(HostSelection::round_robin);
  Jitter jitter{1};
  Reconnect reconnect;
  const MonotonicTime now{100h};
  EXPECT_EQ(reconnect.at(), MonotonicTime::max());
  const auto delay = [&] {
    reconnect.schedule(settings, now, jitter);
    return reconnect.at() - now;
  };
  for (const Duration longest : std::vector<Duration>{1s, 2s, 4s, 5s, 5s}) {
    const Duration waits = delay();
    EXPECT_GE(waits, longest / 2);
    EXPECT_LE(waits, longest);
  }
  reconnect.logged_on();
  EXPECT_LE(delay(), Duration{1s});
  EXPECT_GT(delay(), Duration{999ms});
  reconnect.forget_failures();
  EXPECT_LE(delay(), Duration{1s});
  reconnect.cancel();
  EXPECT_EQ(reconnect.at(), MonotonicTime::max());
}

TEST(ReconnectDelay, round_robin_takes_the_address_behind_the_last_even_after_a_logon) {
  const SessionSettings settings = three_addresses(HostSelection::round_robin);
  Reconnect reconnect;
  const MonotonicTime now{100h};
  std::vector<std::size_t> tried;
  for (int i = 0; i < 4; ++i) {
    reconnect.attempt_begins(now);
    tried.push_back(reconnect.endpoint());
    reconnect.logged_on();
    reconnect.next_endpoint(settings, now);
  }
  EXPECT_EQ(tried, (std::vector<std::size_t>{0, 1, 2, 0}));
}

TEST(ReconnectDelay, priority_begins_from_the_first_after_a_logon_or_when_the_list_took_too_long) {
  const SessionSettings settings = three_addresses(HostSelection::priority);
  Reconnect reconnect;
  MonotonicTime now{100h};
  reconnect.attempt_begins(now);
  reconnect.next_endpoint(settings, now);
  EXPECT_EQ(reconnect.endpoint(), 1U);
  reconnect.attempt_begins(now);
  reconnect.connected();  // a TCP connection alone is not a success
  reconnect.next_endpoint(settings, now);
  EXPECT_EQ(reconnect.endpoint(), 2U);
  reconnect.attempt_begins(now);
  reconnect.connected();
  reconnect.logged_on();
  reconnect.next_endpoint(settings, now);
  EXPECT_EQ(reconnect.endpoint(), 0U);
  reconnect.attempt_begins(now);
  now += 120s;
  reconnect.next_endpoint(settings, now);
  EXPECT_EQ(reconnect.endpoint(), 0U);
}

// Open from 8 to 17 hours, every day, with sequence numbers that restart each day.
Schedule day_schedule() {
  ScheduleConfig config;
  config.start_time = 8h;
  config.end_time = 17h;
  return Schedule{config};
}

constexpr UtcTime at(int day, Duration time) { return UtcTime{24h * day + time}; }

TEST(SessionTime, within_the_time_of_its_numbering_a_session_is_open_and_goes_on) {
  const SessionTime time = session_time(day_schedule(), at(1000, 8h), {at(1000, 12h), MonotonicTime{100h}});
  EXPECT_TRUE(time.open);
  EXPECT_FALSE(time.starts_over);
  EXPECT_FALSE(time.over);
}

TEST(SessionTime, outside_its_time_a_session_is_over) {
  const SessionTime time = session_time(day_schedule(), at(1000, 8h), {at(1000, 18h), MonotonicTime{100h}});
  EXPECT_FALSE(time.open);
  EXPECT_TRUE(time.over);
}

TEST(SessionTime, a_connection_of_yesterday_is_over_although_the_session_is_open) {
  const SessionTime time = session_time(day_schedule(), at(1000, 9h), {at(1001, 9h), MonotonicTime{100h}});
  EXPECT_TRUE(time.open);
  EXPECT_TRUE(time.starts_over);
  EXPECT_TRUE(time.over);
}

TEST(SessionTime, a_clock_set_back_a_little_begins_no_other_session_and_one_wrong_by_far_does) {
  const Schedule schedule = day_schedule();
  EXPECT_FALSE(another_session(schedule, at(1000, 8h + 1min), at(1000, 7h + 59min)));
  EXPECT_TRUE(another_session(schedule, at(1000, 8h + 1min), at(999, 9h)));
}

TEST(SessionTime, is_looked_at_again_at_the_boundary_and_at_least_once_a_minute) {
  const MonotonicTime now{100h};
  const auto checked_at = [&](const Schedule& schedule, UtcTime utc) {
    return session_time(schedule, at(1000, 8h), {utc, now}).check_at;
  };
  EXPECT_EQ(checked_at(day_schedule(), at(1000, 17h - 5s)), now + 5s);
  EXPECT_EQ(checked_at(day_schedule(), at(1000, 12h)), now + 1min);
  EXPECT_EQ(checked_at(Schedule{ScheduleConfig{}}, at(1000, 12h)), MonotonicTime::max());
}

TEST(StoreWatch, waits_for_a_full_disk_logs_out_when_the_time_is_over_and_drops_what_has_no_number) {
  StoreWatch watch;
  const MonotonicTime now{100h};
  const auto check = [&](StoreState state, Duration later = {}) { return watch.check(state, now + later, 30s); };
  EXPECT_EQ(check({.condition = StoreCondition::full}), StoreVerdict::goes_on);
  EXPECT_EQ(watch.at(), now + 30s);
  EXPECT_EQ(check({.condition = StoreCondition::full}, 30s), StoreVerdict::logs_out);
  EXPECT_EQ(watch.at(), MonotonicTime::max());
  EXPECT_EQ(check({}), StoreVerdict::goes_on);
  EXPECT_FALSE(watch.in_trouble());
  EXPECT_EQ(check({.condition = StoreCondition::full, .has_reserve = false}), StoreVerdict::logs_out);
  EXPECT_EQ(check({.refused = 1}), StoreVerdict::drops);
  EXPECT_EQ(check({.condition = StoreCondition::failed, .refused = 1}), StoreVerdict::drops);
  EXPECT_EQ(watch.at(), MonotonicTime::max()) << "the poll thread would never sleep again";
}

}  // namespace
}  // namespace nfx
