// Messages that threads other than the poll thread send: what Engine::submit is given, and what it returns.
// Thread: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string_view>

#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/session/outgoing.hpp"
#include "nexusfix/session/session_config.hpp"

namespace nfx {

enum class SubmitStatus : std::uint8_t {
  queued,
  full,             // submit_queue_bytes are in use, or submit_keep_bytes of the session
  too_long,         // more than a quarter of these
  unknown_session,  // there is no such session, or it was removed
  not_logged_on,    // and the message was not to be held
};

[[nodiscard]] std::string_view to_string(SubmitStatus status) noexcept;

// How submit() treats a message whose session is not logged on.
enum class WhileLoggedOff : std::uint8_t {
  refuse,  // it is not sent: an order should not reach the market at an unexpected time
  keep,    // it is sent after the next Logon, after those held before it; in memory, so a process that ends loses it
};

struct SubmitOptions {
  WhileLoggedOff while_logged_off = WhileLoggedOff::refuse;
  bool report = false;  // Application::on_submitted is called with the result
};

struct SubmitResult {
  SubmitStatus status = SubmitStatus::queued;
  // Number of a queued message: counts up from 1 for each poll thread, and so for each session, in the order of
  // sending.
  std::uint64_t ticket = 0;

  [[nodiscard]] explicit operator bool() const noexcept { return status == SubmitStatus::queued; }
};

// The result of a queued message.
struct Submitted {
  std::size_t session = 0;
  std::uint64_t ticket = 0;
  std::expected<SeqNum, SendError> result{};
};

// The name of a session, as in QuickFIX. Empty SubIDs and LocationIDs match any.
struct SessionId {
  std::string_view begin_string{};
  std::string_view sender_comp_id{};  // of this side
  std::string_view target_comp_id{};
  std::string_view sender_sub_id{};
  std::string_view sender_location_id{};
  std::string_view target_sub_id{};
  std::string_view target_location_id{};
  std::string_view session_qualifier{};

  [[nodiscard]] bool matches(const SessionConfig& session) const noexcept;
};

}  // namespace nfx
