// A message that an application sends, and what can be wrong with that.
// Thread: values.
#pragma once

#include <cstdint>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

enum class SendError : std::uint8_t {
  not_logged_on,  // no Logon yet, or a Logout is under way
  no_room,        // the output space is full: the peer does not read fast enough
  store_full,     // the message store's disk is full: nothing that could not be resent is sent
  store_failed,   // the message store can no longer guarantee its durability
  on_hold,        // an operator holds sending; see docs/control.md
  resetting,      // the peer has not answered a reset of the sequence numbers yet: a moment, or the connection ends
  bad_message,    // no MsgType, a session message type, or fields that do not end with SOH
};

[[nodiscard]] std::string_view to_string(SendError error) noexcept;

// Why an application refuses a message, BusinessRejectReason(380).
enum class BusinessRejectReason : std::uint8_t {
  other = 0,
  unknown_id = 1,
  unknown_security = 2,
  unsupported_message_type = 3,
  application_not_available = 4,
  conditionally_required_field_missing = 5,
};

// A message for the peer: complete fields "tag=value<SOH>" after the session's own header fields.
struct Outgoing {
  std::string_view msg_type;
  std::string_view body;
  std::string_view
      header_fields{};  // optional header fields, ascending by tag: PossResend(97), OnBehalfOfCompID(115) ...
};

}  // namespace nfx
