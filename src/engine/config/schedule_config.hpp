// Parses schedules in configuration files: times "08:00" or "08:00:30", days "mon" or "Monday", zones by IANA name.
// Errors: ScheduleError names the key and the fix.
// Thread: any, before run. Reads the host's time zone database.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/session/schedule.hpp"

namespace nfx {

// ScheduleConfig as texts, with the same names. Empty: not given.
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
  std::string time_zone = "UTC";  // zone of all times; "local" is the host's zone
  std::string end_time_zone{};    // zone of end_time and end_day; empty: time_zone
};

class ScheduleError : public std::runtime_error {
 public:
  ScheduleError(std::string key, std::string text)
      : std::runtime_error(key + ": " + text), key_(std::move(key)), text_(std::move(text)) {}

  // The wrong member of ScheduleTexts, and the fix.
  [[nodiscard]] const std::string& key() const noexcept { return key_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string key_;
  std::string text_;
};

// Null if no time is given: the session is always open. A zone alone makes no schedule, so that [defaults] can contain
// it for sessions with and without one; the zone must exist nevertheless.
[[nodiscard]] std::shared_ptr<const Schedule> make_schedule(const ScheduleTexts& texts);

// The zone with its changes from 1970 to 2100; later times have the last offset. "local" is the host's zone. Throws
// ScheduleError with the key time_zone if there is no such zone.
[[nodiscard]] TimeZone load_time_zone(std::string_view iana_name);

}  // namespace nfx
