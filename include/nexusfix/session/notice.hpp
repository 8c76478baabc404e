// Reports of a session besides messages: notices, and refused Logons. To add one, add its row here and report it
// where it happens; the enumeration, to_string, counters and lists in docs/ are made from the rows.
// Thread: any, no state. Cost: to_string is one look-up in an array.
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
  ROW(unreadable, "message unreadable, not delivered",                                                                 \
      "The BodyLength of a message was wrong, or beyond max_message_size, in max_resend_attempts resends. Its "        \
      "sequence number counts as received, since it would be requested for ever. With too_large_message = \"logout\" " \
      "the session logs out and stays logged out. Report it to the peer.")                                             \
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

// Why a connection or its Logon is refused.
//
// Enumerator, text in the event log, and what it means for the reader of the log.
#define NFX_LOGON_REFUSALS(ROW)                                                                                        \
  ROW(stopping, "the engine stops", "The connection came, or had not logged on yet, when the engine was stopped.")     \
  ROW(address_not_allowed, "address not allowed",                                                                      \
      "No session of the listen address, or not the one that the Logon names, has the peer's address in "              \
      "allowed_addresses. Without a session for the address the connection is closed before any byte is read.")        \
  ROW(held_off, "address held off",                                                                                    \
      "The peer's address exceeded max_invalid_rate or max_invalid_logons. Its connections are closed for "            \
      "hold_off_s.")                                                                                                   \
  ROW(too_many_connections, "too many connections without a Logon",                                                    \
      "All places of max_pending_logons were taken by Logons that are being processed.")                               \
  ROW(evicted, "closed before its Logon for a newer connection",                                                       \
      "The limit of max_pending_logons, of the address or of the network was reached. The oldest silent connection "   \
      "of the address or network that held the most places was closed.")                                               \
  ROW(tls_handshake, "TLS handshake failed",                                                                           \
      "A TLS handshake failed, took too long, or gave its place to a newer one.")                                      \
  ROW(logon_timeout, "no complete Logon in time",                                                                      \
      "The connection sent no complete Logon within pending_logon_timeout_ms.")                                        \
  ROW(not_fix, "the first bytes are not a FIX message",                                                                \
      "Framing, BodyLength or CheckSum of the first message was wrong. A TLS client on a plain port, or another "      \
      "protocol, does this too.")                                                                                      \
  ROW(too_long, "the first message is too long",                                                                       \
      "The first message was longer than pending_logon_bytes. Raise it for Logons with long signatures.")              \
  ROW(not_a_logon, "the first message is not a Logon", "Another message came before the Logon.")                       \
  ROW(unknown_session, "no such session",                                                                              \
      "No session and no template of the listen address has the BeginString, SenderCompID and TargetCompID of the "    \
      "Logon.")                                                                                                        \
  ROW(not_owner, "another gateway of the cluster has the session",                                                     \
      "This gateway does not own the replicated session now. Its owner listens on its own address; see "               \
      "docs/cluster.md.")                                                                                              \
  ROW(disabled, "the session is logged out or disabled",                                                               \
      "The application logged the session out, an operator disabled, logged out or removed it, or a callback threw. "  \
      "logon() of the application ends that, as do logon and enable of an operator, and add for a removed one.")       \
  ROW(already_connected, "the session has a connection already",                                                       \
      "A second connection for a session whose first one has not ended. See takeover_timeout_s.")                      \
  ROW(certificate, "wrong certificate", "The peer's certificate has none of the names in tls_peer_names.")             \
  ROW(application, "refused by the application", "Authenticator::on_logon_request returned false.")                    \
  ROW(outside_schedule, "outside the session's time", "The schedule of the session does not allow a Logon now.")       \
  ROW(store, "the session's message store takes no messages",                                                          \
      "The disk is full or has failed, or the store of a new session could not be opened. See docs/store.md.")         \
  ROW(no_memory, "out of memory",                                                                                      \
      "Memory for the connection or its session could not be had. The engine continues with the others. Raise the "    \
      "process's limit, or lower max_dynamic_sessions.")                                                               \
  ROW(too_many_sessions, "too many sessions made from templates",                                                      \
      "max_dynamic_sessions sessions made from templates or added at run time exist, or another connection's Logon "   \
      "is making the same session.")                                                                                   \
  ROW(credentials, "wrong Username or Password", "Username(553) or Password(554) is not the session's.")               \
  ROW(malformed, "malformed Logon",                                                                                    \
      "A required field of the Logon is missing or invalid, a data field does not have its length, or the Logon does " \
      "not conform to the dictionary. The text names tag and value. A peer with the right credentials gets it in a "   \
      "Logout.")                                                                                                       \
  ROW(sending_time, "SendingTime too far from our clock",                                                              \
      "SendingTime(52) is missing, malformed or differs from our clock by more than max_latency_s.")                   \
  ROW(terms, "terms not accepted",                                                                                     \
      "HeartBtInt(108) or EncryptMethod(98) is not accepted here, or TestMessageIndicator(464) is that of another "    \
      "environment. The peer got a Logout with the text.")                                                             \
  ROW(sequence_number, "wrong sequence number",                                                                        \
      "MsgSeqNum(34) is too low, or does not fit ResetSeqNumFlag(141) or NextExpectedMsgSeqNum(789). The peer got a "  \
      "Logout with the text.")                                                                                         \
  ROW(too_many_resets, "too many resets of the sequence numbers",                                                      \
      "The peer exceeded max_resets_per_hour, which is off by default. It got a Logout with the text.")                \
  ROW(too_many_logons, "too many Logons",                                                                              \
      "The session logged on more often than max_logon_rate allows, or Logons came from the address faster than "      \
      "max_logons_per_address. The connection is closed without an answer; a later one may log on.")                   \
  ROW(second_logon, "a second Logon on an open session",                                                               \
      "A logged-on peer sent another Logon, without ResetSeqNumFlag=Y. It is disconnected.")

#define NFX_ENUMERATOR(name, text, help) name,
enum class LogonRefusalReason : std::uint8_t { none, NFX_LOGON_REFUSALS(NFX_ENUMERATOR) };
#undef NFX_ENUMERATOR

#define NFX_COUNTER(name, text, help) std::uint64_t name = 0;
struct LogonRefusalCounters {
  NFX_LOGON_REFUSALS(NFX_COUNTER)

  friend bool operator==(const LogonRefusalCounters&, const LogonRefusalCounters&) = default;
};
#undef NFX_COUNTER

struct LogonRefusalRow {
  LogonRefusalReason reason{};
  std::string_view name;  // as the program and the metric have it: "unknown_session"
  std::string_view text;  // as the event log has it
  std::string_view help;
  std::uint64_t LogonRefusalCounters::* counter = nullptr;
};

#define NFX_ROW(name, text, help) \
  LogonRefusalRow{LogonRefusalReason::name, #name, text, help, &LogonRefusalCounters::name},
inline constexpr std::array logon_refusal_rows{
    LogonRefusalRow{LogonRefusalReason::none, "none", "", "Not refused.", nullptr}, NFX_LOGON_REFUSALS(NFX_ROW)};
#undef NFX_ROW
#undef NFX_LOGON_REFUSALS

[[nodiscard]] constexpr const LogonRefusalRow& row_of(LogonRefusalReason reason) noexcept {
  return logon_refusal_rows[static_cast<std::size_t>(reason)];
}
[[nodiscard]] constexpr std::uint64_t sum(const LogonRefusalCounters& counters) noexcept {
  std::uint64_t all = 0;
  for (const LogonRefusalRow& row : logon_refusal_rows) {
    if (row.counter != nullptr) all += counters.*row.counter;
  }
  return all;
}
[[nodiscard]] constexpr std::string_view to_string(LogonRefusalReason reason) noexcept { return row_of(reason).text; }

}  // namespace nfx
