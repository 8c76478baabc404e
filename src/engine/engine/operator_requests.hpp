// Carries out what operators request of the sessions of one poll loop, and answers what they ask.
// Thread: the poll thread, between two events; other threads request it with a LoopCall. Cost: a request may allocate.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "engine/journal_status.hpp"
#include "engine/session_command.hpp"
#include "engine/session_figures.hpp"
#include "engine/session_table.hpp"

namespace nfx {

class OperatorRequests {
 public:
  // Both outlive it.
  OperatorRequests(LoopContext& loop, SessionTable& sessions) noexcept : loop_(loop), sessions_(sessions) {}

  [[nodiscard]] CommandOutcome command(std::size_t number, const SessionCommand& command);
  // Swaps the settings that may change at any time (config/live_keys.hpp) with `wanted`, and with `rules`, a copy of
  // its session. `what` is for the notice.
  [[nodiscard]] CommandOutcome change(std::size_t number, SessionSettings& wanted, SessionConfig& rules,
                                      std::string_view what);
  // The state of its journal. Copies texts into the memory that `into` has reserved.
  void journal(std::size_t number, JournalStatus& into) const;
  // The sessions from a place of the table on; the first page begins at 0.
  [[nodiscard]] SessionPage list(std::size_t from_place, std::span<SessionStatus> into) const {
    return sessions_.page(from_place, into);
  }
  [[nodiscard]] SessionPage figures(std::size_t from_place, std::span<SessionFigures> into) const {
    return sessions_.page(from_place, into);
  }
  // Logs all sessions out and accepts no Logon until end_drain(), which enables the sessions that this call disabled.
  void drain(std::string_view text);
  void end_drain();
  // Copies the messages of the tap's session, until detach().
  [[nodiscard]] CommandStatus attach(MessageTap& tap);
  void detach(MessageTap& tap) noexcept { loop_.reports.taps().detach(tap); }

 private:
  [[nodiscard]] CommandOutcome carry_out(SessionDriver& session, const SessionCommand& command);

  LoopContext& loop_;
  SessionTable& sessions_;
};

}  // namespace nfx
