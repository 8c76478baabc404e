// What happens when a callback of the application throws: a line with the exception's text, and the end of its session.
// The peer reads "internal error" in the Logout; the exception's text stays here. The message whose callback threw is
// consumed. Messages after it are not, so the peer sends them again after the next Logon.

#include "engine/callback_failure.hpp"
#include "engine/session_runner.hpp"

namespace nfx {
namespace {

std::string_view callback_of(const Action& action) noexcept {
  switch (action.kind) {
    case ActionKind::deliver: return "on_message";
    case ActionKind::deliver_reject: return "on_reject";
    case ActionKind::logged_on: return "on_logon";
    case ActionKind::send:
    case ActionKind::reset_store:
    case ActionKind::session_message:
    case ActionKind::logged_out:
    case ActionKind::replay:
    case ActionKind::disconnect:
    case ActionKind::notice: break;
  }
  return "callback";  // each of these catches its own
}

}  // namespace

[[gnu::cold, gnu::noinline]] void SessionRunner::callback_threw(LiveSession& session,
                                                                std::string_view callback) noexcept {
  const CallbackFailure failure{callback};
  ++session.counts.callback_exceptions;
  session.enabled = false;
  session.callback_failed = true;
  session.ends_because = EndReason::callback_threw;
  session.reconnect.cancel();
  failed_.add(session.index);
  if (callback == "on_notice") {  // which gets no notice of its own failure
    log_event(session, to_string(Notice::callback_threw), failure.text());
    reports_.callback_threw(failure);
  } else {
    report_notice(session, Notice::callback_threw, SeqNum{}, failure.text());
  }
}

[[gnu::cold, gnu::noinline]] void SessionRunner::callback_threw(LiveSession& session, const Action& action) noexcept {
  callback_threw(session, callback_of(action));
  abandon(session);
}

[[gnu::cold, gnu::noinline]] void SessionRunner::callback_threw(std::string_view callback) noexcept {
  const CallbackFailure failure{callback};
  logons_.count_callback_exception();
  if (!callback_lines_.take(now_.monotonic)) return;
  reports_.event(to_string(Notice::callback_threw), failure.text(), now_.utc);
  reports_.callback_threw(failure);
}

void SessionRunner::abandon(LiveSession& session) noexcept {
  NFX_ASSERT(!session.in_callback && !session.enabled);
  failed_.erase(session.index);
  if (!session.connection.exists()) return;
  const bool unkept = session.journal_store != nullptr && !can_record_numbers(session);
  if (session.connection.connecting || unkept) return session.drop_connection();
  step(session, 0, [&](Actions& out) { session.session.abandon("internal error", now_, out); });
}

void SessionRunner::end_failed() noexcept {
  failed_.drain([this](std::uint32_t index) { abandon(sessions_[index]); });
}

void SessionRunner::store_alert(const std::string& text) noexcept {
  try {
    reports_.alert(AlertKind::store, text);
  } catch (...) {
    callback_threw("on_alert");
  }
}

// Then the Logon is refused.
bool SessionRunner::may_log_on(const SessionSettings& settings, const MessageView& logon, PendingLogon& pending,
                               bool is_new) noexcept {
  try {
    return logons_.may_log_on(settings, logon, pending, is_new, network_.tls_peer(pending.id));
  } catch (...) {
    callback_threw("on_logon_request");
    pending.refused = LogonRefusalReason::application;
    pending.refused_text = "on_logon_request threw an exception";
    return false;
  }
}

}  // namespace nfx
