// What every feed of a run has on the receiving side: stages, orders, books and models, and when the run is over.
// Thread: the receiving one. Cost: that of MarketPath; a clock reading per read. Lifetime: messages outlive it.
// Errors: none.
#pragma once

#include <sched.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clocks.hpp"
#include "demo/market.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/concurrent/cycle_counter.hpp"
#include "nexusfix/engine/application.hpp"
#include "nexusfix/live/live_feed.hpp"
#include "nexusfix/recording/recording.hpp"
#include "nexusfix/strategy/models.hpp"
#include "nexusfix/strategy/order_messages.hpp"
#include "t2m/market_path.hpp"
#include "t2m/run.hpp"

namespace nfx::app::t2m {

// The counter's rate, from how far it and the clock have come since the start.
class AnchorClock {
 public:
  AnchorClock() noexcept : first_(read()) {}
  [[nodiscard]] strategy::Anchor now() const noexcept {
    strategy::Anchor anchor = read();
    const auto ticks = static_cast<double>(anchor.ticks - first_.ticks);
    if (ticks > 0) anchor.ns_per_tick = static_cast<double>((anchor.utc - first_.utc).count()) / ticks;
    return anchor;
  }

 private:
  static strategy::Anchor read() noexcept {
    const std::uint64_t before = cycle_count();
    const UtcTime utc = read_clocks().utc;
    const std::uint64_t after = cycle_count();
    return {.ticks = before + (after - before) / 2, .utc = utc};
  }
  strategy::Anchor first_;
};

// Orders to a session of the engine; nowhere without one. A replay counts them, and sends none.
class SessionOrders {
 public:
  explicit SessionOrders(strategy::StageRecorder<>& stages) : stages_(stages) {}
  void use(SessionHandle* session) noexcept {
    session_ = session;
    open_ = session != nullptr;
  }
  void replay(bool open) noexcept { open_ = open; }

  bool send(const strategy::Intent& intent, const strategy::OwnOrder& order, Instant now) noexcept {
    if (!open_) return false;
    if (session_ != nullptr) {
      const auto message = messages_.message(intent, order, now.utc);
      if (!message || !session_->send(*message)) return false;
      stages_.reached(strategy::Stage::encode);
      session_->flush();
      stages_.reached(strategy::Stage::send);
    }
    for (const std::uint64_t each :
         {std::to_underlying(order.number), std::to_underlying(order.change), static_cast<std::uint64_t>(intent.action),
          static_cast<std::uint64_t>(order.side), static_cast<std::uint64_t>(intent.price.nano), intent.quantity})
      hash_ = (hash_ ^ each) * 0x9E37'79B9'7F4A'7C15 + (hash_ >> 29);
    ++count_;
    return true;
  }
  // Of all that were sent: number, change, action, side, price and quantity of each, in their order.
  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  strategy::StageRecorder<>& stages_;
  SessionHandle* session_ = nullptr;
  bool open_ = false;
  std::uint64_t hash_ = 0;
  std::uint64_t count_ = 0;
  strategy::OrderMessages messages_{{.symbol = std::string{demo::symbols[0]}}};
};

// Takes a while, once in `every` events, as a model does that has something to compute.
struct SlowModel {
  static constexpr Duration takes{50'000};
  std::uint32_t every = 0;
  std::uint32_t seen = 0;
  template <class Book>
  std::optional<strategy::Intent> on(const Book&, const nfx::market::Event&) noexcept {
    if (every != 0 && ++seen % every == 0) {
      const auto end = std::chrono::steady_clock::now() + takes;
      while (std::chrono::steady_clock::now() < end) {
      }
    }
    return std::nullopt;
  }
};

// Of a recording of a run: what the session of the orders received, and the clock of each poll.
inline constexpr std::uint16_t session_line = 0xFFFE;

class Reader {
 public:
  using Quotes = strategy::OnlyFor<strategy::Quoter>;
  using Path = MarketPath<strategy::StageRecorder<>, SessionOrders, SlowModel, Quotes>;

  // `recorder` may be null; otherwise it gets every input, so that a replay has the same books and orders.
  Reader(const RunOptions& options, const Messages& messages, nfx::market::Recorder* recorder)
      : last_(messages.last()),
        first_measured_(messages.first_measured()),
        recorder_(recorder),
        schedule_(messages.packets()),
        path_({.feed = options.messages.feed, .names = options.messages.names, .midnight = messages.midnight()},
              stages_, orders_, limits(options.messages.names),
              row_of(options.messages.feed).datagrams ? nullptr : &schedule_, SlowModel{options.slow_model_every},
              Quotes{nfx::market::InstrumentId{row_of(options.messages.feed).first_instrument}, strategy::Quoter{}}) {}

  void begin(UtcTime start) noexcept { schedule_.begin(start); }

  // Time as the models and limits see it, of this poll.
  [[nodiscard]] Instant at(UtcTime now) noexcept {
    if (recorder_ != nullptr && now != recorded_)
      recorder_->mark(nfx::market::RecordingKind::clock, {recorded_ = now, StampSource::program, session_line});
    return {now, nfx::market::FeedClock::of(now)};
  }
  // A message of the session of the orders. False: it is about something other than orders.
  bool session_message(const MessageView& message, UtcTime now) noexcept {
    const auto report = strategy::read_report(message);
    if (!report) return false;
    if (recorder_ != nullptr) recorder_->stream({now, StampSource::program, session_line}, message.bytes());
    path_.pipeline().report(*report);
    return true;
  }
  void session_is(SessionHandle* session, UtcTime now) noexcept {
    if (recorder_ != nullptr) {
      recorder_->mark(session != nullptr ? nfx::market::RecordingKind::opened : nfx::market::RecordingKind::closed,
                      {now, StampSource::program, session_line});
    }
    orders_.use(session);
  }
  [[nodiscard]] nfx::market::Recorder* recorder() noexcept { return recorder_; }

  void poll_begins() noexcept { stages_.poll_begins(); }
  // Something came: its messages follow, until read_done().
  void read_returned() noexcept { stages_.read_returned(static_cast<std::uint32_t>(::sched_getcpu())); }
  void packet(StampSource stamp) noexcept { by_kernel_ += stamp == StampSource::kernel ? 1 : 0; }
  void read_done(Instant now) noexcept {
    heard_ = now.monotonic;
    if (stages_.room() < 512) stages_.collect(anchors_.now());
    if (measuring_ || path_.last_sequence() + 1 < first_measured_) return;
    measuring_ = true;
    stages_.collect(anchors_.now());
    stages_.clear();
  }
  void nothing_came() noexcept {
    if (stages_.waiting()) stages_.collect(anchors_.now());
  }
  // Everything came, or nothing comes any more.
  [[nodiscard]] bool over(MonotonicTime now) const noexcept {
    return path_.last_sequence() >= last_ || (heard_ != MonotonicTime{} && now - heard_ > patience);
  }
  void finish() noexcept { stages_.collect(anchors_.now()); }

  [[nodiscard]] Path& path() noexcept { return path_; }
  [[nodiscard]] SessionOrders& orders() noexcept { return orders_; }
  [[nodiscard]] const strategy::StageRecorder<>& stages() const noexcept { return stages_; }
  [[nodiscard]] std::uint64_t by_kernel() const noexcept { return by_kernel_; }

 private:
  static constexpr Duration patience{2'000'000'000};  // without a message before the last one came

  [[nodiscard]] static strategy::PipelineOptions limits(std::uint16_t names) {
    return {.risk = {.orders_per_second = 50'000, .burst = 5'000},
            .instruments = std::vector<strategy::InstrumentLimits>(names + 1u)};
  }

  std::uint64_t last_;
  std::uint64_t first_measured_;
  nfx::market::Recorder* recorder_;
  UtcTime recorded_{};
  AnchorClock anchors_;
  strategy::StageRecorder<> stages_{{.pending = 4096}};
  SessionOrders orders_{stages_};
  Schedule schedule_;
  Path path_;
  MonotonicTime heard_{};
  bool measuring_ = false;
  std::uint64_t by_kernel_ = 0;
};

}  // namespace nfx::app::t2m
