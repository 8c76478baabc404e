// Notices: what a session dealt with that is worth a line in the event log. One row each; the enumeration, to_string
// and the list in docs/session.md are made from the rows. To add a notice, add its row here and report it where it
// happens. Thread: any, no state. Cost: to_string is one look-up in an array.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

// Enumerator, text in the event log, and its meaning for operators.
#define NFX_NOTICES(ROW)                                                                                               \
  ROW(none, "", "No notice.")                                                                                          \
  ROW(garbled_message, "garbled message ignored",                                                                      \
      "Framing, BodyLength, CheckSum or the order of the first fields was wrong. FIX requires to ignore such a "       \
      "message; the next good one opens a sequence gap.")                                                              \
  ROW(message_rejected, "message rejected", "We answered a message with Reject(35=3).")                                \
  ROW(reject_not_answered, "Reject with a fault received, not answered",                                               \
      "The peer's Reject(35=3) does not match the dictionary or the session. Its sequence number counts; it is not "   \
      "rejected, as both sides could go on rejecting for ever.")                                                       \
  ROW(too_large, "message too large, not delivered",                                                                   \
      "A message of the peer is beyond max_message_size or max_fields. Its sequence number counts as received, as a "  \
      "resend would be as large. With too_large_message = \"logout\" the session logs out and stays logged out.")      \
  ROW(gap_detected, "gap detected, resend requested", "MsgSeqNum was higher than expected. A ResendRequest was sent.") \
  ROW(gap_request_repeated, "gap made no progress, resend requested again",                                            \
      "Nothing of a requested range arrived within resend_timeout_s.")                                                 \
  ROW(queue_full, "message ahead of a gap dropped, queue full: the resend brings it again",                            \
      "The queue of max_queued_messages and max_queued_bytes is full. No message is lost.")                            \
  ROW(low_possdup_ignored, "duplicate ignored",                                                                        \
      "A message with PossDupFlag=Y and a sequence number that was processed before.")                                 \
  ROW(sequence_reset, "sequence numbers reset", "The peer set its next sequence number with SequenceReset.")           \
  ROW(reset_unanswered, "reset not answered",                                                                          \
      "The connection ended without an answer to our Logon with ResetSeqNumFlag=Y on the open session. The sequence "  \
      "numbers are still those before it. The text has what follows: the reset is asked for again, or taken back.")    \
  ROW(resent_garbled, "resent messages have a wrong CheckSum",                                                         \
      "The peer resends messages, as we requested, with a CheckSum that is not the sum of their bytes. FIX requires "  \
      "to ignore them, so the gap stays open. Report it to the peer; verify_checksum = false accepts such messages "   \
      "while a gap is open. Once until a gap is filled.")                                                              \
  ROW(gap_filled, "the peer filled a gap without resending",                                                           \
      "In answer to our ResendRequest the peer sent SequenceReset-GapFill instead of the messages. That is right for " \
      "session messages, and loses what else was there. The text has the numbers: where orders or fills are missing, " \
      "compare with the peer, for example by OrderMassStatusRequest(AF). nfx_gap_filled_total counts the numbers.")    \
  ROW(resend_beyond_end, "peer requested messages never sent",                                                         \
      "The peer's ResendRequest begins after our last message: it expects higher sequence numbers than we sent.")      \
  ROW(resend_not_kept, "peer requested messages no longer stored: gap-filled",                                         \
      "retain_messages or retain_bytes is too small for how far the peer goes back.")                                  \
  ROW(heartbeat_differs, "heartbeat interval differs",                                                                 \
      "The peer answered our Logon with another HeartBtInt(108). The session uses the peer's.")                        \
  ROW(unexpected_message, "unexpected message", "A message that has no meaning in the session's present state.")       \
  ROW(connect_failed, "cannot connect",                                                                                \
      "An initiator could not open its connection. It tries again after reconnect_delay_ms.")                          \
  ROW(not_sent, "message not sent",                                                                                    \
      "A message that another thread submitted could not be sent, because the session was not logged on, the "         \
      "send buffer was full or the message was malformed; or on_message returned an answer that was not sent, for "    \
      "another reason than missing space. The text has the reason.")                                                   \
  ROW(validation_report, "session message accepted although it does not match the dictionary",                         \
      "A lenient check found a fault in a Logon, Heartbeat or another session message.")                               \
  ROW(throttled, "more messages than allowed", "The peer exceeded throttle_rate.")                                     \
  ROW(too_many_invalid, "too many invalid messages",                                                                   \
      "The peer exceeded max_invalid_rate with messages that were garbled or rejected. It is disconnected, and its "   \
      "address is held off for hold_off_s.")                                                                           \
  ROW(resend_loop, "resend loop",                                                                                      \
      "The peer requested the same messages more than max_same_resend_requests times. The session logs out.")          \
  ROW(resend_refused, "resend of too many messages refused",                                                           \
      "The peer requested more than max_resent_messages messages at a time.")                                          \
  ROW(resend_slowed, "resend slowed",                                                                                  \
      "The peer has had every stored byte resent twice. What it requests beyond that is sent at "                      \
      "repeated_resend_rate. Once per connection.")                                                                    \
  ROW(schedule, "session time", "The session's time began or ended, or its sequence numbers were reset for it.")       \
  ROW(store_trouble, "message store",                                                                                  \
      "The store accepts no more messages, or cannot guarantee its durability. See docs/store.md.")                    \
  ROW(store_recovered, "message store accepts messages again", "The cause of the last store_trouble has ended.")       \
  ROW(slow_consumer, "slow consumer", "The peer has read nothing for slow_consumer_timeout_ms.")                       \
  ROW(second_logon, "second Logon of a connected session",                                                             \
      "The connected peer gets a TestRequest. Without an answer within takeover_timeout_s the second connection "      \
      "takes the session over; otherwise the second Logon is refused.")                                                \
  ROW(operator_command, "operator",                                                                                    \
      "An operator changed something in this session through the control plane: the text has the command and who.")    \
  ROW(callback_threw, "a callback of the application threw an exception",                                              \
      "The session logs out with the Text \"internal error\" and stays logged out until logon() or a restart; one "    \
      "that a template made leaves as an idle one does. The notice has the callback's name and the exception's text.")

#define NFX_ENUMERATOR(name, text, help) name,
enum class Notice : std::uint8_t { NFX_NOTICES(NFX_ENUMERATOR) };
#undef NFX_ENUMERATOR

struct NoticeRow {
  Notice notice{};
  std::string_view name;  // as the program has it: "gap_detected"
  std::string_view text;  // as the event log has it
  std::string_view help;
};

#define NFX_ROW(name, text, help) NoticeRow{Notice::name, #name, text, help},
inline constexpr std::array notice_rows{NFX_NOTICES(NFX_ROW)};
#undef NFX_ROW
#undef NFX_NOTICES

[[nodiscard]] constexpr std::string_view to_string(Notice notice) noexcept {
  const auto index = static_cast<std::size_t>(notice);
  return index < notice_rows.size() ? notice_rows[index].text : std::string_view{"?"};
}

}  // namespace nfx
