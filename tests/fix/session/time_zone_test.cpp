// Conversion to local time and back, with clocks that are set forward and back.
#include "nexusfix/session/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "session/zones.hpp"

namespace nfx {
namespace {

using namespace zones;

struct Converted {
  local_seconds local;
  sys_seconds utc;
  LocalTimeKind kind;
};

void expect_instants(const TimeZone& zone, std::initializer_list<Converted> table) {
  for (const Converted& each : table) {
    const LocalInstant instant = zone.to_utc(each.local);
    EXPECT_EQ(instant.time, each.utc) << zone.name() << ", local " << each.local.time_since_epoch().count();
    EXPECT_EQ(instant.kind, each.kind) << zone.name() << ", local " << each.local.time_since_epoch().count();
  }
}

TEST(TimeZone, utc_is_its_own_local_time) {
  const TimeZone utc = TimeZone::utc();
  EXPECT_EQ(utc.name(), "UTC");
  EXPECT_EQ(utc.local(at_utc(2026, 7, 1, 12, 34, 56)), at_local(2026, 7, 1, 12, 34, 56));
  EXPECT_EQ(utc.to_utc(at_local(1900, 1, 1)), (LocalInstant{at_utc(1900, 1, 1), LocalTimeKind::once}));
  EXPECT_EQ(utc.period_at(at_utc(2200, 1, 1)).abbreviation, "UTC");
  EXPECT_EQ(utc.next_period(at_utc(1700, 1, 1)), nullptr);
}

TEST(TimeZone, clocks_show_the_offset_of_the_period) {
  const TimeZone zone = new_york();
  EXPECT_EQ(zone.local(at_utc(2026, 3, 8, 6, 59, 59)), at_local(2026, 3, 8, 1, 59, 59));
  EXPECT_EQ(zone.local(at_utc(2026, 3, 8, 7)), at_local(2026, 3, 8, 3));
  EXPECT_EQ(zone.local(at_utc(2026, 11, 1, 5, 59, 59)), at_local(2026, 11, 1, 1, 59, 59));
  EXPECT_EQ(zone.local(at_utc(2026, 11, 1, 6)), at_local(2026, 11, 1, 1));
  EXPECT_EQ(zone.period_at(at_utc(2026, 7, 1)).abbreviation, "EDT");
  EXPECT_EQ(zone.period_at(at_utc(2026, 12, 1)).abbreviation, "EST");
}

TEST(TimeZone, first_and_last_period_hold_for_ever) {
  const TimeZone zone = new_york();
  EXPECT_EQ(zone.local(at_utc(1700, 1, 1, 5)), at_local(1700, 1, 1));
  EXPECT_EQ(zone.local(at_utc(2250, 7, 1, 5)), at_local(2250, 7, 1));
  EXPECT_EQ(zone.to_utc(at_local(1700, 1, 1)).time, at_utc(1700, 1, 1, 5));
  EXPECT_EQ(zone.to_utc(at_local(2250, 7, 1)).time, at_utc(2250, 7, 1, 5));
}

TEST(TimeZone, next_period_begins_after_the_time_asked_with) {
  const TimeZone zone = new_york();
  EXPECT_EQ(zone.next_period(at_utc(2026, 3, 8, 6, 59, 59))->from, at_utc(2026, 3, 8, 7));
  EXPECT_EQ(zone.next_period(at_utc(2026, 3, 8, 7))->from, at_utc(2026, 11, 1, 6));
  EXPECT_EQ(zone.next_period(at_utc(2027, 11, 7, 6)), nullptr);
}

TEST(TimeZone, time_that_is_skipped_counts_at_the_change) {
  using enum LocalTimeKind;
  expect_instants(new_york(), {{at_local(2026, 3, 8, 1, 59, 59), at_utc(2026, 3, 8, 6, 59, 59), once},
                               {at_local(2026, 3, 8, 2), at_utc(2026, 3, 8, 7), never},
                               {at_local(2026, 3, 8, 2, 59, 59), at_utc(2026, 3, 8, 7), never},
                               {at_local(2026, 3, 8, 3), at_utc(2026, 3, 8, 7), once},
                               {at_local(2026, 3, 8, 3, 0, 1), at_utc(2026, 3, 8, 7, 0, 1), once}});
  expect_instants(lord_howe(), {{at_local(2026, 10, 4, 1, 59, 59), at_utc(2026, 10, 3, 15, 29, 59), once},
                                {at_local(2026, 10, 4, 2), at_utc(2026, 10, 3, 15, 30), never},
                                {at_local(2026, 10, 4, 2, 29, 59), at_utc(2026, 10, 3, 15, 30), never},
                                {at_local(2026, 10, 4, 2, 30), at_utc(2026, 10, 3, 15, 30), once}});
  expect_instants(sao_paulo(), {{at_local(2018, 11, 3, 23, 59, 59), at_utc(2018, 11, 4, 2, 59, 59), once},
                                {at_local(2018, 11, 4), at_utc(2018, 11, 4, 3), never},
                                {at_local(2018, 11, 4, 1), at_utc(2018, 11, 4, 3), once}});
}

TEST(TimeZone, time_that_occurs_twice_counts_at_the_first) {
  using enum LocalTimeKind;
  expect_instants(new_york(), {{at_local(2026, 11, 1, 0, 59, 59), at_utc(2026, 11, 1, 4, 59, 59), once},
                               {at_local(2026, 11, 1, 1), at_utc(2026, 11, 1, 5), twice},
                               {at_local(2026, 11, 1, 1, 59, 59), at_utc(2026, 11, 1, 5, 59, 59), twice},
                               {at_local(2026, 11, 1, 2), at_utc(2026, 11, 1, 7), once}});
  expect_instants(lord_howe(), {{at_local(2026, 4, 5, 1, 29, 59), at_utc(2026, 4, 4, 14, 29, 59), once},
                                {at_local(2026, 4, 5, 1, 30), at_utc(2026, 4, 4, 14, 30), twice},
                                {at_local(2026, 4, 5, 1, 59, 59), at_utc(2026, 4, 4, 14, 59, 59), twice},
                                {at_local(2026, 4, 5, 2), at_utc(2026, 4, 4, 15, 30), once}});
  expect_instants(sao_paulo(), {{at_local(2019, 2, 16, 23), at_utc(2019, 2, 17, 1), twice},
                                {at_local(2019, 2, 17), at_utc(2019, 2, 17, 3), once}});
}

TEST(TimeZone, day_that_does_not_take_place_counts_at_its_beginning) {
  using enum LocalTimeKind;
  expect_instants(apia(), {{at_local(2011, 12, 29, 23, 59, 59), at_utc(2011, 12, 30, 9, 59, 59), once},
                           {at_local(2011, 12, 30), at_utc(2011, 12, 30, 10), never},
                           {at_local(2011, 12, 30, 17), at_utc(2011, 12, 30, 10), never},
                           {at_local(2011, 12, 31), at_utc(2011, 12, 30, 10), once}});
}

TEST(TimeZone, latest_local_stands_still_while_an_hour_comes_again) {
  const TimeZone zone = new_york();
  EXPECT_EQ(zone.latest_local(at_utc(2026, 11, 1, 5, 59, 59)), at_local(2026, 11, 1, 1, 59, 59));
  EXPECT_EQ(zone.latest_local(at_utc(2026, 11, 1, 6)), at_local(2026, 11, 1, 1, 59, 59));
  EXPECT_EQ(zone.latest_local(at_utc(2026, 11, 1, 6, 59, 59)), at_local(2026, 11, 1, 1, 59, 59));
  EXPECT_EQ(zone.latest_local(at_utc(2026, 11, 1, 7)), at_local(2026, 11, 1, 2));
}

// The rule for schedules: a local time's instant is the first one at which the clocks have shown it or a later time.
TEST(TimeZone, instant_of_a_local_time_is_the_first_at_which_it_was_reached) {
  for (const TimeZone& zone : {new_york(), london(), lord_howe(), sao_paulo(), apia()}) {
    const sys_seconds begin = zone.periods()[1].from - days{2};
    const sys_seconds end = zone.periods().back().from + days{2};
    local_seconds reached = zone.local(begin);
    for (sys_seconds t = begin + minutes{1}; t < end; t += minutes{1}) {
      const local_seconds before = std::max(reached, zone.local(t - seconds{1}));
      reached = std::max(before, zone.local(t));
      ASSERT_EQ(zone.latest_local(t), reached) << zone.name() << ", UTC " << t.time_since_epoch().count();
      for (local_seconds local = ceil<minutes>(before + seconds{1}); local <= reached; local += minutes{1})
        ASSERT_EQ(zone.to_utc(local).time, t) << zone.name() << ", local " << local.time_since_epoch().count();
    }
  }
}

TEST(TimeZoneDeathTest, periods_out_of_order_abort) {
  const std::vector<TimeZonePeriod> same{
      {at_utc(2026, 1, 1), hours{0}, "A"}, {at_utc(2026, 1, 1), hours{1}, "B"}, {at_utc(2026, 1, 1), hours{0}, "C"}};
  EXPECT_DEATH(TimeZone("X", same), "assertion failed");
  EXPECT_DEATH(TimeZone("X", {}), "assertion failed");
  EXPECT_DEATH(TimeZone("X", {{at_utc(2026, 1, 1), hours{25}, "A"}}), "assertion failed");
}

}  // namespace
}  // namespace nfx
