// How a logged-on session handles a message: checks of its sequence number, then of its content, then processing.
#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

#include "base/call_trace.hpp"
#include "base/same_text.hpp"
#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/session/session.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "session/logon_check.hpp"
#include "session/step_check.hpp"

namespace nfx {
namespace {

[[nodiscard]] bool possible_duplicate(const MessageView& message) noexcept {
  return message.get_view(Tag::PossDupFlag) == "Y";
}

[[nodiscard]] bool is_reset(const MessageView& message) noexcept {
  return message.msg_type() == msg_type::sequence_reset && message.get_view(Tag::GapFillFlag) != "Y";
}

// The possible answers to our Logon with ResetSeqNumFlag=Y on an open session: the same from the peer, or its Logout.
[[nodiscard]] bool answers_reset(const MessageView& message) noexcept {
  const std::string_view type = message.msg_type();
  return type == msg_type::logout || (type == msg_type::logon && message.get_view(Tag::ResetSeqNumFlag) == "Y");
}

// The number in the first bytes of a message that is not whole or not right.
[[nodiscard]] std::optional<SeqNum> number_in(std::string_view bytes) noexcept {
  constexpr std::size_t searched = 4096, most_digits = 18;
  constexpr std::string_view field =
      "\x01"
      "34=";
  constexpr std::string_view next_message =
      "\x01"
      "8=FIX";
  bytes = bytes.substr(0, searched);
  bytes = bytes.substr(0, bytes.find(next_message));
  const std::size_t at = bytes.find(field);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view text = bytes.substr(at + field.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + std::min(text.size(), most_digits), number);
  if (error != std::errc{} || end == text.data() + text.size() || *end != soh) return std::nullopt;
  return SeqNum{number};
}

}  // namespace

void Session::on_message(const MessageView& message, Instant now, Actions& out) noexcept {
  NFX_TRACE();
  const StepCheck check{*this, out};
  last_received_ = now.monotonic;
  test_pending_ = false;
  switch (phase_) {
    case Phase::disconnected: return;
    case Phase::awaiting_logon: receive_first(message, now, out); break;
    case Phase::logged_on:
    case Phase::logout_sent: process(message, false, now, out); break;
  }
  processing_ = {};
}

void Session::on_queued_message(const MessageView& message, Instant now, Actions& out) noexcept {
  const StepCheck check{*this, out};
  if (gap_.requested_to != SeqNum{} && gap_.retry_at == MonotonicTime::max()) [[unlikely]]
    gap_.retry_at = now.monotonic + config_.resend_timeout;  // take_back() has stopped it
  if (phase_ == Phase::logged_on || phase_ == Phase::logout_sent) process(message, true, now, out);
  processing_ = {};
}

bool Session::take_back(SeqNum seq) noexcept {
  if (next_in_ <= seq) return false;
  next_in_ = seq;
  gap_.progress = std::min(gap_.progress, seq);
  if (gap_.requested_to != SeqNum{}) gap_.retry_at = MonotonicTime::max();
  return phase_ == Phase::logged_on || phase_ == Phase::logout_sent;
}

std::optional<std::string_view> Session::take_queued() noexcept {
  if (queue_.empty()) return std::nullopt;
  return queue_.take(next_in_);
}

void Session::on_garbled(WireError error, std::string_view bytes, std::string_view length, Instant now,
                         Actions& out) noexcept {
  const StepCheck check{*this, out};
  NFX_ASSERT(error != WireError::none);
  if (phase_ == Phase::awaiting_logon) {
    const std::string_view text =
        join({"garbled bytes where a Logon was expected: ", length.empty() ? to_string(error) : length});
    return disconnect(text, Ending::failed, out, refusal_of(error));
  }
  if (phase_ == Phase::disconnected) return;
  if (is_garbled_resend(error, bytes)) {
    if (!std::exchange(resent_garbled_noted_, true))
      note(Notice::resent_garbled, next_in_, "tell the peer; verify_checksum = false accepts them", out);
  } else {
    out.push({.kind = ActionKind::notice,
              .notice = Notice::garbled_message,
              .bytes = bytes,
              .text = length.empty() ? to_string(error) : length});
    count_invalid(now, out);
  }
  if (length.empty() || !gives_up_on(number_in(bytes))) return;
  note(Notice::unreadable, next_in_, length, out);
  advance_past(next_in_, now, out);
}

void Session::on_incomplete(std::string_view bytes, std::string_view length, Instant, Actions& out) noexcept {
  const StepCheck check{*this, out};
  if (!gives_up_on(number_in(bytes), gap_.attempts + 1)) return;
  note(Notice::unreadable, next_in_, length, out);
  next_in_ = next(next_in_);  // the gap ends with the connection
}

// Whether the number that we expect was requested max_resend_attempts times, and each answer had a wrong length: it
// would be requested for ever. One answer to each ResendRequest counts. `number` is the message's own, where it has
// one.
bool Session::gives_up_on(std::optional<SeqNum> number, std::uint32_t requests) noexcept {
  const bool requested = gap_open() && (phase_ == Phase::logged_on || phase_ == Phase::logout_sent);
  if (!requested || violated_ || reset_sent_ || number.value_or(next_in_) != next_in_) return false;
  if (unreadable_.number != next_in_) unreadable_ = {.number = next_in_};
  if (unreadable_.request == resend_requests_) return false;
  const std::uint32_t not_counted = resend_requests_ - std::exchange(unreadable_.request, resend_requests_);
  unreadable_.answers += std::min(requests, not_counted);
  if (unreadable_.answers < config_.max_resend_attempts) return false;
  unreadable_ = {};
  return true;
}

void Session::on_too_large(const MessageView& head, std::string_view limit, Instant now, Actions& out) noexcept {
  const StepCheck check{*this, out};
  last_received_ = now.monotonic;
  test_pending_ = false;
  switch (phase_) {
    case Phase::disconnected: return;
    case Phase::awaiting_logon:
      return disconnect(join({"the first message is too large: ", limit}), Ending::failed, out,
                        LogonRefusalReason::too_long);
    case Phase::logged_on:
    case Phase::logout_sent: receive_too_large(head, limit, now, out); break;
  }
  processing_ = {};
}

void Session::receive_too_large(const MessageView& head, std::string_view limit, Instant now, Actions& out) noexcept {
  if (violated_) return;
  const auto number = head.get_seq_num(Tag::MsgSeqNum);
  if (!number || *number >= seq_num_limit) {
    note(Notice::garbled_message, SeqNum{}, limit, out);
    count_invalid(now, out);
    if (!gives_up_on(std::nullopt)) return;
    note(Notice::unreadable, next_in_, limit, out);
    return advance_past(next_in_, now, out);
  }
  const SeqNum seq = *number;
  processing_ = seq;
  const Origin origin{head};
  if (reset_sent_ || !same_text(head.begin_string(), config_.begin_string))
    return note(Notice::unexpected_message, seq, limit, out);
  if (!sender_acceptable(head, seq, origin, false, now, out)) return;
  if (seq < next_in_) return receive_low(head, seq, now, out);
  // One ahead of a gap cannot wait in the queue: it is requested again once the gap is closed, and taken then.
  if (seq > next_in_) return request_resend(previous(seq), now, out);
  note(Notice::too_large, seq, limit, out);
  advance_past(seq, now, out);
}

// A fault of the peer's that we have asked for: it does not count for max_invalid_rate, up to the messages requested.
bool Session::is_garbled_resend(WireError error, std::string_view bytes) noexcept {
  if (error != WireError::check_sum_mismatch || !gap_open()) return false;
  constexpr std::string_view poss_dup =
      "\x01"
      "43=Y\x01";
  return bytes.contains(poss_dup) && gap_.garbled++ <= value(gap_.wanted_to) - value(next_in_);
}

bool Session::accepts_wrong_check_sum(const MessageView& message) const noexcept {
  if (config_.verify_checksum || !gap_open() || !possible_duplicate(message)) return false;
  const auto seq = message.get_seq_num(Tag::MsgSeqNum);
  return seq && *seq >= next_in_ && *seq <= gap_.wanted_to;
}

void Session::count_invalid(Instant now, Actions& out) noexcept {
  if (phase_ == Phase::disconnected || invalid_.take(now.monotonic)) return;
  constexpr std::string_view text = "too many invalid messages";
  note(Notice::too_many_invalid, SeqNum{}, "the peer exceeded max_invalid_rate: disconnected", out);
  if (phase_ == Phase::logged_on) return refuse(text, now, out);
  disconnect(text, Ending::failed, out);
}

Session::Origin::Origin(const MessageView& message) noexcept
    : sender(message.find(Tag::SenderCompID)),
      target(message.find(Tag::TargetCompID)),
      sent_at(message.find(Tag::SendingTime)),
      has_time(sent_at != MessageView::npos && read_utc_time(message.value_at(sent_at), sent)) {}

[[gnu::no_stack_protector]] void Session::process(const MessageView& message, bool queued, Instant now,
                                                  Actions& out) noexcept {
  NFX_TRACE();
  const std::string_view type = message.msg_type();
  if (violated_ && type != msg_type::logout) return;
  if (reset_sent_) [[unlikely]] {
    if (shows_reset(message)) {
      finish_reset(out);
      note(Notice::sequence_reset, first_seq_num,
           "the peer goes on with number 1 without an answer to ResetSeqNumFlag=Y: both sides have restarted", out);
    } else if (!answers_reset(message)) {
      // Its sequence number belongs to the epoch that our ResetSeqNumFlag=Y is to end, so it means nothing now.
      return note(Notice::unexpected_message, SeqNum{}, "sent before the answer to ResetSeqNumFlag=Y: ignored", out);
    }
  }
  const auto number = message.get_seq_num(Tag::MsgSeqNum);
  if (!number) {
    const FieldError error = number.error();
    return refuse(error == FieldError::missing        ? "No 34"
                  : error == FieldError::out_of_range ? "MsgSeqNum too large"
                                                      : "MsgSeqNum is not a number",
                  now, out);
  }
  const SeqNum seq = *number;
  if (seq >= seq_num_limit) return refuse("MsgSeqNum too large", now, out);
  processing_ = seq;
  if (!same_text(message.begin_string(), config_.begin_string)) {
    if (seq == next_in_) next_in_ = next(seq);
    // One Logout is enough: another would extend the wait for the peer's.
    if (phase_ == Phase::logout_sent) return disconnect("Incorrect BeginString", Ending::failed, out);
    violated_ = true;
    return send_logout("Incorrect BeginString", now, out);
  }
  const Position position = seq == next_in_ ? Position::equal : (seq < next_in_ ? Position::low : Position::high);
  // Before the content is checked, so that invalid messages count too. Queued ones were counted when they arrived.
  if (throttles_[0].limited() && !queued && over_throttle(message, position, now) &&
      receive_too_many(message, seq, position, now, out)) {
    return;
  }
  // These four are processed whatever their sequence number: they repair, or end, an inconsistent sequence.
  const bool any_position =
      type == msg_type::resend_request || type == msg_type::logout || type == msg_type::logon || is_reset(message);
  const bool stale =
      position == Position::low && possible_duplicate(message) && type != msg_type::logon && !is_reset(message);
  const Origin origin{message};
  if (position == Position::high && !any_position) {
    if (sender_acceptable(message, seq, origin, queued, now, out)) receive_high(message, seq, now, out);
  } else if (position == Position::low && (!any_position || stale)) {
    if (sender_acceptable(message, seq, origin, queued, now, out)) receive_low(message, seq, now, out);
  } else if (content_acceptable(message, seq, origin, now, out) &&
             sender_acceptable(message, seq, origin, queued, now, out)) {
    dispatch(message, seq, position, now, out);
  }
}

void Session::show(const MessageView& message, SeqNum seq, Actions& out) noexcept {
  out.push({.kind = ActionKind::session_message, .seq = seq, .message = &message});
}

void Session::receive_high(const MessageView& message, SeqNum seq, Instant now, Actions& out) noexcept {
  NFX_ASSERT(seq > next_in_);  // only out-of-order messages are queued
  if (!queue_.push(seq, message.bytes())) note(Notice::queue_full, seq, {}, out);
  request_resend(previous(seq), now, out, config_.send_redundant_resend_requests);
}

void Session::receive_low(const MessageView& message, SeqNum seq, Instant now, Actions& out) noexcept {
  NFX_ASSERT(seq < next_in_);
  if (!possible_duplicate(message)) {
    const bool logon = message.msg_type() == msg_type::logon;
    return refuse(format("MsgSeqNum too low, expecting ", next_in_, " but received ", seq), now, out,
                  logon ? LogonRefusalReason::second_logon : LogonRefusalReason::none);
  }
  if (poss_dup_acceptable(message, seq, now, out)) note(Notice::low_possdup_ignored, seq, {}, out);
}

bool Session::poss_dup_acceptable(const MessageView& message, SeqNum seq, Instant now, Actions& out) noexcept {
  // Gap fills are usually sent without OrigSendingTime: there is no original.
  if (message.msg_type() == msg_type::sequence_reset) return true;
  if (!message.has(Tag::OrigSendingTime)) {
    if (!config_.require_orig_sending_time) return true;
    reject(message, seq, SessionRejectReason::required_tag_missing, Tag::OrigSendingTime, now, out);
    return false;
  }
  const auto original = message.get_utc_timestamp(Tag::OrigSendingTime);
  if (!original) {
    reject(message, seq, SessionRejectReason::incorrect_data_format, Tag::OrigSendingTime, now, out);
    return false;
  }
  const auto sent = message.get_utc_timestamp(Tag::SendingTime);
  if (sent && original->time > sent->time) {
    reject_and_logout(message, seq, SessionRejectReason::sending_time_accuracy_problem, now, out);
    return false;
  }
  return true;
}

[[gnu::no_stack_protector]] bool Session::content_acceptable(const MessageView& message, SeqNum seq,
                                                             const Origin& origin, Instant now, Actions& out) noexcept {
  NFX_TRACE();
  report_.clear();
  if (const Dictionary* dictionary = dictionary_for(message); dictionary != nullptr && !config_.validation.is_off()) {
    Violation found;
    const bool right = validate(message, *dictionary, config_.validation, report_, found);
    // A dictionary of application messages alone: the session layer's own checks remain.
    const bool lacks_type =
        !right && found.reason == SessionRejectReason::invalid_msg_type && is_session_msg_type(message.msg_type());
    if (lacks_type) report_.clear();
    if (!right && !lacks_type) {
      reject(message, seq, found.reason, found.has_tag() ? std::optional{found.tag} : std::nullopt, now, out);
      return false;
    }
  }
  if (message.msg_type().empty()) {
    reject(message, seq, SessionRejectReason::tag_specified_without_a_value, Tag::MsgType, now, out);
    return false;
  }
  const auto refused = [&](Tag tag, SessionRejectReason reason) {
    reject(message, seq, reason, tag, now, out);
    return false;
  };
  if (origin.sender == MessageView::npos) return refused(Tag::SenderCompID, SessionRejectReason::required_tag_missing);
  if (origin.target == MessageView::npos) return refused(Tag::TargetCompID, SessionRejectReason::required_tag_missing);
  if (origin.has_time) return true;
  return refused(Tag::SendingTime, origin.sent_at == MessageView::npos ? SessionRejectReason::required_tag_missing
                                                                       : SessionRejectReason::incorrect_data_format);
}

// With FIXT.1.1 the version of an application message is its ApplVerID(1128), or else the one in the peer's Logon.
const Dictionary* Session::dictionary_for(const MessageView& message) const noexcept {
  if (version_ != Version::fixt11 || is_session_msg_type(message.msg_type())) return config_.dictionary;
  std::size_t version = peer_appl_ver_id_;
  if (const std::uint32_t at = message.find(Tag::ApplVerID); at != MessageView::npos) {
    const auto id = message.int_at(at);
    if (id && *id >= 0) version = static_cast<std::size_t>(std::min<std::int64_t>(*id, appl_ver_id_count));
  }
  const Dictionary* own = version < appl_ver_id_count ? config_.application_dictionaries[version] : nullptr;
  return own != nullptr ? own : config_.dictionary;
}

// Checks CompIDs and SendingTime. The time of a queued message was checked when it arrived.
bool Session::sender_acceptable(const MessageView& message, SeqNum seq, const Origin& origin, bool queued, Instant now,
                                Actions& out) noexcept {
  NFX_TRACE();
  if (origin.has_time && !queued && !within_latency(config_, origin.sent, now)) {
    reject_and_logout(message, seq, SessionRejectReason::sending_time_accuracy_problem, now, out);
    return false;
  }
  const auto differs = [&](std::uint32_t index, std::string_view expected) {
    return index != MessageView::npos && !same_text(message.value_at(index), expected);
  };
  if (!config_.check_comp_id) return true;
  if (differs(origin.sender, config_.target_comp_id) || differs(origin.target, config_.sender_comp_id)) {
    reject_and_logout(message, seq, SessionRejectReason::comp_id_problem, now, out);
    return false;
  }
  return true;
}

void Session::dispatch(const MessageView& message, SeqNum seq, Position position, Instant now, Actions& out) noexcept {
  NFX_TRACE();
  const std::string_view type = message.msg_type();
  if (is_session_msg_type(type)) [[unlikely]] {
    if (!report_.empty()) note(Notice::validation_report, seq, to_text(report_.violations()[0].reason), out);
    show(message, seq, out);
    switch (type[0]) {
      case '2': return receive_resend_request(message, seq, position, now, out);
      case '4': return receive_sequence_reset(message, seq, position, now, out);
      case '5': return receive_logout(message, seq, position, now, out);
      case 'A':
        if (phase_ == Phase::logout_sent) return note(Notice::unexpected_message, seq, "Logon after our Logout", out);
        if (message.get_view(Tag::ResetSeqNumFlag) == "Y") return receive_reset_logon(message, seq, now, out);
        return disconnect("a second Logon without ResetSeqNumFlag on an open session", Ending::failed, out,
                          LogonRefusalReason::second_logon);
      default: break;
    }
  }
  if (possible_duplicate(message) && !poss_dup_acceptable(message, seq, now, out)) return;
  receive_in_sequence(message, seq, now, out);
}

// Logon, Logout, ResendRequest and SequenceReset are never held or refused by the throttle, as no session continues
// without them: other limits bound what they cost. The same is true of resent messages that were requested.
Session::Throttled Session::throttled_as(const MessageView& message) const noexcept {
  if (!throttles_[0].limited()) return Throttled::no;
  const std::string_view type = message.msg_type();
  if (possible_duplicate(message)) {
    const auto seq = message.get_seq_num(Tag::MsgSeqNum);
    const bool requested = seq && gap_.requested_to != SeqNum{} && *seq <= gap_.wanted_to;
    if (!seq || *seq < next_in_ || requested) return Throttled::no;
  }
  if (!is_session_msg_type(type)) return Throttled::application;
  const bool counts = type == msg_type::heartbeat || type == msg_type::test_request || type == msg_type::reject;
  return counts ? Throttled::session : Throttled::no;
}

// Takes a token. With ThrottleAction::delay the message was held until there was one.
bool Session::over_throttle(const MessageView& message, Position position, Instant now) noexcept {
  const Throttled as = throttled_as(message);
  if (as == Throttled::no || position == Position::low) return false;
  return !throttles_[static_cast<std::size_t>(as)].take(now.monotonic) &&
         config_.throttle_action != ThrottleAction::delay;
}

bool Session::receive_too_many(const MessageView& message, SeqNum seq, Position position, Instant now,
                               Actions& out) noexcept {
  const std::string_view type = message.msg_type();
  const bool application = !is_session_msg_type(type);
  const std::string_view text =
      application ? "more application messages than allowed" : "more session messages than allowed";
  if (config_.throttle_action == ThrottleAction::disconnect) {
    note(Notice::throttled, seq, to_string(config_.throttle_action), out);
    refuse(text, now, out);
    return true;
  }
  // A Heartbeat or Reject has no answer. A message ahead of a gap is queued or dropped, and has no answer either.
  if (position != Position::equal || (!application && type != msg_type::test_request)) return false;
  next_in_ = next(seq);
  note(Notice::throttled, seq, to_string(config_.throttle_action), out);
  // If there is no space for the answer, the peer does not read, and our next session message ends the session.
  if (application) std::ignore = reject_business(message, BusinessRejectReason::other, text, now, out);
  close_gap(now, out);
  return true;
}

void Session::deliver(const MessageView& message, SeqNum seq, Actions& out) noexcept {
  NFX_TRACE();
  out.push(
      {.kind = ActionKind::deliver, .seq = seq, .message = &message, .report = report_.empty() ? nullptr : &report_});
}

void Session::receive_in_sequence(const MessageView& message, SeqNum seq, Instant now, Actions& out) noexcept {
  NFX_ASSERT(seq == next_in_ && seq < seq_num_limit);
  // The sequence number advances first, and the open gap is checked last: requesting more may end the session, so the
  // message must be processed before.
  next_in_ = next(seq);
  const std::string_view type = message.msg_type();
  if (!is_session_msg_type(type)) {
    deliver(message, seq, out);
  } else if (type == msg_type::test_request) {
    // Echoed byte for byte, from the message itself, as it may be as long as a message.
    const std::string_view id = message.get_view(Tag::TestReqID);
    constexpr std::string_view tag = "112=";
    const std::string_view field =
        id.empty() ? std::string_view{} : std::string_view{id.data() - tag.size(), tag.size() + id.size() + 1};
    NFX_ASSERT(field.empty() || (field.starts_with(tag) && field.back() == soh));
    send_session_message(msg_type::heartbeat, {}, field, now, out);
  } else if (type == msg_type::reject) {
    out.push({.kind = ActionKind::deliver_reject, .seq = seq, .message = &message});
  }
  close_gap(now, out);
}

void Session::receive_sequence_reset(const MessageView& message, SeqNum seq, Position position, Instant now,
                                     Actions& out) noexcept {
  const auto new_seq = message.get_seq_num(Tag::NewSeqNo);
  if (!new_seq) {
    return reject(message, seq,
                  new_seq.error() == FieldError::missing ? SessionRejectReason::required_tag_missing
                                                         : SessionRejectReason::incorrect_data_format,
                  Tag::NewSeqNo, now, out);
  }
  NFX_ASSERT(position == Position::equal || is_reset(message));  // a gap fill waits for its turn
  const bool gap_fill = position == Position::equal && !is_reset(message);
  if (*new_seq < next_in_ || (gap_fill && *new_seq == next_in_)) {
    return reject(message, seq, SessionRejectReason::value_is_incorrect, std::nullopt, now, out);
  }
  if (gap_fill) {
    if (gap_open()) note_gap_fill(next_in_, *new_seq, out);
    // Some peers count the last message of a chunk as filled without sending it: then the next chunk begins with it.
    const bool without_last = gap_.requested_to == *new_seq && gap_.wanted_to > gap_.requested_to;
    set_next_inbound(*new_seq, now, out);
    if (without_last && phase_ != Phase::disconnected) {
      const SeqNum wanted_to = std::exchange(gap_, Gap{}).wanted_to;
      request_resend(wanted_to, now, out);
    }
    return;
  }
  // Reset mode: missing messages, and messages queued after them, are abandoned.
  note(Notice::sequence_reset, *new_seq, *new_seq == next_in_ ? "to the number expected anyway" : std::string_view{},
       out);
  queue_.clear();
  gap_ = {};
  set_next_inbound(*new_seq, now, out);
}

// The peer was to resend these numbers. Whether they were messages of the session or the application's, it alone knows.
void Session::note_gap_fill(SeqNum first, SeqNum new_seq, Actions& out) noexcept {
  NFX_ASSERT(first < new_seq);
  const std::uint64_t count = value(new_seq) - value(first);
  char* const end = text_.data() + text_.size();
  char* at = std::to_chars(text_.data(), end, count).ptr;
  at = std::ranges::copy(std::string_view{count == 1 ? " number, " : " numbers, "}, at).out;
  at = std::to_chars(at, end, value(first)).ptr;
  at = std::ranges::copy(std::string_view{" to "}, at).out;
  at = std::to_chars(at, end, value(new_seq) - 1).ptr;
  const std::string_view numbers{text_.data(), static_cast<std::size_t>(at - text_.data())};
  out.push({.kind = ActionKind::notice, .notice = Notice::gap_filled, .seq = first, .count = count, .text = numbers});
}

void Session::receive_logout(const MessageView& message, SeqNum seq, Position position, Instant now,
                             Actions& out) noexcept {
  if (position == Position::equal) next_in_ = next(seq);
  const std::string_view text = message.get_view(Tag::Text);
  const std::size_t size = std::min(text.size(), text_.size());
  std::copy_n(text.begin(), size, text_.begin());
  // A peer that refuses our reset counts on as before.
  if (reset_asked()) reset_sent_ = false;
  Ending ending = violated_ ? Ending::failed : Ending::logout;
  if (phase_ == Phase::logged_on) {
    send_logout({}, now, out);
    ending = Ending::peer_logout;
  }
  if (phase_ == Phase::disconnected) return;
  disconnect(size == 0 ? std::string_view{"logged out"} : std::string_view{text_.data(), size}, ending, out);
  if (config_.reset_on_logout) reset_counters(out);
}

void Session::advance_past(SeqNum seq, Instant now, Actions& out) noexcept { set_next_inbound(next(seq), now, out); }

void Session::set_next_inbound(SeqNum seq, Instant now, Actions& out) noexcept {
  NFX_ASSERT(seq >= next_in_);
  next_in_ = seq;
  close_gap(now, out);
}

// Called whenever next_in_ has changed: closes a gap that is filled, and requests the next one.
void Session::close_gap(Instant now, Actions& out) noexcept {
  if (phase_ == Phase::disconnected) return;
  NFX_ASSERT(next_in_ <= seq_num_limit);
  if (next_in_ == logon_beyond_gap_ || next_in_ == answered_beyond_gap_) next_in_ = next(next_in_);
  if (gap_.requested_to != SeqNum{}) {
    if (next_in_ <= gap_.requested_to) return;
    const SeqNum wanted_to = gap_.wanted_to;
    gap_ = {};
    resent_garbled_noted_ = false;
    // With chunks, the next chunk is requested now.
    if (next_in_ <= wanted_to) return request_resend(wanted_to, now, out);
  }
  // A second gap before the queued messages: the peer may send nothing more that would show it.
  if (const auto waiting = queue_.first_from(next_in_); waiting && *waiting > next_in_) {
    request_resend(previous(*waiting), now, out);
  }
}

}  // namespace nfx
