// Schedules take several keys that differ between the engines, so they are translated together.
#include "config/quickfix_schedule.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "config/quickfix_values.hpp"

namespace nfx::quickfix {
namespace {

class ScheduleTranslator {
 public:
  ScheduleTranslator(Translation& common, const FileSection& section, bool dynamic_template, const EntryLookup& find)
      : common_(common), section_(section), dynamic_template_(dynamic_template), find_(find) {}

  std::vector<Setting> translate() {
    time_zone();
    const Entry* start = find_("StartTime");
    const Entry* end = find_("EndTime");
    const bool as_in_go = find_("ConnectionType") == nullptr && start == nullptr && end == nullptr;
    if (flag("NonStopSession") != true && !as_in_go) {
      const std::string fix = "write it as HH:MM:SS, or NonStopSession=Y for a session without a schedule";
      if (start == nullptr) missing("StartTime", fix);
      if (end == nullptr) missing("EndTime", fix);
      one_zone(*start, *end);
      put_time("start_time", *start);
      put_time("end_time", *end);
      days();
      logon_window(*start, *end);
    }
    const Entry* reset = find_("ResetSeqTime");
    if (reset != nullptr && flag("EnableResetSeqTime") != false) put_time("reset_time", *reset);
    const bool has_times = std::ranges::any_of(
        settings_, [](const Setting& each) { return each.key == "start_time" || each.key == "reset_time"; });
    if (has_times && zone_origin_ != nullptr) put("time_zone", toml_text(zone_), {zone_origin_});
    return std::move(settings_);
  }

 private:
  [[noreturn]] void missing(std::string_view key, const std::string& fix) const {
    common_.fail_missing(section_, dynamic_template_, key, fix);
  }
  std::optional<bool> flag(std::string_view key) const {
    const Entry* entry = find_(key);
    return entry == nullptr ? std::nullopt : std::optional{common_.flag(*entry)};
  }
  void put(std::string key, std::string value, std::vector<const Entry*> origins) {
    settings_.push_back({std::move(key), std::move(value), std::move(origins)});
  }

  // Puts a time of day; a zone after it must be the one of the session.
  void put_time(std::string_view ours, const Entry& entry) {
    const auto time = read_time(entry.value);
    if (!time) common_.fail(entry, "expected a time such as 09:30:00");
    put(std::string{ours}, toml_text(time->time), {&entry});
    if (time->zone.empty()) return;
    if (zone_.empty() || zone_ == time->zone) {
      zone_ = time->zone;
      zone_origin_ = &entry;
    } else {
      common_.fail(entry, "its zone is not that of line " + std::to_string(zone_origin_->line) +
                              ": a session has one time zone");
    }
  }
  void put_day(std::string_view ours, const Entry& entry) {
    const auto day = read_day(entry.value);
    if (!day) common_.fail(entry, "expected a day such as Monday or mon");
    put(std::string{ours}, toml_text(*day), {&entry});
  }

  // QuickFIX/J takes "09:30:00 America/New_York"; the other time would then be in UTC.
  void one_zone(const Entry& start, const Entry& end) const {
    const auto first = read_time(start.value), last = read_time(end.value);
    if (!first || !last || zone_origin_ != nullptr || first->zone.empty() == last->zone.empty()) return;
    const Entry& without = first->zone.empty() ? start : end;
    common_.fail(without, "has no zone, and the other time has one: write it after both, or as TimeZone");
  }

  void time_zone() {
    const Entry* zone = find_("TimeZone");
    const Entry* local = find_("UseLocalTime");
    const bool is_local = local != nullptr && common_.flag(*local);
    if (zone != nullptr && is_local)
      common_.fail(*local, "TimeZone is set at line " + std::to_string(zone->line) + ": remove one of them");
    if (zone != nullptr) {
      zone_ = same_key(zone->value, "local") ? "local" : zone->value;
      zone_origin_ = zone;
    } else if (is_local) {
      zone_ = "local";
      zone_origin_ = local;
    }
  }

  void days() {
    const Entry* start = find_("StartDay");
    const Entry* end = find_("EndDay");
    if (start != nullptr && end == nullptr) common_.fail(*start, "there is no EndDay for it");
    if (end != nullptr && start == nullptr) common_.fail(*end, "there is no StartDay for it");
    const Entry* weekdays = find_("Weekdays");
    if (start != nullptr) {
      if (weekdays != nullptr) common_.fail(*weekdays, "StartDay makes the session last a week: remove one of them");
      put_day("start_day", *start);
      put_day("end_day", *end);
    }
    if (weekdays == nullptr) return;
    std::vector<std::string> names;
    for (const std::string_view each : split(weekdays->value, ',')) {
      const auto day = read_day(each);
      if (!day) common_.fail(*weekdays, "expected days such as Mon,Tue,Wed");
      names.emplace_back(*day);
    }
    if (names.empty()) common_.fail(*weekdays, "expected days such as Mon,Tue,Wed");
    put("weekdays", toml_list(names), {weekdays});
  }

  // What is absent for the time of Logons is as for the session.
  void logon_window(const Entry& start, const Entry& end) {
    const Entry* logon = find_("LogonTime");
    const Entry* logout = find_("LogoutTime");
    const Entry* logon_day = find_("LogonDay");
    const Entry* logout_day = find_("LogoutDay");
    if (logon == nullptr && logout == nullptr && logon_day == nullptr && logout_day == nullptr) return;
    put_time("logon_time", logon == nullptr ? start : *logon);
    put_time("logout_time", logout == nullptr ? end : *logout);
    if (logon_day == nullptr) logon_day = find_("StartDay");
    if (logout_day == nullptr) logout_day = find_("EndDay");
    if (logon_day != nullptr && logout_day == nullptr) common_.fail(*logon_day, "there is no LogoutDay for it");
    if (logout_day != nullptr && logon_day == nullptr) common_.fail(*logout_day, "there is no LogonDay for it");
    if (logon_day == nullptr) return;
    put_day("logon_day", *logon_day);
    put_day("logout_day", *logout_day);
  }

  Translation& common_;
  const FileSection& section_;
  bool dynamic_template_;
  const EntryLookup& find_;
  std::string zone_;
  const Entry* zone_origin_ = nullptr;
  std::vector<Setting> settings_;
};

}  // namespace

std::vector<Setting> translate_schedule(Translation& common, const FileSection& section, bool dynamic_template,
                                        const EntryLookup& find) {
  return ScheduleTranslator{common, section, dynamic_template, find}.translate();
}

}  // namespace nfx::quickfix
