// What callbacks do that a program does not override: a line for people, where nfx::run or `nfx serve` has set a log.
#include "nexusfix/engine/application.hpp"

#include <chrono>
#include <string>

#include "nexusfix/base/clocks.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/observe/line_log.hpp"
#include "nexusfix/observe/metrics.hpp"

namespace nfx {
namespace {

void write(LineLog* lines, UtcTime time, const std::string& text) {
  lines->line(time, text);
  lines->flush();
}

void write(LineLog* lines, const SessionHandle& session, std::string_view what, std::string_view detail = {}) {
  std::string text = identity(session.config()) + ' ';
  text += what;
  if (!detail.empty()) text.append(": ").append(detail);
  write(lines, session.now().utc, text);
}

// On any thread.
void write_now(LineLog* lines, std::string_view what, std::string_view detail) {
  if (lines == nullptr) return;
  write(lines, read_utc(), std::string{what} + ": " + std::string{detail});
}

}  // namespace

void Application::on_logon_refused(const LogonRefusal& refusal) {
  if (refusals_ != nullptr) write(refusals_, refusal.time, "Logon refused: " + to_string(refusal));
}

void Application::on_added(SessionHandle& session) {
  if (lines_ != nullptr) write(lines_, session, "added");
}

void Application::on_removed(SessionHandle& session) {
  if (lines_ != nullptr) write(lines_, session, "removed");
}

void Application::on_logon(SessionHandle& session) {
  if (lines_ == nullptr) return;
  write(lines_, session,
        "logged on, next in " + std::to_string(value(session.next_inbound())) + ", next out " +
            std::to_string(value(session.next_outbound())));
}

void Application::on_reject(SessionHandle& session, const MessageView& reject) {
  if (lines_ == nullptr) return;
  write(lines_, session, "the peer rejected message " + std::string{reject.get_view(Tag::RefSeqNum)},
        reject.get_view(Tag::Text));
}

void Application::on_logout(SessionHandle& session, std::string_view reason) {
  if (lines_ != nullptr) write(lines_, session, "logged out", reason == "logged out" ? std::string_view{} : reason);
}

void Application::on_cancel(SessionHandle& session, std::string_view reason) {
  if (lines_ != nullptr) write(lines_, session, "open orders should be cancelled", reason);
}

void Application::on_notice(SessionHandle& session, Notice notice, SeqNum seq, std::string_view text) {
  if (lines_ == nullptr) return;
  std::string what = "notice: ";
  what += to_string(notice);
  if (seq != SeqNum{}) what += ", message " + std::to_string(value(seq));
  write(lines_, session, what, text);
}

void Application::on_store_alert(std::string_view text) { write_now(lines_, "store", text); }

void Application::on_log_alert(std::string_view text) { write_now(lines_, "log", text); }

void Application::on_placement_alert(std::string_view text) { write_now(lines_, "placement", text); }

void Application::on_callback_threw(std::string_view callback, std::string_view what) {
  write_now(lines_, "a callback of the application threw an exception, " + std::string{callback}, what);
}

void Application::on_metrics(MetricsPage& page) {
  const auto add = [&page](const LineLog& log) {
    const LineCounters counters = log.counters();
    for (const CounterRow<LineCounters>& row : counter_rows<LineCounters>)
      page.counter({row.metric, row.help}, counters.*row.member, {{"stream", to_string(log.stream())}});
  };
  if (lines_ != nullptr) add(*lines_);
  if (refusals_ != nullptr && refusals_ != lines_) add(*refusals_);
}

}  // namespace nfx
