// The last messages of a session, as Engine::recent_messages() returns them: copied by the poll thread while they
// are requested, made readable and with secrets masked on the thread that requests them.
// Thread: values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/session_command.hpp"
#include "log/message_text.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/engine/session_handle.hpp"

namespace nfx {

struct RecentMessage {
  std::uint64_t number = 0;  // grows over all sessions of an engine; never used again
  UtcTime time{};            // when it was read or encoded
  Direction direction{};
  std::size_t size = 0;            // in bytes
  bool cut = false;                // only its beginning was copied
  std::vector<ShownField> fields;  // printable, secrets masked
};

struct RecentMessages {
  // How long the poll thread copies after the last call.
  static constexpr Duration copied_for{std::chrono::seconds{10}};
  static constexpr std::size_t most_sessions = 8;      // that are copied at a time
  static constexpr std::size_t most_messages = 256;    // stored of each
  static constexpr std::size_t most_bytes = 4096;      // copied of a message
  static constexpr std::size_t queue_bytes = 1 << 19;  // between two calls; what does not fit is dropped

  CommandStatus status = CommandStatus::timed_out;
  bool began = false;         // by this call: what was before it was not copied
  std::uint64_t dropped = 0;  // since it began, because the queue was full
  std::vector<RecentMessage> messages;
};

}  // namespace nfx
