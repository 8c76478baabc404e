// Whether a session is open, over, or due for a reset at a time, and when to check again.
#include "engine/session_time.hpp"

#include <algorithm>

#include "nexusfix/base/assert.hpp"

namespace nfx {

bool another_session(const Schedule& schedule, UtcTime since, UtcTime now) {
  const bool set_back = now < since && since - now < std::chrono::hours{12};
  return !set_back && !schedule.same_session(since, now);
}

SessionTime session_time(const Schedule& schedule, UtcTime since, Instant now) {
  SessionTime time{.open = schedule.logon_allowed(now.utc), .starts_over = another_session(schedule, since, now.utc)};
  time.over = !time.open || (time.starts_over && schedule.session_at(since) != schedule.session_at(now.utc));
  if (const UtcTime boundary = schedule.next_boundary(now.utc); boundary != UtcTime::max())
    time.check_at = now.monotonic + std::min(schedule_check, Duration{boundary - now.utc});
  NFX_ASSERT(time.open || time.over);
  NFX_ASSERT(time.check_at > now.monotonic);  // the next check is not due immediately
  return time;
}

}  // namespace nfx
