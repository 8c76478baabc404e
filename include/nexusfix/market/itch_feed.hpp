// A whole ITCH feed: packets of two lines in, events out; gaps are filled by requests, and by a GLIMPSE snapshot when
// they are not. Sockets and clocks are the caller's.
// Thread: one owner. Cost: a packet in sequence is parsed where it is; nothing is allocated after construction.
// Lifetime: the output must outlive the feed. Errors: network faults are state() and counters.
// Bounds: MoldOptions::buffered_messages while messages are missing or a snapshot is loaded, the newest ones remain;
// one snapshot at a time, tried again after retry_min, later after up to retry_max, until one is loaded.
//
// The output has five functions; they do not call back into the feed:
//   event(const Event&)
//   request(const MoldRequest&)             a datagram to the re-request server
//   snapshot_connect()                      open a connection to the GLIMPSE server, then connected() or disconnected()
//   snapshot_send(std::span<const std::byte>)
//   snapshot_close()
// and may have view(itch::View<M>) for the types of messages that it reads itself, and
//   expect(InstrumentId, OrderId, Side, Price)   what an event some events later is probably about:
//   OrderBooks::expect()
//
// A snapshot is snapshot_begin for every stock in the directory, events with event_flag::snapshot, snapshot_end for
// every stock, and the buffered events after it. A snapshot that fails midway begins again, with snapshot_begin. A new
// session clears every book. Events of stocks with a locate code but no entry in the directory are passed on, but a
// snapshot does not empty their books: the exchange sends the directory first.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "nexusfix/base/call_hook.hpp"
#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/market/feed.hpp"
#include "nexusfix/market/itch_parser.hpp"
#include "nexusfix/market/itch_transport.hpp"

namespace nfx::market {

struct ItchFeedOptions {
  UtcTime midnight{};  // in New York, on the day of the feed
  MoldOptions mold{};
  SoupOptions soup{.silence_timeout = Duration{3'000'000'000}};  // servers send a heartbeat every second
  SoupLogin snapshot_login{};                                    // for sequence 1, as GLIMPSE wants it
  Duration connect_timeout{3'000'000'000};                       // until the connection is open
  Duration snapshot_timeout{60'000'000'000};                     // for a whole snapshot, from there
  Duration retry_min{100'000'000};  // from a snapshot that failed to the next try, doubled each time
  Duration retry_max{5'000'000'000};
};

struct ItchFeedCounters {
  std::uint64_t snapshots_tried = 0;
  std::uint64_t snapshots_loaded = 0;
  std::uint64_t snapshots_failed = 0;
  std::uint64_t snapshots_refused = 0;

  friend bool operator==(const ItchFeedCounters&, const ItchFeedCounters&) = default;
};

// The message that ends a snapshot: the sequence number of the first message that is not in it. Empty: another message.
[[nodiscard]] std::optional<std::uint64_t> glimpse_end(std::span<const std::byte> message) noexcept;
inline constexpr std::size_t glimpse_end_size = 21;

template <class Output>
class ItchFeed {
 public:
  ItchFeed(const ItchFeedOptions& options, Output& output)
      : options_(options), out_(&output), arbiter_(options.mold), soup_(options.soup), parser_(options.midnight) {}

  // A datagram of a line, or of the re-request server.
  void packet(MoldLine line, std::span<const std::byte> bytes, Instant now) {
    trace_call();
    arbiter_.packet(line, bytes, now.monotonic, FromLines{*this, now.utc});
  }

  // As often as the poll loop runs.
  void tick(Instant now) {
    arbiter_.tick(now.monotonic, FromLines{*this, now.utc});
    if (stage_ != Stage::none || arbiter_.snapshot_wanted()) [[unlikely]]
      tick_snapshot(now);
  }

  // tick() does nothing before, unless packets come.
  [[nodiscard]] MonotonicTime due_at() const noexcept {
    const MonotonicTime lines = arbiter_.due_at();
    if (stage_ == Stage::none && !arbiter_.snapshot_wanted()) [[likely]]
      return lines;
    return std::min(lines, snapshot_due());
  }

  // The connection that snapshot_connect() opens is up; ignored when no snapshot is needed any more.
  void connected(Instant now) {
    if (stage_ != Stage::connecting) return;
    stage_ = Stage::loading;
    since_ = now.monotonic;
    SoupLogin login = options_.snapshot_login;
    login.sequence = 1;
    soup_.connected(login, now.monotonic, FromSnapshot{*this, now});
  }
  void received(std::span<const std::byte> bytes, Instant now) {
    if (stage_ != Stage::loading) return;
    soup_.received(bytes, now.monotonic, FromSnapshot{*this, now});
    if (end_) return finish_snapshot(*end_, now);
    if (soup_.state() == SoupState::failed || soup_.state() == SoupState::ended) fail_snapshot(now);
  }
  void disconnected(Instant now) {
    if (stage_ == Stage::connecting || stage_ == Stage::loading) fail_snapshot(now);
  }

  // Only live books equal the exchange's.
  [[nodiscard]] FeedState state() const noexcept { return arbiter_.state(); }
  [[nodiscard]] const MoldArbiter& arbiter() const noexcept { return arbiter_; }
  [[nodiscard]] const ItchParser& parser() const noexcept { return parser_; }
  [[nodiscard]] const ItchDirectory& directory() const noexcept { return parser_.directory(); }
  // Why the last snapshot failed, if the server was the reason.
  [[nodiscard]] SoupFailure snapshot_failure() const noexcept { return soup_.failure(); }
  [[nodiscard]] const ItchFeedCounters& counters() const noexcept { return counters_; }

 private:
  enum class Stage : std::uint8_t { none, connecting, loading };

  // Called by the parser.
  struct Events {
    Output& out;
    void operator()(const Event& event) const { out.event(event); }
    template <class M>
      requires requires(Output& o, itch::View<M> m) { o.view(m); }
    void operator()(itch::View<M> message) const {
      out.view(message);
    }
  };

  struct FromLines {
    ItchFeed& feed;
    UtcTime received;
    void message(std::uint64_t sequence, std::span<const std::byte> bytes) {
      feed.parser_.message(bytes, {sequence, received, 0}, Events{*feed.out_});
    }
    void expect(std::span<const std::byte> bytes)
      requires requires(Output& out) { out.expect(InstrumentId{}, OrderId{}, Side{}, Price{}); }
    {
      if (const auto subject = itch::subject_of(bytes)) [[likely]]
        feed.out_->expect(InstrumentId{subject->locate}, OrderId{subject->order}, itch_side(subject->side),
                          itch_price(subject->price));
    }
    void request(const MoldRequest& wanted) { feed.out_->request(wanted); }
    void session(const MoldSession&) {
      feed.abandon_snapshot();
      feed.for_all_stocks(EventKind::clear, received);
      feed.parser_.clear();
    }
  };

  struct FromSnapshot {
    ItchFeed& feed;
    Instant now;
    void send(std::span<const std::byte> bytes) { feed.out_->snapshot_send(bytes); }
    void message(std::uint64_t, std::span<const std::byte> bytes) { feed.snapshot_message(bytes, now); }
  };

  [[gnu::noinline]] void snapshot_message(std::span<const std::byte> bytes, Instant now) {
    if (end_) return;
    if (!begun_) {
      begun_ = true;
      arbiter_.snapshot_begin(now.monotonic);
      for_all_stocks(EventKind::snapshot_begin, now.utc);
    }
    end_ = glimpse_end(bytes);
    if (!end_) parser_.message(bytes, {0, now.utc, event_flag::snapshot}, Events{*out_});
  }

  [[gnu::noinline]] void tick_snapshot(Instant now) {
    const MonotonicTime at = now.monotonic;
    switch (stage_) {
      case Stage::none:
        if (at < next_try_) return;
        stage_ = Stage::connecting;
        since_ = at;
        begun_ = false;
        end_.reset();
        ++counters_.snapshots_tried;
        return out_->snapshot_connect();
      case Stage::connecting:
        if (!arbiter_.snapshot_wanted()) return abandon_snapshot();
        if (at - since_ >= options_.connect_timeout) fail_snapshot(now);
        return;
      case Stage::loading:
        if (!arbiter_.snapshot_wanted()) return abandon_snapshot();
        soup_.tick(at, FromSnapshot{*this, now});
        if (at - since_ >= options_.snapshot_timeout || soup_.state() == SoupState::failed) fail_snapshot(now);
        return;
    }
  }

  [[nodiscard]] MonotonicTime snapshot_due() const noexcept {
    if (!arbiter_.snapshot_wanted()) return MonotonicTime::min();  // it is abandoned
    switch (stage_) {
      case Stage::none: return next_try_;
      case Stage::connecting: return since_ + options_.connect_timeout;
      case Stage::loading: return std::min(soup_.due_at(), since_ + options_.snapshot_timeout);
    }
    return MonotonicTime::min();
  }

  void finish_snapshot(std::uint64_t sequence, Instant now) {
    soup_.logout(FromSnapshot{*this, now});
    close_snapshot();
    if (!arbiter_.snapshot_fits(sequence)) {
      ++counters_.snapshots_refused;
      return wait(now);
    }
    ++counters_.snapshots_loaded;
    wait_ = Duration::zero();
    for_all_stocks(EventKind::snapshot_end, now.utc);
    arbiter_.snapshot_end(sequence, now.monotonic, FromLines{*this, now.utc});
  }

  void fail_snapshot(Instant now) {
    ++counters_.snapshots_failed;
    close_snapshot();
    wait(now);
  }
  // The missing messages came late, or the session is over.
  void abandon_snapshot() {
    if (stage_ != Stage::none) close_snapshot();
  }
  void close_snapshot() {
    stage_ = Stage::none;
    soup_.disconnected();
    out_->snapshot_close();
  }
  void wait(Instant now) {
    wait_ = std::clamp(wait_ * 2, options_.retry_min, options_.retry_max);
    next_try_ = now.monotonic + wait_;
  }

  void for_all_stocks(EventKind kind, UtcTime now) {
    Event event;
    event.kind = kind;
    event.event_time = event.receive_time = now;
    event.flags = event_flag::last;
    for (std::uint32_t locate = 1; locate <= directory().highest(); ++locate) {
      event.instrument = InstrumentId{locate};
      out_->event(event);
    }
  }

  ItchFeedOptions options_;
  Output* out_;
  MoldArbiter arbiter_;
  SoupClient soup_;
  ItchParser parser_;
  ItchFeedCounters counters_;
  Stage stage_ = Stage::none;
  bool begun_ = false;                // a message of this snapshot has come, so that what was built is void
  std::optional<std::uint64_t> end_;  // it is complete
  MonotonicTime since_{};             // of the stage
  MonotonicTime next_try_{};
  Duration wait_{};
};

}  // namespace nfx::market

namespace nfx {

template <>
inline constexpr auto counter_rows<market::ItchFeedCounters> = std::to_array<CounterRow<market::ItchFeedCounters>>({
    {&market::ItchFeedCounters::snapshots_tried, "nfx_itch_snapshots_tried_total",
     "Connections begun to load a snapshot."},
    {&market::ItchFeedCounters::snapshots_loaded, "nfx_itch_snapshots_loaded_total",
     "Snapshots after which the feed continued."},
    {&market::ItchFeedCounters::snapshots_failed, "nfx_itch_snapshots_failed_total",
     "Snapshots that did not end: the server refused, closed, was silent or sent something else."},
    {&market::ItchFeedCounters::snapshots_refused, "nfx_itch_snapshots_refused_total",
     "Snapshots that were older than the oldest buffered message."},
});
static_assert(rows_are_complete<market::ItchFeedCounters>());

}  // namespace nfx
