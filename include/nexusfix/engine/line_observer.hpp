// Writes a line for each logon, logout, reject, notice, refused Logon and alert, as programs of nfx::run do on standard
// error, and counts the lines in the metrics. A program's own observer may derive from it.
// Thread: any; the lines are written by LineLog's. Cost: formats one line per event; nothing per message. Lifetime:
// both logs outlive it. When a log is full its lines are dropped and counted.
#pragma once

#include "nexusfix/engine/observer.hpp"

namespace nfx {

class LineLog;

class LineObserver : public Observer {
 public:
  // `refusals` is for refused Logons; it may be the same log.
  LineObserver(LineLog& lines, LineLog& refusals) noexcept : lines_(lines), refusals_(refusals) {}

  void on_session_message(SessionHandle& session, const MessageView& message) override;
  void on_added(SessionHandle& session) override;
  void on_removed(SessionHandle& session) override;
  void on_session_up(SessionHandle& session) override;
  void on_session_down(SessionHandle& session, std::string_view reason) override;
  void on_cancel_due(SessionHandle& session, std::string_view reason) override;
  void on_notice(SessionHandle& session, Notice notice, SeqNum seq, std::string_view text) override;
  void on_logon_refused(const LogonRefusal& refusal) override;
  void on_alert(AlertKind kind, std::string_view text) override;
  void on_metrics(MetricsPage& page) override;

 private:
  LineLog& lines_;
  LineLog& refusals_;
};

}  // namespace nfx
