// What one FIX session is and how it behaves; fixed while the engine runs.
// Defaults are those of the FIX specification, or of common engines where it is silent.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "nexusfix/base/time.hpp"
#include "nexusfix/dictionary/validation_policy.hpp"
#include "nexusfix/dictionary/version.hpp"

namespace nfx {

class Dictionary;

enum class Role : std::uint8_t { acceptor, initiator };

[[nodiscard]] std::string_view to_string(Role role) noexcept;

// TestMessageIndicator(464) in Logon: which environment we are, so that a test system never trades with a real one.
enum class Environment : std::uint8_t { unspecified, test, production };

[[nodiscard]] std::string_view to_string(Environment environment) noexcept;

// What happens to an application message beyond the throttle.
enum class ThrottleAction : std::uint8_t {
  reject,      // BusinessMessageReject (before FIX 4.2 Reject); its number is used up
  delay,       // nothing is read from the connection until there is room
  disconnect,  // Logout with text, then disconnect
};

[[nodiscard]] std::string_view to_string(ThrottleAction action) noexcept;

// Dictionaries of application versions by ApplVerID(1128): 0 is FIX 2.7, 6 FIX 4.4, 9 FIX 5.0 SP2, 10 FIX Latest.
inline constexpr std::size_t appl_ver_id_count = 11;
static_assert(std::ranges::all_of(fix_versions,
                                  [](const FixVersion& each) {
                                    std::size_t id = 0;
                                    for (const char digit : each.appl_ver_id)
                                      id = 10 * id + static_cast<std::size_t>(digit - '0');
                                    return id < appl_ver_id_count;
                                  }),
              "the array of dictionaries has a place for every version");

struct SessionConfig {
  std::string begin_string = "FIX.4.4";
  std::string default_appl_ver_id;  // FIXT.1.1: DefaultApplVerID(1137) that we send, "9" for FIX 5.0 SP2
  std::string sender_comp_id;       // ours
  std::string target_comp_id;       // the peer's
  std::string session_qualifier;    // tells initiators with the same CompIDs apart; never sent
  // Header fields of every message we send, where not empty: SenderSubID(50), TargetSubID(57), SenderLocationID(142),
  // TargetLocationID(143).
  std::string sender_sub_id;
  std::string target_sub_id;
  std::string sender_location_id;
  std::string target_location_id;
  Role role = Role::acceptor;

  // Where the session is served. Both off: by the poll thread it is given, wherever that runs.
  int cpu_affinity_core = -1;     // by a poll thread pinned to this CPU; -1: none is asked for
  bool auto_pin_to_core = false;  // by one of the pinned poll threads, chosen by the names of the session

  // HeartBtInt(108) an initiator asks for; an acceptor takes the peer's. 0 switches heartbeats off.
  std::chrono::seconds heartbeat_interval{30};
  std::chrono::seconds max_heartbeat_interval{3600};  // a Logon that asks for more is refused
  std::chrono::seconds heartbeat_override{0};         // acceptor: this instead of the peer's; 0: the peer's
  unsigned test_request_percent = 120;                // silence before TestRequest, in hundredths of HeartBtInt
  unsigned heartbeat_timeout_percent = 240;           // and before the connection is given up
  bool check_heartbeats = true;                       // false: a silent peer is neither asked nor given up
  std::chrono::seconds logon_timeout{10};
  std::chrono::seconds logout_timeout{2};

  // What both sides say in Logon. An initiator sends what is set; of an acceptor's peer it is demanded.
  std::string username;      // 553
  std::string password;      // 554
  std::string logon_fields;  // further complete fields of our Logon, such as EncryptedPassword(1402) with its length
  Environment environment = Environment::unspecified;

  bool reset_on_logon = false;
  bool reset_on_logout = false;
  bool reset_on_disconnect = false;
  bool reset_on_error = false;    // after a session that ended because a side broke the protocol or fell silent
  bool refresh_on_logon = false;  // take the numbers from the store again before every Logon

  bool check_comp_id = true;
  bool check_latency = true;  // SendingTime(52) within max_latency of our clock
  std::chrono::seconds max_latency{120};
  bool require_orig_sending_time = true;  // PossDupFlag=Y without OrigSendingTime(122) is rejected

  // Logon carries NextExpectedMsgSeqNum(789), and the peer's is acted upon. FIX 4.4 and later; both sides must agree.
  bool send_next_expected_seq_num = false;
  bool send_last_msg_seq_num_processed = false;  // LastMsgSeqNumProcessed(369) in every header
  // Messages asked for by one ResendRequest; the next chunk follows when one has arrived. 0: all at once.
  std::uint32_t resend_chunk_size = 0;
  bool closed_resend_requests = false;          // EndSeqNo(16) is the last number missing, not "all that follow"
  bool send_redundant_resend_requests = false;  // one for every message beyond a gap, not one for the gap
  std::chrono::seconds resend_timeout{10};      // a gap without progress for so long is requested again
  std::uint32_t max_resend_attempts = 5;        // so often without progress; then the session logs out
  std::uint32_t max_same_resend_requests = 10;  // of the peer, from the same number, before it is taken for a loop
  std::uint32_t max_resent_messages = 0;        // a ResendRequest for more is rejected; 0: any number
  std::uint32_t resend_rate = 0;                // messages resent a second; 0: as fast as the peer reads

  // Application messages the peer may send: `throttle_burst` at once, `throttle_rate` a second on average; 0: any.
  std::uint32_t throttle_rate = 0;
  std::uint32_t throttle_burst = 0;  // 0: a second's worth
  ThrottleAction throttle_action = ThrottleAction::reject;

  // Messages that arrive beyond a gap wait here. What does not fit is dropped and comes again with the resend.
  std::uint32_t max_queued_messages = 4096;
  std::uint32_t max_queued_bytes = 1024 * 1024;

  unsigned timestamp_digits = 3;  // fraction of SendingTime, 0 to 9; FIX 4.0 and 4.1 always send 0

  const Dictionary* dictionary = nullptr;  // null: only what the session layer needs is checked
  // FIXT.1.1: for messages of other application versions than the default; null: the session layer's checks only.
  std::array<const Dictionary*, appl_ver_id_count> application_dictionaries{};
  // Fields that the dictionary does not expect are delivered with a report, not rejected: brokers add them all the
  // time.
  ValidationPolicy validation;
};

}  // namespace nfx
