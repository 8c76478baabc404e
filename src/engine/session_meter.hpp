// Follows what a session sends from the application to the kernel, and notes when.
// Thread: the poll thread. Cost: some additions per message; the caller reads the clock. Without a book nothing is
// noted. Errors: none.
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

class SessionMeter {
 public:
  static constexpr std::uint32_t send_sample = 16;  // one send in this number is timed by itself

  // From now on it notes; until then everything is ignored.
  void begin(const SessionBook& book, StageNotes& notes) noexcept {
    book_ = &book;
    notes_ = &notes;
  }
  [[nodiscard]] bool on() const noexcept { return book_ != nullptr; }
  [[nodiscard]] const SessionBook* book() const noexcept { return book_; }

  [[nodiscard]] bool times_next_send() noexcept { return on() && ++sends_ % send_sample == 0; }
  // The application has sent a message: committed with its callback, or now.
  void sent_in_callback() noexcept { ++uncommitted_; }
  void sent(StageTicks at) noexcept { committed(at, 1); }
  // Whether sent() uses its time: only that of the oldest counts.
  [[nodiscard]] bool group_is_empty() const noexcept { return (sealed_ ? following_ : leaving_).messages == 0; }
  // on_message has returned, which was given a message of bytes read at `read`. Returns the answers that the kernel
  // does not have, this message's included; 0: it was not answered.
  std::uint32_t callback_ended(StageTicks read, StageTicks at) noexcept {
    if (uncommitted_ == 0) return 0;
    answered(committed(at, std::exchange(uncommitted_, 0)), 1, read);
    return waiting_answers();
  }
  // The same of a message that is not timed.
  void untimed_callback_ended() noexcept {
    if (uncommitted_ == 0) return;
    untimed_.messages += std::exchange(uncommitted_, 0);
    ++untimed_.answers;
    if (sealed_) [[unlikely]]
      commit_untimed();
  }
  // Answers to on_message that the kernel does not have.
  [[nodiscard]] std::uint32_t waiting_answers() const noexcept {
    return untimed_.answers + leaving_.answers + following_.answers;
  }

  // What is appended to these `pending` bytes, which wait for the disk, is sent later.
  void waits_for_disk(std::size_t pending) noexcept {
    commit_untimed();
    if (!sealed_) seal(pending);
    leaving_.wait = std::max(leaving_.wait, SendWait::disk);
  }
  // The kernel has taken so many bytes, and `pending` are left; `blocked`: it took fewer than it was given.
  void left(std::size_t bytes, std::size_t pending, bool blocked) noexcept {
    NFX_ASSERT(on());
    if (pending != 0 || sealed_) [[unlikely]]
      return left_in_part(bytes, pending, blocked);
    if (leaving_.messages != 0) {
      note(leaving_);
      leaving_.clear();
    }
    left_out_.add(untimed_.messages);
    answers_left_out_.add(untimed_.answers);
    untimed_ = {};
  }
  // The connection has ended, or everything was sent.
  void start_over() noexcept {
    leaving_ = following_ = {};
    untimed_ = {};
    sealed_ = false;
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

  // Of callbacks that were not timed, what the kernel does not have. It joins a group when it has to wait.
  struct Untimed {
    std::uint32_t messages = 0;
    std::uint32_t answers = 0;
  };

  Group& committed(StageTicks at, std::uint32_t messages) noexcept {
    Group& group = sealed_ ? following_ : leaving_;
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
  // Their read is taken to be the latest one: another connection's where this one is not flushed before it.
  [[gnu::noinline]] void commit_untimed() noexcept {
    if (untimed_.messages == 0) return;
    answered(committed(StageNotes::never, untimed_.messages), untimed_.answers, notes_->ticks_read());
    untimed_ = {};
  }
  void seal(std::size_t pending) noexcept {
    sealed_ = true;
    leaving_bytes_ = pending;
  }
  [[gnu::noinline]] void left_in_part(std::size_t bytes, std::size_t pending, bool blocked) noexcept {
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
    left_out_.add(group.messages);
    answers_left_out_.add(group.answers);
  }
  [[gnu::noinline]] void note_times(const Group& group, bool timed) noexcept {
    NFX_ASSERT(timed || group.answers != 0);
    std::uint32_t messages = group.messages, answers = group.answers;
    // What waits for disk or peer is noted in any case, so it counts for itself alone. Such a wait is long: it may
    // begin at the read.
    if (group.wait == SendWait::nothing) {
      messages = left_out_.counted_with(messages, notes_->timed_one_in());
      answers = answers_left_out_.counted_with(answers, notes_->timed_one_in());
    }
    notes_->left(book_, timed ? group.committed : group.asked, group.asked, messages, answers, group.wait);
  }

  const SessionBook* book_ = nullptr;
  StageNotes* notes_ = nullptr;
  std::uint32_t sends_ = 0;
  std::uint32_t uncommitted_ = 0;
  bool sealed_ = false;            // what is appended belongs to the group that follows
  std::size_t leaving_bytes_ = 0;  // of the group before it, where it is
  Untimed untimed_;
  Group leaving_, following_;
  LeftOut left_out_, answers_left_out_;
};

}  // namespace nfx
