// The settings of one FIX session; constant while it exists, except for NFX_LIVE_SESSION_SETTINGS.
// Defaults come from the FIX specification, or from common engines where it defines none.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/base/secret.hpp"
#include "nexusfix/base/tag.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/dictionary/validation_policy.hpp"
#include "nexusfix/dictionary/version.hpp"

namespace nfx {

class Dictionary;

enum class Role : std::uint8_t { acceptor, initiator };

[[nodiscard]] std::string_view to_string(Role role) noexcept;

// TestMessageIndicator(464) in Logon: the environment, so that a test system never trades with a production system.
enum class Environment : std::uint8_t { unspecified, test, production };

[[nodiscard]] std::string_view to_string(Environment environment) noexcept;

// What happens to a message above the rate limit.
enum class ThrottleAction : std::uint8_t {
  reject,      // BusinessMessageReject (before FIX 4.2 Reject); its sequence number is consumed. TestRequest: no answer
  delay,       // nothing is read from the connection until the rate allows it
  disconnect,  // Logout with text, then disconnect
};

[[nodiscard]] std::string_view to_string(ThrottleAction action) noexcept;

// Dictionaries of application versions by ApplVerID(1128): 0 is FIX 2.7, 6 FIX 4.4, 9 FIX 5.0 SP2, 10 FIX Latest.
inline constexpr std::size_t appl_ver_id_count = 11;

struct SessionConfig {
  std::string begin_string = "FIX.4.4";
  std::string default_appl_ver_id;  // FIXT.1.1: the DefaultApplVerID(1137) to send, "9" for FIX 5.0 SP2
  std::string sender_comp_id;       // CompID of this side
  std::string target_comp_id;       // CompID of the peer
  std::string session_qualifier;    // distinguishes initiators with the same CompIDs. Never sent
  // Header fields of every message that is sent, unless empty: SenderSubID(50), TargetSubID(57), SenderLocationID(142),
  // TargetLocationID(143).
  std::string sender_sub_id;
  std::string target_sub_id;
  std::string sender_location_id;
  std::string target_location_id;
  Role role = Role::acceptor;

  // Which poll thread serves the session. Both off: the one it is assigned to, on whatever CPU that runs.
  int cpu_affinity_core = -1;     // a poll thread pinned to this CPU; -1: no preference
  bool auto_pin_to_core = false;  // one of the pinned poll threads, chosen by the session's CompIDs

  // HeartBtInt(108) that an initiator proposes; an acceptor uses the peer's. 0 switches heartbeats off.
  std::chrono::seconds heartbeat_interval{30};
  std::chrono::seconds max_heartbeat_interval{3600};  // a Logon with a longer interval is refused
  std::chrono::seconds heartbeat_override{0};         // acceptor: used instead of the peer's. 0: the peer's
  unsigned test_request_percent = 120;       // time without a message before TestRequest, in percent of HeartBtInt
  unsigned heartbeat_timeout_percent = 240;  // time without a message before the disconnect, in percent of HeartBtInt
  bool check_heartbeats = true;              // false: neither TestRequest nor disconnect when the peer sends nothing
  // A peer's Logon with HeartBtInt=0 is accepted. Only its messages show then that the peer is alive, so it gets a
  // TestRequest after this time without a message, and is disconnected after the same time again; 0: it gets none.
  bool allow_no_heartbeats = false;
  std::chrono::seconds idle_test_interval{60};
  // Acceptor: time in which a connected peer answers a TestRequest that a second Logon of the same peer causes; without
  // an answer the second connection takes the session over. 0: a second Logon is refused in any case.
  std::chrono::seconds takeover_timeout{5};
  std::chrono::seconds logon_timeout{10};
  std::chrono::seconds logout_timeout{2};

  // Fields of Logon. An initiator sends the fields that are set; an acceptor requires them from the peer.
  std::string username;  // 553
  Secret password;       // 554; an acceptor needs no more than its digest
  Secret logon_fields;   // more complete fields for the Logon, such as EncryptedPassword(1402) with its length
  Environment environment = Environment::unspecified;
  // A Logon of an authenticated peer that lacks a required field is answered with a Logout whose Text names it, as FIX
  // prescribes. false: the connection is closed without an answer, as QuickFIX does without DefaultApplVerID(1137).
  bool answer_incomplete_logon = true;

  bool reset_on_logon = false;
  bool reset_on_logout = false;
  bool reset_on_disconnect = false;
  bool reset_on_error = false;    // after a session that ended with a protocol violation or a timeout
  bool refresh_on_logon = false;  // reload the sequence numbers from the store before every Logon

  bool check_comp_id = true;
  bool check_latency = true;  // SendingTime(52) within max_latency of the local clock
  std::chrono::seconds max_latency{120};
  bool verify_checksum = true;  // false: messages resent to fill a gap are processed even if CheckSum(10) is wrong
  bool require_orig_sending_time = true;  // PossDupFlag=Y without OrigSendingTime(122) is rejected

  // Logon carries NextExpectedMsgSeqNum(789), and the peer's is acted upon. FIX 4.4 and later; both sides must agree.
  bool send_next_expected_seq_num = false;
  bool send_last_msg_seq_num_processed = false;  // LastMsgSeqNumProcessed(369) in every header
  // Most messages requested by one ResendRequest; the next chunk is requested when one has arrived. 0: no limit.
  // 1 is treated as 2: a request is a message too, and two sides that both miss messages would never end.
  std::uint32_t resend_chunk_size = 0;
  bool closed_resend_requests = false;  // EndSeqNo(16) is the last missing sequence number, not 0 (all that follow)
  bool send_redundant_resend_requests = false;  // one for every out-of-order message. Otherwise one for the gap
  std::chrono::seconds resend_timeout{10};      // a gap without progress for this time is requested again
  std::uint32_t max_resend_attempts = 5;        // requests without progress before the session logs out
  std::uint32_t max_same_resend_requests = 10;  // of the peer, with the same BeginSeqNo, before a loop is assumed
  std::uint32_t max_resent_messages = 0;        // a ResendRequest for more messages is rejected. 0: no limit
  std::uint32_t resend_rate = 0;                // messages resent per second. 0: as fast as the peer reads
  // Bytes resent per second once every stored byte has been resent twice, see ResendBudget; 0: no limit.
  std::uint32_t repeated_resend_rate = 1024 * 1024;

  // Messages of the peer that are garbled or answered with Reject, per second on average, ten times as many in one
  // burst. Beyond that the peer is disconnected. 0: no limit.
  std::uint32_t max_invalid_rate = 100;
  // Logons of the peer that reset both sequence numbers to 1, on average and in one burst; 0: no limit.
  std::uint32_t max_resets_per_hour = 0;

  // Sent messages that are not stored: of these types, and with these fields in their body. A resend has a gap fill in
  // their place.
  std::vector<std::string> store_omit_types;
  std::vector<Tag> store_omit_fields;

  // Application messages that the peer may send, valid or not: `throttle_rate` per second on average (0: no limit),
  // `throttle_burst` in one burst; and as many Heartbeats, TestRequests and Rejects. Resent messages that were
  // requested are not counted, nor are Logon, Logout, ResendRequest and SequenceReset, which every session needs to
  // continue.
  std::uint32_t throttle_rate = 0;
  std::uint32_t throttle_burst = 0;  // 0: throttle_rate
  ThrottleAction throttle_action = ThrottleAction::reject;

  // Space for messages received out of order. Those that do not fit are dropped; the resend delivers them again.
  std::uint32_t max_queued_messages = 4096;
  std::uint32_t max_queued_bytes = 1024 * 1024;

  unsigned timestamp_digits = 3;  // digits of the fraction of SendingTime, 0 to 9; FIX 4.0 and 4.1 always send none

  const Dictionary* dictionary = nullptr;  // null: only what the session layer needs is checked
  // FIXT.1.1: for messages of application versions other than the default; null: only the session layer's checks.
  std::array<const Dictionary*, appl_ver_id_count> application_dictionaries{};
  // Fields that the dictionary does not expect are delivered with a report, not rejected: brokers often add some.
  ValidationPolicy validation;
};

// The settings that may change while the session is connected: each is looked up when it is used, and nothing is
// derived from it before. All others are constant as long as the session exists.
// The name that a configuration file has for it, and the member.
#define NFX_LIVE_SESSION_SETTINGS(ROW)                                  \
  ROW("test_request_percent", test_request_percent)                     \
  ROW("heartbeat_timeout_percent", heartbeat_timeout_percent)           \
  ROW("check_heartbeats", check_heartbeats)                             \
  ROW("max_heartbeat_interval_s", max_heartbeat_interval)               \
  ROW("allow_no_heartbeats", allow_no_heartbeats)                       \
  ROW("idle_test_s", idle_test_interval)                                \
  ROW("takeover_timeout_s", takeover_timeout)                           \
  ROW("logon_timeout_s", logon_timeout)                                 \
  ROW("answer_incomplete_logon", answer_incomplete_logon)               \
  ROW("username", username)                                             \
  ROW("password", password)                                             \
  ROW("check_latency", check_latency)                                   \
  ROW("max_latency_s", max_latency)                                     \
  ROW("require_orig_sending_time", require_orig_sending_time)           \
  ROW("verify_checksum", verify_checksum)                               \
  ROW("resend_chunk_size", resend_chunk_size)                           \
  ROW("closed_resend_requests", closed_resend_requests)                 \
  ROW("send_redundant_resend_requests", send_redundant_resend_requests) \
  ROW("resend_timeout_s", resend_timeout)                               \
  ROW("max_resend_attempts", max_resend_attempts)                       \
  ROW("max_same_resend_requests", max_same_resend_requests)             \
  ROW("max_resent_messages", max_resent_messages)

// Exchanges them. Cost: no allocation.
inline void swap_live_settings(SessionConfig& one, SessionConfig& other) noexcept {
#define NFX_SWAP(name, member) std::swap(one.member, other.member);
  NFX_LIVE_SESSION_SETTINGS(NFX_SWAP)
#undef NFX_SWAP
}

}  // namespace nfx
