// The shared state of a poll loop, and failures of callbacks that belong to no session.
#include "engine/loop_context.hpp"

#include "engine/callback_failure.hpp"
#include "engine/loop_commands.hpp"

namespace nfx {

std::size_t most_sessions(const EngineConfig& config) noexcept {
  return config.sessions.size() + most_added_sessions(config);
}

LoopContext::LoopContext(const LoopOptions& options)
    : config(options.config),
      thread(options.thread),
      network(options.network),
      callbacks(options.callbacks),
      stores(options.stores),
      time(options.now),
      reports(callbacks.observers),
      owners(most_sessions(config) + config.max_pending_logons + config.max_pending_known_logons + 1),
      replayed(config.max_fields),
      jitter(static_cast<std::uint64_t>(options.now.utc.time_since_epoch().count()) + options.thread),
      deadlines(most_sessions(config)),
      dirty(most_sessions(config)),
      replaying(most_sessions(config)),
      waiting(most_sessions(config)),
      leaving(most_sessions(config)),
      failed(most_sessions(config)) {
  if (config.latency && config.log.trace_every != 0)
    recorder.traces().begin(latencies.make_traces(), config.log.trace_every);
}

Duration LoopContext::on_turn() noexcept {
  try {
    return callbacks.application->on_turn(now());
  } catch (...) {
    callback_threw("on_turn");
    return std::chrono::seconds{1};
  }
}

[[gnu::cold, gnu::noinline]] void LoopContext::callback_threw(std::string_view callback) noexcept {
  const CallbackFailure failure{callback};
  count(&PollLoopCounters::callback_exceptions);
  if (!callback_lines_.take(now().monotonic)) return;
  reports.event(to_string(Notice::callback_threw), failure.text(), now().utc);
  reports.callback_threw(failure);
}

void LoopContext::store_alert(const std::string& text) noexcept {
  try {
    reports.alert(AlertKind::store, text);
  } catch (...) {
    callback_threw("on_alert");
  }
}

}  // namespace nfx
