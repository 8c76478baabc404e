// Sends what other threads have submitted, in the order of their tickets, and holds messages until their session has
// logged on.
// Thread: the poll thread; queue() from any. Bounds: submit_keep_bytes of each session; a message that does not fit is
// reported as not sent. Errors: none; what cannot be sent is a notice, and the result of its ticket.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <vector>

#include "engine/index_list.hpp"
#include "engine/session_table.hpp"
#include "engine/submissions.hpp"

namespace nfx {

class SubmissionSender {
 public:
  // Both outlive it.
  SubmissionSender(LoopContext& loop, const SessionTable& sessions);

  [[nodiscard]] Submissions& queue() noexcept { return queue_; }
  [[nodiscard]] const Submissions& queue() const noexcept { return queue_; }

  // A session that other threads may name from now on. From any thread.
  void add(SessionDriver& session) { queue_.add(session.id(), session.config(), session.submit_state()); }
  // It ends: what is held for it is dropped.
  void remove(SessionDriver& session);
  void drop_kept(SessionDriver& session);

  void send();
  // The loop turns no more: what is queued or held is reported, and nothing is taken from now on.
  void end();
  // Messages held for logged-on sessions wait for the peer, whose reading wakes the loop, or for the journal, which
  // does not.
  [[nodiscard]] bool can_go_on() const noexcept;

 private:
  void send(std::span<const char> record);
  void send_kept();
  // Submitted messages are before the next one.
  [[nodiscard]] bool has_kept(const SessionDriver& session) const noexcept {
    return kept_[session.index()] != nullptr && kept_[session.index()]->size() != 0;
  }
  void keep(SessionDriver& session, const Submission& submission, std::span<const char> record);
  void settle(SessionDriver& session, const Submission& submission, std::size_t record_size,
              std::expected<SeqNum, SendError> result);
  void complete(const Submission& submission, std::expected<SeqNum, SendError> result) noexcept;

  LoopContext& loop_;
  const SessionTable& sessions_;
  Submissions queue_;
  IndexList keeping_;                             // with messages that wait
  std::vector<std::unique_ptr<SpscQueue>> kept_;  // by place, messages that wait for the Logon; null until the first
};

}  // namespace nfx
