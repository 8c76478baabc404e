// Checks a schedule completely when the configuration is read, so that a wrong one cannot open a session at a wrong
// time.
#include "config/schedule_config.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/suggest.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx {
namespace {

using std::chrono::seconds;
using std::chrono::weekday;

constexpr std::array<std::string_view, 7> day_names{"sunday",   "monday", "tuesday", "wednesday",
                                                    "thursday", "friday", "saturday"};

static_assert(std::ranges::all_of(day_names,
                                  [](std::string_view name) {
                                    return std::ranges::count_if(day_names, [&](std::string_view other) {
                                             return other.starts_with(name.substr(0, 2));
                                           }) == 1;
                                  }),
              "two letters distinguish the days");

// The two digits at `at`, or -1.
int two_digits(std::string_view text, std::size_t at) {
  const auto digit = [&](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9' ? text[i] - '0' : -1;
  };
  return digit(at) < 0 || digit(at + 1) < 0 ? -1 : 10 * digit(at) + digit(at + 1);
}

std::optional<seconds> parse_time(const char* key, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const bool with_seconds = text.size() == 8 && text[5] == ':';
  const int hour = two_digits(text, 0);
  const int minute = two_digits(text, 3);
  const int second = with_seconds ? two_digits(text, 6) : 0;
  const bool good = (text.size() == 5 || with_seconds) && text[2] == ':' && hour >= 0 && hour < 24 && minute >= 0 &&
                    minute < 60 && second >= 0 && second < 60;
  if (!good) {
    throw ScheduleError(key, "\"" + text +
                                 "\" is not a time of day: write \"08:00\" or \"08:00:30\", from 00:00 to 23:59:59" +
                                 (text.starts_with("24:00") ? "; midnight is \"00:00\"" : ""));
  }
  const seconds time = std::chrono::hours{hour} + std::chrono::minutes{minute} + seconds{second};
  NFX_ASSERT(time >= seconds{0} && time < std::chrono::days{1});
  return time;
}

// A name may be shortened, but at least to the two letters that make it unique.
weekday parse_day(const char* key, const std::string& text) {
  std::string lower = text;
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  for (unsigned day = 0; day < day_names.size(); ++day) {
    if (lower.size() >= 2 && day_names[day].starts_with(lower)) return weekday{day};
  }
  throw ScheduleError(key, "\"" + text + "\" is not a weekday: write \"Monday\", \"Mon\" or \"mo\"" +
                               did_you_mean(lower, {day_names.begin(), day_names.end()}));
}

std::optional<weekday> parse_optional_day(const char* key, const std::string& text) {
  if (text.empty()) return std::nullopt;
  return parse_day(key, text);
}

WeekdaySet parse_weekdays(const std::vector<std::string>& texts) {
  WeekdaySet set;
  for (const std::string& text : texts) {
    const weekday day = parse_day("weekdays", text);
    if (set.contains(day))
      throw ScheduleError("weekdays", "names \"" + text + "\" twice: remove one, or write the other day");
    set.insert(day);
    NFX_ASSERT(set.contains(day));
  }
  return set;
}

}  // namespace

std::shared_ptr<const Schedule> make_schedule(const ScheduleTexts& texts) {
  ScheduleConfig config;
  config.zone = load_time_zone(texts.time_zone);
  std::optional<TimeZone> end_zone;
  if (!texts.end_time_zone.empty() && texts.end_time_zone != texts.time_zone) {
    try {
      end_zone = load_time_zone(texts.end_time_zone);
    } catch (const ScheduleError& error) {
      throw ScheduleError("end_time_zone", error.text());
    }
  }
  config.start_time = parse_time("start_time", texts.start_time);
  config.end_time = parse_time("end_time", texts.end_time);
  config.start_day = parse_optional_day("start_day", texts.start_day);
  config.end_day = parse_optional_day("end_day", texts.end_day);
  config.weekdays = parse_weekdays(texts.weekdays);
  config.logon_time = parse_time("logon_time", texts.logon_time);
  config.logout_time = parse_time("logout_time", texts.logout_time);
  config.logon_day = parse_optional_day("logon_day", texts.logon_day);
  config.logout_day = parse_optional_day("logout_day", texts.logout_day);
  config.reset_time = parse_time("reset_time", texts.reset_time);
  if (config.end_time) config.end_zone = std::move(end_zone);
  if (const auto problem = find_problem(config))
    throw ScheduleError(std::string{problem->key}, std::string{problem->text});
  // Without a start, all keys except the time of the daily reset have been reported above.
  if (!config.start_time && !config.reset_time) return nullptr;
  NFX_ASSERT(config.start_time.has_value() == config.end_time.has_value());
  NFX_ASSERT(config.start_day.has_value() == config.end_day.has_value());
  return std::make_shared<const Schedule>(std::move(config));
}

}  // namespace nfx
