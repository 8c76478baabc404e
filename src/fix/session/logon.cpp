// Logon of both roles, with ResetSeqNumFlag and NextExpectedMsgSeqNum: how a connection becomes a session.
#include <algorithm>

#include "nexusfix/session/session.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "session/logon_check.hpp"
#include "session/step_check.hpp"

namespace nfx {
namespace {

constexpr std::size_t max_logon_body = 2048;

}  // namespace

void Session::on_connect(Instant now, Actions& out) noexcept {
  const StepCheck check{*this, out};
  NFX_ASSERT(phase_ == Phase::disconnected);
  phase_ = Phase::awaiting_logon;
  phase_deadline_ = now.monotonic + config_.logon_timeout;
  last_received_ = last_sent_ = now.monotonic;
  test_pending_ = violated_ = reset_sent_ = reset_probed_ = reset_answered_ = false;
  same_resend_count_ = 0;
  resend_slowed_noted_ = false;
  peer_appl_ver_id_ = appl_ver_id_count;
  if (config_.role == Role::acceptor) return;
  heartbeat_ = config_.heartbeat_interval;
  if (config_.reset_on_logon) reset_counters(out);
  const bool ask_again = reset_asked();
  if (ask_again) reset_out_ = first_seq_num;
  send_logon(config_.reset_on_logon || ask_again, ask_again ? first_seq_num : next_in_, now, out);
}

void Session::send_logon(bool reset, std::optional<SeqNum> next_expected, Instant now, Actions& out) noexcept {
  std::array<char, max_logon_body> buffer;
  const ClearAtEnd cleared{buffer};
  FieldWriter body{buffer};
  body.append(Tag::EncryptMethod, 0).append(Tag::HeartBtInt, heartbeat_.count());
  if (reset && version_ >= Version::fix41) {
    body.append(Tag::ResetSeqNumFlag, true);
    reset_sent_ = config_.role == Role::initiator || phase_ == Phase::logged_on;
  }
  if (config_.environment != Environment::unspecified) {
    body.append(Tag::TestMessageIndicator, config_.environment == Environment::test);
  }
  const bool initiator = config_.role == Role::initiator;
  if (initiator && !config_.username.empty()) body.append(Tag::Username, config_.username);
  if (initiator && !config_.password.empty()) body.append(Tag::Password, config_.password.reveal());
  if (config_.send_next_expected_seq_num && next_expected) body.append(Tag::NextExpectedMsgSeqNum, *next_expected);
  if (version_ == Version::fixt11) body.append(Tag::DefaultApplVerID, config_.default_appl_ver_id);
  body.append_raw(config_.logon_fields.reveal());
  if (!body.ok())
    return disconnect("our Logon is too long: shorten username, password or logon_fields", Ending::failed, out);
  send_session_message(msg_type::logon, {}, body.view(), now, out);
}

// The first message of a connection. One that is no Logon gets no answer, and neither does a stranger's.
void Session::receive_first(const MessageView& message, Instant now, Actions& out) noexcept {
  NFX_ASSERT(phase_ == Phase::awaiting_logon);
  const std::string_view type = message.msg_type();
  if (type != msg_type::logon) {
    const bool rejects = type == msg_type::reject || type == msg_type::business_message_reject;
    if (config_.role == Role::initiator && rejects) return receive_logon_rejected(message, out);
    if (config_.role == Role::initiator && type == msg_type::logout) {
      show(message, SeqNum{}, out);
      const std::string_view text = message.get_view(Tag::Text);
      const std::size_t size = std::min(text.size(), text_.size());
      std::copy_n(text.begin(), size, text_.begin());
      return disconnect(
          size == 0 ? std::string_view{"the peer answered Logon with Logout"} : std::string_view{text_.data(), size},
          Ending::refused, out);
    }
    return disconnect("the first message is not a Logon", Ending::failed, out, LogonRefusalReason::not_a_logon);
  }
  report_.clear();
  static_assert(sizeof text_ >= clock_text_size);
  if (const LogonFault fault = logon_sender_fault(config_, message, now, report_, text_)) {
    if (fault.answered) return refuse(fault.text, now, out, fault.reason);
    return disconnect(fault.text, Ending::failed, out, fault.reason);
  }
  const auto seq = message.get_seq_num(Tag::MsgSeqNum);
  NFX_ASSERT(seq.has_value());  // checked just now
  processing_ = *seq;
  take_application_version(message);
  receive_logon(message, *seq, now, out);
}

// Some venues answer a Logon that they do not accept with Reject or BusinessMessageReject, and their Text is the
// reason.
void Session::receive_logon_rejected(const MessageView& message, Actions& out) noexcept {
  if (message.msg_type() == msg_type::reject) show(message, SeqNum{}, out);
  const std::string_view text = message.get_view(Tag::Text);
  const std::string_view tag = message.get_view(Tag::RefTagID);
  const std::string_view words = text.empty() ? "it gave no Text" : text.substr(0, text_.size() / 2);
  const bool names_tag = !tag.empty();
  disconnect(join({"the peer rejected our Logon: ", words, names_tag ? " (RefTagID " : "", tag, names_tag ? ")" : ""}),
             Ending::failed, out);
}

void Session::take_application_version(const MessageView& logon) noexcept {
  const auto version = logon.get_int(Tag::DefaultApplVerID);
  const bool known = version && *version >= 0 && *version < static_cast<std::int64_t>(appl_ver_id_count);
  peer_appl_ver_id_ = known ? static_cast<std::uint8_t>(*version) : static_cast<std::uint8_t>(appl_ver_id_count);
}

// Checks the terms of the Logon. Refusals carry a text: the peer is authenticated.
bool Session::logon_terms_acceptable(const MessageView& message, Instant now, Actions& out) noexcept {
  const LogonFault fault = logon_terms_fault(config_, message, text_);
  if (!fault) return true;
  if (fault.answered) {
    refuse(fault.text, now, out, fault.reason);
  } else {
    disconnect(fault.text, Ending::failed, out, fault.reason);
  }
  return false;
}

// Each reset costs a journal segment, so a peer's resets are limited.
bool Session::may_reset(Instant now, Actions& out) noexcept {
  if (resets_.take(now.monotonic)) return true;
  refuse("too many resets of the sequence numbers within an hour: try again later", now, out,
         LogonRefusalReason::too_many_resets);
  return false;
}

bool Session::numbers_acceptable(const MessageView& message, SeqNum seq, Instant now, Actions& out) noexcept {
  if (seq < next_in_) {
    if (message.get_view(Tag::PossDupFlag) == "Y") {
      disconnect("Logon is a possible duplicate", Ending::failed, out, LogonRefusalReason::sequence_number);
    } else {
      refuse(format("MsgSeqNum too low, expecting ", next_in_, " but received ", seq), now, out,
             LogonRefusalReason::sequence_number);
    }
    return false;
  }
  if (config_.send_next_expected_seq_num) {
    const auto expects = message.get_seq_num(Tag::NextExpectedMsgSeqNum);
    if (expects && *expects > next_out_) {
      // The words of QuickFIX/J and QuickFIX/Go, which tools and people search logs for.
      refuse(format("Tag 789 (NextExpectedMsgSeqNum) is higher than expected. Expected ", next_out_, ", Received ",
                    *expects),
             now, out, LogonRefusalReason::sequence_number);
      return false;
    }
  }
  return true;
}

void Session::receive_logon(const MessageView& message, SeqNum seq, Instant now, Actions& out) noexcept {
  if (!logon_terms_acceptable(message, now, out)) return;
  const bool asks_reset = message.get_view(Tag::ResetSeqNumFlag) == "Y";
  const std::chrono::seconds interval{*message.get_int(Tag::HeartBtInt)};
  if (config_.role == Role::acceptor) {
    const bool resets = asks_reset || config_.reset_on_logon;
    const bool something_to_reset = next_in_ != first_seq_num || next_out_ != first_seq_num;
    const bool resets_at_end = config_.reset_on_logout || config_.reset_on_disconnect;
    if (((resets && something_to_reset) || resets_at_end) && !may_reset(now, out)) return;
    if (resets) {
      reset_counters(out);
    } else if (reset_asked()) {
      settle_asked_reset(message, seq, out);
    }
    if (!numbers_acceptable(message, seq, now, out)) return;
    heartbeat_ = config_.heartbeat_override.count() == 0 ? interval : config_.heartbeat_override;
    const SeqNum our_next = next_out_;
    phase_ = Phase::logged_on;
    send_logon(asks_reset, seq == next_in_ ? next(next_in_) : next_in_, now, out);
    reset_sent_ = false;
    if (phase_ != Phase::logged_on) return;
    return accept_logon(message, seq, our_next, now, out);
  }
  if (asks_reset && !reset_sent_) {
    // The peer resets although we did not request it. It may or may not count our Logon as number 1. Continuing with 2
    // is recoverable (a ResendRequest for 1); continuing with 1 might be fatally low.
    reset_counters(out);
    next_out_ = next(first_seq_num);
    note(Notice::sequence_reset, seq, "the peer answered Logon with ResetSeqNumFlag=Y", out);
  }
  if (awaits_reset()) {
    if (!asks_reset && seq != first_seq_num)
      return disconnect("the peer answered ResetSeqNumFlag=Y with its old MsgSeqNum", Ending::failed, out);
    finish_reset(out);
  }
  reset_sent_ = false;
  if (!numbers_acceptable(message, seq, now, out)) return;
  if (interval != heartbeat_) {
    heartbeat_ = interval;
    note(Notice::heartbeat_differs, seq, "the peer answered with another HeartBtInt, which is used", out);
  }
  phase_ = Phase::logged_on;
  accept_logon(message, seq, next_out_, now, out);
}

// Both Logons are exchanged: the application is notified, and gaps on both sides are handled.
void Session::accept_logon(const MessageView& message, SeqNum seq, SeqNum our_next, Instant now,
                           Actions& out) noexcept {
  NFX_ASSERT(phase_ == Phase::logged_on && seq >= next_in_);
  NFX_ASSERT(gap_.requested_to == SeqNum{} && !replaying() && queue_.empty());
  phase_deadline_ = MonotonicTime::max();
  show(message, seq, out);
  out.push({.kind = ActionKind::logged_on});
  if (seq == next_in_) {
    advance_past(seq, now, out);
  } else if (config_.send_next_expected_seq_num && message.has(Tag::NextExpectedMsgSeqNum)) {
    // Our Logon contained the next expected sequence number: the peer fills the gap by itself, and only a timeout
    // requests it.
    gap_ = {.requested_to = seq,
            .wanted_to = seq,
            .progress = next_in_,
            .retry_at = now.monotonic + config_.resend_timeout};
    ++resend_requests_;
    logon_beyond_gap_ = seq;  // the peer sends the messages before its Logon, not the Logon again
    note(Notice::gap_detected, next_in_, {}, out);
  } else {
    request_resend(seq, now, out);
  }
  if (!config_.send_next_expected_seq_num || phase_ != Phase::logged_on) return;
  const auto expects = message.get_seq_num(Tag::NextExpectedMsgSeqNum);
  // Our own Logon is covered too, also as the acceptor's answer: a peer that counts it only when the gap is filled
  // needs that, and for the others it is a possible duplicate.
  if (expects && *expects != SeqNum{} && *expects < our_next) queue_replay(*expects, previous(next_out_), out);
}

// Logon with ResetSeqNumFlag=Y on an open session: both directions restart at 1; it may be the answer to our own.
void Session::receive_reset_logon(const MessageView& message, SeqNum seq, Instant now, Actions& out) noexcept {
  if (std::exchange(reset_answered_, false) && seq != first_seq_num && seq == next_in_) {
    // Some acceptors that begin a reset answer our answer again, in sequence: nothing is left to reset.
    note(Notice::unexpected_message, seq, "another Logon after a reset: ignored", out);
    return advance_past(seq, now, out);
  }
  if (!logon_terms_acceptable(message, now, out)) return;
  if (reset_sent_) {
    finish_reset(out);
    return advance_past(seq, now, out);
  }
  if (!may_reset(now, out)) return;
  const bool override_interval = config_.role == Role::acceptor && config_.heartbeat_override.count() != 0;
  heartbeat_ = override_interval ? config_.heartbeat_override : std::chrono::seconds{*message.get_int(Tag::HeartBtInt)};
  reset_counters(out);
  next_in_ = next(seq);
  send_logon(true, next_in_, now, out);
  reset_sent_ = false;
  if (phase_ != Phase::logged_on) return;
  reset_answered_ = true;
  note(Notice::sequence_reset, seq, "both sides restart at 1 on the peer's request", out);
}

void Session::reset_sequence_numbers(Instant now, Actions& out) noexcept {
  const StepCheck check{*this, out};
  if (phase_ != Phase::logged_on || reset_sent_) return;
  if (version_ < Version::fix41) {
    return note(Notice::unexpected_message, SeqNum{}, "FIX 4.0 has no ResetSeqNumFlag: nothing was reset", out);
  }
  reset_counters(out);
  send_logon(true, next_in_, now, out);
  if (phase_ == Phase::logged_on) phase_deadline_ = now.monotonic + config_.logon_timeout;
}

// The peer has reset both sequence numbers too.
void Session::finish_reset(Actions& out) noexcept {
  if (reset_asked()) {
    const SeqNum next_out = reset_out_;
    reset_counters(out);
    next_out_ = next_out;
  }
  reset_sent_ = false;
  if (phase_ == Phase::logged_on) phase_deadline_ = MonotonicTime::max();
}

// Whether the peer goes on with its number 1 instead of answering: some reset and say nothing. Number 1 of before the
// reset was received long ago, and would be a duplicate now.
bool Session::shows_reset(const MessageView& message) const noexcept {
  const std::string_view type = message.msg_type();
  const bool was_received = !reset_asked() || next_in_ > first_seq_num;
  return reset_sent_ && was_received && message.get_seq_num(Tag::MsgSeqNum) == first_seq_num &&
         message.get_view(Tag::PossDupFlag) != "Y" && type != msg_type::logon && type != msg_type::sequence_reset;
}

// Acceptor: the peer logs on after a reset that it has not answered. Its number shows whether it has reset.
void Session::settle_asked_reset(const MessageView& message, SeqNum seq, Actions& out) noexcept {
  if (seq < next_in_ && message.get_view(Tag::PossDupFlag) != "Y") {
    finish_reset(out);
    return note(Notice::sequence_reset, seq, "the peer has carried out the reset that it did not answer", out);
  }
  reset_out_ = {};
  reset_attempts_ = 0;
  note(Notice::reset_unanswered, seq, "the reset is taken back: the peer logs on with its numbers before it", out);
}

// The connection ends without an answer.
void Session::reset_unanswered(Actions& out) noexcept {
  NFX_ASSERT(reset_asked());
  if (config_.role == Role::acceptor) {
    note(Notice::reset_unanswered, SeqNum{}, "the number of the peer's next Logon shows whether it has reset", out);
  } else if (++reset_attempts_ < max_reset_attempts) {
    note(Notice::reset_unanswered, SeqNum{}, "the next Logon asks again, by ResetSeqNumFlag=Y", out);
  } else {
    reset_out_ = {};
    reset_attempts_ = 0;
    note(Notice::reset_unanswered, SeqNum{},
         "the reset is taken back after the last attempt: agree on the numbers with the peer, and set them by 'nfx "
         "session set'",
         out);
  }
}

}  // namespace nfx
