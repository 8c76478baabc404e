// A feed that receives: its sockets, its handler, and a recording of every input if one is wanted. One thread calls
// poll() as often as it can, or lets it wait.
// Thread: one owner. Cost: that of sockets and handler, a clock read per poll, and a copy per input while recording; no
// allocation after the connections are open. Errors: those of FeedSockets and Recorder. Bounds: those of both.
//
// Outdated: a thread that cannot follow its feed has books of the past, which are complete but not current. The time of
// the newest event in the books is compared with the clock: more than `lag_max` is outdated, until it is less than half
// of it. The clocks of host and venue have to agree that far. state() is stale then.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>

#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/live/feed_input.hpp"
#include "nexusfix/live/feed_sockets.hpp"
#include "nexusfix/market/feed_books.hpp"

namespace nfx::market {

struct LiveCounters {
  std::uint64_t inputs = 0;
  std::uint64_t clock_inputs = 0;
  std::uint64_t became_outdated = 0;
  std::uint64_t became_live = 0;
  std::uint64_t stopped_live = 0;

  friend bool operator==(const LiveCounters&, const LiveCounters&) = default;
};

struct LiveFeedOptions {
  Duration lag_max = std::chrono::seconds{1};  // 0: never outdated
  Duration wait_max = std::chrono::milliseconds{100};
};

// Whether a feed's newest event is too old, and the changes of its state.
class FeedLag {
 public:
  explicit FeedLag(Duration most) noexcept : most_(most) {}

  // After inputs were taken. Inputs without an event, such as heartbeats without trading, change nothing.
  void update(const NewestEvent& newest, UtcTime now, LiveCounters& counters) noexcept {
    if (newest.count == seen_) return;
    seen_ = newest.count;
    lag_ = now - newest.time;
    if (most_ == Duration::zero()) return;
    const bool outdated = lag_ > (outdated_ ? most_ / 2 : most_);
    if (outdated && !outdated_) ++counters.became_outdated;
    outdated_ = outdated;
  }
  [[nodiscard]] bool outdated() const noexcept { return outdated_; }
  [[nodiscard]] Duration lag() const noexcept { return lag_; }

 private:
  Duration most_;
  Duration lag_{};
  std::uint64_t seen_ = 0;
  bool outdated_ = false;
};

// `Books` has newest(), a NewestEvent.
template <FeedHandler Handler, class Books>
class LiveFeed {
 public:
  // All outlive this. `recorder` may be null.
  LiveFeed(const LiveFeedOptions& options, FeedSockets& sockets, Handler& handler, const Books& books,
           Recorder* recorder)
      : options_(options),
        sockets_(sockets),
        handler_(handler),
        books_(books),
        recorder_(recorder),
        lag_(options.lag_max) {}

  // Takes what has arrived; waits for it up to `longest` if there is nothing. Returns how many inputs there were.
  std::size_t poll(UtcTime now, Duration longest = Duration::zero()) {
    if (FeedClock::of(now) >= handler_.due_at()) [[unlikely]] {
      ++counters_.clock_inputs;
      give({.kind = InputKind::clock, .stamp = StampSource::program, .at = now});
    }
    if (longest > Duration::zero()) longest = shortened(longest, now);
    const std::size_t count = sockets_.poll([this](const FeedInput& input) { give(input); }, longest);
    if (count != 0) lag_.update(books_.newest(), now, counters_);
    const bool live = state() == FeedState::live;
    if (live != live_) [[unlikely]] {
      ++(live ? counters_.became_live : counters_.stopped_live);
      live_ = live;
    }
    return count;
  }

  // What the books are worth.
  [[nodiscard]] FeedState state() const noexcept {
    const FeedState state = handler_.state();
    return state == FeedState::live && lag_.outdated() ? FeedState::stale : state;
  }
  [[nodiscard]] bool outdated() const noexcept { return lag_.outdated(); }
  [[nodiscard]] const FeedLag& lag() const noexcept { return lag_; }
  [[nodiscard]] const LiveCounters& counters() const noexcept { return counters_; }

 private:
  void give(const FeedInput& input) {
    ++counters_.inputs;
    if (recorder_ != nullptr) record(*recorder_, input);
    handler_.take(input);
  }
  [[nodiscard]] Duration shortened(Duration longest, UtcTime now) const noexcept {
    const Duration due = std::max(handler_.due_at(), MonotonicTime{}) - FeedClock::of(now);
    return std::clamp(due, Duration::zero(), std::min(longest, options_.wait_max));
  }

  LiveFeedOptions options_;
  FeedSockets& sockets_;
  Handler& handler_;
  const Books& books_;
  Recorder* recorder_;
  FeedLag lag_;
  LiveCounters counters_;
  bool live_ = false;
};

}  // namespace nfx::market

namespace nfx {

template <>
inline constexpr auto counter_rows<market::LiveCounters> = std::to_array<CounterRow<market::LiveCounters>>({
    {&market::LiveCounters::inputs, "nfx_feed_inputs_total",
     "Packets, pieces of streams, connections and clock readings that the feed took."},
    {&market::LiveCounters::clock_inputs, "nfx_feed_clock_inputs_total", "Times that timers ran between packets."},
    {&market::LiveCounters::became_outdated, "nfx_feed_outdated_total",
     "Times that the newest event was older than the limit: the thread did not follow."},
    {&market::LiveCounters::became_live, "nfx_feed_live_total", "Times that all books became live."},
    {&market::LiveCounters::stopped_live, "nfx_feed_not_live_total", "Times that a book stopped being live."},
});
static_assert(rows_are_complete<market::LiveCounters>());

}  // namespace nfx
