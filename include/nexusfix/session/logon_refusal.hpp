// Why a connection or its Logon is refused. One row each; the enumeration, to_string, the counters with their metric,
// the list in docs/metrics.md and what operators read are made from the rows. To add a reason, add its row here and
// pass it where the refusal happens. Thread: any, no state. Cost: a look-up in an array.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

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
