// The parts of a draft that reach its session.
#include "nexusfix/engine/session_handle.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "wire/raw_fields.hpp"

namespace nfx {

Draft::Draft(SessionHandle& session, std::string_view msg_type, BorrowedFields header_fields,
             std::uint64_t version) noexcept
    : session_(&session) {
  session.begin_draft(*this, msg_type, header_fields, version);
}

Draft::~Draft() { discard(); }

void Draft::discard() noexcept {
  if (error_) return;
  session_->end_draft(*this);
  fail(SendError::discarded);
}

void Draft::note_special(Tag tag) noexcept {
  if (is_sessions(tag)) encoder_.fields().refuse(tag, WriteError::header_field);
  if (data_tag_of(tag) != Tag{}) unchecked_ = true;
}

void Draft::check_fields() noexcept {
  FieldWriter& fields = encoder_.fields();
  if (!fields.ok()) return;
  const std::string_view all = fields.view();
  const WriteFault wrong =
      all.size() < body_begin_ ? WriteFault{WriteError::incomplete, Tag{}} : fault_of_fields(all.substr(body_begin_));
  if (wrong.error != WriteError::none) fields.refuse(wrong.tag, wrong.error);
}

std::expected<SeqNum, SendError> Draft::send() noexcept {
  if (error_) [[unlikely]]
    return std::unexpected(*error_);
  if (unchecked_) [[unlikely]]
    check_fields();
  const auto sent = session_->send_draft(*this);
  NFX_ASSERT(error_);
  return sent;
}

std::expected<SeqNum, SendError> Draft::send_or_reject(const MessageView& answered) noexcept {
  const auto sent = send();
  if (sent) return sent;
  switch (sent.error()) {
    case SendError::too_long:
    case SendError::other_version:
    case SendError::incomplete: return reject(answered, sent.error(), to_string(sent.error()));
    case SendError::bad_message: {
      const WriteFault wrong = fault();
      if (wrong.error == WriteError::none) return reject(answered, sent.error(), to_string(sent.error()));
      std::array<char, 96> text;
      char* at = std::ranges::copy(std::string_view{"field "}, text.data()).out;
      at = std::to_chars(at, text.data() + text.size(), value(wrong.tag)).ptr;
      at = std::ranges::copy(std::string_view{" of the answer: "}, at).out;
      at = std::ranges::copy(to_string(wrong.error), at).out;
      return reject(answered, sent.error(), {text.data(), at});
    }
    case SendError::not_logged_on:
    case SendError::on_hold:
    case SendError::resetting:
    case SendError::would_block:
    case SendError::store_full:
    case SendError::store_failed:
    case SendError::not_here:
    case SendError::wrong_thread:
    case SendError::discarded: break;
  }
  return sent;
}

std::expected<SeqNum, SendError> Draft::reject(const MessageView& answered, SendError error,
                                               std::string_view text) noexcept {
  SessionHandle& session = *session_;
  discard();
  const auto reason = error == SendError::incomplete ? BusinessRejectReason::conditionally_required_field_missing
                                                     : BusinessRejectReason::other;
  return session.reject_business(answered, reason, text);
}

std::string Draft::why() const {
  const bool field_is_wrong = error_ == SendError::bad_message && fault_.error != WriteError::none;
  if (error_ && !field_is_wrong) return std::string{to_string(*error_)};
  return field_is_wrong || !encoder_.fields().ok() ? to_string(fault()) : std::string{};
}

}  // namespace nfx
