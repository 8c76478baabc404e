// Reads time zones from the host's database with Abseil's time library. Only this file includes its headers.
#include <absl/time/civil_time.h>
#include <absl/time/time.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/suggest.hpp"
#include "config/schedule_config.hpp"
#include "config/zone_names.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

// No zone has had more than a few changes a year.
constexpr std::size_t max_periods = 4096;

std::filesystem::path zone_folder() {
  const char* folder = std::getenv("TZDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/usr/share/zoneinfo";
}

// Appends the names from one column of a table; `column` counts words, from 0.
void append_names(std::vector<std::string>& names, std::istream& table, std::string_view first_letters,
                  std::size_t column) {
  std::string line;
  while (std::getline(table, line)) {
    if (line.empty() || line[0] == '#') continue;
    if (!first_letters.empty() && (first_letters.find(line[0]) == std::string_view::npos || line[1] != ' ')) continue;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < column && begin != std::string::npos; ++i) {
      begin = line.find_first_of(" \t", begin);
      if (begin != std::string::npos) ++begin;
    }
    if (begin != std::string::npos) names.push_back(line.substr(begin, line.find_first_of(" \t", begin) - begin));
  }
}

// The existing names, for suggestions; empty if the database has no list.
std::vector<std::string> zone_names() {
  std::vector<std::string> names;
  if (std::ifstream table{zone_folder() / "tzdata.zi"}; table) {
    // "Z America/New_York -4:56:2 ..." and "L America/New_York US/Eastern"
    append_names(names, table, "Z", 1);
    table.clear();
    table.seekg(0);
    append_names(names, table, "L", 2);
  } else if (std::ifstream places{zone_folder() / "zone1970.tab"}; places) {
    append_names(names, places, "", 2);
  }
  return names;
}

[[noreturn]] void fail_unknown(std::string_view name) {
  const std::string quoted = "\"" + std::string{name} + "\"";
  std::error_code ignored;
  if (!std::filesystem::exists(zone_folder(), ignored)) {
    throw ScheduleError("time_zone", "cannot look up " + quoted + ": no " + zone_folder().string() +
                                         "; install the package tzdata, or use \"UTC\"");
  }
  if (const config::ZoneName* other = config::find_zone_name(name);
      other != nullptr && other->kind != config::ZoneNameKind::former) {
    throw ScheduleError("time_zone", quoted + " is the name of a time zone in " +
                                         (other->kind == config::ZoneNameKind::windows ? "Windows" : "Java") +
                                         ": write \"" + std::string{other->iana} + "\"");
  }
  const std::vector<std::string> names = zone_names();
  throw ScheduleError("time_zone", quoted +
                                       " is not a time zone: write an IANA name such as \"America/New_York\", \"UTC\", "
                                       "or \"local\" for the host's zone" +
                                       did_you_mean(name, {names.begin(), names.end()}));
}

// Abseil would also open any file and create zones with fixed offsets, which are not zone names.
bool may_be_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && name[0] != '/' && name.find("..") == std::string_view::npos &&
         name.find(':') == std::string_view::npos && !name.starts_with("Fixed/");
}

TimeZonePeriod period_from(const absl::TimeZone& zone, absl::Time from) {
  const absl::TimeZone::CivilInfo info = zone.At(from);
  return {sys_seconds{seconds{absl::ToUnixSeconds(from)}}, seconds{info.offset}, info.zone_abbr};
}

}  // namespace

TimeZone load_time_zone(std::string_view name) {
  absl::TimeZone zone;
  if (name == "local") {
    zone = absl::LocalTimeZone();
  } else if (!may_be_name(name) || !absl::LoadTimeZone(std::string{name}, &zone)) {
    const config::ZoneName* other = config::find_zone_name(name);
    if (other == nullptr || other->kind != config::ZoneNameKind::former ||
        !absl::LoadTimeZone(std::string{other->iana}, &zone))
      fail_unknown(name);
  }
  const absl::Time end = absl::FromCivil(absl::CivilSecond{2101, 1, 1}, absl::UTCTimeZone());
  std::vector<TimeZonePeriod> periods{period_from(zone, absl::UnixEpoch())};
  absl::Time time = absl::UnixEpoch();
  absl::TimeZone::CivilTransition change;
  while (periods.size() < max_periods && zone.NextTransition(time, &change)) {
    // The earlier of the two civil times around the change gives its instant: the first skipped or the first repeated
    // time.
    time = zone.At(std::min(change.from, change.to)).trans;
    if (time >= end) break;
    periods.push_back(period_from(zone, time));
    NFX_ASSERT(periods[periods.size() - 2].from <= periods.back().from);
  }
  return TimeZone{std::string{name}, std::move(periods)};
}

}  // namespace nfx
