// Passes a loop's events to the observers and the logs, with one line per kind and second where a peer causes them.
#include "engine/loop_reports.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace nfx {
namespace {

// "TEXT (12 more since the last line)". No allocation: it is written while sessions are served.
class OmittedText {
 public:
  OmittedText(std::string_view text, std::uint64_t omitted) noexcept {
    constexpr std::string_view unit = " more since the last line";
    add(text.substr(0, text_.size() - unit.size() - 24));
    if (!text.empty()) add(" (");
    size_ = static_cast<std::size_t>(std::to_chars(text_.data() + size_, text_.data() + text_.size(), omitted).ptr -
                                     text_.data());
    add(unit);
    if (!text.empty()) add(")");
  }
  [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), size_}; }

 private:
  void add(std::string_view part) noexcept {
    std::ranges::copy(part, text_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += part.size();
  }

  std::array<char, 320> text_;
  std::size_t size_ = 0;
};

}  // namespace

bool LoopReports::notice(SessionHandle& session, LineLimits& limits, Notice notice, SeqNum seq, std::string_view text,
                         Instant now) {
  LineLimit* const limit = limits.of(notice);
  if (limit != nullptr && !limit->take(now.monotonic)) {
    omitted_due_ = std::min(omitted_due_, limit->due());
    return false;
  }
  const std::uint64_t omitted = limit == nullptr ? 0 : limit->take_omitted();
  if (omitted == 0) {
    write(session, notice, seq, text, now.utc);
  } else {
    write(session, notice, seq, OmittedText{text, omitted}.view(), now.utc);
  }
  return true;
}

void LoopReports::write(SessionHandle& session, Notice notice, SeqNum seq, std::string_view text, UtcTime now) {
  event(session, to_string(notice), text, now);
  observe([&](Observer& each) { each.on_notice(session, notice, seq, text); });
}

void LoopReports::peer_reject(const SessionHandle& session, LineLimits& limits, std::string_view text,
                              Instant now) noexcept {
  LineLimit& limit = limits.peer_rejects;
  if (!limit.take(now.monotonic)) {
    omitted_due_ = std::min(omitted_due_, limit.due());
    return;
  }
  const std::uint64_t omitted = limit.take_omitted();
  event(session, "the peer rejected a message", omitted == 0 ? text : OmittedText{text, omitted}.view(), now.utc);
}

// With `all`, more than one line per second: the session is gone, and nothing else reports them.
void LoopReports::omitted(SessionHandle& session, LineLimits& limits, Instant now, bool all) {
  const auto is_due = [&](LineLimit& limit) {
    if (limit.omitted() == 0) return false;
    if (limit.due() <= now.monotonic) return limit.take(now.monotonic);  // this line counts for the limit too
    if (!all) omitted_due_ = std::min(omitted_due_, limit.due());
    return all;
  };
  if (is_due(limits.peer_rejects)) {
    event(session, "the peer rejected a message", OmittedText{{}, limits.peer_rejects.take_omitted()}.view(), now.utc);
  }
  for (const NoticeRow& row : notice_rows) {
    LineLimit* const limit = limits.of(row.notice);
    if (limit == nullptr || !is_due(*limit)) continue;
    const std::uint64_t count = limit->take_omitted();
    write(session, row.notice, SeqNum{}, OmittedText{{}, count}.view(), now.utc);
  }
}

void LoopReports::event(const SessionHandle& session, std::string_view what, std::string_view detail,
                        UtcTime now) noexcept {
  if (logs_.events) logs_.events->record(static_cast<std::uint32_t>(session.id()), now, what, detail);
}

void LoopReports::event(std::string_view what, std::string_view detail, UtcTime now) noexcept {
  if (logs_.events) logs_.events->record(no_log_session, now, what, detail);
}

void LoopReports::callback_threw(const CallbackFailure& failure) noexcept {
  try {
    alert(AlertKind::callback, failure.text());
  } catch (...) {
    // The event log has the first one; the counters have both.
  }
}

void LoopReports::alert(AlertKind kind, std::string_view text) {
  observe([&](Observer& each) { each.on_alert(kind, text); });
}

void LoopReports::refused(const LogonRefusal& refusal) {
  if (logs_.events) logs_.events->record(no_log_session, refusal.time, "Logon refused", to_string(refusal));
  observe([&](Observer& each) { each.on_logon_refused(refusal); });
}

void LoopReports::record_masked(std::size_t number, Direction direction, std::string_view bytes, Instant now) {
  if (!logs_.messages && !taps_.any()) return;
  std::string masked{bytes};
  mask_secrets(masked);
  record(number, direction, masked, now);
}

void LoopReports::added(SessionHandle& session, const std::string& name) {
  if (logs_.name_session) logs_.name_session(session.id(), &name);
  observe([&](Observer& each) { each.on_added(session); });
}

void LoopReports::removed(SessionHandle& session) {
  observe([&](Observer& each) { each.on_removed(session); });
  if (logs_.name_session) logs_.name_session(session.id(), nullptr);
}

}  // namespace nfx
