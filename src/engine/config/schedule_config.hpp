// Schedules as configuration files write them: times "08:00" or "08:00:30", days "mon" or "Monday", zones by IANA name.
// Errors: ScheduleError names the key and the fix. Thread: any, before run. Reads the host's time zone database.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/session/schedule.hpp"

namespace nfx {

// ScheduleConfig as texts, under the same names. Empty: not given.
struct ScheduleTexts {
  std::string start_time;
  std::string end_time;
  std::string start_day;
  std::string end_day;
  std::vector<std::string> weekdays;
  std::string logon_time;
  std::string logout_time;
  std::string logon_day;
  std::string logout_day;
  std::string reset_time;
  std::string time_zone = "UTC";  // of all of them; "local" is the host's
  std::string end_time_zone{};    // of end_time and end_day; empty: time_zone
};

class ScheduleError : public std::runtime_error {
 public:
  ScheduleError(std::string key, std::string text)
      : std::runtime_error(key + ": " + text), key_(std::move(key)), text_(std::move(text)) {}

  // The member of ScheduleTexts that is wrong, and what to write.
  [[nodiscard]] const std::string& key() const noexcept { return key_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string key_;
  std::string text_;
};

// Null when no time is given: the session is always open. A zone alone makes no schedule, so that it can be in
// [defaults] for sessions with and without one; it must exist all the same.
[[nodiscard]] std::shared_ptr<const Schedule> make_schedule(const ScheduleTexts& texts);

// The zone with its changes from 1970 to 2100; later times keep the last offset. "local" is the host's zone.
// Throws ScheduleError with the key time_zone when there is no such zone.
[[nodiscard]] TimeZone load_time_zone(std::string_view iana_name);

}  // namespace nfx
