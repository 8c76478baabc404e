// Whether a session is open, over, or due for a reset at a time, and when to check again.
#include "engine/session_time.hpp"

#include <algorithm>

#include "nexusfix/base/assert.hpp"

namespace nfx {

bool another_session(const Schedule& schedule, UtcTime since, UtcTime now) {
  const bool set_back = now < since && since - now < std::chrono::hours{12};
  return !set_back && !schedule.same_session(since, now);
}

SessionTime session_time(const Schedule& schedule, UtcTime since, UtcTime now) {
  SessionTime time;
  time.open = schedule.logon_allowed(now);
  time.starts_over = another_session(schedule, since, now);
  time.over = !time.open || (time.starts_over && schedule.session_at(since) != schedule.session_at(now));
  NFX_ASSERT(time.open || time.over);
  return time;
}

MonotonicTime next_schedule_check(const Schedule& schedule, Instant now) {
  const UtcTime boundary = schedule.next_boundary(now.utc);
  if (boundary == UtcTime::max()) return MonotonicTime::max();
  NFX_ASSERT(boundary > now.utc);  // the next check is not due immediately
  return now.monotonic + std::min(schedule_check, Duration{boundary - now.utc});
}

}  // namespace nfx
