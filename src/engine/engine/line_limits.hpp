// Limits the lines about one session: of each kind one per second, and how many had none. A peer that sends a million
// garbled messages gets one line per second in the event log, the application and the output of `nfx serve`.
// Thread: one owner. Cost: a few integer operations, no allocation. Errors: none.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "nexusfix/session/notice.hpp"
#include "nexusfix/session/token_bucket.hpp"

namespace nfx {

// Lines of one kind.
class LineLimit {
 public:
  // One per second on average, and `burst` in one burst.
  explicit LineLimit(std::uint32_t burst) noexcept : bucket_(1, burst) {}
  LineLimit() noexcept : LineLimit(1) {}

  // Whether a line may be written now; if not, it is counted as omitted.
  [[nodiscard]] bool take(MonotonicTime now) noexcept {
    if (bucket_.take(now)) return true;
    ++omitted_;
    return false;
  }
  [[nodiscard]] std::uint64_t omitted() const noexcept { return omitted_; }
  // For the line that reports the number of omitted ones.
  [[nodiscard]] std::uint64_t take_omitted() noexcept { return std::exchange(omitted_, 0); }
  // When the number of omitted lines has to be written; MonotonicTime::max() when none were omitted.
  [[nodiscard]] MonotonicTime due() const noexcept { return omitted_ == 0 ? MonotonicTime::max() : bucket_.ready_at(); }

 private:
  TokenBucket bucket_;
  std::uint64_t omitted_ = 0;
};

// The limits of one session, by kind of line.
struct LineLimits {
  // Null: not limited, since only this side causes the notice, at configured intervals.
  [[nodiscard]] LineLimit* of(Notice notice) noexcept {
    if (notice == Notice::connect_failed || notice == Notice::store_trouble || notice == Notice::schedule)
      return nullptr;
    return &notices[static_cast<std::size_t>(notice)];
  }
  [[nodiscard]] MonotonicTime due() const noexcept {
    MonotonicTime earliest = peer_rejects.due();
    for (const LineLimit& each : notices) earliest = std::min(earliest, each.due());
    return earliest;
  }

  std::array<LineLimit, notice_rows.size()> notices;
  LineLimit peer_rejects;
};

}  // namespace nfx
