// Where the time of a message goes, from the kernel's stamp to the order: a stamp of the cycle counter at the end of
// each stage, one histogram for each stage and each total, and the slowest messages individually. Thread: one owner,
// which handles the messages. Cost: a reading of the cycle counter for each stamp, and a cache line for each
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
// returned. The rest, until the poll that found it, is the thread's own time: it slept, or did something else.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/latency_histogram.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/concurrent/cycle_counter.hpp"

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
  std::size_t slowest = 100;   // how many of them are stored individually
  std::size_t pending = 4096;  // messages until collect() has to run; a power of two
};

struct CycleCounter {
  [[nodiscard]] std::uint64_t operator()() const noexcept { return cycle_count(); }
};

namespace detail {

// Four stages of a message, in a vector that every 64-bit processor has.
using FourInts = std::int32_t __attribute__((vector_size(16)));
using FourFloats = float __attribute__((vector_size(16)));
using TwoSums = std::uint64_t __attribute__((vector_size(16)));

[[nodiscard]] inline FourInts chosen(FourInts first, FourInts one, FourInts other) noexcept {
  return (first & one) | (~first & other);
}

// The buckets of four latencies below 2^31 ns. A float has the power of two and the seven bits after the leading one
// next to each other: the number of the bucket, from 256 ns on.
[[nodiscard]] inline FourInts buckets_of(FourInts ns) noexcept {
  constexpr std::int32_t first = (127 + LatencyHistogram::exact_bits - 2) << (LatencyHistogram::exact_bits - 1);
  // A float has 24 bits, and rounding up could lead to the next bucket: not without the ninth bit after the leading
  // one.
  const FourInts lower = ns & ~(ns >> 9);
  const FourInts bucket = (std::bit_cast<FourInts>(__builtin_convertvector(lower, FourFloats)) >> 16) - first;
  return chosen(ns < 256, ns, bucket);
}

[[nodiscard]] inline FourInts load_four(const std::int32_t* from) noexcept {
  FourInts out;
  std::memcpy(&out, from, sizeof out);
  return out;
}

[[nodiscard]] inline FourInts narrowed(const std::array<std::int64_t, 4>& wide) noexcept {
  const auto lane = [&](std::size_t i) { return static_cast<std::int32_t>(wide[i]); };
  return FourInts{lane(0), lane(1), lane(2), lane(3)};
}

[[nodiscard]] inline bool any_of(FourInts lanes) noexcept {
  const auto halves = std::bit_cast<TwoSums>(lanes);
  return (halves[0] | halves[1]) != 0;
}

}  // namespace detail

template <class Counter = CycleCounter>
class StageRecorder {
 public:
  explicit StageRecorder(const StageOptions& options = {}, Counter counter = {})
      : slowest_(options.slowest), counter_(counter) {
    NFX_ASSERT(std::has_single_bit(options.pending) && options.pending < 1u << 24);
    pending_.resize(options.pending + 1);
    reads_.resize(options.pending);
    histograms_.resize(stage_count);
    slow_.reserve(slowest_);
  }

  // A poll of the sockets begins, and has returned something. `cpu`: where the thread is, if the program knows it.
  void poll_begins() noexcept { polled_ = counter_(); }
  void read_returned(std::uint32_t cpu = 0) noexcept {
    begun_ = counter_();
    read_ = {.polled = polled_, .returned = begun_, .done_before = done_, .cpu = cpu};
    read_stored_ = false;
  }
  // The next message of what was read. `kernel`: its stamp. `due`: when it was to be sent; 0: not known.
  void message_begins(UtcTime kernel, std::uint64_t number, UtcTime due = {}) noexcept {
    Pending& message = pending_[used_];
    message.kernel = kernel;
    message.due = due;
    message.number = number;
    message.ends.fill(0);
    reported_ = 0;
    last_ = begun_;
  }
  // The number of the message that began, if it is known only now.
  void message_is(std::uint64_t number, UtcTime due = {}) noexcept {
    pending_[used_].number = number;
    pending_[used_].due = due;
  }
  // The stage ends here for the message; stages that are not reported took no time.
  [[gnu::always_inline]] void reached(Stage stage) noexcept {
    NFX_ASSERT(stage >= Stage::decrypt && stage <= Stage::send);
    const std::size_t first = std::to_underlying(stage) - first_reported;
    last_ = counter_();
    const std::uint32_t after = narrow(begun_, last_);
    // The stages after it have ended too until they report something else, so that each is a difference.
    for (std::size_t i = first; i < stage_lanes; ++i) pending_[used_].ends[i] = after;
    reported_ |= 1u << first;
  }
  // Its last stage was reported before. The next message of the same read begins where this one ended.
  void message_ends() noexcept {
    if (used_ + 1 == pending_.size()) [[unlikely]] {
      ++lost_;
    } else {
      Pending& message = pending_[used_++];
      message.begun = narrow(read_.returned, begun_);
      if (!std::exchange(read_stored_, true)) reads_[reads_used_++] = read_;
      message.read_and_reported = static_cast<std::uint32_t>(reads_used_ - 1) << stage_lanes | reported_;
    }
    begun_ = done_ = std::max(begun_, last_);
  }
  // How many messages there is space for until collect(). One more is not stored, and is counted as lost.
  [[nodiscard]] std::size_t room() const noexcept { return pending_.size() - 1 - used_; }
  [[nodiscard]] bool waiting() const noexcept { return used_ != 0; }

  // Makes histograms of the pending messages. `anchor` is of now: the clocks drift apart with time.
  void collect(const Anchor& anchor) noexcept;

  [[nodiscard]] const LatencyHistogram* histogram(Stage stage) const noexcept {
    return &histograms_[std::to_underlying(stage)];
  }
  // The slowest first.
  [[nodiscard]] std::vector<SlowMessage> slowest() const {
    std::vector<SlowMessage> sorted = slow_;
    std::ranges::sort(sorted, std::greater{}, &SlowMessage::total_ns);
    return sorted;
  }
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
  void clear() noexcept {
    used_ = reads_used_ = 0;
    read_stored_ = false;
    lost_ = 0;
    slow_.clear();
    for (LatencyHistogram& each : histograms_) each.clear();
  }

 private:
  static constexpr std::size_t first_reported = std::to_underlying(Stage::decrypt);
  static constexpr std::size_t reported = std::to_underlying(Stage::send) - first_reported + 1;
  static constexpr std::size_t stage_lanes = 8;  // of a vector; lanes after send repeat it
  static_assert(reported <= stage_lanes);

  struct Read {
    std::uint64_t polled = 0;
    std::uint64_t returned = 0;
    std::uint64_t done_before = 0;  // the message before; 0: there was none
    std::uint32_t cpu = 0;
  };
  //   0        8        16       24           28                 32
  //   | kernel | due    | number | begun      | read << 8 | bits  | ends of eight stages, 4 bytes each |
  struct Pending {
    UtcTime kernel;
    UtcTime due;
    std::uint64_t number;
    std::uint32_t begun;  // ticks after the read returned
    std::uint32_t read_and_reported;
    std::array<std::uint32_t, stage_lanes> ends;  // ticks after it began
  };
  static_assert(sizeof(Pending) == 64);

  // A read, relative to its poll, in nanoseconds.
  struct ReadTimes {
    UtcTime polled{};
    std::int64_t done = 0;  // the message before
    std::int64_t read = 0;
  };
  // The times of a message by stage, in nanoseconds.
  struct Spent {
    std::array<std::int64_t, 4> before;   // late, queued, poll, read
    std::array<detail::FourInts, 2> own;  // decrypt to service
    std::array<std::int64_t, 4> totals;   // tick to model, to order; due to model, to order
    std::uint32_t counted = 0;            // a bit for each stage that it has
    bool order = false;

    [[nodiscard]] std::int64_t total() const noexcept { return totals[1]; }
    [[nodiscard]] std::int64_t operator[](std::size_t stage) const noexcept;
  };
  // The counts of collect() without the buckets: vectors of four stages, and their sums in the order of stages.
  struct Sums {
    std::array<detail::FourInts, stage_count / 4> max{};
    std::array<detail::TwoSums, stage_count / 2> sum{};
  };

  [[nodiscard]] static std::uint32_t narrow(std::uint64_t from, std::uint64_t to) noexcept {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(to > from ? to - from : 0, INT32_MAX));
  }

  [[nodiscard]] static ReadTimes times_of(const Read& read, const Anchor& anchor) noexcept;
  [[nodiscard]] static Spent spent_on(const Pending& message, const ReadTimes& read, float ns_per_tick) noexcept;
  void count(const Spent& spent, Sums& sums) noexcept;
  void count_long(const Spent& spent) noexcept;
  void keep_slow(const Pending& message, const Spent& spent) noexcept;

  bool read_stored_ = false;  // a message of it is pending
  std::size_t slowest_;
  [[no_unique_address]] Counter counter_;
  // The poll, the read, and the message under way, which is in pending_[used_].
  std::uint64_t polled_ = 0;
  std::uint64_t begun_ = 0;
  std::uint64_t last_ = 0;  // its last stamp
  std::uint64_t done_ = 0;  // the last message so far
  std::uint32_t reported_ = 0;
  Read read_;

  std::vector<Pending> pending_;  // the last one is never pending
  std::size_t used_ = 0;
  std::vector<Read> reads_;  // reads with a pending message
  std::size_t reads_used_ = 0;
  std::uint64_t lost_ = 0;
  std::vector<LatencyHistogram> histograms_;
  std::vector<SlowMessage> slow_;  // a heap, the fastest of them first
};

// In place of a StageRecorder, for a program that is compiled without it.
struct NoStages {
  static constexpr std::size_t room() noexcept { return SIZE_MAX; }
  static constexpr bool waiting() noexcept { return false; }
  void poll_begins() noexcept {}
  void read_returned(std::uint32_t = 0) noexcept {}
  void message_begins(UtcTime, std::uint64_t, UtcTime = {}) noexcept {}
  void message_is(std::uint64_t, UtcTime = {}) noexcept {}
  void reached(Stage) noexcept {}
  void message_ends() noexcept {}
  void collect(const Anchor&) noexcept {}
};

template <class Counter>
typename StageRecorder<Counter>::ReadTimes StageRecorder<Counter>::times_of(const Read& read,
                                                                            const Anchor& anchor) noexcept {
  const auto ns = [&](std::uint64_t from, std::uint64_t to) {
    return static_cast<std::int64_t>(static_cast<double>(to > from ? to - from : 0) * anchor.ns_per_tick + 0.5);
  };
  return {.polled = anchor.utc - Duration{ns(read.polled, anchor.ticks)},
          .done = read.done_before == 0 ? INT64_MIN : -ns(read.done_before, read.polled),
          .read = ns(read.polled, read.returned)};
}

template <class Counter>
std::int64_t StageRecorder<Counter>::Spent::operator[](std::size_t stage) const noexcept {
  if (stage < before.size()) return before[stage];
  if (stage >= stage_count - totals.size()) return totals[stage + totals.size() - stage_count];
  const std::size_t lane = stage - before.size();
  return own[lane / 4][lane % 4];
}

template <class Counter>
[[gnu::always_inline]] inline auto StageRecorder<Counter>::spent_on(const Pending& message, const ReadTimes& times,
                                                                    float ns_per_tick) noexcept -> Spent {
  using detail::FourInts;
  static_assert(first_reported == 4 && std::to_underlying(Stage::service) == 11, "vectors of four stages");
  // All relative to the poll, in nanoseconds. A stamp after the poll began is of a message that came during the call;
  // one after the read is another clock's error.
  const std::int64_t arrived = std::min((message.kernel - times.polled).count(), times.read);
  const std::int64_t early = std::min<std::int64_t>(arrived, 0);
  const std::int64_t waits_from = std::clamp(times.done, early, std::int64_t{0});
  const auto behind = static_cast<std::int64_t>(static_cast<float>(message.begun) * ns_per_tick + 0.5F);
  const bool has_due = message.due != UtcTime{};
  const std::int64_t late = has_due ? (message.kernel - message.due).count() : 0;

  std::array<FourInts, 2> ends;  // after it began
  for (std::size_t i = 0; i < 2; ++i) {
    const auto ticks = detail::load_four(reinterpret_cast<const std::int32_t*>(&message.ends[4 * i]));
    ends[i] =
        __builtin_convertvector(__builtin_convertvector(ticks, detail::FourFloats) * ns_per_tick + 0.5F, FourInts);
  }
  // After send it is the same time, and the last difference is from 0: the service.
  const FourInts befores = __builtin_shufflevector(ends[0], FourInts{}, 4, 0, 1, 2);
  const FourInts later_befores =
      __builtin_shufflevector(__builtin_shufflevector(ends[0], ends[1], 3, 4, 5, 6), FourInts{}, 0, 1, 2, 4);
  const std::int64_t begun = times.read + behind - arrived;
  const std::int64_t to_model = begun + ends[1][0], to_order = begun + ends[1][3];
  const std::uint32_t bits = message.read_and_reported & 0xFF;
  constexpr auto bit = [](Stage stage) { return 1u << std::to_underlying(stage); };
  Spent out{.before = {std::max<std::int64_t>(late, 0), waits_from - early + behind, -waits_from,
                       times.read - (arrived - early)},
            .own = {ends[0] - befores, ends[1] - later_befores},
            .totals = {to_model, to_order, late + to_model, late + to_order},
            .counted = bits << first_reported | bit(Stage::queued) | bit(Stage::poll) | bit(Stage::read) |
                       bit(Stage::service) | bit(Stage::tick_to_model),
            .order = (bits & 1u << (std::to_underlying(Stage::send) - first_reported)) != 0};
  if (out.order) out.counted |= bit(Stage::tick_to_order);
  if (has_due) out.counted |= bit(Stage::late) | bit(Stage::due_to_model);
  if (has_due && out.order) out.counted |= bit(Stage::due_to_order);
  return out;
}

// Times of more than two seconds, or from a clock's error: each is counted individually.
template <class Counter>
[[gnu::cold, gnu::noinline]] void StageRecorder<Counter>::count_long(const Spent& spent) noexcept {
  for (std::uint32_t left = spent.counted; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    histograms_[i].record(Duration{spent[i]});
  }
}

template <class Counter>
[[gnu::always_inline]] inline void StageRecorder<Counter>::count(const Spent& spent, Sums& sums) noexcept {
  using detail::FourInts;
  std::int64_t all = 0;
  for (const std::int64_t ns : spent.before) all |= ns;
  for (const std::int64_t ns : spent.totals) all |= ns;
  if (all >> 31 != 0 || detail::any_of((spent.own[0] | spent.own[1]) < 0)) [[unlikely]]
    return count_long(spent);
  const std::array<FourInts, 4> stages{detail::narrowed(spent.before), spent.own[0], spent.own[1],
                                       detail::narrowed(spent.totals)};
  std::array<FourInts, 4> has;
  std::array<std::int32_t, stage_count> buckets, counts;
  FourInts beyond{};
  for (std::size_t i = 0; i < stages.size(); ++i) {
    // Without a branch on the message's stages: missing stages are 0, and are not counted.
    const FourInts bits = FourInts{1, 2, 4, 8} << static_cast<int>(4 * i);
    has[i] = (bits & static_cast<std::int32_t>(spent.counted)) == bits;
    const FourInts ns = stages[i] & has[i];
    const FourInts bucket = detail::buckets_of(ns), count = -has[i];
    std::memcpy(&buckets[4 * i], &bucket, sizeof bucket);
    std::memcpy(&counts[4 * i], &count, sizeof count);
    sums.sum[2 * i] += std::bit_cast<detail::TwoSums>(__builtin_shufflevector(ns, FourInts{}, 0, 4, 1, 5));
    sums.sum[2 * i + 1] += std::bit_cast<detail::TwoSums>(__builtin_shufflevector(ns, FourInts{}, 2, 6, 3, 7));
    beyond |= ns > sums.max[i];
  }
  for (std::size_t i = 0; i < stage_count; ++i)
    histograms_[i].add_to_bucket(static_cast<std::size_t>(buckets[i]), static_cast<std::uint64_t>(counts[i]));
  if (!detail::any_of(beyond)) [[likely]]
    return;
  for (std::size_t i = 0; i < stages.size(); ++i)
    sums.max[i] = detail::chosen(has[i] & (stages[i] > sums.max[i]), stages[i], sums.max[i]);
}

template <class Counter>
void StageRecorder<Counter>::collect(const Anchor& anchor) noexcept {
  static_assert(stage_count % 4 == 0, "the stages are whole vectors");
  if (used_ == 0) return;
  const auto ns_per_tick = static_cast<float>(anchor.ns_per_tick);
  Sums sums;
  std::uint32_t read = UINT32_MAX;
  ReadTimes times;
  for (std::size_t i = 0; i < used_; ++i) {
    const Pending& message = pending_[i];
    if (const std::uint32_t of = message.read_and_reported >> stage_lanes; of != read) {
      read = of;
      times = times_of(reads_[read], anchor);
    }
    const Spent spent = spent_on(message, times, ns_per_tick);
    count(spent, sums);
    const bool slow = slow_.size() < slowest_ || spent.total() > static_cast<std::int64_t>(slow_.front().total_ns);
    if (slow && slowest_ != 0) [[unlikely]]
      keep_slow(message, spent);
  }
  for (std::size_t i = 0; i < stage_count; ++i) {
    histograms_[i].add_to_sum(sums.sum[i / 2][i % 2]);
    histograms_[i].raise_max(static_cast<std::uint64_t>(sums.max[i / 4][i % 4]));
  }
  used_ = reads_used_ = 0;
  read_stored_ = false;
}

template <class Counter>
[[gnu::cold, gnu::noinline]] void StageRecorder<Counter>::keep_slow(const Pending& message,
                                                                    const Spent& spent) noexcept {
  constexpr auto slower = [](const SlowMessage& a, const SlowMessage& b) { return a.total_ns > b.total_ns; };
  SlowMessage out{.kernel = message.kernel,
                  .number = message.number,
                  .total_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(spent.total(), 0)),
                  .cpu = reads_[message.read_and_reported >> stage_lanes].cpu,
                  .order = spent.order};
  for (std::size_t i = 0; i < stage_count; ++i) {
    if ((spent.counted & 1u << i) == 0) continue;
    out.ns[i] = static_cast<std::uint32_t>(std::clamp<std::int64_t>(spent[i], 0, UINT32_MAX));
  }
  if (slow_.size() == slowest_) {
    std::ranges::pop_heap(slow_, slower);
    slow_.pop_back();
  }
  slow_.push_back(out);
  std::ranges::push_heap(slow_, slower);
}

}  // namespace nfx::strategy
