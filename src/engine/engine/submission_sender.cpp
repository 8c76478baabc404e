// Messages of other threads, one after the other, and held messages.
#include "engine/submission_sender.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

namespace nfx {
namespace {

bool may_be_sent_later(SendError error) noexcept {
  return error == SendError::would_block || error == SendError::not_logged_on || error == SendError::on_hold ||
         error == SendError::resetting;
}

}  // namespace

SubmissionSender::SubmissionSender(LoopContext& loop, const SessionTable& sessions)
    : loop_(loop),
      sessions_(sessions),
      queue_({.queue_bytes = loop.config.submit_queue_bytes,
              .keep_bytes = loop.config.submit_keep_bytes,
              .max_message_size = loop.config.max_message_size}),
      keeping_(most_sessions(loop.config)),
      kept_(most_sessions(loop.config)) {}

void SubmissionSender::send() {
  if (!keeping_.empty()) [[unlikely]]
    send_kept();
  queue_.drain([this](std::span<const char> record) { send(record); });
}

void SubmissionSender::send(std::span<const char> record) {
  const Submission submission = Submission::of(record);
  SessionDriver* session = sessions_.find(submission.header.session);
  if (session == nullptr) {
    loop_.count(&PollLoopCounters::submit_unsent);
    return complete(submission, std::unexpected(SendError::not_logged_on));
  }
  NFX_ASSERT(session->id() == submission.header.session);
  if (const auto fault = submission.header.fault) [[unlikely]]
    return settle(*session, submission, record.size(), std::unexpected(*fault));
  // It does not wait for the release: it would be sent at an unexpected time.
  if (session->sending_held() && !submission.header.keep) [[unlikely]]
    return settle(*session, submission, record.size(), std::unexpected(SendError::on_hold));
  const bool wait = session->logged_on() ? has_kept(*session) : submission.header.keep;
  if (wait) return keep(*session, submission, record);
  const auto sent = session->send(submission.message);
  if (!sent && submission.header.keep && may_be_sent_later(sent.error())) return keep(*session, submission, record);
  settle(*session, submission, record.size(), sent);
}

// Appended after the messages that wait already.
void SubmissionSender::keep(SessionDriver& session, const Submission& submission, std::span<const char> record) {
  std::unique_ptr<SpscQueue>& kept = kept_[session.index()];
  try {
    if (kept == nullptr) kept = queue_.make_keep();
  } catch (const std::bad_alloc&) {
  }
  if (kept == nullptr || kept->try_push(record) != PushResult::pushed)
    return settle(session, submission, record.size(), std::unexpected(SendError::would_block));
  loop_.count(&PollLoopCounters::submit_kept);
  keeping_.add(session.index());
}

void SubmissionSender::send_kept() {
  for (std::size_t i = 0; i < keeping_.size();) {
    SessionDriver& session = sessions_[keeping_[i]];
    while (session.may_send_now()) {
      const auto record = kept_[session.index()]->front();
      if (!record) break;
      const Submission submission = Submission::of(*record);
      const auto sent = session.send(submission.message);
      if (!sent && may_be_sent_later(sent.error())) break;
      const std::size_t size = record->size();
      kept_[session.index()]->pop();
      settle(session, submission, size, sent);
    }
    if (has_kept(session)) {
      ++i;
    } else {
      keeping_.erase_at(i);
    }
  }
}

void SubmissionSender::end() {
  queue_.close();
  queue_.drain([this](std::span<const char> record) {
    const Submission submission = Submission::of(record);
    SessionDriver* const session = sessions_.find(submission.header.session);
    const std::unexpected ended{SendError::not_logged_on};
    if (session != nullptr) return settle(*session, submission, record.size(), ended);
    loop_.count(&PollLoopCounters::submit_unsent);
    complete(submission, ended);
  });
  while (!keeping_.empty()) {
    const std::uint32_t index = keeping_[0];
    drop_kept(sessions_[index]);
    keeping_.erase(index);
  }
}

bool SubmissionSender::can_go_on() const noexcept {
  return std::ranges::any_of(keeping_.items(), [this](std::uint32_t index) { return sessions_[index].may_send_now(); });
}

void SubmissionSender::remove(SessionDriver& session) {
  drop_kept(session);
  keeping_.erase(session.index());
  kept_[session.index()].reset();
  queue_.remove(session.id());
}

void SubmissionSender::drop_kept(SessionDriver& session) {
  if (!has_kept(session)) return;
  std::size_t count = 0;
  while (kept_[session.index()]->try_pop([this, &session](std::span<const char> record) {
    loop_.count(&PollLoopCounters::submit_unsent);
    session.submit_state().keep_bytes.fetch_sub(Submissions::charge(record.size()), std::memory_order_relaxed);
    complete(Submission::of(record), std::unexpected(SendError::not_logged_on));
  })) {
    ++count;
  }
  keeping_.erase(session.index());
  session.report_notice(Notice::not_sent, SeqNum{},
                        std::to_string(count) + " messages that were held until the next Logon");
}

// It is sent, or never will be.
void SubmissionSender::settle(SessionDriver& session, const Submission& submission, std::size_t record_size,
                              std::expected<SeqNum, SendError> result) {
  if (submission.header.keep)
    session.submit_state().keep_bytes.fetch_sub(Submissions::charge(record_size), std::memory_order_relaxed);
  if (!result) {
    loop_.count(&PollLoopCounters::submit_unsent);
    session.report_notice(Notice::not_sent, SeqNum{}, to_string(result.error()));
  }
  complete(submission, result);
}

void SubmissionSender::complete(const Submission& submission, std::expected<SeqNum, SendError> result) noexcept {
  if (!submission.header.report) return;
  try {
    loop_.callbacks.application->on_submitted(
        {.session = submission.header.session, .ticket = submission.header.ticket, .result = result});
  } catch (...) {
    loop_.callback_threw("on_submitted");
  }
}

}  // namespace nfx
