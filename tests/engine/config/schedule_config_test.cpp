// Schedules from texts, with the time zones of this machine.
#include "config/schedule_config.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <utility>

#include "session/zones.hpp"

namespace nfx {
namespace {

using namespace zones;

bool has_zones() {
  const char* folder = std::getenv("TZDIR");
  return std::filesystem::exists(std::filesystem::path{folder == nullptr ? "/usr/share/zoneinfo" : folder} /
                                 "America/New_York");
}

class RealZones : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_zones()) GTEST_SKIP() << "no time zone database: install the package tzdata";
  }
};

ScheduleTexts equities() {
  return {.start_time = "08:00",
          .end_time = "17:00",
          .start_day = "",
          .end_day = "",
          .weekdays = {"mon", "tue", "wed", "thu", "fri"},
          .logon_time = "",
          .logout_time = "",
          .logon_day = "",
          .logout_day = "",
          .reset_time = "",
          .time_zone = "America/New_York"};
}

// The error's key and text; fails if there is none.
ScheduleError error_of(const ScheduleTexts& texts) {
  try {
    static_cast<void>(make_schedule(texts));
  } catch (const ScheduleError& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return {"", ""};
}

TEST(ScheduleTexts, nothing_given_is_no_schedule) { EXPECT_EQ(make_schedule({}), nullptr); }

TEST(ScheduleTexts, every_text_is_read) {
  ScheduleTexts texts;
  texts.start_time = "17:00";
  texts.end_time = "16:00:30";
  texts.start_day = "Sunday";
  texts.end_day = "fr";
  texts.logon_time = "18:15";
  texts.logout_time = "15:45";
  texts.logon_day = "MON";
  texts.logout_day = "Thurs";
  texts.reset_time = "00:00:01";
  const auto schedule = make_schedule(texts);
  ASSERT_NE(schedule, nullptr);
  const ScheduleConfig& config = schedule->config();
  EXPECT_EQ(config.zone.name(), "UTC");
  EXPECT_EQ(config.start_time, hours{17});
  EXPECT_EQ(config.end_time, hours{16} + seconds{30});
  EXPECT_EQ(config.start_day, std::chrono::Sunday);
  EXPECT_EQ(config.end_day, std::chrono::Friday);
  EXPECT_EQ(config.logon_time, hours{18} + minutes{15});
  EXPECT_EQ(config.logout_time, hours{15} + minutes{45});
  EXPECT_EQ(config.logon_day, std::chrono::Monday);
  EXPECT_EQ(config.logout_day, std::chrono::Thursday);
  EXPECT_EQ(config.reset_time, seconds{1});
}

TEST(ScheduleTexts, weekdays_are_a_set_of_days) {
  ScheduleTexts texts;
  texts.start_time = texts.end_time = "00:00";
  texts.weekdays = {"tu", "Saturday"};
  WeekdaySet expected = WeekdaySet::only(std::chrono::Tuesday);
  expected.insert(std::chrono::Saturday);
  EXPECT_EQ(make_schedule(texts)->config().weekdays, expected);
}

TEST(ScheduleTexts, reset_time_alone_is_an_open_session_with_a_daily_reset) {
  ScheduleTexts texts;
  texts.reset_time = "05:00";
  const auto schedule = make_schedule(texts);
  ASSERT_NE(schedule, nullptr);
  EXPECT_TRUE(schedule->logon_allowed(at_utc(2026, 3, 1)));
  EXPECT_EQ(schedule->next_reset(at_utc(2026, 3, 1, 5)), at_utc(2026, 3, 2, 5));
}

TEST(ScheduleTexts, times_that_are_none_are_errors) {
  for (const char* text : {"8:00", "08:0", "08.00", "24:00", "08:60", "08:00:60", "08:00:", "08:00:0", "08:00Z",
                           " 08:00", "-1:00", "ab:cd", "08:00:00.5"}) {
    ScheduleTexts texts = {};
    texts.end_time = "17:00";
    texts.start_time = text;
    const ScheduleError error = error_of(texts);
    EXPECT_EQ(error.key(), "start_time") << text;
    EXPECT_NE(error.text().find("08:00:30"), std::string::npos) << error.what();
    EXPECT_NE(error.text().find(text), std::string::npos) << error.what();
  }
}

TEST(ScheduleTexts, each_time_and_day_is_blamed_by_its_own_key) {
  const std::pair<const char*, std::string ScheduleTexts::*> keys[] = {
      {"start_time", &ScheduleTexts::start_time}, {"end_time", &ScheduleTexts::end_time},
      {"start_day", &ScheduleTexts::start_day},   {"end_day", &ScheduleTexts::end_day},
      {"logon_time", &ScheduleTexts::logon_time}, {"logout_time", &ScheduleTexts::logout_time},
      {"logon_day", &ScheduleTexts::logon_day},   {"logout_day", &ScheduleTexts::logout_day},
      {"reset_time", &ScheduleTexts::reset_time}, {"time_zone", &ScheduleTexts::time_zone},
  };
  for (const auto& [key, member] : keys) {
    ScheduleTexts texts;
    texts.*member = "nonsense";
    const ScheduleError error = error_of(texts);
    EXPECT_EQ(error.key(), key);
    EXPECT_EQ(std::string{error.what()}, error.key() + ": " + error.text());
  }
  ScheduleTexts texts = equities();
  texts.time_zone = "UTC";
  texts.weekdays.push_back("x");
  EXPECT_EQ(error_of(texts).key(), "weekdays");
}

TEST(ScheduleTexts, mistyped_day_is_answered_with_the_nearest) {
  ScheduleTexts texts;
  texts.start_day = "Wensday";
  EXPECT_NE(error_of(texts).text().find("did you mean wednesday?"), std::string::npos) << error_of(texts).what();
  texts.start_day = "T";  // ambiguous: Tuesday or Thursday
  EXPECT_EQ(error_of(texts).key(), "start_day");
}

TEST(ScheduleTexts, day_named_twice_is_an_error) {
  ScheduleTexts texts = equities();
  texts.time_zone = "UTC";
  texts.weekdays = {"tue", "wed", "Tuesday"};
  EXPECT_EQ(error_of(texts).key(), "weekdays");
}

TEST(ScheduleTexts, half_given_schedule_is_an_error) {
  ScheduleTexts texts;
  texts.start_time = "08:00";
  EXPECT_EQ(error_of(texts).key(), "end_time");
  texts.end_time = "17:00";
  texts.start_day = "mon";
  EXPECT_EQ(error_of(texts).key(), "end_day");
  texts.start_day = "";
  texts.logon_time = "07:00";
  EXPECT_EQ(error_of(texts).key(), "logon_time");
}

TEST(ScheduleTexts, names_that_are_no_zones_are_errors) {
  for (const char* name :
       {"", "Mars/Phobos", "/etc/localtime", "../localtime", "Fixed/UTC+01:00:00", "file:UTC", "New York"}) {
    ScheduleTexts texts;
    texts.time_zone = name;
    EXPECT_EQ(error_of(texts).key(), "time_zone") << name;
  }
}

TEST(ScheduleTexts, utc_needs_no_database) {
  const TimeZone utc = load_time_zone("UTC");
  EXPECT_EQ(utc.periods().size(), 1);
  EXPECT_EQ(utc.local(at_utc(2026, 7, 1, 12)), at_local(2026, 7, 1, 12));
}

TEST(ScheduleTexts, local_is_the_zone_of_this_machine) {
  const TimeZone zone = load_time_zone("local");
  EXPECT_EQ(zone.name(), "local");
  if (std::getenv("TZ") != nullptr) GTEST_SKIP() << "TZ is set, and may not be the name of a zone";
  const std::time_t moment = 1'790'000'000;
  std::tm here{};
  ASSERT_NE(localtime_r(&moment, &here), nullptr);
  EXPECT_EQ(zone.period_at(sys_seconds{seconds{moment}}).offset, seconds{here.tm_gmtoff});
}

TEST_F(RealZones, mistyped_zone_is_answered_with_the_nearest) {
  if (!std::filesystem::exists("/usr/share/zoneinfo/tzdata.zi")) GTEST_SKIP() << "the database brings no list of names";
  for (const auto& [name, meant] : {std::pair{"America/New_Yrok", "did you mean America/New_York?"},
                                    std::pair{"europe/london", "did you mean Europe/London?"},
                                    std::pair{"US/Estern", "did you mean US/Eastern?"}}) {
    ScheduleTexts texts = equities();
    texts.time_zone = name;
    EXPECT_NE(error_of(texts).text().find(meant), std::string::npos) << error_of(texts).what();
  }
}

TEST_F(RealZones, zones_written_by_hand_in_the_tests_are_those_of_the_database) {
  for (const TimeZone& zone : {new_york(), chicago(), london(), lord_howe(), sao_paulo(), apia()}) {
    const TimeZone real = load_time_zone(zone.name());
    EXPECT_EQ(real.name(), zone.name());
    for (const TimeZonePeriod& period : zone.periods()) {
      const TimeZonePeriod& found = real.period_at(period.from);
      EXPECT_EQ(found.from, period.from) << zone.name();
      EXPECT_EQ(found.offset, period.offset) << zone.name() << ' ' << period.from.time_since_epoch().count();
      EXPECT_EQ(found.abbreviation, period.abbreviation) << zone.name();
    }
    const auto last = std::ranges::find(real.periods(), zone.periods().back().from, &TimeZonePeriod::from);
    ASSERT_NE(last, real.periods().end());
    const auto first = std::ranges::find(real.periods(), zone.periods().front().from, &TimeZonePeriod::from);
    EXPECT_EQ(last - first + 1, static_cast<std::ptrdiff_t>(zone.periods().size())) << zone.name();
  }
}

TEST_F(RealZones, new_york_opens_at_eight_before_and_after_both_changes_of_2026) {
  const auto schedule = make_schedule(equities());
  ASSERT_NE(schedule, nullptr);
  const auto expect_day = [&](sys_seconds begin, sys_seconds end) {
    EXPECT_EQ(schedule->next_session(begin - hours{10}), (TimeWindow{begin, end}));
  };
  expect_day(at_utc(2026, 3, 6, 13), at_utc(2026, 3, 6, 22));
  expect_day(at_utc(2026, 3, 9, 12), at_utc(2026, 3, 9, 21));
  expect_day(at_utc(2026, 10, 30, 12), at_utc(2026, 10, 30, 21));
  expect_day(at_utc(2026, 11, 2, 13), at_utc(2026, 11, 2, 22));
}

TEST_F(RealZones, changes_are_known_up_to_2100) {
  const TimeZone zone = load_time_zone("America/New_York");
  EXPECT_EQ(zone.period_at(at_utc(2100, 7, 1)).abbreviation, "EDT");
  EXPECT_EQ(zone.period_at(at_utc(2100, 12, 1)).abbreviation, "EST");
}

TEST_F(RealZones, zone_by_itself_makes_no_schedule) {
  ScheduleTexts texts;
  texts.time_zone = "America/Chicago";
  EXPECT_EQ(make_schedule(texts), nullptr);
}

}  // namespace
}  // namespace nfx
