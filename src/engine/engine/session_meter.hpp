// Follows a session's messages from the application to the kernel, and notes the times.
// Thread: the poll thread. Cost: two readings of the clock and some stores for each message given to on_message.
// Errors: none.
//
// Bytes are sent in order. Bytes appended before an attempt to send them form a group, and bytes appended
// afterwards the next one, so that a group whose bytes wait for the disk or the peer ends when its last byte was sent:
//
//   appended ─► following ─► leaving ─► the kernel
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "engine/latency_recorder.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

class SessionMeter {
 public:
  static constexpr std::uint32_t send_sample = 16;  // one send in this number is timed by itself

  // From now on it notes; until then nothing else is called but on() and start_over().
  void begin(const SessionBook& book, LatencyRecorder& recorder) noexcept {
    NFX_ASSERT(!on());
    book_ = &book;
    recorder_ = &recorder;
  }
  [[nodiscard]] bool on() const noexcept { return book_ != nullptr; }
  [[nodiscard]] MonotonicTime reading() const noexcept { return recorder_->reading(); }

  // The bytes of the last reading had been with the kernel for this time.
  void received(Duration before_read) noexcept {
    before_read_ = std::max(before_read, Duration::zero());
    received_at_ = recorder_->last_reading();
    recorder_->record(*book_, LatencyStage::kernel_to_read, before_read_, received_at_);
  }

  [[nodiscard]] bool times_next_send() noexcept { return ++sends_ % send_sample == 0; }
  void send_timed(MonotonicTime began, MonotonicTime ended) noexcept {
    recorder_->record(*book_, LatencyStage::send_to_commit, ended - began, ended);
  }
  // The application has sent a message in its on_message, with which it is committed; or outside of it.
  void sent_in_callback() noexcept { ++uncommitted_; }
  void sent(MonotonicTime at) noexcept { add(at, 1); }
  // Whether sent() uses its time: only the oldest time counts.
  [[nodiscard]] bool group_is_empty() const noexcept { return (sealed_ ? following_ : leaving_).messages == 0; }
  // on_message was called with a message, and has returned.
  void delivered(MonotonicTime read, MonotonicTime called, MonotonicTime back, SeqNum seq) noexcept {
    recorder_->delivered({book_, read, called, back});
    std::uint32_t outstanding = 0;  // answers that the kernel does not have
    if (uncommitted_ != 0) {
      SentGroup& group = add(back, std::exchange(uncommitted_, 0));
      if (group.answers++ == 0) group.asked = read;
      outstanding = leaving_.answers + following_.answers;
    }
    if (!recorder_->traces().on() || !recorder_->traces().is_due()) [[likely]]
      return;
    recorder_->count(back);  // what left before has its time, and may end the trace before this one
    recorder_->traces().follow({.read = read,
                                .before_read = received_at_ == read ? before_read_ : Duration::zero(),
                                .called = called - read,
                                .back = back - read,
                                .session = book_->serial,
                                .seq_num = seq},
                               outstanding);
  }

  // Bytes appended after these `pending` ones, which wait for the disk, are sent later.
  void waits_for_disk(std::size_t pending) noexcept {
    if (!sealed_) seal(pending);
    leaving_.wait = std::max(leaving_.wait, SendWait::disk);
  }
  // Whether left() is necessary even where the kernel took all bytes immediately.
  [[nodiscard]] bool has_group() const noexcept { return sealed_ || leaving_.messages != 0; }
  // The kernel has taken `bytes`, and `pending` are left; `blocked`: it took fewer than it was given.
  void left(std::size_t bytes, std::size_t pending, bool blocked) noexcept {
    NFX_ASSERT(on());
    if (pending != 0 || sealed_) [[unlikely]]
      return left_in_part(bytes, pending, blocked);
    note(leaving_);
    leaving_ = {};
  }
  // The connection has ended, or everything was sent.
  void start_over() noexcept {
    leaving_ = following_ = {};
    sealed_ = false;
  }

 private:
  SentGroup& add(MonotonicTime committed, std::uint32_t messages) noexcept {
    SentGroup& group = sealed_ ? following_ : leaving_;
    if (group.messages == 0) group.committed = committed;
    group.messages += messages;
    return group;
  }
  void seal(std::size_t pending) noexcept {
    sealed_ = true;
    leaving_bytes_ = pending;
  }
  [[gnu::noinline]] void left_in_part(std::size_t bytes, std::size_t pending, bool blocked) noexcept {
    if (blocked) leaving_.wait = SendWait::peer;
    // Bytes that follow waiting ones have waited with them.
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
    leaving_ = std::exchange(following_, {});
    leaving_bytes_ = pending;
  }
  void note(const SentGroup& group) noexcept {
    if (group.messages != 0) recorder_->left(*book_, group);
  }

  const SessionBook* book_ = nullptr;
  LatencyRecorder* recorder_ = nullptr;
  bool sealed_ = false;  // what is appended belongs to the group that follows
  std::uint32_t uncommitted_ = 0;
  std::uint32_t sends_ = 0;
  SentGroup leaving_, following_;
  std::size_t leaving_bytes_ = 0;  // of the group before what follows, where it is
  Duration before_read_{};
  MonotonicTime received_at_{};
};

}  // namespace nfx
