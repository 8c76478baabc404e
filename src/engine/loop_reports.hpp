// Where a poll loop writes what happens: the application's callbacks, the message log, the event log and the message
// taps. Lines that a peer causes are limited to one per kind and second.
// Thread: the poll thread. Cost: a message is one copy into the message log's queue, where that log is on, one into a
// tap's, while there is one, and one virtual call.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/callback_failure.hpp"
#include "engine/line_limits.hpp"
#include "engine/message_tap.hpp"
#include "nexusfix/engine/application.hpp"
#include "nexusfix/observe/event_log.hpp"
#include "nexusfix/observe/message_log.hpp"

namespace nfx {

class LiveSession;

using SessionGone = std::function<void(const LiveSession& session)>;

struct LoopLogs {
  std::optional<MessageLog::Lane> messages;
  std::optional<EventLog::Lane> events;
  // Called for a session that is added while the loop runs, with its name; null when it is removed.
  std::function<void(std::size_t session, const std::string* name)> name_session;
};

class LoopReports {
 public:
  explicit LoopReports(Application& application) noexcept : application_(application) {}

  // Before the first event.
  void log_to(LoopLogs logs) { logs_ = std::move(logs); }

  // Every message in and out; `number` is the session's.
  void message(SessionHandle& session, std::size_t number, Direction direction, std::string_view bytes, Instant now) {
    if (logs_.messages) {
      logs_.messages->record(static_cast<std::uint32_t>(number),
                             direction == Direction::in ? LogDirection::in : LogDirection::out, now.utc, bytes);
    }
    if (taps_.any()) [[unlikely]]
      taps_.record(number, direction, now, bytes);
    application_.on_traffic(session, direction, bytes);
  }
  [[nodiscard]] LoopTaps& taps() noexcept { return taps_; }
  // `limits` are the session's. False: no line was written; the next line of this kind includes it in its count.
  bool notice(SessionHandle& session, LineLimits& limits, Notice notice, SeqNum seq, std::string_view text,
              Instant now);
  // The peer's Reject of one of our messages, for the event log alone.
  void peer_reject(const SessionHandle& session, LineLimits& limits, std::string_view text, Instant now) noexcept;
  // When the next line with the number of those omitted is due, of any session.
  [[nodiscard]] MonotonicTime omitted_due() const noexcept { return omitted_due_; }
  // Writes those that are due by now, or all when the session ends. Called for every session, after begin_omitted().
  void begin_omitted() noexcept { omitted_due_ = MonotonicTime::max(); }
  void omitted(SessionHandle& session, LineLimits& limits, Instant now, bool all = false);
  void event(const SessionHandle& session, std::string_view what, std::string_view detail, UtcTime now) noexcept;
  void event(std::string_view what, std::string_view detail, UtcTime now) noexcept;  // of no session
  // Of a callback whose failure is not a notice.
  void callback_threw(const CallbackFailure& failure) noexcept;
  // A Logon was refused, or several were.
  void refused(const LogonRefusal& refusal);
  // A session was added or removed while the loop runs.
  void added(SessionHandle& session, const std::string& name);
  void removed(SessionHandle& session);

 private:
  void write(SessionHandle& session, Notice notice, SeqNum seq, std::string_view text, UtcTime now);

  Application& application_;
  LoopLogs logs_;
  LoopTaps taps_;
  MonotonicTime omitted_due_ = MonotonicTime::max();
};

}  // namespace nfx
