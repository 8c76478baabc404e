// How many refused Logons of each reason are reported individually: a flood of them must not flood logs and callbacks.
// Thread: one owner, the poll thread. Cost: an array look-up for each; no part of a hot path. Bounded: of each reason
// `burst` reports, then one per second; and within a second one with the number of the others.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "engine/line_limits.hpp"
#include "nexusfix/session/notice.hpp"

namespace nfx {

class RefusalLimit {
 public:
  explicit RefusalLimit(std::uint32_t burst) {
    for (Kind& each : kinds_) each.limit = LineLimit{burst};
  }

  // Whether this one is reported. Otherwise it is counted, and deadline() is when the count is due.
  [[nodiscard]] bool admit(LogonRefusalReason reason, std::string_view peer, MonotonicTime now) {
    Kind& of = kinds_[static_cast<std::size_t>(reason)];
    if (of.limit.take(now)) return true;
    of.last_peer = peer;
    deadline_ = std::min(deadline_, of.limit.due());
    return false;
  }

  // When a count is due; MonotonicTime::max() when nothing was held back.
  [[nodiscard]] MonotonicTime deadline() const noexcept { return deadline_; }
  // Calls report(reason, count, last peer) for reports that are due; at the end for all.
  template <class Report>
  void report_counts(MonotonicTime now, bool at_end, Report&& report) {
    deadline_ = MonotonicTime::max();
    for (const LogonRefusalRow& row : logon_refusal_rows) {
      Kind& of = kinds_[static_cast<std::size_t>(row.reason)];
      if (of.limit.omitted() == 0) continue;
      if (of.limit.due() > now && !at_end) {
        deadline_ = std::min(deadline_, of.limit.due());
        continue;
      }
      if (!at_end) static_cast<void>(of.limit.take(now));  // this report counts too
      const std::string last_peer = std::exchange(of.last_peer, {});
      report(row.reason, of.limit.take_omitted(), std::string_view{last_peer});
    }
  }

 private:
  struct Kind {
    LineLimit limit;
    std::string last_peer{};
  };

  std::array<Kind, logon_refusal_rows.size()> kinds_{};
  MonotonicTime deadline_ = MonotonicTime::max();
};

}  // namespace nfx
