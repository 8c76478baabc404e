// Requests of the control plane, the cluster's gateway and nfx::run to a running engine. A program calls Engine.
// Thread: any but a poll thread, which would wait for itself. Cost: a command waits for an iteration of the poll
// thread; at most 64 wait at a time. Lifetime: a value; the engine outlives it. Errors: a poll thread that does not
// answer within `timeout` is a result, and the request is then never carried out.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/journal_status.hpp"
#include "engine/recent_messages.hpp"
#include "engine/session_command.hpp"
#include "nexusfix/engine/engine.hpp"

namespace nfx {

class HandOnQueue;
class MetricsPage;

inline constexpr Duration command_timeout{std::chrono::seconds{2}};

// All sessions, by number, except on a poll thread that does not answer in time. Sessions that are being removed are
// listed separately.
struct SessionList {
  std::vector<SessionStatus> sessions;
  std::vector<SessionStatus> leaving{};
  bool complete = true;
};

class EngineOperations {
 public:
  explicit EngineOperations(Engine& engine) noexcept : parts_(engine.parts_.get()) {}

  // Carried out by the session's poll thread between two events.
  [[nodiscard]] CommandOutcome command(std::size_t session, const SessionCommand& command,
                                       Duration timeout = command_timeout) const;
  // Read in pieces, so that no message waits for more than one piece.
  [[nodiscard]] SessionList list_sessions(Duration timeout = command_timeout) const;
  // Logs all sessions out with this text and refuses Logons until end_drain(), which enables what drain() disabled.
  // False: a poll thread did not answer in time.
  [[nodiscard]] bool drain(std::string_view text, Duration timeout = command_timeout) const;
  [[nodiscard]] bool end_drain(Duration timeout = command_timeout) const;
  // Whether all poll threads take a request in time.
  [[nodiscard]] bool answers(Duration timeout = command_timeout) const;
  // Adds the current contents of the metrics file. False: a poll thread did not answer in time, and its metrics are
  // missing.
  [[nodiscard]] bool add_metrics(MetricsPage& page, Duration timeout = command_timeout) const;
  // The session's journal: where it is, how far it is synced, which messages it has.
  [[nodiscard]] JournalStatus journal(std::size_t session, Duration timeout = command_timeout) const;
  // The session's last messages in both directions after the one of this number, at most `most`. The first call begins
  // to copy them, and copying ends some seconds after the last call: see RecentMessages.
  [[nodiscard]] RecentMessages recent_messages(std::size_t session, std::uint64_t after = 0,
                                               std::size_t most = RecentMessages::most_messages,
                                               Duration timeout = command_timeout) const;

  // Throws like Engine::add_session() for these settings, but adds nothing. Does not check for an equal session, or for
  // a free place.
  void check_added(SessionSettings settings) const;
  // Why a session of this number could not listen and went again; of the last 16 of a poll thread. It is known once the
  // poll thread has answered a command() for the session. Empty: that did not happen.
  [[nodiscard]] std::optional<std::string> why_not_added(std::size_t session) const;
  // Gives a session the settings that may change while it is connected (config/live_keys.hpp); all others stay
  // unchanged. `what` is written to the event log. Throws ConfigError as add_session() does.
  [[nodiscard]] CommandOutcome change_session(std::size_t session, SessionSettings settings, std::string_view what,
                                              Duration timeout = command_timeout) const;

  // As Engine::run_on_housekeeping, for a thread that began before the engine, from now on; it outlives the engine.
  void adopt_housekeeping(int tid, std::string_view name) const;
  // The kernel's thread ids of the poll threads, by number; 0: not started.
  [[nodiscard]] std::vector<int> poll_thread_ids() const;
  // Has Engine::reload_tls() call this too, from any thread; its text is why something cannot be loaded, or empty.
  void reload_with_sessions(const std::string& name, std::function<std::string()> reload) const;
  // Connections whose session another gateway owns, with [cluster] wrong_gateway = "hand_on".
  [[nodiscard]] HandOnQueue& hand_on_queue() const noexcept;

 private:
  Engine::Parts* parts_;
};

}  // namespace nfx
