#include "engine/loop_reports.hpp"

namespace nfx {

void LoopReports::notice(SessionHandle& session, Notice notice, SeqNum seq, std::string_view text, UtcTime now) {
  event(session, to_string(notice), text, now);
  application_.on_notice(session, notice, seq, text);
}

void LoopReports::event(const SessionHandle& session, std::string_view what, std::string_view detail,
                        UtcTime now) noexcept {
  if (logs_.events) logs_.events->record(static_cast<std::uint32_t>(session.id()), now, what, detail);
}

void LoopReports::handshake_failed(std::string_view peer, std::string_view why, UtcTime now) {
  if (logs_.events) logs_.events->record(no_log_session, now, "tls: " + std::string{peer}, why);
  application_.on_tls_failure(peer, why);
}

void LoopReports::added(SessionHandle& session, const std::string& name) {
  if (logs_.name_session) logs_.name_session(session.id(), &name);
  application_.on_added(session);
}

void LoopReports::removed(SessionHandle& session) {
  application_.on_removed(session);
  if (logs_.name_session) logs_.name_session(session.id(), nullptr);
}

}  // namespace nfx
