// The one place that decides when bytes may be sent to the peer: not before the records they belong to are committed,
// and not while the peer does not read.
// Thread: one owner. Cost: no allocation; without a commit to wait for, two compares. Lifetime: the memory is the
// caller's. A value: `gate = SendGate{memory}` drops what is pending, with everything known about it.
//
//   pending   | may leave now | waits for commit_at | encoded since |
//             ^               ^ released            ^ gated         ^
//
// What waits is sent together once the source has committed up to commit_at; what is encoded meanwhile is the next
// group, with one commit for all of it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/output_buffer.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/time.hpp"
#include "transport/transport.hpp"

namespace nfx {

// A position in a stream of records. Positions of one source only grow while a connection lasts.
using CommitPosition = std::uint64_t;
inline constexpr CommitPosition no_commit_position = UINT64_MAX;

// Reports up to which position encoded messages are committed: a journal that syncs, a replica that acknowledges. Two
// sources can be combined: the result holds back when either does, its position is the journal's, and committed() is
// the lower of both.
//   holds_back      nothing may leave before committed() has come to the position() that it was encoded at
//   position        the end of the last record
//   committed       everything before it is committed; never beyond position()
//   request_commit  requests a commit soon; cheap to repeat
template <class S>
concept CommitSource = requires(const S& source) {
  { source.holds_back() } noexcept -> std::same_as<bool>;
  { source.position() } noexcept -> std::same_as<CommitPosition>;
  { source.committed() } noexcept -> std::same_as<CommitPosition>;
  { source.request_commit() } noexcept;
};

class SendGate {
 public:
  explicit SendGate(std::span<char> memory) noexcept : output_(memory) {}

  // Free space for encoded messages. See OutputBuffer.
  [[nodiscard]] std::span<char> room(std::size_t wanted) noexcept { return output_.room(wanted); }
  void append(std::size_t size) noexcept { output_.append(size); }
  [[nodiscard]] std::size_t pending() const noexcept { return output_.pending().size(); }
  [[nodiscard]] bool empty() const noexcept { return output_.empty(); }
  // See OutputBuffer.
  [[nodiscard]] std::size_t end() const noexcept { return output_.end(); }
  void clear_sent(std::size_t size) noexcept { output_.clear_sent(size); }

  // The front of what is pending that may be given to the transport now. Followed by sent(), unless it is empty.
  template <CommitSource Source>
  [[nodiscard]] std::span<const char> may_leave(const Source& source) noexcept {
    if (blocked_ || output_.empty()) return {};
    if (!source.holds_back()) return output_.pending();
    return committed_part(source);
  }
  // The transport's result for the `offered` bytes that may_leave returned. Bytes that it did not take wait for
  // unblock().
  void sent(SendResult result, std::size_t offered) noexcept {
    NFX_ASSERT(!blocked_);
    NFX_ASSERT(result.sent <= offered);
    NFX_ASSERT(offered <= pending());
    output_.consume(result.sent);
    blocked_ = !result.closed && result.sent < offered;
    if (released_ != 0) {
      NFX_ASSERT(result.sent <= released_);
      released_ -= result.sent;
      gated_ -= result.sent;
    }
    NFX_ASSERT(released_ <= gated_ && gated_ <= pending());
  }

  // Something waits for a commit: check again when the source's position has changed.
  [[nodiscard]] bool waits_for_commit() const noexcept { return commit_at_ != no_commit_position && !blocked_; }
  template <CommitSource Source>
  [[nodiscard]] bool still_waits(const Source& source) const noexcept {
    return commit_at_ != no_commit_position && source.committed() < commit_at_;
  }

  // The transport took less than it was offered, and has not reported since that it has space again.
  [[nodiscard]] bool blocked() const noexcept { return blocked_; }
  void unblock() noexcept {
    blocked_ = false;
    reader_deadline_ = MonotonicTime::max();
  }
  // When the peer has to have read; MonotonicTime::max() without a limit.
  [[nodiscard]] MonotonicTime reader_deadline() const noexcept { return reader_deadline_; }
  // False when there is a deadline already.
  bool give_deadline(MonotonicTime deadline) noexcept {
    NFX_ASSERT(blocked_);
    if (reader_deadline_ != MonotonicTime::max()) return false;
    reader_deadline_ = deadline;
    return true;
  }
  void clear_deadline() noexcept { reader_deadline_ = MonotonicTime::max(); }

 private:
  template <CommitSource Source>
  [[nodiscard]] std::span<const char> committed_part(const Source& source) noexcept {
    const std::span<const char> bytes = output_.pending();
    NFX_ASSERT(source.committed() <= source.position());
    if (commit_at_ != no_commit_position) {
      NFX_ASSERT(commit_at_ <= source.position());
      NFX_ASSERT(released_ < gated_);
      if (source.committed() >= commit_at_) release();
    }
    if (commit_at_ == no_commit_position && released_ < bytes.size()) {
      commit_at_ = source.position();
      gated_ = bytes.size();
      if (source.committed() >= commit_at_) {  // committed already: a resend, or nothing that is stored
        release();
      } else {
        source.request_commit();
      }
    }
    NFX_ASSERT(released_ <= gated_ && gated_ <= bytes.size());
    NFX_ASSERT(commit_at_ != no_commit_position || released_ == gated_);
    return bytes.first(released_);
  }
  void release() noexcept {
    released_ = gated_;
    commit_at_ = no_commit_position;
  }

  OutputBuffer output_;
  bool blocked_ = false;
  // For a source that holds back: `released_` pending bytes may leave; up to `gated_` may leave once the source has
  // committed up to `commit_at_`.
  std::size_t released_ = 0;
  std::size_t gated_ = 0;
  CommitPosition commit_at_ = no_commit_position;
  MonotonicTime reader_deadline_ = MonotonicTime::max();
};

}  // namespace nfx
