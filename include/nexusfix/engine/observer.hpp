// Callbacks for watching an engine: traffic, the beginnings and ends of sessions, notices, alerts and metrics. An
// observer sends nothing; a program that answers messages is an Application.
// Thread: a session's poll thread, unless a callback says otherwise. Cost: one virtual call per message and observer;
// nothing without an observer. Lifetime: views last until the callback returns. Errors: if a callback of a session
// throws, that session is logged out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "nexusfix/engine/session_handle.hpp"
#include "nexusfix/session/notice.hpp"

namespace nfx {

class MetricsPage;
class ValidationReport;

// A Logon that was refused, or a connection that was closed before its Logon; or several that were not reported
// individually. The texts come from the network: make them printable before they are written anywhere.
struct LogonRefusal {
  LogonRefusalReason reason{};
  UtcTime time{};
  std::string_view peer{};  // its address: "192.0.2.7:51234"
  // As in the Logon; empty without a Logon.
  std::string_view begin_string{};
  std::string_view sender_comp_id{};
  std::string_view target_comp_id{};
  std::string_view text{};                 // details of the reason; may be empty
  const SessionConfig* session = nullptr;  // the one the Logon names; null: none
  // The number of refused Logons that this report stands for. Above 1, `peer` is the last one's, and the names are
  // empty.
  std::uint64_t count = 1;
};

// "wrong Username or Password: FIX.4.4 DESK->VENUE from 192.0.2.7:51234", printable.
[[nodiscard]] std::string to_string(const LogonRefusal& refusal);

enum class AlertKind : std::uint8_t {
  // A store could not be opened, so that a Logon is dropped, or modes of its files were corrected. On its poll thread.
  store,
  // Logs or metrics cannot be written, once per outage, or a file's mode was corrected. On the log's thread, or at
  // start.
  log,
  // A thread no longer runs as [placement] planned: its mask changed, it was moved, or its CPU was given to others. On
  // a thread of the engine's own, at most once per check_interval_ms and thread.
  placement,
  // A callback that has no session threw an exception, and the engine continues: "on_turn: " and the exception's
  // what(). On the thread that called it; at most once per second on a poll thread. Exceptions in callbacks of a
  // session are notices.
  callback,
};
[[nodiscard]] std::string_view to_string(AlertKind kind) noexcept;

class Observer {
 public:
  virtual ~Observer() = default;

  // Every message in and out, session messages included, as its bytes. The bytes are in the session's output buffer, so
  // within this call send() returns not_here, and the other requests are ignored.
  virtual void on_traffic([[maybe_unused]] SessionHandle& session, [[maybe_unused]] Direction direction,
                          [[maybe_unused]] std::string_view message) {}
  // A session message of the peer that was accepted: Logon, before on_session_up, Heartbeat, TestRequest,
  // ResendRequest, Reject, SequenceReset, Logout. Its effects on the session are complete; their callbacks follow.
  virtual void on_session_message([[maybe_unused]] SessionHandle& session,
                                  [[maybe_unused]] const MessageView& message) {}
  // Before Application::on_message: what is wrong with the message, which is delivered all the same. ValidationReport
  // is in nexusfix/dictionary/validator.hpp.
  virtual void on_violations([[maybe_unused]] SessionHandle& session, [[maybe_unused]] const MessageView& message,
                             [[maybe_unused]] const ValidationReport& report) {}
  // A session was added after the start: made from a template, or by Engine::add_session.
  virtual void on_added([[maybe_unused]] SessionHandle& session) {}
  // A session was removed; its handle is invalid when this returns.
  virtual void on_removed([[maybe_unused]] SessionHandle& session) {}
  // Before Application::on_logon, on_logout and on_cancel.
  virtual void on_session_up([[maybe_unused]] SessionHandle& session) {}
  virtual void on_session_down([[maybe_unused]] SessionHandle& session, [[maybe_unused]] std::string_view reason) {}
  virtual void on_cancel_due([[maybe_unused]] SessionHandle& session, [[maybe_unused]] std::string_view reason) {}
  // Something unusual that the session has handled.
  virtual void on_notice([[maybe_unused]] SessionHandle& session, [[maybe_unused]] Notice notice,
                         [[maybe_unused]] SeqNum seq, [[maybe_unused]] std::string_view text) {}
  // A Logon to one of our acceptors was refused, or its connection closed before. Rate-limited per reason:
  // max_refusal_reports in a burst, then one per second; LogonRefusal::count has how many a report stands for.
  virtual void on_logon_refused([[maybe_unused]] const LogonRefusal& refusal) {}
  // Something is wrong that concerns no single session.
  virtual void on_alert([[maybe_unused]] AlertKind kind, [[maybe_unused]] std::string_view text) {}
  // The metrics page is about to be written: the program adds its own. On the log's thread; the last time on the thread
  // that destroys the engine.
  virtual void on_metrics([[maybe_unused]] MetricsPage& page) {}
};

}  // namespace nfx
