// The keys of a [[session]] that can change without a restart and without a disconnect: settings of the session itself
// (nexusfix/session/session_config.hpp), and settings of the engine for it.
// Thread: values.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/session/session_config.hpp"

namespace nfx {

#define NFX_LIVE_ENGINE_SETTINGS(ROW)                    \
  ROW("connect", connect)                                \
  ROW("host_selection", host_selection)                  \
  ROW("host_priority_restart_s", host_priority_restart)  \
  ROW("connect_timeout_s", connect_timeout)              \
  ROW("reconnect_delay_ms", reconnect_delay)             \
  ROW("reconnect_delay_max_ms", reconnect_delay_max)     \
  ROW("allowed_addresses", allowed_addresses)            \
  ROW("cancel_on_disconnect", cancel_on_disconnect)      \
  ROW("cancel_on_logout", cancel_on_logout)              \
  ROW("cancel_delay_ms", cancel_delay)                   \
  ROW("slow_consumer", slow_consumer)                    \
  ROW("slow_consumer_timeout_ms", slow_consumer_timeout) \
  ROW("unhandled_timeout_s", unhandled_timeout)

#define NFX_KEY_NAME(name, member) std::string_view{name},
// "password_env" is another way to write "password".
inline constexpr std::array live_keys{NFX_LIVE_SESSION_SETTINGS(NFX_KEY_NAME) NFX_LIVE_ENGINE_SETTINGS(NFX_KEY_NAME)
                                          std::string_view{"password_env"}};
#undef NFX_KEY_NAME

[[nodiscard]] constexpr bool is_live_key(std::string_view key) noexcept {
  for (const std::string_view each : live_keys) {
    if (each == key) return true;
  }
  return false;
}

// Swaps their values. Cost: no allocation.
inline void swap_live_settings(SessionSettings& one, SessionSettings& other) noexcept {
#define NFX_SWAP(name, member) std::swap(one.member, other.member);
  NFX_LIVE_ENGINE_SETTINGS(NFX_SWAP)
#undef NFX_SWAP
  swap_live_settings(one.session, other.session);
}

}  // namespace nfx
