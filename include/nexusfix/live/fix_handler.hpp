// The inputs of a market data feed by FIX: a session that logs on and out, and its application messages.
// Thread: one owner; time is that of the inputs. Cost: that of FixFeed; take() of bytes parses them first, as a replay
// does, a live session has them parsed already. No allocation after construction. Errors: the constructor throws
// std::invalid_argument for symbols that cannot be; afterwards counters and state(). Bounds: those of FixFeed;
// `max_fields` of a message that is read from bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/live/feed_input.hpp"
#include "nexusfix/market/feed_output.hpp"
#include "nexusfix/market/fix_feed.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx::market {

struct FixLines {
  static constexpr std::uint16_t session = 0;
};

struct FixInstrument {
  std::string symbol;
  unsigned quantity_scale = 0;
};

struct FixHandlerOptions {
  std::vector<FixInstrument> instruments;
  bool by_order = true;  // AggregatedBook=N
  FixFeedOptions feed{};
  std::uint32_t max_fields = 32768;
};

struct FixHandlerCounters {
  std::uint64_t logons = 0;
  std::uint64_t logouts = 0;
  std::uint64_t messages = 0;
  std::uint64_t unread = 0;
  std::uint64_t requests_refused = 0;

  friend bool operator==(const FixHandlerCounters&, const FixHandlerCounters&) = default;
};

class FixHandler final : private FeedOutput {
 public:
  // A request is given to the ports as the body of a MarketDataRequest (V).
  // Throws std::runtime_error for a symbol that does not fit.
  FixHandler(const FixHandlerOptions& options, EventOutput events, FeedPorts& ports);
  FixHandler(const FixHandler&) = delete;
  FixHandler& operator=(const FixHandler&) = delete;

  void take(const FeedInput& input);
  // The same for a message that is parsed already; `input` has its bytes.
  void take(const FeedInput& input, const MessageView& message);

  [[nodiscard]] MonotonicTime due_at() const noexcept { return logged_on_ ? feed_.due_at() : MonotonicTime::max(); }
  [[nodiscard]] FeedState state() const noexcept { return state_; }
  [[nodiscard]] const FixFeed& feed() const noexcept { return feed_; }
  [[nodiscard]] const FixHandlerCounters& counters() const noexcept { return counters_; }

 private:
  void event(const Event& event) noexcept override { events_.event(event); }
  void request_snapshot(InstrumentIndex index) noexcept override;
  Instant begin(const FeedInput& input);
  void read(const MessageView& message, Instant now);
  void update_state() noexcept;

  FeedPorts& ports_;
  bool by_order_;
  FeedClock clock_;
  EventOutput events_;
  FixFeed feed_;
  MessageView view_;
  FixHandlerCounters counters_;
  FeedState state_ = FeedState::waiting;
  bool logged_on_ = false;
  std::array<char, 1024> buffer_;
};

static_assert(FeedHandler<FixHandler>);

}  // namespace nfx::market

namespace nfx {

template <>
inline constexpr auto counter_rows<market::FixHandlerCounters> = std::to_array<CounterRow<market::FixHandlerCounters>>({
    {&market::FixHandlerCounters::logons, "nfx_fix_feed_logons_total", "Logons of the session."},
    {&market::FixHandlerCounters::logouts, "nfx_fix_feed_logouts_total", "Ends of the session."},
    {&market::FixHandlerCounters::messages, "nfx_fix_feed_messages_total", "Application messages received."},
    {&market::FixHandlerCounters::unread, "nfx_fix_feed_unread_total",
     "Messages that could not be used, or not as a whole."},
    {&market::FixHandlerCounters::requests_refused, "nfx_fix_feed_requests_refused_total",
     "Requests that the session could not send; they are repeated."},
});
static_assert(rows_are_complete<market::FixHandlerCounters>());

}  // namespace nfx
