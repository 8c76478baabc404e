// The way of a request from any thread to a poll thread and back, for Engine's commands.
// Thread: any but the poll thread itself, which would wait for itself. Cost: allocates, waits for an iteration
// of the poll thread. Errors: a poll thread that does not take the request in time is a result.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/journal_status.hpp"
#include "engine/loop_call.hpp"
#include "engine/poll_thread.hpp"
#include "engine/session_command.hpp"

namespace nfx {

enum class CallResult : std::uint8_t { done, busy, timed_out };

[[nodiscard]] CallResult call_on(PollThread& thread, const LoopCall::Work& work, Duration timeout);
[[nodiscard]] CommandOutcome command_on(PollThread& thread, std::size_t session, const SessionCommand& command,
                                        Duration timeout);
// OperatorRequests', with a copy of `wanted`.
[[nodiscard]] CommandOutcome change_on(PollThread& thread, std::size_t session, SessionSettings wanted,
                                       std::string_view what, Duration timeout);
[[nodiscard]] JournalStatus journal_on(PollThread& thread, std::size_t session, Duration timeout);
// Appends the sessions of a poll thread. False: it did not answer.
[[nodiscard]] bool list_of(PollThread& thread, std::vector<SessionStatus>& into, Duration timeout);
// OperatorRequests'. False: it did not answer.
[[nodiscard]] bool drain_on(PollThread& thread, std::string_view text, Duration timeout);
[[nodiscard]] bool end_drain_on(PollThread& thread, Duration timeout);
[[nodiscard]] bool answers_in(PollThread& thread, Duration timeout);
// Replaces `into`. False: it did not answer.
[[nodiscard]] bool gather_from(PollThread& thread, ThreadFigures& into, Duration timeout);

}  // namespace nfx
