// Sequence gaps in both directions: requesting missing messages, and answering ResendRequests from the store.
#include <algorithm>
#include <utility>

#include "nexusfix/session/session.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "session/step_check.hpp"

namespace nfx {

namespace {
constexpr std::uint64_t gap_fill_cost = 128;  // bytes, of the resend budget
// A ResendRequest is itself a message that the peer has to request when it misses messages too: with one message for
// each request, two sides that both do would never end.
constexpr std::uint32_t smallest_resend_chunk = 2;
}  // namespace

// A gap is outstanding once the request is in the output space; cleared on disconnect; repeated only by the timer.
void Session::request_resend(SeqNum up_to, Instant now, Actions& out, bool redundant) noexcept {
  NFX_ASSERT(phase_ != Phase::disconnected && phase_ != Phase::awaiting_logon);
  NFX_ASSERT(up_to >= next_in_);
  if (gap_.requested_to != SeqNum{} && !redundant) return;
  const std::uint64_t chunk_end = value(next_in_) + std::max(config_.resend_chunk_size, smallest_resend_chunk) - 1;
  const bool chunked = config_.resend_chunk_size != 0 && chunk_end < value(up_to);
  const bool zero_is_infinity = version_ >= Version::fix42;
  std::array<char, 64> buffer;
  FieldWriter body{buffer};
  body.append(Tag::BeginSeqNo, next_in_);
  body.append(Tag::EndSeqNo, chunked                          ? chunk_end
                             : config_.closed_resend_requests ? value(up_to)
                             : zero_is_infinity               ? 0
                                                              : 999999);
  if (!send_session_message(msg_type::resend_request, {}, body.view(), now, out)) return;
  ++resend_requests_;
  const std::uint32_t attempts = gap_.attempts;
  gap_ = {.requested_to = chunked ? SeqNum{chunk_end} : up_to,
          .wanted_to = up_to,
          .progress = next_in_,
          .retry_at = now.monotonic + config_.resend_timeout,
          .attempts = attempts};
  note(attempts == 0 ? Notice::gap_detected : Notice::gap_request_repeated, next_in_, {}, out);
}

void Session::receive_resend_request(const MessageView& message, SeqNum seq, Position position, Instant now,
                                     Actions& out) noexcept {
  const auto first = message.get_seq_num(Tag::BeginSeqNo);
  const auto last = message.get_seq_num(Tag::EndSeqNo);
  if (!first || !last) {
    const Tag tag = first ? Tag::EndSeqNo : Tag::BeginSeqNo;
    const FieldError error = first ? last.error() : first.error();
    return reject(message, seq,
                  error == FieldError::missing ? SessionRejectReason::required_tag_missing
                                               : SessionRejectReason::incorrect_data_format,
                  tag, now, out);
  }
  const bool to_the_end = *last == SeqNum{};
  if (*first == SeqNum{} || (!to_the_end && *last < *first)) {
    return reject(message, seq, SessionRejectReason::value_is_incorrect, Tag::BeginSeqNo, now, out);
  }
  const SeqNum last_sent = previous(next_out_);
  const SeqNum up_to = to_the_end ? last_sent : std::min(*last, last_sent);
  if (config_.max_resent_messages != 0 && *first <= up_to &&
      value(up_to) - value(*first) >= config_.max_resent_messages) {
    note(Notice::resend_refused, *first, "request at most max_resent_messages in one ResendRequest", out);
    return reject(message, seq, SessionRejectReason::value_is_incorrect, Tag::EndSeqNo, now, out);
  }
  same_resend_count_ = *first == same_resend_ ? same_resend_count_ + 1 : 1;
  same_resend_ = *first;
  if (same_resend_count_ > config_.max_same_resend_requests) {
    note(Notice::resend_loop, *first, "the same messages were requested too often", out);
    return refuse("ResendRequest for the same messages again and again", now, out);
  }
  if (position == Position::equal) advance_past(seq, now, out);
  if (phase_ == Phase::disconnected) return;  // there was no space to request the next chunk
  // It is answered whatever its own sequence number; a gap before it is requested after the answer, so that two sides
  // that both miss messages do not wait for each other.
  if (position == Position::high) {
    request_after_replay_ = std::max(request_after_replay_, seq);
    answered_beyond_gap_ = std::max(answered_beyond_gap_, seq);
  }

  if (*first > last_sent) {
    note(Notice::resend_beyond_end, *first, "ResendRequest begins beyond the last message sent", out);
    if (!replaying()) finish_replay(now, out);
    return;
  }
  queue_replay(*first, up_to, out);
}

void Session::queue_replay(SeqNum first, SeqNum last, Actions& out) noexcept {
  NFX_ASSERT(first_seq_num <= first && first <= last && last < next_out_);
  if (!replaying()) {
    replay_ = Replay{{first, last}, {}};
    out.push({.kind = ActionKind::replay});
    return;
  }
  if (pending_replay_count_ < max_pending_replays) {
    pending_replays_[pending_replay_count_++] = {first, last};
    return;
  }
  // Full: the last range is extended to cover this one, so that every requested message is still answered.
  Range& range = pending_replays_.back();
  range = {std::min(range.next, first), std::max(range.last, last)};
}

void Session::finish_replay(Instant now, Actions& out) noexcept {
  NFX_ASSERT(pending_replay_count_ <= max_pending_replays);
  if (pending_replay_count_ != 0) {
    replay_ = Replay{pending_replays_[0], {}};
    std::move(pending_replays_.begin() + 1,
              pending_replays_.begin() + static_cast<std::ptrdiff_t>(pending_replay_count_), pending_replays_.begin());
    --pending_replay_count_;
    return;
  }
  replay_ = {};
  const SeqNum up_to = std::exchange(request_after_replay_, SeqNum{});
  if (up_to >= next_in_ && up_to != SeqNum{}) request_resend(up_to, now, out);
}

// Handles sequence number replay_.next. False when the output space is full: the next call continues there.
bool Session::replay_one(std::optional<std::string_view> stored, MessageView& scratch, Instant now,
                         Actions& out) noexcept {
  const StepCheck check{*this, out, StepCheck::Step::replay};
  const SeqNum seq = replay_.next;
  NFX_ASSERT(seq != SeqNum{} && seq <= replay_.last && replay_.last < next_out_);
  const bool resendable =
      stored && scratch.parse(*stored) == WireError::none && !is_session_msg_type(scratch.msg_type());
  if (resendable) {
    if (!within_resend_budget(stored->size(), now, out)) return false;
    if (replay_.gap_begin != SeqNum{}) {
      if (!send_gap_fill(replay_.gap_begin, seq, now, out)) return false;
      replay_.gap_begin = {};
    }
    if (!resend_bucket_.ready(now.monotonic)) {
      replay_held_until_ = resend_bucket_.ready_at();
      return false;
    }
    if (!send_replayed(*stored, scratch, now, out)) return false;
    static_cast<void>(resend_bucket_.take(now.monotonic));
    resend_budget_.spend(stored->size(), stored_bytes_, now.monotonic);
  } else if (replay_.gap_begin == SeqNum{}) {
    replay_.gap_begin = seq;
  }
  if (seq != replay_.last) {
    replay_.next = next(seq);
    return true;
  }
  if (replay_.gap_begin != SeqNum{}) {
    // A flood of requests for messages that are not stored is limited as well.
    if (!within_resend_budget(gap_fill_cost, now, out)) return false;
    if (!send_gap_fill(replay_.gap_begin, next(seq), now, out)) return false;
    resend_budget_.spend(gap_fill_cost, stored_bytes_, now.monotonic);
  }
  finish_replay(now, out);
  return true;
}

// False: the resend is held until the budget allows it, and continues at the same message.
bool Session::within_resend_budget(std::uint64_t bytes, Instant now, Actions& out) noexcept {
  if (resend_budget_.ready(bytes, stored_bytes_, now.monotonic)) return true;
  replay_held_until_ = resend_budget_.ready_at();
  if (!std::exchange(resend_slowed_noted_, true)) {
    note(Notice::resend_slowed, replay_.next, "every stored byte was resent twice: repeated_resend_rate applies", out);
  }
  return false;
}

// Sends a stored message again: same sequence number and body, PossDupFlag, the old SendingTime as OrigSendingTime.
bool Session::send_replayed(std::string_view stored, MessageView& scratch, Instant now, Actions& out) noexcept {
  std::size_t extra_begin = 0, after_begin = 0, after_end = 0, last_begin = 0, body_begin = 0;
  for (std::uint32_t i = 3; i < scratch.size() && body_begin == 0; ++i) {
    const Field field = scratch[i];
    const auto value_begin = static_cast<std::size_t>(field.value.data() - stored.data());
    const std::size_t field_end = value_begin + field.value.size() + 1;
    const std::size_t field_begin =
        static_cast<std::size_t>(scratch[i - 1].value.data() - stored.data()) + scratch[i - 1].value.size() + 1;
    if (!is_header_tag(field.tag)) {
      body_begin = field_begin;
    } else if (field.tag == Tag::TargetCompID) {
      // The session's own fields after it are written again by the composer.
      extra_begin = field_end;
      if (stored.substr(field_end).starts_with(composer_.own_fields())) extra_begin += composer_.own_fields().size();
    } else if (field.tag == Tag::LastMsgSeqNumProcessed) {
      // The value of that time means nothing now.
      if (after_begin == 0) after_begin = field_begin;
      after_end = field_begin;
      last_begin = field_end;
    } else if (extra_begin != 0 && after_begin == 0 && field.tag > Tag::OrigSendingTime) {
      after_begin = field_begin;
    }
  }
  if (after_begin == 0) after_begin = body_begin;
  if (last_begin == 0) after_end = last_begin = body_begin;
  const std::size_t body_end = stored.size() - 7;
  // The four parts of the stored message that are copied follow one another.
  NFX_ASSERT(extra_begin <= after_begin && after_begin <= after_end && after_end <= last_begin);
  NFX_ASSERT(last_begin <= body_begin && body_begin <= body_end);
  // The clock may have been set back since the message was sent; no resend is older than its original.
  std::string_view original_time = scratch.get_view(Tag::SendingTime);
  std::array<char, max_utc_timestamp_size> time;
  if (const std::string_view now_text = composer_.sending_time(now.utc); now_text < original_time) {
    std::copy(now_text.begin(), now_text.end(), time.begin());
    original_time = {time.data(), now_text.size()};
  }
  const auto seq = scratch.get_seq_num(Tag::MsgSeqNum);
  NFX_ASSERT(seq == replay_.next);  // the store returns the message with the number that was read
  const auto size = composer_.compose({.msg_type = scratch.msg_type(),
                                       .seq = *seq,
                                       .poss_dup = true,
                                       .orig_sending_time = original_time,
                                       .header_fields = stored.substr(extra_begin, after_begin - extra_begin),
                                       .header_fields_after = stored.substr(after_begin, after_end - after_begin),
                                       .header_fields_last = stored.substr(last_begin, body_begin - last_begin),
                                       .last_processed = last_processed(),
                                       .body = stored.substr(body_begin, body_end - body_begin)},
                                      now.utc, out.room());
  if (!size) return false;
  out.push({.kind = ActionKind::send, .resent = true, .seq = *seq, .bytes = out.take(*size)});
  last_sent_ = now.monotonic;
  return true;
}

bool Session::send_gap_fill(SeqNum begin, SeqNum next_seq, Instant now, Actions& out) noexcept {
  NFX_ASSERT(begin < next_seq && next_seq <= next_out_);
  std::array<char, 64> buffer;
  FieldWriter body{buffer};
  body.append(Tag::NewSeqNo, next_seq).append(Tag::GapFillFlag, true);
  std::array<char, max_utc_timestamp_size> time;
  const std::string_view now_text = composer_.sending_time(now.utc);
  std::copy(now_text.begin(), now_text.end(), time.begin());
  const auto size = compose_session_message({.msg_type = msg_type::sequence_reset,
                                             .seq = begin,
                                             .poss_dup = true,
                                             .orig_sending_time = {time.data(), now_text.size()},
                                             .last_processed = last_processed(),
                                             .body = body.view()},
                                            now, out.room());
  if (!size) return false;
  out.push({.kind = ActionKind::send, .seq = begin, .bytes = out.take(*size)});
  last_sent_ = now.monotonic;
  return true;
}

}  // namespace nfx
