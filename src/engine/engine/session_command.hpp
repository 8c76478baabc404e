// An operator's commands for a session of a running engine: a table with one row for each command, the request, and the
// answer with the session's state. Engine::command() carries them out; see docs/control.md.
// Thread: values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/session_end.hpp"
#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/engine/engine_counters.hpp"
#include "nexusfix/session/actions.hpp"
#include "nexusfix/session/session_config.hpp"
#include "store/journal_store.hpp"

namespace nfx {

// Enumerator, name as the command line and the API have it, the arguments that it takes, whether it only reads, and
// what it does.
#define NFX_SESSION_COMMANDS(ROW)                                                                                      \
  ROW(show, "show", 0, true, "Show a session: connection, sequence numbers, counters.")                                \
  ROW(set, "set", CommandArguments::numbers | CommandArguments::expected, false,                                       \
      "Set the next sequence numbers. While logged on, next out can only grow (the peer gets a gap fill) and next in " \
      "can only fall (the peer's messages are requested again).")                                                      \
  ROW(reset, "reset", CommandArguments::expected, false,                                                               \
      "Reset both sequence numbers to 1: immediately without a connection; while logged on, with a Logon that has "    \
      "ResetSeqNumFlag=Y.")                                                                                            \
  ROW(logout, "logout", CommandArguments::text, false, "Send Logout and stay logged out until logon or enable.")       \
  ROW(logon, "logon", 0, false, "Enable the session; an initiator connects now, without its reconnect delay.")         \
  ROW(disable, "disable", 0, false,                                                                                    \
      "Refuse new connections: no Logon is accepted, an initiator does not connect; an open connection continues.")    \
  ROW(enable, "enable", 0, false, "Accept connections again; an initiator connects after its reconnect delay.")        \
  ROW(drop, "drop", 0, false, "Cut the connection without Logout, as a failing network would.")                        \
  ROW(test_request, "test-request", 0, false,                                                                          \
      "Send a TestRequest now; the session ends if nothing arrives within the time that its heartbeats allow.")        \
  ROW(resend, "resend", CommandArguments::from | CommandArguments::expected, false,                                    \
      "Request the peer's messages again from this sequence number; they reach the program as possible duplicates.")   \
  ROW(hold, "hold", 0, false,                                                                                          \
      "Send no messages of the program: send() returns an error. Heartbeats, resends and rejects are still sent. "     \
      "Ends with release or with the process.")                                                                        \
  ROW(release, "release", 0, false, "End hold: messages of the program are sent again.")                               \
  ROW(remove, "remove", CommandArguments::text, false,                                                                 \
      "Log the session out and forget it until the next start; its journal stays.")

// Which of SessionCommand's members a command reads.
struct CommandArguments {
  static constexpr unsigned numbers = 1;   // next_in, next_out
  static constexpr unsigned expected = 2;  // expected
  static constexpr unsigned text = 4;
  static constexpr unsigned from = 8;
};

#define NFX_ENUMERATOR(name, text, arguments, reads, help) name,
enum class SessionCommandKind : std::uint8_t { NFX_SESSION_COMMANDS(NFX_ENUMERATOR) };
#undef NFX_ENUMERATOR

struct SessionCommandRow {
  SessionCommandKind kind{};
  std::string_view name;
  unsigned arguments = 0;
  bool only_reads = false;
  std::string_view help;

  [[nodiscard]] constexpr bool takes(unsigned argument) const noexcept { return (arguments & argument) != 0; }
};

#define NFX_ROW(name, text, arguments, reads, help) \
  SessionCommandRow{SessionCommandKind::name, text, arguments, reads, help},
inline constexpr std::array session_command_rows{NFX_SESSION_COMMANDS(NFX_ROW)};
#undef NFX_ROW
#undef NFX_SESSION_COMMANDS

static_assert([] {
  for (std::size_t i = 0; i < session_command_rows.size(); ++i) {
    if (static_cast<std::size_t>(session_command_rows[i].kind) != i) return false;
  }
  return true;
}());

[[nodiscard]] constexpr const SessionCommandRow& row_of(SessionCommandKind kind) noexcept {
  return session_command_rows[static_cast<std::size_t>(kind)];
}

struct SessionCommand {
  SessionCommandKind kind = SessionCommandKind::show;
  NextNumbers numbers{};                             // of set: what comes next
  NextNumbers expected{};                            // refused where the present ones are others
  std::optional<std::uint32_t> expected_revision{};  // ... where the present settings are others
  SeqNum from{};                                     // of resend
  std::string text{};                                // of logout and remove: the Text of the Logout
  bool unless_connected = false;                     // of remove: refused where the session has a connection
  std::string who{};                                 // stored with a number in the journal, and in the event log
};

enum class CommandStatus : std::uint8_t {
  done,
  nothing_to_do,  // already in that state
  refused,        // for the reason in `refusal`
  store_refuses,  // the journal cannot record a sequence number now
  stopping,       // the engine stops or drains
  no_such_session,
  busy,           // too many requests wait for the poll thread
  timed_out,      // the poll thread did not take it in time: it is not carried out
  being_removed,  // it logs out, and is gone then
};

[[nodiscard]] std::string_view to_string(CommandStatus status) noexcept;

// A session at one moment.
struct SessionStatus {
  std::size_t number = 0;
  std::string name;  // "FIX.4.4:DESK->VENUE"
  Role role{};
  Phase phase{};
  bool enabled = true;  // takes connections
  bool sending_held = false;
  bool connected = false;  // a TCP connection, logged on or not
  bool removing = false;   // it takes no command, and goes when its connection has ended
  bool from_template = false;
  std::string peer;            // its address, of an acceptor's connection
  std::uint32_t revision = 0;  // of its settings: how often they have changed since it began
  SeqNum next_in{};
  SeqNum next_out{};
  bool gap_open = false;            // a ResendRequest of this side is not answered completely
  std::uint32_t queued = 0;         // messages received ahead of the gap
  bool resending = false;           // answers a ResendRequest of the peer
  std::uint64_t pending_bytes = 0;  // encoded and not taken by the network yet
  std::uint32_t heartbeat_s = 0;
  SessionTimes times{};
  SessionEnd last_end{};
  SessionCounters counters{};
  bool has_journal = false;
  StoreCondition store = StoreCondition::good;
};

struct CommandOutcome {
  CommandStatus status = CommandStatus::timed_out;
  OperatorResult refusal = OperatorResult::done;
  SessionStatus session{};  // after the command; of no_such_session, busy and timed_out without content

  [[nodiscard]] explicit operator bool() const noexcept {
    return status == CommandStatus::done || status == CommandStatus::nothing_to_do;
  }
};

// Why, in one sentence.
[[nodiscard]] std::string_view explain(const CommandOutcome& outcome) noexcept;

}  // namespace nfx
