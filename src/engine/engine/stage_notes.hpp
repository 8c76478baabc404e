// When the last messages passed the stages of the engine, written down while they are handled, and counted as latencies
// when the poll thread is idle.
// Thread: the poll thread. Cost: a reading of the processor's counter where the caller requires one, and some stores;
// fold() takes some nanoseconds for each latency. What has been given to the kernel is noted without a time, and gets
// the next reading that is made for something else. When full: what is there is counted immediately. Lifetime: fold()
// before a session's book goes. Errors: none.
//
// Times are ticks of the processor's counter where the loop's clock uses it, otherwise nanoseconds of that clock. When
// that changes, what was noted before is counted, and generation() changes: the ticks of callers are void.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "engine/clock.hpp"
#include "engine/latency_ledger.hpp"
#include "engine/loop_network.hpp"
#include "engine/slow_ring.hpp"
#include "engine/trace_sampler.hpp"
#include "engine/untimed_read.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/latency_counts.hpp"
#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/concurrent/cycle_counter.hpp"
#include "nexusfix/observe/latency_stages.hpp"

namespace nfx {

using StageTicks = std::uint64_t;

// Iterations of a poll loop that are counted together.
struct TurnNote {
  Duration gap{};  // until the next one began
  std::uint32_t turns = 0;
  Duration handling{};  // from the first bytes that it received until all is handled
  std::uint32_t busy = 0;
  MonotonicTime ended{};
  bool is_moment = false;  // a candidate for the slowest moments
};

class StageNotes {
 public:
  static constexpr std::size_t capacity = 128;
  static constexpr StageTicks never = UINT64_MAX;

  // `now` is the loop's latest reading of its clock, and `network` reads it again. Both outlive the notes.
  StageNotes(SlowRing& slow, const Instant& now, const LoopNetwork& network) noexcept
      : slow_(slow), now_(now), network_(network) {}

  // Where the clock uses the processor's counter: its latest reading. It outlives the notes.
  void follow(const CounterReading& reading) noexcept { reading_ = &reading; }
  // One delivered message in `every` becomes a trace. The ring outlives the notes.
  void trace_to(TraceRing& ring, std::uint32_t every) noexcept { traces_.begin(ring, every); }
  // Of a busy session one read in this many is timed, and one message in it; each, where messages become traces.
  void time_one_in(std::uint32_t every) noexcept { timed_one_in_ = every; }
  [[nodiscard]] std::uint32_t timed_one_in() const noexcept { return traces_.on() ? 1 : timed_one_in_; }
  // The rate of the counter is that of the last call, which follows a reading of the clock. Where it is not used any
  // more, or was not, earlier ticks are void.
  void follow_counter() noexcept {
    if (reading_->time_per_count != rate_) change_rate(reading_->time_per_count);
  }
  // At the loop's latest reading of its clock, and now.
  [[nodiscard]] StageTicks ticks_read() const noexcept {
    return rate_ != 0 ? reading_->count : nanoseconds(now_.monotonic.time_since_epoch());
  }
  [[nodiscard]] StageTicks ticks() const noexcept {
    if (rate_ == 0) [[unlikely]]
      return nanoseconds(network_.monotonic().time_since_epoch());
    return cycle_count();
  }
  // Two cores' counters may differ by a little: then nothing has passed.
  [[nodiscard]] Duration between(StageTicks from, StageTicks to) const noexcept {
    const StageTicks ticks = to > from ? to - from : 0;
    if (rate_ == 0) return Duration{static_cast<Duration::rep>(ticks)};
    // In two parts, so that hours do not overflow.
    const StageTicks whole = (ticks >> 32) * rate_;
    const StageTicks rest = (ticks & UINT32_MAX) * (rate_ & UINT32_MAX) >> 32;
    const StageTicks more = (ticks & UINT32_MAX) * (rate_ >> 32);
    return Duration{static_cast<Duration::rep>(whole + rest + more)};
  }
  [[nodiscard]] std::uint32_t generation() const noexcept { return generation_; }

  // on_message was called with a message of this read, and has returned; `times`: so many had these times.
  // `outstanding`: the session's answers that the kernel does not have, that of this message included; 0: it has none.
  void delivered(const SessionBook* book, StageTicks read, StageTicks called, StageTicks back, SeqNum seq,
                 std::uint32_t outstanding, std::uint32_t times = 1) noexcept {
    Note& note = next();
    note.kind = Kind::delivered;
    note.seq_num = seq;
    note.answers = outstanding;
    note.times = times;
    note.book = book;
    note.at = {read, called, back};
  }
  // A read was handled. It is followed until its answers are sent.
  void handled(const UntimedRead& read) noexcept {
    // Without a reading since: another part of the same read, or what was parked.
    if (handled_ != nullptr && handled_ != &read) [[unlikely]]
      read_ended(network_.monotonic());
    handled_ = &read;
  }
  // They are, and it took too little time for a slow moment.
  void read_was_quick() noexcept {
    NFX_ASSERT(slow_.limit() >= SlowRing::least_limit);
    handled_ = nullptr;
  }
  // The kernel has taken messages, the oldest committed and requested at these times.
  void left(const SessionBook* book, StageTicks committed, StageTicks asked, std::uint32_t messages,
            std::uint32_t answers, SendWait wait) noexcept {
    Note& note = next();
    note.kind = Kind::left;
    note.wait = wait;
    note.times = messages;
    note.answers = answers;
    note.book = book;
    note.at = {committed, asked, 0};
    if (first_open_ == none) first_open_ = count_ - 1;
  }
  // What the kernel has taken waits for a time; and that or a read.
  [[nodiscard]] bool has_open() const noexcept { return first_open_ != none; }
  [[nodiscard]] bool waits_for_time() const noexcept { return has_open() || handled_ != nullptr; }
  // All of it, by the loop's latest reading.
  void ended() noexcept {
    if (has_open()) left_at(ticks_read());
    if (handled_ == nullptr) return;
    if (now_.monotonic - handled_->at <= slow_.limit()) return read_was_quick();
    read_ended(now_.monotonic);
  }
  // What the kernel has taken, by then.
  void left_at(StageTicks at) noexcept {
    for (std::size_t i = first_open_; i < count_; ++i) {
      Note& note = notes_[i];
      if (note.kind == Kind::left && note.at[2] == 0) note.at[2] = at;
    }
    first_open_ = none;
  }
  void send_timed(const SessionBook* book, StageTicks began, StageTicks ended) noexcept {
    Note& note = next();
    note.kind = Kind::send;
    note.book = book;
    note.at = {began, ended, 0};
  }
  // The bytes of the last reading had been with the kernel for this time.
  void received(const SessionBook* book, Duration before_read) noexcept {
    Note& note = next();
    note.kind = Kind::received;
    note.book = book;
    note.at = {nanoseconds(std::max(before_read, Duration::zero())), ticks_read(), 0};
  }
  void turn(LoopLatency& into, const TurnNote& turn) noexcept {
    Note& note = next();
    note.kind = turn.is_moment ? Kind::idle_turn : Kind::turn;
    note.times = turn.turns;
    note.answers = turn.busy;
    note.into = &into;
    note.at = {nanoseconds(turn.gap), nanoseconds(turn.handling), nanoseconds(turn.ended.time_since_epoch())};
  }

  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[gnu::noinline]] void fold() noexcept {
    if (has_open()) left_at(ticks());
    if (handled_ != nullptr) read_ended(network_.monotonic());
    for (std::size_t i = 0; i < count_; ++i) count(notes_[i]);
    count_ = 0;
  }

 private:
  static constexpr std::size_t none = SIZE_MAX;

  enum class Kind : std::uint8_t { delivered, left, send, received, turn, idle_turn };
  struct Note {
    Kind kind;
    SendWait wait;
    std::uint32_t answers;  // or busy iterations
    std::uint32_t times;    // messages or iterations with these times
    SeqNum seq_num;         // of what was delivered
    union {
      const SessionBook* book;
      LoopLatency* into;
    };
    std::array<StageTicks, 3> at;
  };

  static StageTicks nanoseconds(Duration time) noexcept { return static_cast<StageTicks>(time.count()); }
  static Duration duration(StageTicks nanoseconds) noexcept {
    return Duration{static_cast<Duration::rep>(nanoseconds)};
  }
  [[nodiscard]] Note& next() noexcept {
    if (count_ == capacity) [[unlikely]]
      fold();
    return notes_[count_++];
  }
  // What was not timed of it is one moment.
  [[gnu::noinline]] void read_ended(MonotonicTime at) noexcept {
    const UntimedRead& read = *std::exchange(handled_, nullptr);
    if (read.messages_in_read() == 0) return;
    offer_at(at, at - read.at, read.book->serial,
             read.is_answered() ? LatencyStage::request_to_answer : LatencyStage::in_application);
  }
  [[gnu::cold, gnu::noinline]] void change_rate(std::uint64_t rate) noexcept {
    if ((rate == 0) != (rate_ == 0)) {
      fold();
      traces_.finish();
      last_received_ = {};
      ++generation_;
    }
    rate_ = rate;
  }
  [[nodiscard]] MonotonicTime time_of(StageTicks at) const noexcept {
    return at >= ticks_read() ? now_.monotonic + between(ticks_read(), at) : now_.monotonic - between(at, ticks_read());
  }
  void record(const SessionBook& book, LatencyStage stage, Duration took, StageTicks ended,
              std::uint32_t times = 1) noexcept {
    book.pages.set()[stage].record(took, times);
    offer(took, ended, book.serial, stage);
  }
  void offer(Duration took, StageTicks ended, std::uint64_t session, LatencyStage stage,
             SendWait wait = SendWait::nothing) noexcept {
    if (took > slow_.limit()) [[unlikely]]
      offer_at(time_of(ended), took, session, stage, wait);
  }
  void offer_at(MonotonicTime ended, Duration took, std::uint64_t session, LatencyStage stage,
                SendWait wait = SendWait::nothing) noexcept {
    slow_.offer({.ended = ended, .took = took, .session = session, .stage = stage, .wait = wait});
  }
  void count(const Note& note) noexcept {
    const auto [first, second, third] = note.at;
    switch (note.kind) {
      case Kind::delivered:
        if (traces_.on()) [[unlikely]]
          trace(note);
        record(*note.book, LatencyStage::read_to_application, between(first, second), second, note.times);
        return record(*note.book, LatencyStage::in_application, between(second, third), third, note.times);
      case Kind::left: {
        LatencySet& set = note.book->pages.set();
        const Duration took = between(first, third);
        set[LatencyStage::commit_to_socket].record(took, note.times);
        offer(took, third, note.book->serial, LatencyStage::commit_to_socket, note.wait);
        if (note.answers == 0) return;
        set[LatencyStage::request_to_answer].record(between(second, third), note.answers);
        if (traces_.on()) [[unlikely]]
          traces_.left(note.book->serial, note.answers, time_of(third), note.wait);
        return;
      }
      case Kind::send: return record(*note.book, LatencyStage::send_to_commit, between(first, second), second);
      case Kind::received:
        last_received_ = {note.book->serial, second, duration(first)};
        return record(*note.book, LatencyStage::kernel_to_read, duration(first), second);
      case Kind::idle_turn:
        offer_at(MonotonicTime{duration(third)}, duration(first), 0, LatencyStage::turn);
        [[fallthrough]];
      case Kind::turn:
        if (note.times != 0) note.into->poll_gap.record(duration(first), note.times);
        if (note.answers != 0) note.into->handling.record(duration(second), note.answers);
        return;
    }
  }

  [[gnu::cold, gnu::noinline]] void trace(const Note& note) noexcept {
    if (!traces_.is_due()) return;
    const auto [read, called, back] = note.at;
    TraceRecord record;
    record.read = time_of(read);
    record.called = between(read, called);
    record.back = between(read, back);
    record.session = note.book->serial;
    record.seq_num = note.seq_num;
    if (last_received_.session == record.session && last_received_.at == read)
      record.before_read = last_received_.before_read;
    traces_.follow(record, note.answers);
  }

  struct LastReceived {
    std::uint64_t session = 0;
    StageTicks at = 0;
    Duration before_read{};
  };

  SlowRing& slow_;
  const Instant& now_;
  const LoopNetwork& network_;
  static constexpr CounterReading no_counter{};
  const CounterReading* reading_ = &no_counter;
  std::uint64_t rate_ = 0;  // of the counter; 0: it is not used
  std::uint32_t generation_ = 0;
  std::uint32_t timed_one_in_ = 1;
  std::size_t count_ = 0;
  std::size_t first_open_ = none;         // the first without a time
  const UntimedRead* handled_ = nullptr;  // waits for a time
  TraceSampler traces_;
  LastReceived last_received_;
  std::array<Note, capacity> notes_{};
};

}  // namespace nfx
