// What a schedule wants of a session at a moment: pure functions of the schedule and two times.
// Thread: any. Cost: as Schedule's queries; asked at boundaries and once a minute.
#pragma once

#include "nexusfix/base/time.hpp"
#include "nexusfix/session/schedule.hpp"

namespace nfx {

// Clocks are set now and then: a boundary further away is looked at again after so long.
inline constexpr Duration schedule_check{std::chrono::minutes{1}};

struct SessionTime {
  bool open = false;         // it may log on
  bool starts_over = false;  // a boundary that resets the numbers lies between the numbering's begin and now
  bool over = false;         // a connection of it has to end
};

// `since`: when the numbering began.
[[nodiscard]] SessionTime session_time(const Schedule& schedule, UtcTime since, UtcTime now);

// Whether a boundary that resets the numbers lies between `since` and `now`. A clock that is set back in front of the
// boundary that the numbering began with begins no other; one that was wrong by half a day and more when it began does.
[[nodiscard]] bool another_session(const Schedule& schedule, UtcTime since, UtcTime now);

// When to look again.
[[nodiscard]] MonotonicTime next_schedule_check(const Schedule& schedule, Instant now);

}  // namespace nfx
