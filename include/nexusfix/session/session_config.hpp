// What one FIX session is and how it behaves; fixed while the engine runs.
// Defaults are those of the FIX specification, or of common engines where it is silent.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "nexusfix/base/time.hpp"
#include "nexusfix/dictionary/validator.hpp"

namespace nfx {

class Dictionary;

enum class Role : std::uint8_t { acceptor, initiator };

[[nodiscard]] std::string_view to_string(Role role) noexcept;

struct SessionConfig {
  std::string begin_string = "FIX.4.4";
  std::string sender_comp_id;  // ours
  std::string target_comp_id;  // the peer's
  Role role = Role::acceptor;

  // HeartBtInt(108) an initiator asks for; an acceptor takes the peer's. 0 switches heartbeats off.
  std::chrono::seconds heartbeat_interval{30};
  std::chrono::seconds max_heartbeat_interval{3600};  // a Logon that asks for more is refused
  std::chrono::seconds logon_timeout{10};
  std::chrono::seconds logout_timeout{2};

  bool reset_on_logon = false;
  bool reset_on_logout = false;
  bool reset_on_disconnect = false;

  bool check_latency = true;  // SendingTime(52) within max_latency of our clock
  std::chrono::seconds max_latency{120};
  bool require_orig_sending_time = true;  // PossDupFlag=Y without OrigSendingTime(122) is rejected

  // Logon carries NextExpectedMsgSeqNum(789), and the peer's is acted upon. FIX 4.4 and later; both sides must agree.
  bool send_next_expected_seq_num = false;
  // Messages asked for by one ResendRequest; the next chunk follows when one has arrived. 0: all at once.
  std::uint32_t resend_chunk_size = 0;
  std::chrono::seconds resend_timeout{10};  // a gap without progress for so long is requested again
  std::uint32_t max_resend_attempts = 5;    // so often without progress; then the session logs out

  // Messages that arrive beyond a gap wait here. What does not fit is dropped and comes again with the resend.
  std::uint32_t max_queued_messages = 4096;
  std::uint32_t max_queued_bytes = 1024 * 1024;

  unsigned timestamp_digits = 3;  // fraction of SendingTime, 0 to 9; FIX 4.0 and 4.1 always send 0

  const Dictionary* dictionary = nullptr;  // null: only what the session layer needs is checked
  // Fields that the dictionary does not expect are delivered, not rejected: brokers add them all the time.
  ValidationOptions validation{
      .reject_unknown_fields = false, .reject_user_defined_fields = false, .reject_fields_not_in_message = false};
};

}  // namespace nfx
