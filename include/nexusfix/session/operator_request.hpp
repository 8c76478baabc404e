// What an operator requests of a session while it runs, besides Logon and Logout, and what became of it.
// Thread: values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "nexusfix/base/seq_num.hpp"

namespace nfx {

enum class OperatorResult : std::uint8_t {
  done,
  nothing_to_do,      // it is so already
  numbers_differ,     // the sequence numbers are not those that the request expects: nothing was changed
  bad_number,         // no sequence number, or none that can be resent
  would_end_session,  // while logged on the peer would refuse the next message, or this side the peer's
  not_logged_on,
  not_now,          // a Logon, reset or Logout is under way
  not_possible,     // the FIX version has no message for it
  settings_differ,  // the settings have changed since the request's author saw them: nothing was changed
};

[[nodiscard]] std::string_view to_string(OperatorResult result) noexcept;

// The sequence numbers that come next; empty: not requested, or not compared.
struct NextNumbers {
  std::optional<SeqNum> in{};
  std::optional<SeqNum> out{};

  friend bool operator==(const NextNumbers&, const NextNumbers&) = default;
};

}  // namespace nfx
