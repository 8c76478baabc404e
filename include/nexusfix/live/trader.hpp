// From the inputs of a feed to orders, run to completion: the feed's handler, books, models, their risk limits and
// orders. The same code runs live (live/session_trader.hpp), in a replay of a recording, in a backtest, and in `nfx
// t2m`, which measures it. docs/datagram-to-order.md lists the functions that a datagram passes.
// Thread: one owner, live the session's poll thread; it sets the time before each input. Cost: as the handler, books
// and Pipeline; an order costs what its venue costs. The handler makes the only virtual calls. No allocation after
// construction, except by SimulatedVenue. Lifetime: arguments of use() outlive their use. Errors: counters and states
// of the parts; std::invalid_argument for invalid options. Bounds: sent() has the first `sent_max` requests; the
// counters of the risk gate have all.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "nexusfix/base/call_hook.hpp"
#include "nexusfix/live/live_feed.hpp"
#include "nexusfix/market/feed_books.hpp"
#include "nexusfix/market/order_book.hpp"
#include "nexusfix/recording/recording.hpp"
#include "nexusfix/strategy/pipeline.hpp"
#include "nexusfix/strategy/simulated_venue.hpp"

namespace nfx {
class MessageView;
}

namespace nfx::market {

// Where orders go. `Books`: OrderBooks, LevelBooks or a test's own.
//   send            takes the request of an intent that passed the limits; false: it does not leave
//   flush           ... and it leaves now
//   before, after   called before and after the book applies an event
//   reports         gives the sink what the venue reports by that time; a live venue reports by its session instead
template <class V, class Books>
concept Venue =
    requires(V& venue, const Books& books, InstrumentIndex index, const Event& event, const strategy::Intent& intent,
             const strategy::OwnOrder& order, UtcTime now, void (&sink)(const strategy::OwnOrders::VenueReport&)) {
      { venue.send(intent, order, now) } -> std::same_as<bool>;
      venue.flush();
      venue.before(books.book(index), index, event);
      venue.after(books.book(index), index, event);
      venue.reports(now, sink);
    };
static_assert(Venue<strategy::SimulatedVenue, OrderBooks>);

// The base class of a venue that simulates nothing.
struct NoSimulation {
  void flush() noexcept {}
  void before(const auto&, InstrumentIndex, const Event&) noexcept {}
  void after(const auto&, InstrumentIndex, const Event&) noexcept {}
  void reports(UtcTime, auto&&) noexcept {}
};

// The points that a program can measure: each function is called at its point. A program's own observer replaces this
// one, which costs nothing.
struct NoObserver {
  void poll_begins() noexcept {}               // the sockets are read next
  void received(const FeedInput&) noexcept {}  // ... and this came; its handler takes it next
  void parsed(const Event&) noexcept {}
  void booked() noexcept {}   // the book has the exchange's step; the models are asked next
  void decided() noexcept {}  // an order passed the limits
  void encoded() noexcept {}  // ... and is a message
  void sent() noexcept {}     // ... and the kernel has it
  void done() noexcept {}     // the models are through
  void poll_ends(Instant) noexcept {}
};

struct TraderOptions {
  strategy::RiskLimits risk{};
  std::vector<strategy::InstrumentLimits> instruments{{}};  // in the feed's order; events of others are left out
  std::uint64_t first_number = 1;                           // see OwnOrdersOptions
  // True if the feed shows each of our orders under its first ClOrdID and orders of others under greater numbers, as
  // the demonstration's venue does. Our orders are then left out of the books; otherwise the models see them.
  bool own_orders_by_number = false;
  std::size_t sent_max = 1u << 16;
  BookLimits books{.orders = 1u << 20, .levels = 1u << 16};  // by order; of all instruments that are given
  std::uint32_t depth = 8192;                                // of a side, by level
};

struct SentRequest {
  strategy::OrderNumber number{};
  strategy::Intent intent;
};

// `Feed`: options of the feed's handler, of which FeedOf has a row. A Trader is the handler of its feed: what gives
// inputs to a handler, live or from a recording, gives them to it.
template <class Feed, class Books, Venue<Books> V, class Observer, class... Models>
class Trader {
 public:
  using Handler = typename FeedOf<Feed>::template Handler<Trader>;

  Trader(const Feed& feed, const TraderOptions& options, V venue, Models... models)
      : Trader(feed, options, std::move(venue), Observer{}, std::move(models)...) {}
  Trader(const Feed& feed, const TraderOptions& options, V venue, Observer observer, Models... models)
      : own_orders_by_number_(options.own_orders_by_number),
        venue_(std::move(venue)),
        observer_(std::move(observer)),
        books_(books_of(options)),
        handler_(feed, *this, ports_),
        pipeline_({.risk = options.risk, .instruments = options.instruments, .first_number = options.first_number},
                  std::move(models)...),
        sent_(options.sent_max) {
    static_assert(FeedHandler<Handler>);
    sent_.clear();  // its memory has been written: an order takes no page fault for it
  }
  Trader(const Trader&) = delete;
  Trader& operator=(const Trader&) = delete;

  // Where the handler's requests go; without a call nowhere, as in a replay.
  void use(FeedPorts& ports) noexcept { ports_.to = &ports; }
  void use_no_ports() noexcept { ports_.to = &ports_.none; }
  // The time of the input that the handler takes next.
  void set_now(Instant now) noexcept { now_ = now; }

  // As FeedHandler has it.
  [[gnu::always_inline]] void take(const FeedInput& input) {
    trace_call();
    observer_.received(input);
    handler_.take(input);
  }
  void take(const FeedInput& input, const MessageView& message) {
    observer_.received(input);
    handler_.take(input, message);
  }
  [[nodiscard]] MonotonicTime due_at() const noexcept { return handler_.due_at(); }
  [[nodiscard]] FeedState state() const noexcept { return handler_.state(); }

  // Called by the handler.
  [[gnu::always_inline]] void event(const Event& event) noexcept {
    trace_call();
    observer_.parsed(event);
    if ((event.flags & event_flag::snapshot) == 0) newest_ = {event.event_time, newest_.count + 1};
    const auto index = InstrumentIndex{std::to_underlying(event.instrument)};
    if (std::to_underlying(index) >= books_.instruments()) [[unlikely]]
      return;
    auto&& book = books_.book(index);
    venue_.before(book, index, event);
    if (!is_own(event)) books_.apply(index, event);
    venue_.after(book, index, event);
    venue_.reports(event.receive_time, [this](const auto& each) { report(each); });
    if (!event.last()) return;
    observer_.booked();
    pipeline_.on(book, index, event, outdated_ ? FeedState::stale : handler_.state(), now_,
                 [this](const auto& intent, const auto& order) { return send(intent, order); });
    observer_.done();
  }

  void report(const strategy::OwnOrders::VenueReport& report) noexcept { pipeline_.report(report); }
  // Requests the cancel of every order that has no change on its way.
  void cancel_all() noexcept {
    pipeline_.cancel_all(now_, [this](const auto& intent, const auto& order) { return send(intent, order); });
  }
  // The books are of the past: no new orders.
  void set_outdated(bool outdated) noexcept { outdated_ = outdated; }

  [[nodiscard]] Handler& handler() noexcept { return handler_; }
  [[nodiscard]] V& venue() noexcept { return venue_; }
  [[nodiscard]] Observer& observer() noexcept { return observer_; }
  [[nodiscard]] const Books& books() const noexcept { return books_; }
  [[nodiscard]] const strategy::Pipeline<Models...>& pipeline() const noexcept { return pipeline_; }
  [[nodiscard]] strategy::Pipeline<Models...>& pipeline() noexcept { return pipeline_; }
  [[nodiscard]] const NewestEvent& newest() const noexcept { return newest_; }
  [[nodiscard]] std::uint32_t open_orders() const noexcept { return pipeline_.orders().open_orders(); }
  [[nodiscard]] std::int64_t position(InstrumentIndex index = {}) const noexcept {
    return pipeline_.orders().exposure(index).position;
  }
  [[nodiscard]] std::span<const SentRequest> sent() const noexcept { return sent_; }
  // The hash of all books.
  [[nodiscard]] std::uint64_t book_hash() const noexcept {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < books_.instruments(); ++i)
      sum = sum * 0x9E37'79B9'7F4A'7C15 + books_.book(InstrumentIndex{i}).hash();
    return sum;
  }

 private:
  struct Ports final : FeedPorts {
    NoPorts none;
    FeedPorts* to = &none;
    void connect(std::uint16_t line) noexcept override { to->connect(line); }
    bool send(std::uint16_t line, std::string_view bytes) noexcept override { return to->send(line, bytes); }
    void close(std::uint16_t line) noexcept override { to->close(line); }
    void random(std::span<std::uint8_t> out) noexcept override { to->random(out); }
  };

  [[nodiscard]] static Books books_of(const TraderOptions& options) {
    const auto count = static_cast<std::uint32_t>(options.instruments.size());
    if constexpr (std::constructible_from<Books, const BookLimits&>) {
      BookLimits limits = options.books;
      limits.instruments = count;
      limits.orders_unique = FeedOf<Feed>::orders_unique;
      return Books{limits};
    } else {
      return Books{count, options.depth};
    }
  }
  [[nodiscard]] bool is_own(const Event& event) const noexcept {
    const auto number = std::to_underlying(event.order);
    return number <= last_own_ && number != 0;
  }
  bool send(const strategy::Intent& intent, const strategy::OwnOrder& order) noexcept {
    trace_call();
    observer_.decided();
    if (own_orders_by_number_) last_own_ = std::max(last_own_, std::to_underlying(order.request()));
    if (!venue_.send(intent, order, now_.utc)) return false;
    observer_.encoded();
    venue_.flush();
    observer_.sent();
    if (sent_.size() < sent_.capacity()) sent_.push_back({order.request(), intent});
    return true;
  }

  bool own_orders_by_number_;
  bool outdated_ = false;
  std::uint64_t last_own_ = 0;
  Instant now_{};
  NewestEvent newest_;
  V venue_;
  [[no_unique_address]] Observer observer_;
  Ports ports_;
  Books books_;
  Handler handler_;
  strategy::Pipeline<Models...> pipeline_;
  std::vector<SentRequest> sent_;
};

template <class Feed, class V, class... Models>
Trader(const Feed&, const TraderOptions&, V, Models...)
    -> Trader<Feed, typename FeedOf<Feed>::Books, V, NoObserver, Models...>;

// Gives a recorded live feed to a trader with a SimulatedVenue, at the times of the recording. Errors: as
// read_recording(); the result has how the recording ended.
template <class AnyTrader>
[[nodiscard]] RecordingScan backtest(AnyTrader& trader, const ReadRecordingOptions& recording) {
  return read_recording(recording, [&](const RecordedPacket& packet) {
    if (const auto input = input_of(packet)) {
      trader.set_now({input->at, FeedClock::of(input->at)});
      trader.take(*input);
    }
    return true;
  });
}

}  // namespace nfx::market
