// Where a poll loop writes what happens: the observers, the message log, the event log and the message taps. Lines that
// a peer causes are limited to one per kind and second. Thread: the poll thread. Cost: a message is one copy into the
// message log's queue, where that log is on, one into a tap's, while there is one, and one virtual call for each
// observer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/callback_failure.hpp"
#include "engine/line_limits.hpp"
#include "engine/message_tap.hpp"
#include "log/event_log.hpp"
#include "log/message_log.hpp"
#include "nexusfix/engine/observer.hpp"

namespace nfx {

class SessionDriver;

using SessionGone = std::function<void(const SessionDriver& session)>;

struct LoopLogs {
  std::optional<MessageLog::Lane> messages;
  std::optional<EventLog::Lane> events;
  // Called for a session that is added while the loop runs, with its name; null when it is removed.
  std::function<void(std::size_t session, const std::string* name)> name_session;
};

class LoopReports {
 public:
  // `observers` outlive it.
  explicit LoopReports(std::span<Observer* const> observers) noexcept : observers_(observers) {}

  // Before the first event.
  void log_to(LoopLogs logs) { logs_ = std::move(logs); }

  // Every message in and out; `number` is the session's. Before it is logged on the queues get no passwords.
  void message(SessionHandle& session, std::size_t number, Direction direction, std::string_view bytes, Instant now,
               bool logged_on) {
    if (logged_on) [[likely]] {
      record(number, direction, bytes, now);
    } else {
      record_masked(number, direction, bytes, now);
    }
    observe([&](Observer& each) { each.on_traffic(session, direction, bytes); });
  }
  [[nodiscard]] LoopTaps& taps() noexcept { return taps_; }
  // Prefetches the observers, and the tables of their functions.
  void warm() const noexcept {
    for (Observer* const each : observers_) __builtin_prefetch(dynamic_cast<const void*>(each));
  }
  // `limits` are the session's. False: no line was written; the next line of this kind includes it in its count.
  bool notice(SessionHandle& session, LineLimits& limits, Notice notice, SeqNum seq, std::string_view text,
              Instant now);
  // The peer's Reject of one of our messages, for the event log alone.
  void peer_reject(const SessionHandle& session, LineLimits& limits, std::string_view text, Instant now) noexcept;
  // When any session's next line with a number of omitted reports is due.
  [[nodiscard]] MonotonicTime omitted_due() const noexcept { return omitted_due_; }
  // Writes the lines that are due, or all when the session ends. Called for every session, after begin_omitted().
  void begin_omitted() noexcept { omitted_due_ = MonotonicTime::max(); }
  void omitted(SessionHandle& session, LineLimits& limits, Instant now, bool all = false);
  void event(const SessionHandle& session, std::string_view what, std::string_view detail, UtcTime now) noexcept;
  void event(std::string_view what, std::string_view detail, UtcTime now) noexcept;  // of no session
  // For a callback whose failure is not a notice.
  void callback_threw(const CallbackFailure& failure) noexcept;
  void alert(AlertKind kind, std::string_view text);
  // Calls each observer; what one throws is for the caller.
  template <class Call>
  void observe(Call&& call) const {
    for (Observer* const each : observers_) call(*each);
  }
  // A Logon was refused, or several were.
  void refused(const LogonRefusal& refusal);
  // A session was added or removed while the loop runs.
  void added(SessionHandle& session, const std::string& name);
  void removed(SessionHandle& session);

 private:
  void record(std::size_t number, Direction direction, std::string_view bytes, Instant now) noexcept {
    if (logs_.messages) {
      logs_.messages->record(static_cast<std::uint32_t>(number),
                             direction == Direction::in ? LogDirection::in : LogDirection::out, now.utc, bytes);
    }
    if (taps_.any()) [[unlikely]]
      taps_.record(number, direction, now, bytes);
  }
  [[gnu::cold, gnu::noinline]] void record_masked(std::size_t number, Direction direction, std::string_view bytes,
                                                  Instant now);
  void write(SessionHandle& session, Notice notice, SeqNum seq, std::string_view text, UtcTime now);

  std::span<Observer* const> observers_;
  LoopLogs logs_;
  LoopTaps taps_;
  MonotonicTime omitted_due_ = MonotonicTime::max();
};

}  // namespace nfx
