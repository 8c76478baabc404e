// Messages of other threads: sent in the order of their tickets, or held until their session has logged on.

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "engine/session_runner.hpp"

namespace nfx {
namespace {

bool may_be_sent_later(SendError error) noexcept {
  return error == SendError::would_block || error == SendError::not_logged_on || error == SendError::on_hold ||
         error == SendError::resetting;
}

}  // namespace

void SessionRunner::send_submitted() {
  if (!keeping_.empty()) [[unlikely]]
    send_kept();
  submissions_.drain([this](std::span<const char> record) { submitted(record); });
}

void SessionRunner::submitted(std::span<const char> record) {
  const Submission submission = Submission::of(record);
  LiveSession* session = sessions_.find(submission.header.session);
  if (session == nullptr) {
    logons_.count_submit_unsent();
    return complete(submission, std::unexpected(SendError::not_logged_on));
  }
  NFX_ASSERT(session->number == submission.header.session);
  // It does not wait for the release: it would be sent at an unexpected time.
  if (session->session.sending_held() && !submission.header.keep) [[unlikely]]
    return settle(*session, submission, record.size(), std::unexpected(SendError::on_hold));
  const bool wait = session->logged_on() ? session->has_kept() : submission.header.keep;
  if (wait) return keep(*session, submission, record);
  const auto sent = session->send(submission.message);
  if (!sent && submission.header.keep && may_be_sent_later(sent.error())) return keep(*session, submission, record);
  settle(*session, submission, record.size(), sent);
}

// After those that wait already.
void SessionRunner::keep(LiveSession& session, const Submission& submission, std::span<const char> record) {
  try {
    if (session.kept == nullptr) session.kept = submissions_.make_keep();
  } catch (const std::bad_alloc&) {
  }
  if (session.kept == nullptr || session.kept->try_push(record) != PushResult::pushed)
    return settle(session, submission, record.size(), std::unexpected(SendError::would_block));
  logons_.count_submit_kept();
  keeping_.add(session.index);
}

void SessionRunner::send_kept() {
  for (std::size_t i = 0; i < keeping_.size();) {
    LiveSession& session = sessions_[keeping_[i]];
    while (session.may_send_now()) {
      const auto record = session.kept->front();
      if (!record) break;
      const Submission submission = Submission::of(*record);
      const auto sent = session.send(submission.message);
      if (!sent && may_be_sent_later(sent.error())) break;
      const std::size_t size = record->size();
      session.kept->pop();
      settle(session, submission, size, sent);
    }
    if (session.has_kept()) {
      ++i;
    } else {
      keeping_.erase_at(i);
    }
  }
}

// Those of logged-on sessions wait for the peer, whose reading wakes the loop, or for the journal, which does not.
bool SessionRunner::kept_can_go_on() const noexcept {
  return std::ranges::any_of(keeping_.items(), [this](std::uint32_t index) { return sessions_[index].may_send_now(); });
}

// The session ends for good.
void SessionRunner::drop_kept(LiveSession& session) {
  if (!session.has_kept()) return;
  std::size_t count = 0;
  while (session.kept->try_pop([this, &session](std::span<const char> record) {
    logons_.count_submit_unsent();
    session.submit_state.keep_bytes.fetch_sub(Submissions::charge(record.size()), std::memory_order_relaxed);
    complete(Submission::of(record), std::unexpected(SendError::not_logged_on));
  })) {
    ++count;
  }
  keeping_.erase(session.index);
  report_notice(session, Notice::not_sent, SeqNum{},
                std::to_string(count) + " messages that were held until the next Logon");
}

// It is sent, or never will be.
void SessionRunner::settle(LiveSession& session, const Submission& submission, std::size_t record_size,
                           std::expected<SeqNum, SendError> result) {
  if (submission.header.keep)
    session.submit_state.keep_bytes.fetch_sub(Submissions::charge(record_size), std::memory_order_relaxed);
  if (!result) {
    logons_.count_submit_unsent();
    report_notice(session, Notice::not_sent, SeqNum{}, to_string(result.error()));
  }
  complete(submission, result);
}

void SessionRunner::complete(const Submission& submission, std::expected<SeqNum, SendError> result) noexcept {
  if (!submission.header.report) return;
  try {
    callbacks_.application->on_submitted(
        {.session = submission.header.session, .ticket = submission.header.ticket, .result = result});
  } catch (...) {
    callback_threw("on_submitted");
  }
}

}  // namespace nfx
