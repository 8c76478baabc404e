// Checks of a Logon that need no store: its sender and its terms. Session checks every Logon with these functions; a
// poll loop uses them before it makes a session from a template.
// Thread: any, no state. Cost: one validation and some look-ups, once per Logon. Lifetime: texts are constants, or in
// the memory that the caller gives.
// Errors: a fault is a value.
#pragma once

#include <span>
#include <string_view>

#include "nexusfix/base/time.hpp"
#include "nexusfix/dictionary/validator.hpp"
#include "nexusfix/session/notice.hpp"
#include "nexusfix/session/session_config.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx {

struct LogonFault {
  LogonRefusalReason reason{};  // none: there is no fault
  std::string_view text{};
  bool answered = false;  // by a Logout with the text; otherwise the connection is closed without an answer

  [[nodiscard]] explicit operator bool() const noexcept { return reason != LogonRefusalReason::none; }
};

// Names, versions, SendingTime, conformance to the dictionary and credentials; in this order. `message` is a Logon;
// `scratch` receives what the validation found, `room` the text where tags, values or numbers are in it:
// clock_text_size. A malformed Logon is answered only when its credentials are right; one that lacks a field only with
// answer_incomplete_logon.
[[nodiscard]] LogonFault logon_sender_fault(const SessionConfig& config, const MessageView& message, Instant now,
                                            ValidationReport& scratch, std::span<char> room) noexcept;

// EncryptMethod, TestMessageIndicator, HeartBtInt and ResetSeqNumFlag of a Logon whose sender is accepted.
[[nodiscard]] LogonFault logon_terms_fault(const SessionConfig& config, const MessageView& message,
                                           std::span<char> room) noexcept;

// The reason for a first message that the parser refuses.
[[nodiscard]] LogonRefusalReason refusal_of(WireError error) noexcept;

// Whether SendingTime is close enough to the local clock.
[[nodiscard]] inline bool within_latency(const SessionConfig& config, UtcTime sending_time, Instant now) noexcept {
  // Compared without a difference of the two, which may overflow when the peer's year is far off.
  return !config.check_latency ||
         (sending_time >= now.utc - config.max_latency && sending_time <= now.utc + config.max_latency);
}

// If the time is wrong: the difference of the clocks in seconds, and the fix.
inline constexpr std::size_t clock_text_size = 160;
[[nodiscard]] std::string_view clock_text(const SessionConfig& config, UtcTime sending_time, Instant now,
                                          std::span<char> room) noexcept;

}  // namespace nfx
