// The metrics of the engine's counters: name and meaning of each. docs/metrics.md is made from them.
#pragma once

#include <algorithm>
#include <array>

#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/engine/engine_counters.hpp"

namespace nfx {

template <>
inline constexpr auto counter_rows<SessionCounters> = std::to_array<CounterRow<SessionCounters>>({
    {&SessionCounters::messages_in, "nfx_messages_total",
     "Well-formed messages, session messages and resent messages included.", "direction", "in"},
    {&SessionCounters::messages_out, "nfx_messages_total",
     "Well-formed messages, session messages and resent messages included.", "direction", "out"},
    {&SessionCounters::garbled, "nfx_garbled_total",
     "Received messages that were ignored because their framing, BodyLength or CheckSum was wrong."},
    {&SessionCounters::too_large, "nfx_too_large_total",
     "Received messages beyond max_message_size or max_fields, or unreadable in every resend: not delivered, and their "
     "sequence numbers accepted."},
    {&SessionCounters::rejected, "nfx_rejected_total", "Received messages that were answered with a Reject."},
    {&SessionCounters::resent, "nfx_resent_total", "Messages sent again because the peer requested a resend."},
    {&SessionCounters::resend_requests, "nfx_resend_requests_total",
     "ResendRequests sent because received sequence numbers had a gap."},
    {&SessionCounters::resend_not_kept, "nfx_resend_not_stored_total",
     "Resend requests of the peer for messages that are no longer stored; a gap fill was sent instead."},
    {&SessionCounters::reported, "nfx_reported_total",
     "Messages delivered to the application although they do not match the dictionary."},
    {&SessionCounters::throttled, "nfx_throttled_total", "Messages of the peer beyond throttle_rate."},
    {&SessionCounters::queue_drops, "nfx_gap_queue_drops_total",
     "Messages received ahead of a gap that did not fit the queue; the resend brings them again."},
    {&SessionCounters::gap_filled, "nfx_gap_filled_total",
     "Sequence numbers that we requested and the peer answered with a gap fill, not with messages."},
    {&SessionCounters::check_sum_ignored, "nfx_wrong_checksum_accepted_total",
     "Resent messages that were processed although their CheckSum was wrong, with verify_checksum = false."},
    {&SessionCounters::send_refused, "nfx_send_refused_total",
     "Messages of the application that were not sent because the send buffer was full."},
    {&SessionCounters::not_handled, "nfx_not_handled_total",
     "Times that the application did not handle a message, which was delivered again."},
    {&SessionCounters::logons, "nfx_logons_total", "Logons exchanged."},
    {&SessionCounters::disconnects, "nfx_disconnects_total", "Established connections that ended."},
    {&SessionCounters::resets, "nfx_sequence_resets_total", "Resets of both sequence numbers to 1."},
    {&SessionCounters::invalid_disconnects, "nfx_invalid_disconnects_total",
     "Connections ended because the peer exceeded max_invalid_rate."},
    {&SessionCounters::resends_slowed, "nfx_resends_slowed_total",
     "Times that resending waited for resend_rate or repeated_resend_rate."},
    {&SessionCounters::notices_omitted, "nfx_notices_omitted_total",
     "Notices that have no line of their own, because the same notice had one within a second; the next line has their "
     "number."},
    {&SessionCounters::callback_exceptions, "nfx_callback_exceptions_total",
     "Exceptions thrown by callbacks of the session; the first one logs it out."},
});
static_assert(rows_are_complete<SessionCounters>());

namespace detail {
inline constexpr std::string_view submit_refused_help =
    "Messages that Engine::submit did not queue, by reason: the queue or what is held until Logon is full, the message "
    "is too long, there is no such session, or it is not logged on.";
inline constexpr auto pending_counter_rows = std::to_array<CounterRow<PollLoopCounters>>({
    {&PollLoopCounters::pending_accepted, "nfx_pending_accepted_total",
     "Connections accepted that got a place to wait for their Logon."},
    {&PollLoopCounters::dynamic_failed, "nfx_dynamic_failed_total",
     "Sessions made from templates that were removed again because their first Logon was refused or ended."},
    {&PollLoopCounters::dynamic_idle, "nfx_dynamic_idle_total",
     "Sessions made from templates that left memory because they had no connection for dynamic_session_idle_s, or "
     "another one needed their place."},
    {&PollLoopCounters::takeovers, "nfx_takeovers_total",
     "Second Logons of a connected session whose first connection was closed because it did not answer a "
     "TestRequest."},
    {&PollLoopCounters::callback_exceptions, "nfx_engine_callback_exceptions_total",
     "Exceptions thrown by callbacks that have no session, such as on_turn; the engine continues."},
    {&PollLoopCounters::submitted, "nfx_submitted_total", "Messages of other threads that Engine::submit has queued."},
    {&PollLoopCounters::submit_full, "nfx_submit_refused_total", submit_refused_help, "reason", "full"},
    {&PollLoopCounters::submit_too_long, "nfx_submit_refused_total", submit_refused_help, "reason", "too_long"},
    {&PollLoopCounters::submit_unknown_session, "nfx_submit_refused_total", submit_refused_help, "reason",
     "unknown_session"},
    {&PollLoopCounters::submit_not_logged_on, "nfx_submit_refused_total", submit_refused_help, "reason",
     "not_logged_on"},
    {&PollLoopCounters::submit_kept, "nfx_submit_kept_total",
     "Submitted messages that waited for their session's Logon, or for space in its send buffer."},
    {&PollLoopCounters::submit_unsent, "nfx_submit_unsent_total",
     "Submitted messages that were queued and then could not be sent; a notice has the reason."},
});
}  // namespace detail

template <>
inline constexpr auto counter_rows<PollLoopCounters> = [] {
  std::array<CounterRow<PollLoopCounters>, detail::pending_counter_rows.size() + logon_refusal_rows.size() - 1> rows{};
  auto at = std::ranges::copy(detail::pending_counter_rows, rows.begin()).out;
  for (const LogonRefusalRow& row : logon_refusal_rows) {
    if (row.counter == nullptr) continue;
    *at++ = {row.counter, "nfx_logon_refused_total",
             "Logons refused and connections closed before their Logon, by reason; the reasons are listed below.",
             "reason", row.name};
  }
  return rows;
}();
static_assert(rows_are_complete<PollLoopCounters>());

}  // namespace nfx
