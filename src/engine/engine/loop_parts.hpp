// The parts of one poll loop, in the order of their lifetime, whatever its transport and clock; and what other threads
// may request of it. Thread: the poll thread, but what is stated for any thread. Errors: the constructor throws
// StoreError when a session's store cannot be opened.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/admission.hpp"
#include "engine/loop_commands.hpp"
#include "engine/loop_context.hpp"
#include "engine/operator_requests.hpp"
#include "engine/receiver.hpp"
#include "engine/session_table.hpp"
#include "engine/submission_sender.hpp"

namespace nfx {

struct LoopParts {
  explicit LoopParts(const LoopOptions& options)
      : context(options),
        commands(options.config, options.thread),
        receiver(context),
        admission(context, commands, sessions),
        submitted(context, sessions),
        sessions(context, commands, submitted),
        operators(context, sessions) {}

  // Before start(): where messages and events go besides the application. The logs outlive the loop.
  void log_to(LoopLogs logs) { context.reports.log_to(std::move(logs)); }

  // From any other thread: queues a message for a session.
  [[nodiscard]] SubmitResult submit(std::size_t session, const Outgoing& message, SubmitOptions options = {}) noexcept;
  [[nodiscard]] std::optional<std::size_t> find(const SessionId& id) { return submitted.queue().find(id); }
  // From any other thread: adds a session that check_session() has accepted; it exists from the loop's next iteration
  // on. Returns its number. Throws ConfigError when there are max_dynamic_sessions, or a session of the same identity.
  std::size_t add(SessionSettings settings, AddedSession as = {}) { return sessions.add(std::move(settings), as); }
  // From any other thread: logs a session out and forgets it, store included. False: no such session.
  bool remove(std::size_t session, std::string text);
  [[nodiscard]] bool knows(const std::string& identity) { return commands.knows(identity); }
  // From any other thread: what the loop carries out in its next iteration. False: too many wait.
  [[nodiscard]] bool push(std::shared_ptr<LoopCall> call);
  [[nodiscard]] PollLoopCounters counters() const noexcept;  // from any thread

  [[nodiscard]] SessionHandle* find(std::size_t session) noexcept { return sessions.find(session); }
  // The statistics of all sessions. Allocates when `into` is too small.
  void figures(std::vector<SessionFigures>& into) const;
  [[nodiscard]] const LoopLatency& latency() const noexcept { return context.recorder.loop(); }
  void add_latency(LatencyReport& into) const { context.latencies.report(into, context.thread, latency()); }
  [[nodiscard]] SlowRing& slow() const noexcept { return context.latencies.slow(); }
  [[nodiscard]] TraceRing* traces() const noexcept { return context.latencies.traces(); }

  void start();
  // Carries out what other threads have requested since the last call.
  void take_commands();
  void stop_sessions();  // logs every session out, and refuses every Logon from now on
  // When something is due next; MonotonicTime::max() when nothing is.
  [[nodiscard]] MonotonicTime next_deadline() const noexcept;

  LoopContext context;
  LoopCommands commands;
  Receiver receiver;
  Admission admission;
  SubmissionSender submitted;
  SessionTable sessions;
  OperatorRequests operators;
};

}  // namespace nfx
