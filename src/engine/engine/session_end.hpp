// Why a session, or its attempt to log on, ended last. One row each; the enumeration, the names in the API and in the
// metric, the list in docs/metrics.md and what operators read are made from the rows.
// Thread: values. Cost: a look-up in an array; noting an end copies its text.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "nexusfix/base/time.hpp"

namespace nfx {

// Enumerator, text for operators, and what it means.
#define NFX_SESSION_ENDS(ROW)                                                                                   \
  ROW(logged_out, "logged out by this side",                                                                    \
      "The program or an operator logged the session out, or the engine drained or stopped.")                   \
  ROW(peer_logged_out, "logged out by the peer", "The peer sent a Logout; the text is its Text(58).")           \
  ROW(schedule, "the session's time is over", "The schedule ended it. It logs on again when its time begins.")  \
  ROW(connection_lost, "connection lost", "The connection ended without a Logout.")                             \
  ROW(peer_silent, "the peer was silent", "A TestRequest was not answered in time.")                            \
  ROW(peer_slow, "the peer did not read", "The peer read nothing for slow_consumer_timeout_ms.")                \
  ROW(no_answer, "no answer in time", "A Logon, or a reset of the sequence numbers, was not answered in time.") \
  ROW(logon_refused, "Logon refused by this side",                                                              \
      "The peer's Logon was refused; the text is the reason. nfx_logon_refused_total counts by reason.")        \
  ROW(refused_by_peer, "Logon refused by the peer",                                                             \
      "The peer answered the Logon with a Logout or closed the "                                                \
      "connection; the text is its Text(58).")                                                                  \
  ROW(protocol_error, "protocol error", "One side violated the protocol; the text names the rule.")             \
  ROW(not_connected, "no connection", "The peer could not be connected to; the text is the reason.")            \
  ROW(dropped, "connection dropped", "The program or an operator dropped the connection.")                      \
  ROW(store, "the message store takes no messages", "The disk of the journal is full or has failed.")           \
  ROW(callback_threw, "a callback threw an exception", "The program has an error; the log has the exception's text.")

#define NFX_ENUMERATOR(name, text, help) name,
enum class EndReason : std::uint8_t { none, NFX_SESSION_ENDS(NFX_ENUMERATOR) };
#undef NFX_ENUMERATOR

struct EndReasonRow {
  EndReason reason{};
  std::string_view name;  // in the API and as the metric's label: "peer_logged_out"
  std::string_view text;
  std::string_view help;
};

#define NFX_ROW(name, text, help) EndReasonRow{EndReason::name, #name, text, help},
inline constexpr std::array end_reason_rows{
    EndReasonRow{EndReason::none, "none", "", "It has not ended since the engine started."}, NFX_SESSION_ENDS(NFX_ROW)};
#undef NFX_ROW
#undef NFX_SESSION_ENDS

[[nodiscard]] constexpr const EndReasonRow& row_of(EndReason reason) noexcept {
  return end_reason_rows[static_cast<std::size_t>(reason)];
}

static_assert(
    [] {
      for (std::size_t i = 0; i < end_reason_rows.size(); ++i) {
        const EndReasonRow& row = end_reason_rows[i];
        if (static_cast<std::size_t>(row.reason) != i || !row.help.ends_with('.')) return false;
        if (row.text.empty() != (row.reason == EndReason::none)) return false;
      }
      return true;
    }(),
    "each reason has a text and a help");

// The last end of a session. The text is cut where it is longer than its place.
class SessionEnd {
 public:
  SessionEnd() = default;
  SessionEnd(UtcTime at, EndReason reason, std::string_view text) noexcept
      : at_(at), reason_(reason), size_(static_cast<std::uint8_t>(std::min(text.size(), most))) {
    std::copy_n(text.begin(), size_, text_.begin());
  }

  [[nodiscard]] bool exists() const noexcept { return reason_ != EndReason::none; }
  [[nodiscard]] UtcTime at() const noexcept { return at_; }
  [[nodiscard]] EndReason reason() const noexcept { return reason_; }
  [[nodiscard]] std::string_view text() const noexcept { return {text_.data(), size_}; }

 private:
  static constexpr std::size_t most = 160;

  UtcTime at_{};
  EndReason reason_ = EndReason::none;
  std::uint8_t size_ = 0;
  std::array<char, most> text_{};
};

// When a session did what: for operators and metrics. Empty: not since the engine started.
struct SessionTimes {
  std::optional<UtcTime> logged_on_since;  // empty: it is not logged on
  std::optional<UtcTime> last_in;          // the last message of the peer
  std::optional<UtcTime> last_out;         // the last message sent
  std::optional<UtcTime> unhandled_since;  // a message that the application does not handle yet was delivered first
  bool in_hours = true;                    // its schedule allows it to log on; true without a schedule
};

}  // namespace nfx
