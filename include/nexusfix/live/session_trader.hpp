// Market data and orders on one poll thread: the application of an engine whose one session takes the orders of a
// Trader. Its market data comes by that session too (FIX), or by sockets, which are read in each iteration of the poll
// thread. trade() runs such an engine.
// Thread: the session's poll thread. Cost: as Trader, and the cost of recording a feed. Lifetime: trader, sockets and
// recorder outlive the application, and the application its engine. Errors: as the parts; the risk gate counts refusals
// by the venue.
//
// Orders are canceled when the feed becomes stale (also outdated, see LiveFeed) or ends, and at Engine::stop(), so also
// at SIGTERM. The session then logs out when no order is left, after `stop_timeout` at the latest. While some are left,
// cancels are repeated every `cancel_retry`, because an order with a pending change cannot be canceled yet.
//
// A recorder gets the feed's inputs, for backtest(). On session_line it also gets the time of each poll, and the
// session's reports with their times, for TraderReplay, which sends the same orders as the live trader.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/engine/application.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/engine/stop_listener.hpp"
#include "nexusfix/live/fix_handler.hpp"
#include "nexusfix/live/trader.hpp"
#include "nexusfix/strategy/order_messages.hpp"

namespace nfx::market {

// Orders by a FIX session; nowhere while there is none.
class FixSessionVenue : public NoSimulation {
 public:
  explicit FixSessionVenue(const strategy::OrderMessageOptions& orders) { messages_.emplace_back(orders); }
  // One for each instrument, in the feed's order.
  explicit FixSessionVenue(const std::vector<strategy::OrderMessageOptions>& orders)
      : messages_(orders.begin(), orders.end()) {}

  void use(SessionHandle* session) noexcept { session_ = session; }
  [[nodiscard]] SessionHandle* session() const noexcept { return session_; }  // null: it is not logged on

  // False: the session is not logged on, has no space, or the order does not fit its template.
  bool send(const strategy::Intent& intent, const strategy::OwnOrder& order, UtcTime now) noexcept;
  void flush() noexcept;

 private:
  SessionHandle* session_ = nullptr;
  std::vector<strategy::OrderMessages> messages_;
};
static_assert(Venue<FixSessionVenue, OrderBooks> && Venue<FixSessionVenue, LevelBooks>);

struct SessionTraderOptions {
  LiveFeedOptions feed{};
  bool orders = true;  // false: market data alone; every request is refused as not sent
  bool cancel_when_stale = true;
  Duration cancel_retry = std::chrono::milliseconds{100};
  Duration stop_timeout = std::chrono::seconds{1};  // 0: nothing is canceled at a stop
};

// Texts on session_line other than reports.
namespace session_mark {
inline constexpr std::string_view cancel_all = "cancel all", outdated = "outdated", current = "current", kill = "kill";
}

// The market data is by the session of the orders.
template <class AnyTrader>
inline constexpr bool fed_by_session = std::is_same_v<typename AnyTrader::Handler, FixHandler>;

template <class AnyTrader>
class SessionTrader final : public Application, public StopListener {
  using Feed = std::conditional_t<fed_by_session<AnyTrader>, FixSessionFeed<AnyTrader>, LiveFeed<AnyTrader>>;

 public:
  // `recorder` may be null.
  SessionTrader(AnyTrader& trader, Recorder* recorder, const SessionTraderOptions& options = {})
    requires(fed_by_session<AnyTrader>)
      : SessionTrader(trader, ports_, recorder, options) {}
  SessionTrader(AnyTrader& trader, FeedSockets& sockets, Recorder* recorder, const SessionTraderOptions& options = {})
    requires(!fed_by_session<AnyTrader>)
      : options_(options),
        trader_(trader),
        recorder_(recorder),
        feed_(recording_polls(options.feed), sockets, trader, trader.newest(), recorder) {
    trader.use(sockets);
  }
  ~SessionTrader() override { trader_.use_no_ports(); }
  SessionTrader(const SessionTrader&) = delete;
  SessionTrader& operator=(const SessionTrader&) = delete;

  void on_logon(SessionHandle& session) override {
    if (options_.orders) {
      mark(RecordingKind::opened, session.now().utc);
      trader_.venue().use(&session);
    }
    if constexpr (fed_by_session<AnyTrader>) feed_.on_logon(session);
  }
  Handled on_message(SessionHandle& session, const MessageView& message) override {
    set_now(session.now().utc);
    const auto report = strategy::read_report(message);
    if (report) {
      note(message.bytes());
      trader_.report(*report);
    } else if constexpr (fed_by_session<AnyTrader>) {
      return feed_.on_message(session, message);
    }
    return Handled::done;
  }
  void on_logout(SessionHandle& session, std::string_view reason) override {
    no_more_orders(session.now().utc);
    if constexpr (fed_by_session<AnyTrader>) feed_.on_logout(session, reason);
  }
  Duration on_turn(Instant now) override {
    trace_call();
    Duration longest;
    if constexpr (fed_by_session<AnyTrader>) {
      trader_.observer().poll_ends(now);
      if (trader_.due_at() <= FeedClock::of(now.utc)) set_now(now.utc);
      longest = feed_.on_turn(now);
      tend(now);
      trader_.observer().poll_begins();
    } else {
      longest = poll(now);
      tend(now);
    }
    Engine* const stopping = stopping_.load(std::memory_order_acquire);
    if (stopping == nullptr) [[likely]]
      return longest;
    if (!stopped_.load(std::memory_order_relaxed) && may_stop(now)) {
      stopped_.store(true, std::memory_order_relaxed);
      stopping->stop();
    }
    return std::min(longest, most_wait_at_stop);
  }
  bool delays_stop(Engine& engine) noexcept override {
    if (stopped_.load(std::memory_order_relaxed) || options_.stop_timeout == Duration::zero()) return false;
    stopping_.store(&engine, std::memory_order_release);
    return true;
  }

  // As when the session logs out. For a program whose run is over.
  void no_more_orders(UtcTime now) noexcept {
    if (trader_.venue().session() != nullptr) mark(RecordingKind::closed, now);
    trader_.venue().use(nullptr);
  }
  [[nodiscard]] const Feed& feed() const noexcept { return feed_; }

 private:
  static constexpr int most_polls = 16;  // of the sockets in one iteration: the session has its turn then
  static constexpr Duration most_wait_at_stop = std::chrono::milliseconds{10};

  SessionTrader(AnyTrader& trader, FixSessionPorts& ports, Recorder* recorder, const SessionTraderOptions& options)
      : options_(options),
        trader_(trader),
        recorder_(recorder),
        feed_(options.feed, ports, trader, trader.newest(), recorder) {
    trader.use(ports);
  }
  [[nodiscard]] static LiveFeedOptions recording_polls(LiveFeedOptions options) noexcept {
    options.record_polls = true;
    return options;
  }

  [[nodiscard]] Duration poll(Instant now)
    requires(!fed_by_session<AnyTrader>)
  {
    trader_.set_now(clock_.at(now.utc));
    for (int polls = 0; polls < most_polls; ++polls) {
      trader_.observer().poll_begins();
      const std::size_t count = feed_.poll(now.utc);
      trader_.observer().poll_ends(now);
      if (count == 0) return feed_.shortened(Duration::max(), now.utc);
    }
    return Duration::zero();
  }
  void tend(Instant now) noexcept {
    const bool outdated = feed_.lag().outdated();
    if (outdated != outdated_) [[unlikely]] {
      trader_.set_outdated(outdated_ = outdated);
      note(outdated ? session_mark::outdated : session_mark::current);
    }
    const FeedState state = feed_.state();
    if (state == FeedState::live) [[likely]]
      return;
    const bool may_stand = state != FeedState::stale && state != FeedState::ended;
    if (!may_stand && options_.cancel_when_stale) cancel_all(now);
  }
  // No orders leave any more. Whether none is left, or the time for it is over.
  bool may_stop(Instant now) noexcept {
    if (stop_by_ == MonotonicTime::max()) {
      stop_by_ = now.monotonic + options_.stop_timeout;
      trader_.pipeline().gate().kill();
      note(session_mark::kill);
      cancel_at_ = {};
    }
    const bool canceled = trader_.open_orders() == 0 || trader_.venue().session() == nullptr;
    if (canceled || now.monotonic >= stop_by_) return true;
    cancel_all(now);
    return false;
  }
  void cancel_all(Instant now) noexcept {
    if (now.monotonic < cancel_at_ || trader_.open_orders() == 0 || trader_.venue().session() == nullptr) return;
    cancel_at_ = now.monotonic + options_.cancel_retry;
    set_now(now.utc);
    note(session_mark::cancel_all);
    trader_.cancel_all();
  }

  // The time that the limits see, which a replay has too.
  void set_now(UtcTime now) noexcept {
    if (recorder_ != nullptr && now != recorded_) mark(RecordingKind::clock, recorded_ = now);
    trader_.set_now(clock_.at(now));
  }
  void mark(RecordingKind kind, UtcTime at) noexcept {
    if (recorder_ != nullptr) recorder_->mark(kind, {at, StampSource::program, session_line});
  }
  void note(std::string_view text) noexcept {
    if (recorder_ != nullptr) recorder_->stream({recorded_, StampSource::program, session_line}, text);
  }

  SessionTraderOptions options_;
  AnyTrader& trader_;
  Recorder* recorder_;
  FixSessionPorts ports_;  // of a feed by the session
  Feed feed_;
  FeedClock clock_;
  UtcTime recorded_{};
  bool outdated_ = false;
  std::atomic<Engine*> stopping_{nullptr};  // that is to stop
  std::atomic<bool> stopped_{false};        // and does
  MonotonicTime cancel_at_{};
  MonotonicTime stop_by_ = MonotonicTime::max();
};

// The venue of a replay: takes requests while the recorded session did.
class ReplayVenue : public NoSimulation {
 public:
  void open(bool open) noexcept { open_ = open; }
  bool send(const strategy::Intent&, const strategy::OwnOrder&, UtcTime) noexcept { return open_; }

 private:
  bool open_ = false;
};

// Gives a trader with a ReplayVenue what a SessionTrader recorded, at the same times: it has the same orders. An order
// that the session had no space for is one in the replay.
template <class AnyTrader>
class TraderReplay {
 public:
  explicit TraderReplay(AnyTrader& trader) : trader_(trader) {}

  void take(const RecordedPacket& packet) {
    if (packet.from.line == session_line) return of_session(packet);
    if (const auto input = input_of(packet)) trader_.take(*input);
  }

 private:
  void of_session(const RecordedPacket& packet) {
    if (packet.kind == RecordingKind::clock) return trader_.set_now(clock_.at(packet.from.at));
    if (packet.kind == RecordingKind::opened) return trader_.venue().open(true);
    if (packet.kind == RecordingKind::closed) return trader_.venue().open(false);
    if (packet.kind != RecordingKind::stream) return;
    if (packet.bytes == session_mark::cancel_all) return trader_.cancel_all();
    if (packet.bytes == session_mark::kill) return trader_.pipeline().gate().kill();
    if (packet.bytes == session_mark::outdated) return trader_.set_outdated(true);
    if (packet.bytes == session_mark::current) return trader_.set_outdated(false);
    if (view_.parse(packet.bytes) != WireError::none) return;
    if (const auto report = strategy::read_report(view_)) trader_.report(*report);
  }

  AnyTrader& trader_;
  FeedClock clock_;
  MessageView view_;
};

// Runs an engine with this application until SIGINT or SIGTERM; a sleeping poll thread wakes when one of `descriptors`
// is readable too. Throws ConfigError if the configuration has not exactly one session, and what Engine throws.
void run_session(Application& application, EngineConfig config, std::span<const int> descriptors = {});

// Trades by the configuration's session until SIGINT or SIGTERM. Records the feed's inputs in the folder `recording`,
// for backtest(), unless it is empty. Throws as run_session() and RecordingThread do.
template <class AnyTrader>
void trade(AnyTrader& trader, EngineConfig config, const std::string& recording = {}) {
  std::optional<RecordingThread> recorder;
  if (!recording.empty()) recorder.emplace(RecorderOptions{.folder = recording});
  SessionTrader application{trader, recorder ? &recorder->recorder() : nullptr};
  make_room_for_snapshots(config);
  run_session(application, std::move(config));
}

// The same with market data by sockets. Throws UdpError too.
template <class AnyTrader>
void trade(AnyTrader& trader, const FeedSocketsOptions& lines, EngineConfig config, const std::string& recording = {}) {
  std::optional<RecordingThread> recorder;
  if (!recording.empty()) recorder.emplace(RecorderOptions{.folder = recording});
  FeedSockets sockets{lines};
  SessionTrader application{trader, sockets, recorder ? &recorder->recorder() : nullptr};
  run_session(application, std::move(config), sockets.descriptors());
}

}  // namespace nfx::market
