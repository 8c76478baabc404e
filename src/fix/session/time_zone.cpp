// Conversion between UTC and local time as binary searches over a table, so that a schedule needs no time zone library.
#include "nexusfix/session/schedule.hpp"

#include <algorithm>

#include "nexusfix/base/assert.hpp"

namespace nfx {
namespace {

using std::chrono::local_seconds;
using std::chrono::seconds;
using std::chrono::sys_seconds;

// Local times are counted like UTC: seconds since 1970 began there.
local_seconds shown(sys_seconds time, seconds offset) noexcept {
  return local_seconds{time.time_since_epoch() + offset};
}

}  // namespace

TimeZone::TimeZone(std::string name, std::vector<TimeZonePeriod> periods)
    : name_(std::move(name)), periods_(std::move(periods)) {
  NFX_REQUIRE(!periods_.empty());
  shown_before_.reserve(periods_.size());
  shown_before_.push_back(local_seconds::min());
  for (std::size_t i = 0; i < periods_.size(); ++i) {
    NFX_REQUIRE(abs(periods_[i].offset) <= std::chrono::days{1});
    if (i == 0) continue;
    NFX_REQUIRE(periods_[i - 1].from < periods_[i].from);
    const local_seconds last = shown(periods_[i].from - seconds{1}, periods_[i - 1].offset);
    shown_before_.push_back(std::max(shown_before_.back(), last));
  }
  NFX_ASSERT(shown_before_.size() == periods_.size() && std::ranges::is_sorted(shown_before_));
}

TimeZone TimeZone::utc() { return TimeZone{"UTC", {{sys_seconds{}, seconds{0}, "UTC"}}}; }

std::size_t TimeZone::index_at(sys_seconds time) const noexcept {
  const auto after = std::upper_bound(periods_.begin() + 1, periods_.end(), time,
                                      [](sys_seconds t, const TimeZonePeriod& period) { return t < period.from; });
  const std::size_t index = static_cast<std::size_t>(after - periods_.begin()) - 1;
  NFX_ASSERT(index < periods_.size() && (index == 0 || periods_[index].from <= time));
  return index;
}

const TimeZonePeriod& TimeZone::period_at(sys_seconds time) const noexcept { return periods_[index_at(time)]; }

const TimeZonePeriod* TimeZone::next_period(sys_seconds time) const noexcept {
  const std::size_t next = index_at(time) + 1;
  return next < periods_.size() ? &periods_[next] : nullptr;
}

local_seconds TimeZone::local(sys_seconds time) const noexcept { return shown(time, period_at(time).offset); }

local_seconds TimeZone::latest_local(sys_seconds time) const noexcept {
  const std::size_t i = index_at(time);
  return std::max(shown(time, periods_[i].offset), shown_before_[i]);
}

LocalInstant TimeZone::to_utc(local_seconds local) const noexcept {
  // The period that shows this time first is the last one before which no later time was shown.
  const auto after = std::lower_bound(shown_before_.begin() + 1, shown_before_.end(), local);
  const std::size_t i = static_cast<std::size_t>(after - shown_before_.begin()) - 1;
  NFX_ASSERT(i < periods_.size() && (i == 0 || shown_before_[i] < local));
  const sys_seconds time{local.time_since_epoch() - periods_[i].offset};
  if (i > 0 && time < periods_[i].from) return {periods_[i].from, LocalTimeKind::never};
  // Only a change within the next two days can set the clocks back that far.
  for (std::size_t j = i + 1; j < periods_.size() && periods_[j].from <= time + std::chrono::days{2}; ++j) {
    const bool ends_before =
        j + 1 < periods_.size() && local > shown(periods_[j + 1].from, periods_[j].offset) - seconds{1};
    if (shown(periods_[j].from, periods_[j].offset) <= local && !ends_before) return {time, LocalTimeKind::twice};
  }
  return {time, LocalTimeKind::once};
}

}  // namespace nfx
