// What callbacks do that a program does not override: a line for people, where nfx::run or `nfx serve` has set a log.
#include "nexusfix/engine/application.hpp"

#include <chrono>
#include <initializer_list>
#include <string>

#include "nexusfix/base/clocks.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/observe/line_log.hpp"
#include "nexusfix/observe/metrics.hpp"

namespace nfx {
namespace {

using Fields = std::initializer_list<LogField>;

void write(LineLog* lines, LogEntry entry, Fields fields) {
  entry.fields = {fields.begin(), fields.size()};
  lines->line(entry);
  lines->flush();
}

// "what: detail", with the detail as a field too where there is one.
std::string joined(std::string_view what, std::string_view detail) {
  std::string text{what};
  if (!detail.empty()) text.append(": ").append(detail);
  return text;
}

void write(LineLog* lines, const SessionHandle& session, LogEntry entry, Fields fields = {}) {
  const std::string name = identity(session.config());
  entry.time = session.now().utc;
  entry.session = name;
  write(lines, entry, fields);
}

// On any thread.
void write_now(LineLog* lines, LogLevel level, std::string_view what, std::string_view detail) {
  if (lines == nullptr) return;
  const std::string text = joined(what, detail);
  write(lines, {.time = read_utc(), .level = level, .what = what, .text = text}, {{"detail", detail}});
}

// As much of a name in a refused Logon as the line has.
std::string_view cut(std::string_view name) { return name.substr(0, 64); }

}  // namespace

void Application::on_logon_refused(const LogonRefusal& refusal) {
  if (refusals_ == nullptr) return;
  const std::string text = "Logon refused: " + to_string(refusal);
  write(refusals_, {.time = refusal.time, .level = LogLevel::warning, .what = "Logon refused", .text = text},
        {{"reason", row_of(refusal.reason).name},
         {"peer", cut(refusal.peer)},
         {"begin_string", cut(refusal.begin_string)},
         {"sender_comp_id", cut(refusal.sender_comp_id)},
         {"target_comp_id", cut(refusal.target_comp_id)},
         {"count", refusal.count}});
}

void Application::on_added(SessionHandle& session) {
  if (lines_ != nullptr) write(lines_, session, {.what = "added", .text = "added"});
}

void Application::on_removed(SessionHandle& session) {
  if (lines_ != nullptr) write(lines_, session, {.what = "removed", .text = "removed"});
}

void Application::on_logon(SessionHandle& session) {
  if (lines_ == nullptr) return;
  const std::uint64_t in = value(session.next_inbound()), out = value(session.next_outbound());
  const std::string text = "logged on, next in " + std::to_string(in) + ", next out " + std::to_string(out);
  write(lines_, session, {.what = "logged on", .text = text}, {{"next_in", in}, {"next_out", out}});
}

void Application::on_reject(SessionHandle& session, const MessageView& reject) {
  if (lines_ == nullptr) return;
  const std::string_view number = reject.get_view(Tag::RefSeqNum), reason = reject.get_view(Tag::Text);
  const std::string text = joined("the peer rejected message " + std::string{number}, reason);
  write(lines_, session, {.level = LogLevel::warning, .what = "rejected by the peer", .text = text},
        {{"ref_seq_num", number}, {"reason", reason}});
}

void Application::on_logout(SessionHandle& session, std::string_view reason) {
  if (lines_ == nullptr) return;
  if (reason == "logged out") reason = {};
  const std::string text = joined("logged out", reason);
  write(lines_, session, {.what = "logged out", .text = text}, {{"reason", reason}});
}

void Application::on_cancel(SessionHandle& session, std::string_view reason) {
  if (lines_ == nullptr) return;
  const std::string text = joined("open orders should be cancelled", reason);
  write(lines_, session, {.level = LogLevel::warning, .what = "cancel", .text = text}, {{"reason", reason}});
}

void Application::on_notice(SessionHandle& session, Notice notice, SeqNum seq, std::string_view text) {
  if (lines_ == nullptr) return;
  std::string what = "notice: ";
  what += to_string(notice);
  if (seq != SeqNum{}) what += ", message " + std::to_string(value(seq));
  const std::string line = joined(what, text);
  write(lines_, session, {.level = LogLevel::notice, .what = "notice", .text = line},
        {{"notice", to_string(notice)}, {"seq_num", std::uint64_t{value(seq)}}, {"detail", text}});
}

void Application::on_store_alert(std::string_view text) { write_now(lines_, LogLevel::error, "store", text); }

void Application::on_log_alert(std::string_view text) { write_now(lines_, LogLevel::error, "log", text); }

void Application::on_placement_alert(std::string_view text) { write_now(lines_, LogLevel::warning, "placement", text); }

void Application::on_callback_threw(std::string_view callback, std::string_view what) {
  if (lines_ == nullptr) return;
  const std::string text = joined("a callback of the application threw an exception, " + std::string{callback}, what);
  write(lines_, {.time = read_utc(), .level = LogLevel::error, .what = "callback threw", .text = text},
        {{"callback", callback}, {"detail", what}});
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
