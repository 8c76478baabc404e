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

  // Bytes of any message were encoded.
  void appended(std::size_t bytes) noexcept { (sealed_ ? following_ : leaving_).bytes += bytes; }
  [[nodiscard]] bool times_next_send() noexcept { return on() && ++sends_ % send_sample == 0; }
  // The application has sent a message: committed with its callback, or now.
  void sent_in_callback() noexcept { ++uncommitted_; }
  void sent(StageTicks at) noexcept { committed(at, 1); }
  // Whether sent() uses its time: only that of the oldest counts.
  [[nodiscard]] bool group_is_empty() const noexcept { return (sealed_ ? following_ : leaving_).messages == 0; }
  // on_message has returned, which was given a message of bytes read at `read`; at StageNotes::never: it was not timed.
  // Returns the answers that the kernel does not have, this message's included; 0: it was not answered.
  std::uint32_t callback_ended(StageTicks read, StageTicks at) noexcept {
    if (uncommitted_ == 0) return 0;
    Group& group = committed(at, uncommitted_);
    uncommitted_ = 0;
    if (group.answers++ == 0) group.asked = read;
    return waiting_answers();
  }
  // Answers to on_message that the kernel does not have.
  [[nodiscard]] std::uint32_t waiting_answers() const noexcept { return leaving_.answers + following_.answers; }

  // What is appended from now on leaves later than what waits for the disk.
  void waits_for_disk() noexcept {
    sealed_ = true;
    leaving_.wait = std::max(leaving_.wait, SendWait::disk);
  }
  // The kernel has taken so many bytes; `all`: nothing is left; `blocked`: it took fewer than it was given.
  void left(std::size_t bytes, bool all, bool blocked) noexcept {
    NFX_ASSERT(on());
    if (all && !sealed_ && !blocked) [[likely]] {
      note(leaving_);
      return leaving_.clear();
    }
    if (blocked) leaving_.wait = SendWait::peer;
    // What follows those that wait has waited with them.
    if (sealed_) following_.wait = std::max(following_.wait, leaving_.wait);
    if (all) {
      note(leaving_);
      if (sealed_) note(following_);
      return start_over();
    }
    if (bytes < leaving_.bytes) {
      leaving_.bytes -= bytes;
      sealed_ = true;
      return;
    }
    note(leaving_);
    bytes -= leaving_.bytes;
    leaving_ = following_;
    leaving_.bytes -= std::min(bytes, leaving_.bytes);
    following_ = {};
    sealed_ = false;
  }
  // The connection has ended, or everything was sent.
  void start_over() noexcept {
    leaving_ = {};
    if (!sealed_) return;
    following_ = {};
    sealed_ = false;
  }

 private:
  struct Group {
    std::size_t bytes = 0;
    StageTicks committed = 0;  // the oldest; StageNotes::never: it was not timed
    StageTicks asked = 0;      // the oldest
    std::uint32_t messages = 0;
    std::uint32_t answers = 0;
    std::uint32_t generation = 0;  // of the ticks
    SendWait wait = SendWait::nothing;

    void clear() noexcept {
      bytes = 0;
      messages = answers = 0;
      wait = SendWait::nothing;
    }
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
      messages = left_out_.counted_with(messages, notes_->one_read_in());
      answers = answers_left_out_.counted_with(answers, notes_->one_read_in());
    }
    notes_->left(book_, timed ? group.committed : group.asked, group.asked, messages, answers, group.wait);
  }

  const SessionBook* book_ = nullptr;
  StageNotes* notes_ = nullptr;
  std::uint32_t sends_ = 0;
  std::uint32_t uncommitted_ = 0;
  bool sealed_ = false;
  Group leaving_, following_;
  LeftOut left_out_, answers_left_out_;
};

}  // namespace nfx
