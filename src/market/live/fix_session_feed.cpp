// Requests by the session, and space for what answers them.
#include <algorithm>

#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/live/fix_handler.hpp"

namespace nfx::market {

void make_room_for_snapshots(EngineConfig& config) {
  config.max_fields = std::max<std::uint32_t>(config.max_fields, 32768);
  config.max_message_size = std::max<std::size_t>(config.max_message_size, 1u << 20);
  for (SessionSettings& each : config.sessions)
    each.send_buffer_size = std::max(each.send_buffer_size, 2 * config.max_message_size);
}

bool FixSessionPorts::send(std::uint16_t, std::string_view body) noexcept {
  return session_ != nullptr && session_->send({.msg_type = "V", .body = body}).has_value();
}

}  // namespace nfx::market
