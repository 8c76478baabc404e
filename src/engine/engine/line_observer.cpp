// Formats what an engine does as lines for people, with the same as fields for programs.
#include "nexusfix/engine/program.hpp"

#include <chrono>
#include <initializer_list>
#include <string>

#include "base/clocks.hpp"
#include "engine/metrics.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/log/line_log.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx {
namespace {

using Fields = std::initializer_list<LogField>;

void write(LineLog& lines, LogEntry entry, Fields fields) {
  entry.fields = {fields.begin(), fields.size()};
  lines.line(entry);
  lines.flush();
}

// "what: detail", with the detail as a field too where there is one.
std::string joined(std::string_view what, std::string_view detail) {
  std::string text{what};
  if (!detail.empty()) text.append(": ").append(detail);
  return text;
}

void write(LineLog& lines, const SessionHandle& session, LogEntry entry, Fields fields = {}) {
  const std::string name = identity(session.config());
  entry.time = session.now().utc;
  entry.session = name;
  write(lines, entry, fields);
}

// As much of a name in a refused Logon as the line has.
std::string_view cut(std::string_view name) { return name.substr(0, 64); }

}  // namespace

std::string_view to_string(AlertKind kind) noexcept {
  switch (kind) {
    case AlertKind::store: return "store";
    case AlertKind::log: return "log";
    case AlertKind::placement: return "placement";
    case AlertKind::callback: return "callback threw";
  }
  return "alert";
}

void LineObserver::on_logon_refused(const LogonRefusal& refusal) {
  const std::string text = "Logon refused: " + to_string(refusal);
  write(refusals_, {.time = refusal.time, .level = LogLevel::warning, .what = "Logon refused", .text = text},
        {{"reason", row_of(refusal.reason).name},
         {"peer", cut(refusal.peer)},
         {"begin_string", cut(refusal.begin_string)},
         {"sender_comp_id", cut(refusal.sender_comp_id)},
         {"target_comp_id", cut(refusal.target_comp_id)},
         {"count", refusal.count}});
}

void LineObserver::on_added(SessionHandle& session) { write(lines_, session, {.what = "added", .text = "added"}); }

void LineObserver::on_removed(SessionHandle& session) {
  write(lines_, session, {.what = "removed", .text = "removed"});
}

void LineObserver::on_session_up(SessionHandle& session) {
  const std::uint64_t in = value(session.next_inbound()), out = value(session.next_outbound());
  const std::string text = "logged on, next in " + std::to_string(in) + ", next out " + std::to_string(out);
  write(lines_, session, {.what = "logged on", .text = text}, {{"next_in", in}, {"next_out", out}});
}

void LineObserver::on_session_message(SessionHandle& session, const MessageView& reject) {
  if (reject.msg_type() != msg_type::reject) return;
  const std::string_view number = reject.get_view(Tag::RefSeqNum), reason = reject.get_view(Tag::Text);
  const std::string text = joined("the peer rejected message " + std::string{number}, reason);
  write(lines_, session, {.level = LogLevel::warning, .what = "rejected by the peer", .text = text},
        {{"ref_seq_num", number}, {"reason", reason}});
}

void LineObserver::on_session_down(SessionHandle& session, std::string_view reason) {
  if (reason == "logged out") reason = {};
  std::string text = joined("logged out", reason);
  // In the words of QuickFIX, which many peers use too.
  if (reason.contains("MsgSeqNum too low"))
    text +=
        ": its sender has lost numbers. Agree with the counterparty on the next ones, and set them here with "
        "nfx session set NAME --next-in N --next-out N, or reset both sides";
  write(lines_, session, {.what = "logged out", .text = text}, {{"reason", reason}});
}

void LineObserver::on_cancel_due(SessionHandle& session, std::string_view reason) {
  const std::string text = joined("open orders should be cancelled", reason);
  write(lines_, session, {.level = LogLevel::warning, .what = "cancel", .text = text}, {{"reason", reason}});
}

void LineObserver::on_notice(SessionHandle& session, Notice notice, SeqNum seq, std::string_view text) {
  std::string what = "notice: ";
  what += to_string(notice);
  if (seq != SeqNum{}) what += ", message " + std::to_string(value(seq));
  const std::string line = joined(what, text);
  write(lines_, session, {.level = LogLevel::notice, .what = "notice", .text = line},
        {{"notice", to_string(notice)}, {"seq_num", std::uint64_t{value(seq)}}, {"detail", text}});
}

void LineObserver::on_alert(AlertKind kind, std::string_view text) {
  const std::string_view what = to_string(kind);
  const bool is_error = kind != AlertKind::placement;
  const std::string line =
      joined(kind == AlertKind::callback ? "a callback of the application threw an exception" : what, text);
  write(lines_,
        {.time = read_utc(), .level = is_error ? LogLevel::error : LogLevel::warning, .what = what, .text = line},
        {{"detail", text}});
}

void LineObserver::on_metrics(MetricsPage& page) {
  const auto add = [&page](const LineLog& log) {
    const LineCounters counters = log.counters();
    for (const CounterRow<LineCounters>& row : counter_rows<LineCounters>)
      page.counter({row.metric, row.help}, counters.*row.member, {{"stream", to_string(log.stream())}});
  };
  add(lines_);
  if (&refusals_ != &lines_) add(refusals_);
}

}  // namespace nfx
