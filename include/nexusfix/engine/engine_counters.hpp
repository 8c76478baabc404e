// The counters of an engine: for each session, and for each poll thread. All of it is on the metrics page.
// Thread: written by the poll thread; PollLoopCounters are also read by others, so they are counted with
// count_shared(). Cost: one addition each.
#pragma once

#include <cstdint>

#include "nexusfix/session/notice.hpp"

namespace nfx {

struct SessionCounters {
  std::uint64_t messages_in = 0;
  std::uint64_t messages_out = 0;
  std::uint64_t garbled = 0;
  std::uint64_t too_large = 0;
  std::uint64_t rejected = 0;
  std::uint64_t resent = 0;
  std::uint64_t resend_requests = 0;
  std::uint64_t resend_not_kept = 0;
  std::uint64_t reported = 0;
  std::uint64_t throttled = 0;
  std::uint64_t queue_drops = 0;
  std::uint64_t gap_filled = 0;
  std::uint64_t check_sum_ignored = 0;
  std::uint64_t send_refused = 0;
  std::uint64_t not_handled = 0;
  std::uint64_t logons = 0;
  std::uint64_t disconnects = 0;
  std::uint64_t resets = 0;
  std::uint64_t invalid_disconnects = 0;
  std::uint64_t resends_slowed = 0;
  std::uint64_t notices_omitted = 0;
  std::uint64_t callback_exceptions = 0;

  friend bool operator==(const SessionCounters&, const SessionCounters&) = default;
};

// Counters of connections that have not logged on, of refused Logons by reason, and of sessions made at run time: one
// poll thread's, or the sum of all.
struct PollLoopCounters : LogonRefusalCounters {
  std::uint64_t pending_accepted = 0;
  std::uint64_t dynamic_failed = 0;
  std::uint64_t dynamic_idle = 0;
  std::uint64_t takeovers = 0;
  std::uint64_t callback_exceptions = 0;
  std::uint64_t submitted = 0;
  std::uint64_t submit_full = 0;
  std::uint64_t submit_too_long = 0;
  std::uint64_t submit_unknown_session = 0;
  std::uint64_t submit_not_logged_on = 0;
  std::uint64_t submit_kept = 0;
  std::uint64_t submit_unsent = 0;

  friend bool operator==(const PollLoopCounters&, const PollLoopCounters&) = default;
};

}  // namespace nfx
