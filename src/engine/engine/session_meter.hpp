// Follows what a session sends from the application to the kernel, and notes when.
// Thread: the poll thread. Cost: some additions for a message that is not timed; for a timed one the caller reads the
// clock. Errors: none.
//
// Bytes are sent in order. Those that were appended before an attempt to send them form a group, and those appended
// afterwards the next one, so that a group whose bytes wait for the disk or the peer is noted when its last byte was
// sent:
//
//   appended ─► following ─► leaving ─► the kernel
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "engine/latency_ledger.hpp"
#include "engine/read_sampler.hpp"
#include "engine/stage_notes.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

// What an untimed read uses is in its first cache line: more of them are some per cent of a message.
class alignas(64) SessionMeter {
 public:
  static constexpr std::uint32_t send_sample = 16;  // one send in this number is timed by itself

  // From now on it notes; until then everything is ignored.
  void begin(const SessionBook& book, StageNotes& notes) noexcept {
    static_assert(offsetof(SessionMeter, reads_) + ReadSampler::untimed_size() <= 64);
    NFX_ASSERT(!on() && untimed().sent == 0);
    notes_ = &notes;
    reads_.begin(book, notes.timed_one_in());
  }
  [[nodiscard]] bool on() const noexcept { return notes_ != nullptr; }
  [[nodiscard]] const SessionBook* book() const noexcept { return untimed().book; }

  // Around the messages of a read at this time.
  void read_began(MonotonicTime now) noexcept {
    reads_.read_began(now);
    gone_ = untimed().sent;
  }
  void read_ended() noexcept {
    reads_.read_ended();
    notes_->handled(untimed());
    if (sealed_) [[unlikely]]
      commit_untimed();
  }
  // Whether the next message that is received, and what is sent now, is timed.
  [[nodiscard]] bool times() const noexcept { return reads_.times(); }
  [[nodiscard]] bool times_next_send() noexcept { return ++sends_ % send_sample == 0; }
  // The application has sent a message: where nothing is timed, committed with its callback, or now.
  void sent_untimed() noexcept { ++reads_.untimed().sent; }
  void sent_in_callback() noexcept { ++uncommitted_; }
  void sent(StageTicks at) noexcept { committed(at, 1); }
  // Whether sent() uses its time: only that of the oldest counts.
  [[nodiscard]] bool group_is_empty() const noexcept { return (sealed_ ? following_ : leaving_).messages == 0; }
  // A message is given to on_message, and is not timed.
  void not_timed() noexcept { reads_.not_timed(); }
  // on_message was called with a timed message of this read, and has returned.
  void callback_ended(StageTicks read, StageTicks called, StageTicks back, SeqNum seq) noexcept {
    std::uint32_t outstanding = 0;
    if (uncommitted_ != 0) {
      answered(committed(back, std::exchange(uncommitted_, 0)), 1, read);
      outstanding = leaving_.answers + following_.answers + untimed_answers();
    }
    notes_->delivered(book(), read, called, back, seq, outstanding, reads_.timed(notes_->between(called, back)));
  }

  // What is appended to these `pending` bytes, which wait for the disk, is sent later.
  void waits_for_disk(std::size_t pending) noexcept {
    commit_untimed();
    if (!sealed_) seal(pending);
    leaving_.wait = std::max(leaving_.wait, SendWait::disk);
  }
  // Whether left() is necessary even where the kernel took all bytes immediately.
  [[nodiscard]] bool has_group() const noexcept { return has_group_; }
  // The kernel has taken so many bytes, and `pending` are left; `blocked`: it took fewer than it was given.
  [[gnu::noinline]] void left(std::size_t bytes, std::size_t pending, bool blocked) noexcept {
    NFX_ASSERT(on());
    if (pending != 0 || sealed_) return left_in_part(bytes, pending, blocked);
    note(leaving_);
    leaving_.clear();
    has_group_ = false;
    gone_ = untimed().sent;
  }
  // The connection has ended, or everything was sent.
  void start_over() noexcept {
    leaving_ = following_ = {};
    gone_ = untimed().sent;
    has_group_ = sealed_ = false;
  }

 private:
  struct Group {
    StageTicks committed = 0;  // the oldest; StageNotes::never: it was not timed
    StageTicks asked = 0;      // the oldest
    std::uint32_t messages = 0;
    std::uint32_t answers = 0;
    std::uint32_t generation = 0;  // of the ticks
    SendWait wait = SendWait::nothing;

    void clear() noexcept {
      messages = answers = 0;
      wait = SendWait::nothing;
    }
  };

  [[nodiscard]] const UntimedRead& untimed() const noexcept { return reads_.untimed(); }
  Group& committed(StageTicks at, std::uint32_t messages) noexcept {
    Group& group = sealed_ ? following_ : leaving_;
    has_group_ = true;
    if (group.messages == 0) {
      group.committed = at;
      group.generation = notes_->generation();
    }
    group.messages += messages;
    return group;
  }
  static void answered(Group& group, std::uint32_t answers, StageTicks read) noexcept {
    if (group.answers == 0) group.asked = read;
    group.answers += answers;
  }
  // Of the latest read, that the kernel does not have.
  [[nodiscard]] std::uint32_t untimed_answers() const noexcept {
    return std::min(untimed().messages_in_read(), untimed().sent - gone_);
  }
  // What was not timed of the latest read joins a group when it has to wait.
  void commit_untimed() noexcept {
    if (untimed().sent == gone_) return;
    Group& group = committed(StageNotes::never, untimed().sent - gone_);
    answered(group, std::max(untimed_answers(), 1U), notes_->ticks_read());
    reads_.untimed().sent = gone_;
  }
  void seal(std::size_t pending) noexcept {
    has_group_ = sealed_ = true;
    leaving_bytes_ = pending;
  }
  void left_in_part(std::size_t bytes, std::size_t pending, bool blocked) noexcept {
    commit_untimed();
    if (blocked) leaving_.wait = SendWait::peer;
    // What follows those that wait has waited with them.
    following_.wait = std::max(following_.wait, leaving_.wait);
    if (pending == 0) {
      note(leaving_);
      note(following_);
      return start_over();
    }
    if (!sealed_) return seal(pending);
    if (bytes < leaving_bytes_) {
      leaving_bytes_ -= bytes;
      return;
    }
    note(leaving_);
    leaving_ = following_;
    following_ = {};
    leaving_bytes_ = pending;
  }

  void note(const Group& group) noexcept {
    if (group.messages == 0 || group.generation != notes_->generation()) return;
    const bool timed = group.committed != StageNotes::never;
    if (timed || group.wait != SendWait::nothing) return note_times(group, timed);
    reads_.untimed().sent += group.messages;
    gone_ += group.messages;
  }
  void note_times(const Group& group, bool timed) noexcept {
    NFX_ASSERT(timed || group.answers != 0);
    std::uint32_t messages = group.messages, answers = group.answers;
    // What waits for disk or peer is noted in any case, so it counts for itself alone. Such a wait is long: it may
    // begin at the read.
    if (group.wait == SendWait::nothing) {
      count_untimed_answers();
      messages = left_out_.counted_with(messages, untimed().sent, notes_->timed_one_in());
      answers = answers_left_out_.counted_with(answers, untimed_answers_, notes_->timed_one_in());
    }
    notes_->left(book(), timed ? group.committed : group.asked, group.asked, messages, answers, group.wait);
  }

  // Callbacks that were not timed and have sent something: taken to be as many as there can be.
  void count_untimed_answers() noexcept {
    untimed_answers_ += std::min(untimed().messages - messages_counted_, untimed().sent - sent_counted_);
    messages_counted_ = untimed().messages;
    sent_counted_ = untimed().sent;
  }

  StageNotes* notes_ = nullptr;
  bool has_group_ = false;
  bool sealed_ = false;     // what is appended belongs to the group that follows
  std::uint32_t gone_ = 0;  // of what callbacks sent that were not timed, the kernel has so many, at least
  ReadSampler reads_;
  std::uint32_t uncommitted_ = 0;
  std::uint32_t sends_ = 0;
  Group leaving_, following_;
  std::size_t leaving_bytes_ = 0;  // of the group before what follows, where it is
  LeftOut left_out_, answers_left_out_;
  std::uint32_t untimed_answers_ = 0;
  std::uint32_t messages_counted_ = 0, sent_counted_ = 0;
};

}  // namespace nfx
