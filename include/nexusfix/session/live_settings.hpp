// The settings of a session that may change while it is connected: each is looked up when it is used, and nothing is
// derived from it before. All others are constant as long as the session exists.
// Thread: values.
#pragma once

#include <utility>

#include "nexusfix/session/session_config.hpp"

namespace nfx {

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
