// Everything a session sends: its own messages, the application's, rejects and logouts. The outbound sequence number
// grows here.
#include <algorithm>
#include <charconv>

#include "base/call_trace.hpp"
#include "nexusfix/session/session.hpp"
#include "nexusfix/session/session_message.hpp"
#include "nexusfix/wire/encoder.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "session/logon_check.hpp"
#include "session/step_check.hpp"
#include "wire/raw_fields.hpp"
#include "wire/secret_fields.hpp"

namespace nfx {
namespace {

constexpr std::size_t max_session_body = 512;

// The routing fields of an answer are the message's, reversed and without empty ones. FIX 4.0 has no locations.
void append_reversed_route(FieldWriter& out, const MessageView& message, bool with_locations) noexcept {
  constexpr std::array<std::pair<Tag, Tag>, 6> answers{{
      {Tag::OnBehalfOfCompID, Tag::DeliverToCompID},
      {Tag::OnBehalfOfSubID, Tag::DeliverToSubID},
      {Tag::DeliverToCompID, Tag::OnBehalfOfCompID},
      {Tag::DeliverToSubID, Tag::OnBehalfOfSubID},
      {Tag::OnBehalfOfLocationID, Tag::DeliverToLocationID},
      {Tag::DeliverToLocationID, Tag::OnBehalfOfLocationID},
  }};
  for (const auto& [tag, source] : answers) {
    const bool location = source == Tag::OnBehalfOfLocationID || source == Tag::DeliverToLocationID;
    const std::string_view text = message.get_view(source);
    if (!text.empty() && (with_locations || !location)) out.append(tag, text);
  }
}

[[nodiscard]] bool complete_fields(std::string_view fields) noexcept { return fields.empty() || fields.back() == soh; }

// Fields of a header: few, so all are checked.
[[nodiscard]] bool are_fields(std::string_view fields) noexcept {
  return fields.empty() || fault_of_fields(fields).error == WriteError::none;
}

[[nodiscard]] bool is_application_type(std::string_view type) noexcept {
  if (type.size() == 1) [[likely]]
    return static_cast<unsigned char>(type[0]) > ' ' && !is_session_msg_type(type);
  return !type.empty() && std::ranges::all_of(type, [](char c) { return static_cast<unsigned char>(c) > ' '; });
}

}  // namespace

[[gnu::no_stack_protector]] std::expected<SeqNum, SendError> Session::send(const Outgoing& message, Instant now,
                                                                           Actions& out) noexcept {
  NFX_TRACE();
  if (sending_held_) [[unlikely]]
    return std::unexpected(phase_ == Phase::logged_on ? SendError::on_hold : SendError::not_logged_on);
  if (message.incomplete) [[unlikely]]
    return std::unexpected(phase_ == Phase::logged_on ? SendError::incomplete : SendError::not_logged_on);
  return send_application(message, now, out);
}

[[gnu::no_stack_protector]] inline std::expected<SeqNum, SendError> Session::send_application(const Outgoing& message,
                                                                                              Instant now,
                                                                                              Actions& out) noexcept {
  const StepCheck check{*this, out};
  if (phase_ != Phase::logged_on) return std::unexpected(SendError::not_logged_on);
  if (awaits_reset()) [[unlikely]]
    return std::unexpected(SendError::resetting);
  // The fields of the body are the caller's word: only the first one and the end are looked at.
  const std::string_view body = message.body;
  if (!is_application_type(message.msg_type) || !complete_fields(body) ||
      (!message.built && !body.empty() && !begins_with_field(body)) || !are_fields(message.header_fields)) {
    return std::unexpected(SendError::bad_message);
  }
  if (out.full()) return std::unexpected(SendError::would_block);
  const auto size = composer_.compose({.msg_type = message.msg_type,
                                       .seq = next_out_,
                                       .header_fields = message.header_fields,
                                       .last_processed = last_processed(),
                                       .body = message.body},
                                      now.utc, out.room());
  if (!size) return std::unexpected(SendError::would_block);
  const SeqNum seq = next_out_;
  const bool keep = !omits_from_store_ || !omitted_from_store(message);
  out.push({.kind = ActionKind::send, .keep = keep, .seq = seq, .bytes = out.take(*size)});
  next_out_ = next(seq);
  last_sent_ = now.monotonic;
  return seq;
}

std::optional<SendError> Session::cannot_send() const noexcept {
  if (phase_ != Phase::logged_on) return SendError::not_logged_on;
  if (sending_held_) return SendError::on_hold;
  if (awaits_reset()) return SendError::resetting;
  return std::nullopt;
}

std::expected<void, SendError> Session::begin(std::string_view msg_type, std::string_view header_fields, Instant now,
                                              std::span<char> room, Encoder& encoder) noexcept {
  if (const auto error = cannot_send()) [[unlikely]]
    return std::unexpected(*error);
  if (!is_application_type(msg_type) || !are_fields(header_fields)) return std::unexpected(SendError::bad_message);
  composer_.begin(encoder, msg_type, next_out_, header_fields, last_processed(), now.utc, room);
  return {};
}

[[gnu::no_stack_protector]] std::expected<SeqNum, SendError> Session::finish(Encoder& encoder, Instant now,
                                                                             Actions& out) noexcept {
  const StepCheck check{*this, out};
  if (const auto error = cannot_send()) [[unlikely]]
    return std::unexpected(*error);
  if (out.full()) return std::unexpected(SendError::would_block);
  const bool keep = !omits_from_store_ || !omitted_from_store(encoder.fields().view());
  const std::string_view bytes = encoder.finish_in();
  if (bytes.empty()) [[unlikely]]
    return std::unexpected(SendError::bad_message);
  NFX_ASSERT(bytes.data() == out.room().data());
  const SeqNum seq = next_out_;
  out.push({.kind = ActionKind::send, .keep = keep, .seq = seq, .bytes = out.take(bytes.size())});
  next_out_ = next(seq);
  last_sent_ = now.monotonic;
  return seq;
}

// For complete fields that begin with MsgType(35).
bool Session::omitted_from_store(std::string_view fields) const noexcept {
  NFX_ASSERT(fields.starts_with("35="));
  const std::size_t end = fields.find(soh);
  return omitted_from_store({.msg_type = fields.substr(3, end - 3), .body = fields.substr(end + 1)});
}

// Bytes within a data field that look like such a field count as one: too few messages are stored rather than too many.
[[gnu::cold, gnu::noinline]] bool Session::omitted_from_store(const Outgoing& message) const noexcept {
  if (std::ranges::find(config_.store_omit_types, message.msg_type) != config_.store_omit_types.end()) return true;
  return std::ranges::any_of(config_.store_omit_fields, [&](Tag tag) {
    std::array<char, 16> text;
    text[0] = soh;
    char* const end = std::to_chars(text.data() + 1, text.data() + text.size() - 1, value(tag)).ptr;
    *end = '=';
    const std::string_view field{text.data(), static_cast<std::size_t>(end - text.data()) + 1};
    const auto has_field = [&](std::string_view fields) {
      return fields.starts_with(field.substr(1)) || fields.contains(field);
    };
    return has_field(message.body) || has_field(message.header_fields);
  });
}

bool Session::may_store(const MessageView& received) const noexcept {
  const bool logon = received.msg_type() == "A";
  for (std::uint32_t i = 0; i < received.size(); ++i) {
    // RawData is a password in Logons alone.
    if (const Tag tag = received.tag_at(i); is_secret(tag) && (tag != Tag::RawData || logon)) return false;
  }
  if (!omits_from_store_) return true;
  if (std::ranges::find(config_.store_omit_types, received.msg_type()) != config_.store_omit_types.end()) return false;
  return std::ranges::none_of(config_.store_omit_fields, [&](Tag tag) { return received.has(tag); });
}

std::expected<std::size_t, std::string_view> Session::compose_session_message(OutgoingMessage message, Instant now,
                                                                              std::span<char> out) noexcept {
  std::array<char, SessionMessage::max_body> body_space;
  std::array<char, SessionMessage::max_header> header_space;
  const bool logon = hook_ != nullptr && message.msg_type == msg_type::logon;
  const ClearAtEnd cleared{logon ? std::span<char>{body_space} : std::span<char>{}};
  if (hook_ != nullptr) {
    std::array<char, max_utc_timestamp_size> time;
    const std::string_view now_text = composer_.sending_time(now.utc);
    std::ranges::copy(now_text, time.begin());
    // Those of a resend, where OrigSendingTime is between them, are the session's alone.
    const std::size_t header_size = message.poss_dup ? 0 : header_space.size();
    // A TestReqID that is echoed may be as long as a message. It stays where it is: without space there, and with its
    // only field decided by the session, it is read alone.
    const bool is_long = message.body.size() > body_space.size();
    const std::span<char> space =
        is_long ? std::span{const_cast<char*>(message.body.data()), message.body.size()} : std::span<char>{body_space};
    SessionMessage completed{{.begin_string = config_.begin_string,
                              .msg_type = message.msg_type,
                              .sender_comp_id = config_.sender_comp_id,
                              .target_comp_id = config_.target_comp_id,
                              .sending_time = {time.data(), now_text.size()},
                              .own_fields = composer_.own_fields(),
                              .seq = message.seq},
                             message.body,
                             space,
                             message.header_fields,
                             std::span{header_space}.first(header_size)};
    hook_->on_sending(completed);
    if (completed.cancelled()) {
      std::ranges::copy(completed.reason(), text_.begin());
      return std::unexpected(std::string_view{text_.data(), completed.reason().size()});
    }
    message.body = completed.body();
    message.header_fields = completed.header_fields();
  }
  const auto size = composer_.compose(message, now.utc, out);
  if (!size) return std::unexpected(std::string_view{"the peer does not read: no space to send"});
  return *size;
}

bool Session::send_session_message(std::string_view type, std::string_view header_fields, std::string_view body,
                                   Instant now, Actions& out) noexcept {
  NFX_ASSERT(phase_ != Phase::disconnected && is_session_msg_type(type));
  NFX_ASSERT(complete_fields(header_fields) && complete_fields(body));
  SeqNum& number = awaits_reset() ? reset_out_ : next_out_;
  const auto size = compose_session_message({.msg_type = type,
                                             .seq = number,
                                             .header_fields = header_fields,
                                             .last_processed = last_processed(),
                                             .body = body},
                                            now, out.room());
  if (!size) {
    disconnect(size.error(), Ending::failed, out);
    return false;
  }
  out.push({.kind = ActionKind::send, .seq = number, .bytes = out.take(*size)});
  number = next(number);
  last_sent_ = now.monotonic;
  return true;
}

void Session::reject(const MessageView& rejected, SeqNum seq, SessionRejectReason reason, std::optional<Tag> tag,
                     Instant now, Actions& out) noexcept {
  if (rejected.msg_type() == msg_type::reject) [[unlikely]]
    return take_wrong_reject(rejected, seq, reason, now, out);
  std::array<char, max_session_body> header_buffer, buffer;
  FieldWriter header{header_buffer};
  append_reversed_route(header, rejected, version_ > Version::fix40);
  FieldWriter body{buffer};
  body.append(Tag::RefSeqNum, seq);
  const std::string_view text = to_text(reason);
  std::string_view noted = text;
  if (tag) {
    // The notice outlives this function: text_ has its text.
    NFX_ASSERT(text.size() + sizeof " (-2147483648)" <= text_.size());
    char* at = std::copy(text.begin(), text.end(), text_.begin());
    at = std::copy_n(" (", 2, at);
    at = std::to_chars(at, text_.end() - 1, value(*tag)).ptr;
    *at++ = ')';
    noted = {text_.data(), static_cast<std::size_t>(at - text_.data())};
  }
  const bool with_codes = version_ >= Version::fix42;
  body.append(Tag::Text, with_codes ? text : noted);  // before FIX 4.2 there is no RefTagID
  if (with_codes) {
    if (tag) body.append(Tag::RefTagID, value(*tag));
    if (!rejected.msg_type().empty() && rejected.msg_type().size() <= 32)
      body.append(Tag::RefMsgType, rejected.msg_type());
    // FIX 4.2 defines the reasons up to InvalidMsgType only.
    if (version_ > Version::fix42 || reason <= SessionRejectReason::invalid_msg_type) {
      body.append(Tag::SessionRejectReason, static_cast<unsigned>(reason));
    }
  }
  // Routing fields that are too long to echo are omitted; the Reject is still sent.
  if (!send_session_message(msg_type::reject, header.ok() ? header.view() : std::string_view{}, body.view(), now, out))
    return;
  if (reason == SessionRejectReason::sending_time_accuracy_problem) {
    // The difference of the clocks is for our log: the peer knows neither our clock nor our settings.
    const auto sent = rejected.get_utc_timestamp(Tag::SendingTime);
    if (sent && !within_latency(config_, sent->time, now)) noted = clock_text(config_, sent->time, now, text_);
  }
  note(Notice::message_rejected, seq, noted, out);
  const std::string_view type = rejected.msg_type();
  if (seq == next_in_ && type != msg_type::logon && type != msg_type::sequence_reset) advance_past(seq, now, out);
  count_invalid(now, out);
}

// Two sides that reject each other's Rejects would never end. The application gets it all the same: one of its messages
// was rejected.
void Session::take_wrong_reject(const MessageView& wrong, SeqNum seq, SessionRejectReason reason, Instant now,
                                Actions& out) noexcept {
  note(Notice::reject_not_answered, seq, to_text(reason), out);
  if (seq == next_in_) {
    if (reason != SessionRejectReason::comp_id_problem)
      out.push({.kind = ActionKind::deliver_reject, .seq = seq, .message = &wrong});
    advance_past(seq, now, out);
  }
  count_invalid(now, out);
}

void Session::reject_and_logout(const MessageView& rejected, SeqNum seq, SessionRejectReason reason, Instant now,
                                Actions& out) noexcept {
  reject(rejected, seq, reason, std::nullopt, now, out);
  if (phase_ != Phase::logged_on) return;
  violated_ = true;
  const bool answered = rejected.msg_type() != msg_type::reject;
  send_logout(answered ? std::string_view{} : to_text(reason), now, out);
}

std::expected<SeqNum, SendError> Session::reject_business(const MessageView& refused, BusinessRejectReason reason,
                                                          std::string_view text, Instant now, Actions& out) noexcept {
  const StepCheck check{*this, out};
  if (phase_ != Phase::logged_on) return std::unexpected(SendError::not_logged_on);
  // As with Reject, neither is answered by one of its kind.
  if (refused.msg_type() == msg_type::business_message_reject || refused.msg_type() == msg_type::reject)
    return std::unexpected(SendError::bad_message);
  std::array<char, max_session_body> header_buffer, buffer;
  FieldWriter header{header_buffer};
  append_reversed_route(header, refused, version_ > Version::fix40);
  FieldWriter body{buffer};
  const std::string_view seq = refused.get_view(Tag::MsgSeqNum);
  body.append(Tag::RefSeqNum, seq);
  if (!text.empty()) body.append(Tag::Text, text);
  const bool has_business_reject = version_ >= Version::fix42;
  if (has_business_reject) {
    body.append(Tag::RefMsgType, refused.msg_type()).append(Tag::BusinessRejectReason, static_cast<unsigned>(reason));
  }
  if (!body.ok() || !header.ok()) return std::unexpected(SendError::bad_message);
  const SeqNum sent = next_out_;
  if (has_business_reject) {
    return send_application(
        {.msg_type = msg_type::business_message_reject, .body = body.view(), .header_fields = header.view()}, now, out);
  }
  if (!send_session_message(msg_type::reject, header.view(), body.view(), now, out))
    return std::unexpected(SendError::would_block);
  return sent;
}

void Session::send_logout(std::string_view text, Instant now, Actions& out) noexcept {
  std::array<char, max_session_body> buffer;
  FieldWriter body{buffer};
  if (!text.empty()) body.append(Tag::Text, text.substr(0, max_session_body - 8));
  if (!body.ok()) body.clear();
  if (!send_session_message(msg_type::logout, {}, body.view(), now, out)) return;
  NFX_ASSERT(phase_ != Phase::disconnected);
  phase_ = Phase::logout_sent;
  phase_deadline_ = now.monotonic + config_.logout_timeout;
}

void Session::logout(std::string_view text, Instant now, Actions& out) noexcept {
  const StepCheck check{*this, out};
  switch (phase_) {
    case Phase::logged_on: send_logout(text, now, out); break;
    case Phase::awaiting_logon: disconnect("logout requested before the Logon completed", Ending::logout, out); break;
    case Phase::disconnected:
    case Phase::logout_sent: break;
  }
}

void Session::abandon(std::string_view text, Instant now, Actions& out) noexcept {
  const StepCheck check{*this, out};
  if (phase_ == Phase::logged_on) send_logout(text, now, out);
  if (phase_ != Phase::disconnected) disconnect(text, Ending::lost, out);
}

void Session::refuse(std::string_view text, Instant now, Actions& out, LogonRefusalReason reason) noexcept {
  send_logout(text, now, out);
  if (phase_ != Phase::disconnected) disconnect(text, Ending::failed, out, reason);
}

void Session::disconnect(std::string_view text, Ending ending, Actions& out, LogonRefusalReason reason) noexcept {
  NFX_ASSERT(phase_ != Phase::disconnected);  // one end for every connection
  out.push({.kind = ActionKind::disconnect, .refusal = reason, .text = text});
  // An acceptor's peer that is not authenticated has no session that could end or be reset.
  const bool had_session =
      config_.role == Role::initiator || phase_ == Phase::logged_on || phase_ == Phase::logout_sent;
  phase_ = Phase::disconnected;
  phase_deadline_ = MonotonicTime::max();
  forget_gaps();
  test_pending_ = violated_ = reset_sent_ = false;
  if (!had_session) return;
  out.push({.kind = ActionKind::logged_out, .ending = ending, .refusal = reason, .text = text});
  if (config_.reset_on_disconnect || (config_.reset_on_error && by_error(ending))) {
    reset_counters(out);
  } else if (reset_asked()) {
    reset_unanswered(out);
  }
}

void Session::forget_gaps() noexcept {
  queue_.clear();
  gap_ = {};
  logon_beyond_gap_ = answered_beyond_gap_ = {};
  replay_ = {};
  pending_replay_count_ = 0;
  request_after_replay_ = {};
  replay_held_until_ = MonotonicTime{};
}

void Session::reset_counters(Actions& out) noexcept {
  next_in_ = next_out_ = first_seq_num;
  reset_out_ = {};
  reset_attempts_ = 0;
  forget_gaps();
  unreadable_ = {};
  resend_budget_.start_over();
  out.push({.kind = ActionKind::reset_store});
}

void Session::note(Notice notice, SeqNum seq, std::string_view text, Actions& out) noexcept {
  out.push({.kind = ActionKind::notice, .notice = notice, .seq = seq, .text = text});
}

std::string_view Session::join(std::initializer_list<std::string_view> texts) noexcept {
  std::size_t size = 0;
  for (const std::string_view text : texts) size += text.copy(text_.data() + size, text_.size() - size);
  return {text_.data(), size};
}

std::string_view Session::format(std::string_view before, SeqNum first, std::string_view between,
                                 SeqNum second) noexcept {
  constexpr std::size_t two_numbers = 2 * 20;
  NFX_ASSERT(before.size() + between.size() + two_numbers <= text_.size());
  char* at = std::copy(before.begin(), before.end(), text_.begin());
  at = std::to_chars(at, text_.data() + text_.size(), value(first)).ptr;
  at = std::copy(between.begin(), between.end(), at);
  at = std::to_chars(at, text_.data() + text_.size(), value(second)).ptr;
  return {text_.data(), static_cast<std::size_t>(at - text_.data())};
}

}  // namespace nfx
