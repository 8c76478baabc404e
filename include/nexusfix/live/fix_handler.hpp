// Market data by FIX: the inputs of a feed, which are a session that logs on and out and its application messages
// (FixHandler); and the application of an engine whose callbacks are these inputs (FixSessionFeed).
// Thread: one owner, the session's poll thread; time comes from the inputs. Cost: as FixFeed. take() of bytes parses
// them first, as in a replay; a live session has parsed them already. One copy per message while recording. No
// allocation after construction. Lifetime: handler, books and recorder outlive the application. Errors: the constructor
// throws std::invalid_argument for invalid symbols; afterwards counters and state(). Bounds: as FixFeed; `max_fields`
// of a message that is read from bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/engine/application.hpp"
#include "nexusfix/live/live_feed.hpp"
#include "nexusfix/market/feed_books.hpp"
#include "nexusfix/market/fix_feed.hpp"
#include "nexusfix/market/order_book.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx {
struct EngineConfig;
}

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

template <>
struct FeedOf<FixHandlerOptions> {
  template <class Output>
  using Handler = FixHandler;
  using Books = OrderBooks;
  static constexpr bool orders_unique = false;
};

// Gives a configuration space for snapshots of whole books: fields, message size and send buffers.
void make_room_for_snapshots(EngineConfig& config);

// Where the handler's requests go: the session that is logged on.
class FixSessionPorts : public NoPorts {
 public:
  bool send(std::uint16_t line, std::string_view body) noexcept override;

  void use(SessionHandle* session) noexcept { session_ = session; }
  [[nodiscard]] SessionHandle* session() const noexcept { return session_; }  // null: it is not logged on

 private:
  SessionHandle* session_ = nullptr;
};

// A program that also sends orders passes these callbacks on, as SessionTrader does. `Handler`: a FixHandler, or what
// takes the same inputs.
template <FeedHandler Handler>
class FixSessionFeed : public Application {
 public:
  // All arguments outlive this object. `ports` belong to the handler, `newest` to the books that it fills. `recorder`
  // may be null.
  FixSessionFeed(const LiveFeedOptions& options, FixSessionPorts& ports, Handler& handler, const NewestEvent& newest,
                 Recorder* recorder)
      : ports_(ports), handler_(handler), newest_(newest), recorder_(recorder), lag_(options.lag_max) {}

  void on_logon(SessionHandle& session) override {
    ports_.use(&session);
    ++connection_;
    logged_on_ = true;
    take(input(InputKind::opened, session.now().utc));
  }
  Handled on_message(SessionHandle& session, const MessageView& message) override {
    FeedInput received = input(InputKind::received, session.now().utc, message.bytes());
    if (const auto stamp = session.received_at()) {
      received.at = *stamp;
      received.stamp = StampSource::kernel;
    }
    note(received);
    handler_.take(received, message);
    lag_.update(newest_, session.now().utc, counters_);
    note_state();
    return Handled::done;
  }
  void on_logout(SessionHandle& session, std::string_view reason) override {
    reason_ = reason;
    if (!logged_on_) return;  // a Logon that was refused
    logged_on_ = false;
    ports_.use(nullptr);
    take(input(InputKind::closed, session.now().utc));
  }
  Duration on_turn(Instant now) override {
    if (FeedClock::of(now.utc) >= handler_.due_at()) {
      ++counters_.clock_inputs;
      take(input(InputKind::clock, now.utc));
    }
    const MonotonicTime due = handler_.due_at();
    if (due == MonotonicTime::max()) return Duration::max();
    return std::max(due - FeedClock::of(now.utc), Duration::zero());
  }

  [[nodiscard]] FeedState state() const noexcept {
    const FeedState state = handler_.state();
    return state == FeedState::live && lag_.outdated() ? FeedState::stale : state;
  }
  [[nodiscard]] const FeedLag& lag() const noexcept { return lag_; }
  [[nodiscard]] const LiveCounters& counters() const noexcept { return counters_; }
  // Why the session ended last, as its Logout has it.
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

 private:
  [[nodiscard]] FeedInput input(InputKind kind, UtcTime at, std::string_view bytes = {}) const noexcept {
    return {kind, StampSource::program, FixLines::session, connection_, at, bytes};
  }
  void note(const FeedInput& given) {
    ++counters_.inputs;
    if (recorder_ != nullptr) record(*recorder_, given);
  }
  void take(const FeedInput& given) {
    note(given);
    handler_.take(given);
    note_state();
  }
  void note_state() noexcept {
    const bool live = state() == FeedState::live;
    if (live == live_) [[likely]]
      return;
    ++(live ? counters_.became_live : counters_.stopped_live);
    live_ = live;
  }

  FixSessionPorts& ports_;
  Handler& handler_;
  const NewestEvent& newest_;
  Recorder* recorder_;
  FeedLag lag_;
  LiveCounters counters_;
  std::uint32_t connection_ = 0;
  bool logged_on_ = false;
  bool live_ = false;
  std::string reason_;
};

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
