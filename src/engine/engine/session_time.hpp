// The actions that a schedule requires of a session at a time: pure functions of the schedule and two times.
// Thread: any. Cost: as Schedule's queries; called at boundaries and once a minute.
#pragma once

#include "nexusfix/base/time.hpp"
#include "nexusfix/session/schedule.hpp"

namespace nfx {

// The longest time between two checks: the system clock may be set meanwhile.
inline constexpr Duration schedule_check{std::chrono::minutes{1}};

struct SessionTime {
  bool open = true;          // it may log on
  bool starts_over = false;  // a boundary that resets the sequence numbers has passed since their epoch began
  bool over = false;         // a connection of it has to end
  MonotonicTime check_at = MonotonicTime::max();  // when the next check is due
};

// `since`: when the sequence-number epoch began.
[[nodiscard]] SessionTime session_time(const Schedule& schedule, UtcTime since, Instant now);

// Whether a boundary that resets the sequence numbers is between `since` and `now`. A clock that is set back to before
// the boundary that began the epoch does not begin another, except where it was wrong by half a day or more at that
// time.
[[nodiscard]] bool another_session(const Schedule& schedule, UtcTime since, UtcTime now);

}  // namespace nfx
