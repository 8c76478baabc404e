// A message that an application sends, and what can be wrong with that.
// Thread: values.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "nexusfix/base/language.hpp"
#include "nexusfix/base/seq_num.hpp"

namespace nfx {

enum class SendError : std::uint8_t {
  // The session cannot send now.
  not_logged_on,  // no Logon yet, or a Logout is under way
  on_hold,        // an operator holds sending. See docs/control.md
  resetting,      // the peer has not answered a reset of the sequence numbers yet: a moment, or the connection ends
  // There is no space now: the same message can be sent later.
  would_block,  // the peer does not read fast enough, or the journal waits for its disk or its memory
  store_full,   // the message store's disk is full. Nothing that could not be resent is sent
  // No later attempt will be different.
  store_failed,   // the message store can no longer guarantee its durability
  too_long,       // the message is longer than the session's send buffer or a frame of its replicas
  bad_message,    // no MsgType, a session message type, or fields that could not be written or are none
  incomplete,     // a typed message without a field that its dictionary requires
  other_version,  // a typed message of another FIX version than the session's
  not_here,       // within a callback that must not use the session: on_traffic, on_resend, on_session_message_sending
  wrong_thread,   // not the session's poll thread: Engine::submit sends from any other
  discarded,      // the message that create() began was given up: the session sent another one, or its callback ended
};

// Whether the message can be sent when the peer has read, or the disk has written, more.
[[nodiscard]] constexpr bool is_back_pressure(SendError error) noexcept {
  return error == SendError::would_block || error == SendError::store_full;
}

[[nodiscard]] std::string_view to_string(SendError error) noexcept;

// The result of a message for the peer: its sequence number, or why it was not sent.
using Sent = std::expected<SeqNum, SendError>;

// The result of on_message. `return draft.send();` is enough: an answer for which there is no space now means not_now,
// and an answer that failed for another reason is reported as the notice not_sent.
class [[nodiscard]] Handled {
 public:
  static const Handled done;
  // The same message is delivered again, before any other of its session; see docs/session.md.
  static const Handled not_now;

  constexpr Handled(const Sent& answer) noexcept  // NOLINT: meant implicit
      : what_(answer ? What::done : (is_back_pressure(answer.error()) ? What::not_now : What::not_sent)),
        error_(answer ? SendError{} : answer.error()) {}

  [[nodiscard]] constexpr bool is_done() const noexcept { return what_ == What::done; }
  [[nodiscard]] constexpr bool is_not_now() const noexcept { return what_ == What::not_now; }
  [[nodiscard]] constexpr SendError error() const noexcept { return error_; }  // when it is neither

 private:
  enum class What : std::uint8_t { done, not_now, not_sent };
  explicit constexpr Handled(What what) noexcept : what_(what) {}

  What what_;
  SendError error_{};
};
inline constexpr Handled Handled::done{What::done};
inline constexpr Handled Handled::not_now{What::not_now};

// Why an application refuses a message, BusinessRejectReason(380).
enum class BusinessRejectReason : std::uint8_t {
  other = 0,
  unknown_id = 1,
  unknown_security = 2,
  unsupported_message_type = 3,
  application_not_available = 4,
  conditionally_required_field_missing = 5,
};

// Complete fields "tag=value<SOH>" that are borrowed. A string that ends with the expression is refused when compiled.
class BorrowedFields {
 public:
  constexpr BorrowedFields() noexcept = default;
  constexpr BorrowedFields(std::string_view fields) noexcept : fields_(fields) {}  // NOLINT: meant implicit
  constexpr BorrowedFields(const char* fields) noexcept                            // NOLINT: meant implicit
      : fields_(fields == nullptr ? std::string_view{} : std::string_view{fields}) {}
  constexpr BorrowedFields(const std::string& fields) noexcept : fields_(fields) {}  // NOLINT: meant implicit
  BorrowedFields(const std::string&&) = delete;
  constexpr operator std::string_view() const noexcept { return fields_; }  // NOLINT: meant implicit
  [[nodiscard]] constexpr std::string_view view() const noexcept { return fields_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return fields_.size(); }

 private:
  std::string_view fields_;
};

// A message for the peer: complete fields after the session's own header fields. Lifetime: borrows its texts.
struct Outgoing {
  std::string_view msg_type;
  BorrowedFields body;
  BorrowedFields
      header_fields{};      // optional header fields, ascending by tag: PossResend(97), OnBehalfOfCompID(115) ...
  bool built = false;       // the body is a builder's: its fields are right
  bool incomplete = false;  // and lacks a required one: it is not sent
};

}  // namespace nfx
