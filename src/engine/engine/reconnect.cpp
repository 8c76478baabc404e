// The order of an initiator's addresses, and the delay before each attempt: doubled per failure, half of it random.
#include "engine/reconnect.hpp"

#include <algorithm>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/config/engine_config.hpp"

namespace nfx {

void Reconnect::attempt_begins(MonotonicTime now) noexcept {
  NFX_ASSERT(at_ == MonotonicTime::max());  // one attempt at a time
  if (endpoint_ == 0) first_host_since_ = now;
  reached_ = false;
}

void Reconnect::next_endpoint(const SessionSettings& settings, MonotonicTime now) noexcept {
  const std::size_t count = settings.connect.size();
  NFX_ASSERT(count != 0);
  NFX_ASSERT(endpoint_ < count);
  const bool priority = settings.host_selection == HostSelection::priority;
  const bool stale = now - first_host_since_ >= settings.host_priority_restart;
  endpoint_ = priority && (reached_ || stale) ? 0 : (endpoint_ + 1) % count;
}

void Reconnect::schedule(const SessionSettings& settings, MonotonicTime now, Jitter& jitter) noexcept {
  const Duration longest = settings.reconnect_delay_max;
  Duration delay = settings.reconnect_delay;
  for (std::uint32_t i = 0; i < failures_ && delay < longest; ++i) delay *= 2;
  if (failures_ < UINT32_MAX) ++failures_;
  at_ = now + jitter.spread(std::min(delay, longest));
  NFX_ASSERT(at_ >= now);
  NFX_ASSERT(at_ <= now + longest);
}

}  // namespace nfx
