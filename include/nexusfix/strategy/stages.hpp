// Where the time of a message goes, from the kernel's stamp to the order: a stamp of the cycle counter at the end of
// each stage, one histogram for each stage and each total, and the slowest messages individually. Thread: one owner,
// which handles the messages. Cost: a reading of the cycle counter for each stamp and a copy of 80 bytes for each
// message; the histograms are made by collect(), when there is nothing to do, or when `pending` messages wait for it.
// Switched off at run time: a compare for each call; NoStages: nothing. No allocation after construction. Lifetime: a
// value. Errors: none. The clock is an argument: the counter, and an Anchor for collect().
//
//   due    kernel  previous  poll   read                       what is done for this message
//          stamp   is done   begins returns begins
//   |-late-|-queued-|--poll--|-read-|-queued-|-decrypt-|-frame-|-parse-|-book-|-model-|-encode-|-send-|
//
// The stages add up to the total. "Late" is known where the publisher states when a message was due to be sent: a
// latency from then does not hide that the publisher, or the network, was held up. A message is queued while
// others are handled: since the kernel had it until the one before it was done, and again within a batch that one read
// returned. What remains until the poll that found it is the thread's own: it slept, or did something else.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/concurrent/cycle_counter.hpp"
#include "nexusfix/observe/latency_histogram.hpp"

namespace nfx::strategy {

// In the order in which a message passes them, then the totals.
enum class Stage : std::uint8_t {
  late,
  queued,
  poll,
  read,
  decrypt,
  frame,
  parse,
  book,
  model,
  encode,
  send,
  service,        // from the message's own beginning to its end
  tick_to_model,  // from the kernel's stamp to the model's answer
  tick_to_order,  // ... to the order's bytes sent
  due_to_model,   // from when it was due
  due_to_order,
};
struct StageRow {
  Stage stage;
  std::string_view name;
  std::string_view about;
};
inline constexpr std::array stage_rows{
    StageRow{Stage::late, "late", "from when the message was due to the kernel's stamp: publisher and network"},
    StageRow{Stage::queued, "queued", "waited while earlier messages were handled"},
    StageRow{Stage::poll, "poll",
             "from the kernel's stamp, or the end of the message before, to the poll that found it"},
    StageRow{Stage::read, "read", "the call that returned its bytes"},
    StageRow{Stage::decrypt, "decrypt", "TLS"},
    StageRow{Stage::frame, "frame", "bytes to one message"},
    StageRow{Stage::parse, "parse", "message to event"},
    StageRow{Stage::book, "book", "event to order book"},
    StageRow{Stage::model, "model", "the models' answers"},
    StageRow{Stage::encode, "encode", "risk limits, and the order as FIX"},
    StageRow{Stage::send, "send", "the call that sent it"},
    StageRow{Stage::service, "service", "frame to the message's end, without waiting and reading"},
    StageRow{Stage::tick_to_model, "tick to model", "from the kernel's stamp to the model's answer"},
    StageRow{Stage::tick_to_order, "tick to order", "from the kernel's stamp to the order sent"},
    StageRow{Stage::due_to_model, "due to model", "from when the message was due to the model's answer"},
    StageRow{Stage::due_to_order, "due to order", "from when the message was due to the order sent"},
};
inline constexpr std::size_t stage_count = stage_rows.size();
static_assert(
    [] {
      for (std::size_t i = 0; i < stage_count; ++i) {
        if (std::to_underlying(stage_rows[i].stage) != i) return false;
      }
      return true;
    }(),
    "a row is found by its stage's value");
[[nodiscard]] constexpr std::string_view to_string(Stage stage) noexcept {
  return stage_rows[std::to_underlying(stage)].name;
}

// One of both clocks read together: what turns the counter's values into times.
struct Anchor {
  std::uint64_t ticks = 0;
  UtcTime utc{};
  double ns_per_tick = 1;
};

// A message of the slowest, with its stages.
struct SlowMessage {
  UtcTime kernel{};  // its stamp
  std::uint64_t number = 0;
  std::uint64_t total_ns = 0;                   // to the model, or to the order if it has one
  std::array<std::uint32_t, stage_count> ns{};  // up to 4.2 s
  std::uint32_t cpu = 0;                        // on which it was read
  bool order = false;
};

struct StageOptions {
  bool on = true;
  std::size_t slowest = 100;   // how many of them are stored individually
  std::size_t pending = 4096;  // messages until collect() has to run; a power of two
};

struct CycleCounter {
  [[nodiscard]] std::uint64_t operator()() const noexcept { return cycle_count(); }
};

template <class Counter = CycleCounter>
class StageRecorder {
 public:
  explicit StageRecorder(const StageOptions& options = {}, Counter counter = {})
      : on_(options.on), slowest_(options.slowest), counter_(counter) {
    NFX_ASSERT(std::has_single_bit(options.pending));
    if (!on_) return;
    pending_.resize(options.pending);
    histograms_.resize(stage_count);
    slow_.reserve(slowest_);
  }

  [[nodiscard]] bool on() const noexcept { return on_; }

  // A poll of the sockets begins, and has returned something. `cpu`: where the thread is, if the program knows it.
  void poll_begins() noexcept {
    if (on_) polled_ = counter_();
  }
  void read_returned(std::uint32_t cpu = 0) noexcept {
    if (!on_) return;
    begun_ = read_ = counter_();
    done_before_ = done_;
    cpu_ = cpu;
  }
  // The next message of what was read. `kernel`: its stamp. `due`: when it was to be sent; 0: not known.
  void message_begins(UtcTime kernel, std::uint64_t number, UtcTime due = {}) noexcept {
    if (!on_) return;
    kernel_ = kernel;
    due_ = due;
    number_ = number;
    reached_.fill(0);
  }
  // The stage ends here for the message; those that are not reported took no time.
  void reached(Stage stage) noexcept {
    if (!on_) return;
    NFX_ASSERT(stage >= Stage::decrypt && stage <= Stage::send);
    reached_[std::to_underlying(stage) - first_reported] = counter_();
  }
  // Its last stage was reported before. The next message of the same read begins where this one ended.
  void message_ends() noexcept {
    if (!on_) return;
    if (used_ == pending_.size()) [[unlikely]]
      ++lost_;
    else
      keep();
  }
  // How many messages there is space for until collect(). One more is not stored, and is counted as lost.
  [[nodiscard]] std::size_t room() const noexcept { return on_ ? pending_.size() - used_ : SIZE_MAX; }
  [[nodiscard]] bool waiting() const noexcept { return used_ != 0; }

  // Makes histograms of the pending messages. `anchor` is of now: the clocks drift apart with time.
  void collect(const Anchor& anchor) noexcept {
    for (std::size_t i = 0; i < used_; ++i) take(pending_[i], anchor);
    used_ = 0;
  }

  // Empty where it is off.
  [[nodiscard]] const LatencyHistogram* histogram(Stage stage) const noexcept {
    return on_ ? &histograms_[std::to_underlying(stage)] : nullptr;
  }
  // The slowest first.
  [[nodiscard]] std::vector<SlowMessage> slowest() const {
    std::vector<SlowMessage> sorted = slow_;
    std::ranges::sort(sorted, std::greater{}, &SlowMessage::total_ns);
    return sorted;
  }
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
  void clear() noexcept {
    used_ = 0;
    lost_ = 0;
    slow_.clear();
    for (LatencyHistogram& each : histograms_) each.clear();
  }

 private:
  static constexpr std::size_t first_reported = std::to_underlying(Stage::decrypt);
  static constexpr std::size_t reported = std::to_underlying(Stage::send) - first_reported + 1;

  struct Pending {
    UtcTime kernel;
    UtcTime due;
    std::uint64_t polled;
    std::uint64_t number;
    std::uint32_t since_done;  // of the message before, until the poll; saturated
    std::uint32_t read;        // after the poll began
    std::uint32_t begun;       // after the read returned
    std::uint32_t cpu;
    std::array<std::uint32_t, reported> ends;  // after it began; 0: not reported
  };
  static_assert(sizeof(Pending) <= 80);

  [[nodiscard]] static std::uint32_t narrow(std::uint64_t from, std::uint64_t to) noexcept {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(to > from ? to - from : 0, UINT32_MAX));
  }

  void keep() noexcept {
    Pending& out = pending_[used_++];
    out.kernel = kernel_;
    out.due = due_;
    out.polled = polled_;
    out.number = number_;
    out.since_done = done_before_ == 0 ? UINT32_MAX : narrow(done_before_, polled_);
    out.read = narrow(polled_, read_);
    out.begun = narrow(read_, begun_);
    out.cpu = cpu_;
    std::uint64_t last = begun_;
    for (std::size_t i = 0; i < reported; ++i) {
      out.ends[i] = reached_[i] == 0 ? 0 : narrow(begun_, reached_[i]);
      last = std::max(last, reached_[i]);
    }
    begun_ = last;
    done_ = last;
  }

  void take(const Pending& message, const Anchor& anchor) noexcept;
  void keep_slow(const SlowMessage& message) noexcept;

  bool on_;
  std::size_t slowest_;
  [[no_unique_address]] Counter counter_;
  // The poll, the read, and the message under way.
  std::uint64_t polled_ = 0;
  std::uint64_t read_ = 0;
  std::uint64_t begun_ = 0;
  std::uint64_t done_ = 0;         // the last message so far
  std::uint64_t done_before_ = 0;  // ... before this poll
  UtcTime kernel_{};
  UtcTime due_{};
  std::uint64_t number_ = 0;
  std::uint32_t cpu_ = 0;
  std::array<std::uint64_t, reported> reached_{};

  std::vector<Pending> pending_;
  std::size_t used_ = 0;
  std::uint64_t lost_ = 0;
  std::vector<LatencyHistogram> histograms_;
  std::vector<SlowMessage> slow_;  // a heap, the fastest of them first
};

// In place of a StageRecorder, for a program that is compiled without it.
struct NoStages {
  static constexpr bool on() noexcept { return false; }
  static constexpr std::size_t room() noexcept { return SIZE_MAX; }
  static constexpr bool waiting() noexcept { return false; }
  void poll_begins() noexcept {}
  void read_returned(std::uint32_t = 0) noexcept {}
  void message_begins(UtcTime, std::uint64_t, UtcTime = {}) noexcept {}
  void reached(Stage) noexcept {}
  void message_ends() noexcept {}
  void collect(const Anchor&) noexcept {}
};

template <class Counter>
void StageRecorder<Counter>::take(const Pending& message, const Anchor& anchor) noexcept {
  const auto ns = [&](std::uint64_t ticks) {
    return static_cast<std::int64_t>(static_cast<double>(ticks) * anchor.ns_per_tick + 0.5);
  };
  // All relative to the poll, in nanoseconds.
  const Duration polled_ago{ns(anchor.ticks - message.polled)};
  const std::int64_t kernel = (message.kernel - (anchor.utc - polled_ago)).count();
  const std::int64_t done = message.since_done == UINT32_MAX ? INT64_MIN : -ns(message.since_done);
  const std::int64_t read = ns(message.read);
  const std::int64_t begun = read + ns(message.begun);

  SlowMessage out{.kernel = message.kernel, .number = message.number, .cpu = message.cpu};
  std::array<std::int64_t, stage_count> spent{};
  const auto at = [&](Stage stage) -> std::int64_t& { return spent[std::to_underlying(stage)]; };
  // A stamp after the poll began is of a message that came during the call; one after the read is another clock's
  // error.
  const std::int64_t arrived = std::min(kernel, read);
  const std::int64_t waits_from = std::clamp(done, std::min(arrived, std::int64_t{0}), std::int64_t{0});
  at(Stage::queued) = std::max<std::int64_t>(0, waits_from - arrived) + (begun - read);
  at(Stage::poll) = arrived < 0 ? -std::max(arrived, waits_from) : 0;
  at(Stage::read) = read - std::max<std::int64_t>(arrived, 0);
  std::int64_t last = 0;
  for (std::size_t i = 0; i < reported; ++i) {
    if (message.ends[i] == 0) continue;
    const std::int64_t end = ns(message.ends[i]);
    spent[first_reported + i] = end - last;
    last = end;
  }
  at(Stage::service) = last;
  const std::int64_t to_end = begun + last - arrived;
  out.order = message.ends[std::to_underlying(Stage::send) - first_reported] != 0;
  const std::int64_t ordering = at(Stage::encode) + at(Stage::send);
  at(Stage::tick_to_model) = to_end - ordering;
  const bool has_due = message.due != UtcTime{};
  if (has_due) {
    at(Stage::late) = (message.kernel - message.due).count();
    at(Stage::due_to_model) = at(Stage::late) + at(Stage::tick_to_model);
  }
  if (out.order) {
    at(Stage::tick_to_order) = to_end;
    at(Stage::due_to_order) = at(Stage::late) + to_end;
  }

  for (std::size_t i = 0; i < stage_count; ++i) {
    const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(spent[i], 0));
    out.ns[i] = static_cast<std::uint32_t>(std::min<std::uint64_t>(value, UINT32_MAX));
    const bool is_reported = i >= first_reported && i < first_reported + reported;
    if (is_reported && message.ends[i - first_reported] == 0) continue;
    const auto stage = static_cast<Stage>(i);
    if ((stage == Stage::tick_to_order || stage == Stage::due_to_order) && !out.order) continue;
    if ((stage == Stage::late || stage == Stage::due_to_model || stage == Stage::due_to_order) && !has_due) continue;
    histograms_[i].record(value);
  }
  out.total_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(to_end, 0));
  keep_slow(out);
}

template <class Counter>
void StageRecorder<Counter>::keep_slow(const SlowMessage& message) noexcept {
  constexpr auto slower = [](const SlowMessage& a, const SlowMessage& b) { return a.total_ns > b.total_ns; };
  if (slowest_ == 0 || (slow_.size() == slowest_ && message.total_ns <= slow_.front().total_ns)) return;
  if (slow_.size() == slowest_) {
    std::ranges::pop_heap(slow_, slower);
    slow_.pop_back();
  }
  slow_.push_back(message);
  std::ranges::push_heap(slow_, slower);
}

}  // namespace nfx::strategy
