// The measurements of a run: the observer of its Trader (live/trader.hpp). It stamps the stages of each message and
// knows which message of the run an event belongs to.
// Thread: the receiving one. Cost: of the stamps; with NoStages only of the message number. Lifetime: a value. Errors:
// none.
#pragma once

#include <sched.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "base/clocks.hpp"
#include "nexusfix/concurrent/cycle_counter.hpp"
#include "nexusfix/live/trader.hpp"
#include "strategy/stages.hpp"
#include "t2m/messages.hpp"

namespace nfx::app::t2m {

template <class Stages>
class Stamps : public nfx::market::NoObserver {
 public:
  // `schedule` is of a feed whose events do not state when they were due, or which has other events too. `numbered`:
  // it has the message's number, and not its time.
  explicit Stamps(Stages stages = {}, std::optional<Schedule> schedule = {}, bool numbered = false)
      : stages_(std::move(stages)), schedule_(schedule), numbered_(numbered) {}

  void received(const nfx::market::FeedInput& input) noexcept {
    kernel_ = input.at;
    begun_ = identified_ = false;
  }
  // The next received message is complete, and is not read yet.
  void framed() noexcept {
    stages_.message_begins(kernel_, 0);
    stages_.reached(strategy::Stage::frame);
    begun_ = true;
  }
  // A message of the exchange's may have several events.
  [[gnu::always_inline]] void parsed(const nfx::market::Event& event) noexcept {
    if (identified_) return;
    identify(event);
    stages_.reached(strategy::Stage::parse);
  }
  [[gnu::always_inline]] void booked() noexcept { stages_.reached(strategy::Stage::book); }
  void decided() noexcept {
    if (!std::exchange(modelled_, true)) stages_.reached(strategy::Stage::model);
  }
  void encoded() noexcept { stages_.reached(strategy::Stage::encode); }
  void sent() noexcept { stages_.reached(strategy::Stage::send); }
  [[gnu::always_inline]] void done() noexcept {
    if (!std::exchange(modelled_, false)) stages_.reached(strategy::Stage::model);
    stages_.message_ends();
    begun_ = identified_ = false;
  }

  // A message that no feed, book or model sees: what the kernel and the read alone take.
  void unread(UtcTime kernel, std::uint64_t number) noexcept {
    stages_.message_begins(kernel, number);
    stages_.reached(strategy::Stage::model);
    stages_.message_ends();
    if (number <= last_) ++misfits_;
    last_ = number;
    ++scheduled_;
  }
  // The message differs from the one that was sent.
  void count_misfit() noexcept { ++misfits_; }

  [[nodiscard]] Stages& stages() noexcept { return stages_; }
  // The number of the run's last received message, the number of received messages, and the number of messages
  // that were not as expected.
  [[nodiscard]] std::uint64_t last_sequence() const noexcept { return last_; }
  [[nodiscard]] std::uint64_t scheduled() const noexcept { return scheduled_; }
  [[nodiscard]] std::uint64_t misfits() const noexcept { return misfits_; }

 protected:
  std::optional<Schedule>& schedule() noexcept { return schedule_; }

 private:
  [[gnu::always_inline]] void identify(const nfx::market::Event& event) noexcept {
    Schedule::Found found{event.sequence, event.event_time};
    if (schedule_) found = numbered_ ? schedule_->numbered(event.sequence) : schedule_->due_at(event.event_time);
    if (begun_) {
      stages_.message_is(found.number, found.due);
    } else {
      stages_.message_begins(kernel_, found.number, found.due);
    }
    identified_ = true;
    if (found.number == 0) return;
    last_ = found.number;
    ++scheduled_;
  }

  Stages stages_;
  std::optional<Schedule> schedule_;
  bool numbered_;
  UtcTime kernel_{};
  bool begun_ = false;       // a message has its first stamp
  bool identified_ = false;  // ... and its number
  bool modelled_ = false;
  std::uint64_t last_ = 0;
  std::uint64_t scheduled_ = 0;
  std::uint64_t misfits_ = 0;
};

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

// A whole run: when its messages are measured, when the histograms are made, and when it is over.
class Measurement final : public Stamps<strategy::StageRecorder<>> {
 public:
  Measurement(FeedKind feed, const Messages& messages)
      : Stamps(strategy::StageRecorder<>{{.pending = 4096}},
               row_of(feed).datagrams ? std::nullopt : std::optional{Schedule{messages.packets()}},
               feed == FeedKind::ws),
        whole_(feed == FeedKind::fix),
        last_(messages.last()),
        first_measured_(messages.first_measured()) {}

  void begin(UtcTime start) noexcept {
    if (schedule()) schedule()->begin(start);
  }

  void poll_begins() noexcept { stages().poll_begins(); }
  // The read that found something returned: its messages follow, until poll_ends().
  void read_returned() noexcept {
    if (!std::exchange(read_, true)) stages().read_returned(static_cast<std::uint32_t>(::sched_getcpu()));
  }
  [[gnu::always_inline]] void received(const nfx::market::FeedInput& input) noexcept {
    using nfx::market::InputKind;
    if (input.kind != InputKind::datagram && input.kind != InputKind::received) return;
    read_returned();
    count(input.stamp);
    Stamps::received(input);
    if (whole_) framed();
  }
  void count(StampSource stamp) noexcept { by_kernel_ += stamp == StampSource::kernel ? 1 : 0; }
  void poll_ends(Instant now) noexcept {
    if (!std::exchange(read_, false)) {
      if (stages().waiting()) stages().collect(anchors_.now());
      return;
    }
    heard_ = now.monotonic;
    if (stages().room() < 512) stages().collect(anchors_.now());
    if (measuring_ || last_sequence() + 1 < first_measured_) return;
    measuring_ = true;
    stages().collect(anchors_.now());
    stages().clear();
  }

  // Everything came, or nothing comes any more.
  [[nodiscard]] bool over(MonotonicTime now) const noexcept {
    return last_sequence() >= last_ || (heard_ != MonotonicTime{} && now - heard_ > patience);
  }
  void finish() noexcept { stages().collect(anchors_.now()); }
  [[nodiscard]] std::uint64_t by_kernel() const noexcept { return by_kernel_; }

 private:
  static constexpr Duration patience{2'000'000'000};  // without a message before the last one came

  bool whole_;
  std::uint64_t last_;
  std::uint64_t first_measured_;
  AnchorClock anchors_;
  MonotonicTime heard_{};
  bool read_ = false;
  bool measuring_ = false;
  std::uint64_t by_kernel_ = 0;
};

}  // namespace nfx::app::t2m
