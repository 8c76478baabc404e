// Where a poll loop writes what happens: the application's callbacks, the message log and the event log.
// Thread: the poll thread. Cost: a message is one copy into the log's lane where there is one, and one virtual call.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "nexusfix/engine/application.hpp"
#include "nexusfix/observe/event_log.hpp"
#include "nexusfix/observe/message_log.hpp"

namespace nfx {

struct LoopLogs {
  std::optional<MessageLog::Lane> messages;
  std::optional<EventLog::Lane> events;
  // A session that came while the loop runs, and its name; null when it goes.
  std::function<void(std::size_t session, const std::string* name)> name_session;
};

class LoopReports {
 public:
  explicit LoopReports(Application& application) noexcept : application_(application) {}

  // Before the first event.
  void log_to(LoopLogs logs) { logs_ = std::move(logs); }

  // Every message in and out; `number` is the session's.
  void message(SessionHandle& session, std::size_t number, Direction direction, std::string_view bytes, UtcTime now) {
    if (logs_.messages) {
      logs_.messages->record(static_cast<std::uint32_t>(number),
                             direction == Direction::in ? LogDirection::in : LogDirection::out, now, bytes);
    }
    application_.on_traffic(session, direction, bytes);
  }
  void notice(SessionHandle& session, Notice notice, SeqNum seq, std::string_view text, UtcTime now);
  void event(const SessionHandle& session, std::string_view what, std::string_view detail, UtcTime now) noexcept;
  // A connection that was no session's yet failed to be encrypted.
  void handshake_failed(std::string_view peer, std::string_view why, UtcTime now);
  // A session began to exist while the loop runs, or ends to.
  void added(SessionHandle& session, const std::string& name);
  void removed(SessionHandle& session);

 private:
  Application& application_;
  LoopLogs logs_;
};

}  // namespace nfx
