// Time zones as tables, each for the years of its tests, and helpers to write times.
#pragma once

#include <chrono>

#include "nexusfix/session/schedule.hpp"

namespace nfx::zones {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::local_days;
using std::chrono::local_seconds;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::sys_seconds;

inline std::chrono::year_month_day date(int year, unsigned month, unsigned day) {
  return {std::chrono::year{year}, std::chrono::month{month}, std::chrono::day{day}};
}

inline sys_seconds at_utc(int year, unsigned month, unsigned day, int hour = 0, int minute = 0, int second = 0) {
  return sys_days{date(year, month, day)} + hours{hour} + minutes{minute} + seconds{second};
}

inline local_seconds at_local(int year, unsigned month, unsigned day, int hour = 0, int minute = 0, int second = 0) {
  return local_days{date(year, month, day)} + hours{hour} + minutes{minute} + seconds{second};
}

// 2025 to 2027.
inline TimeZone new_york() {
  return {"America/New_York",
          {{at_utc(2024, 11, 3, 6), hours{-5}, "EST"},
           {at_utc(2025, 3, 9, 7), hours{-4}, "EDT"},
           {at_utc(2025, 11, 2, 6), hours{-5}, "EST"},
           {at_utc(2026, 3, 8, 7), hours{-4}, "EDT"},
           {at_utc(2026, 11, 1, 6), hours{-5}, "EST"},
           {at_utc(2027, 3, 14, 7), hours{-4}, "EDT"},
           {at_utc(2027, 11, 7, 6), hours{-5}, "EST"}}};
}

inline TimeZone chicago() {
  return {"America/Chicago",
          {{at_utc(2025, 11, 2, 7), hours{-6}, "CST"},
           {at_utc(2026, 3, 8, 8), hours{-5}, "CDT"},
           {at_utc(2026, 11, 1, 7), hours{-6}, "CST"},
           {at_utc(2027, 3, 14, 8), hours{-5}, "CDT"},
           {at_utc(2027, 11, 7, 7), hours{-6}, "CST"}}};
}

inline TimeZone london() {
  return {"Europe/London",
          {{at_utc(2024, 10, 27, 1), hours{0}, "GMT"},
           {at_utc(2025, 3, 30, 1), hours{1}, "BST"},
           {at_utc(2025, 10, 26, 1), hours{0}, "GMT"},
           {at_utc(2026, 3, 29, 1), hours{1}, "BST"},
           {at_utc(2026, 10, 25, 1), hours{0}, "GMT"},
           {at_utc(2027, 3, 28, 1), hours{1}, "BST"},
           {at_utc(2027, 10, 31, 1), hours{0}, "GMT"}}};
}

// Sets its clocks by half an hour.
inline TimeZone lord_howe() {
  return {"Australia/Lord_Howe",
          {{at_utc(2024, 10, 5, 15, 30), hours{11}, "+11"},
           {at_utc(2025, 4, 5, 15), minutes{630}, "+1030"},
           {at_utc(2025, 10, 4, 15, 30), hours{11}, "+11"},
           {at_utc(2026, 4, 4, 15), minutes{630}, "+1030"},
           {at_utc(2026, 10, 3, 15, 30), hours{11}, "+11"},
           {at_utc(2027, 4, 3, 15), minutes{630}, "+1030"}}};
}

// 2017 to 2019: set its clocks at midnight, so one day began at 01:00 and another had 23:00 to 24:00 twice.
inline TimeZone sao_paulo() {
  return {"America/Sao_Paulo",
          {{at_utc(2017, 2, 19, 2), hours{-3}, "-03"},
           {at_utc(2017, 10, 15, 3), hours{-2}, "-02"},
           {at_utc(2018, 2, 18, 2), hours{-3}, "-03"},
           {at_utc(2018, 11, 4, 3), hours{-2}, "-02"},
           {at_utc(2019, 2, 17, 2), hours{-3}, "-03"}}};
}

// 2011 and 2012: crossed the date line, 30 December 2011 did not take place.
inline TimeZone apia() {
  return {"Pacific/Apia",
          {{at_utc(2011, 4, 2, 14), hours{-11}, "-11"},
           {at_utc(2011, 9, 24, 14), hours{-10}, "-10"},
           {at_utc(2011, 12, 30, 10), hours{14}, "+14"},
           {at_utc(2012, 3, 31, 14), hours{13}, "+13"},
           {at_utc(2012, 9, 29, 14), hours{14}, "+14"}}};
}

}  // namespace nfx::zones
