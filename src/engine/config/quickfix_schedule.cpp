// Translates schedules. They consist of several keys that differ between the engines.
#include "config/quickfix_schedule.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "config/quickfix_values.hpp"
#include "config/zone_names.hpp"

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
      zones_of_times(*start, *end);
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
    if (!end_zone_.empty()) put("end_time_zone", toml_text(end_zone_), {end});
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

  // Writes a time of day. A zone after it was read by zones_of_times(); otherwise it must be the session's zone.
  void put_time(std::string_view ours, const Entry& entry) {
    const auto time = time_of(entry);
    put(std::string{ours}, toml_text(time.time), {&entry});
    if (time.zone.empty() || same_key(entry.key, "StartTime") || same_key(entry.key, "EndTime")) return;
    const std::string zone = zone_of(entry, time.zone);
    if (zone_.empty()) {
      zone_ = zone;
      zone_origin_ = &entry;
    } else if (zone_ != zone) {
      common_.fail(entry, "its zone is not that of line " + std::to_string(zone_origin_->line) +
                              ": only EndTime may have another zone");
    }
  }
  LocalTime time_of(const Entry& entry) const {
    auto time = read_time(entry.value);
    if (!time) common_.fail(entry, "expected a time such as 09:30:00");
    return *std::move(time);
  }

  // The IANA name for another system's zone name.
  std::string zone_of(const Entry& entry, const std::string& name) {
    if (same_key(name, "local")) return "local";
    std::string iana = name;
    if (const config::ZoneName* known = config::find_zone_name(name);
        known != nullptr && known->kind != config::ZoneNameKind::former) {
      iana = known->iana;
    } else if (auto offset = config::zone_of_offset(name)) {
      iana = *std::move(offset);
    }
    if (iana != name) common_.warn_once(entry, '"' + name + "\" is read as the time zone " + iana);
    return iana;
  }
  void put_day(std::string_view ours, const Entry& entry) {
    const auto day = read_day(entry.value);
    if (!day) common_.fail(entry, "expected a day such as Monday or mon");
    put(std::string{ours}, toml_text(*day), {&entry});
  }

  // QuickFIX/J accepts "09:30:00 America/New_York"; a time without a zone is in TimeZone, or in UTC.
  void zones_of_times(const Entry& start, const Entry& end) {
    const auto first = time_of(start), last = time_of(end);
    if (first.zone.empty() && last.zone.empty()) return;
    const std::string common = zone_.empty() ? "UTC" : zone_;
    const std::string of_start = first.zone.empty() ? common : zone_of(start, first.zone);
    const std::string of_end = last.zone.empty() ? common : zone_of(end, last.zone);
    if (of_start != zone_) {
      zone_ = of_start;
      zone_origin_ = first.zone.empty() ? &end : &start;
    }
    if (of_end != of_start) end_zone_ = of_end;
  }

  void time_zone() {
    const Entry* zone = find_("TimeZone");
    const Entry* local = find_("UseLocalTime");
    const bool is_local = local != nullptr && common_.flag(*local);
    if (zone != nullptr && is_local)
      common_.fail(*local, "TimeZone is set at line " + std::to_string(zone->line) + ": remove one of them");
    if (zone != nullptr) {
      zone_ = zone_of(*zone, zone->value);
      zone_origin_ = zone;
    } else if (is_local) {
      zone_ = "local";
      zone_origin_ = local;
    }
  }

  void days() {
    const Entry* start = find_("StartDay");
    const Entry* end = find_("EndDay");
    if (start != nullptr && end == nullptr) common_.fail(*start, "needs EndDay, which is missing");
    if (end != nullptr && start == nullptr) common_.fail(*end, "needs StartDay, which is missing");
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

  // Missing Logon times have the session's values.
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
    if (logon_day != nullptr && logout_day == nullptr) common_.fail(*logon_day, "needs LogoutDay, which is missing");
    if (logout_day != nullptr && logon_day == nullptr) common_.fail(*logout_day, "needs LogonDay, which is missing");
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
  std::string end_zone_;  // if different from zone_
  std::vector<Setting> settings_;
};

}  // namespace

std::vector<Setting> translate_schedule(Translation& common, const FileSection& section, bool dynamic_template,
                                        const EntryLookup& find) {
  return ScheduleTranslator{common, section, dynamic_template, find}.translate();
}

}  // namespace nfx::quickfix
