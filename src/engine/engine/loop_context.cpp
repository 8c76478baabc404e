// The shared state of a poll loop, and failures of callbacks that belong to no session.
#include "engine/loop_context.hpp"

#include "engine/callback_failure.hpp"
#include "engine/loop_commands.hpp"
#include "store/prefetch.hpp"

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

void LoopContext::warm(std::uint32_t index, ConnectionId id) const noexcept {
  const std::uint32_t owner = owners.find(id).index;
  const MonotonicTime due = deadlines.due(index);
  const bool listed = dirty.contains(index);
  asm volatile("" : : "r"(owner), "r"(due), "r"(listed));  // they were read
  const auto lines = [](const void* from, const void* to) {
    load_lines(from, static_cast<std::size_t>(static_cast<const char*>(to) - static_cast<const char*>(from)));
  };
  lines(this, &latencies);
  lines(&delivering, this + 1);  // what is between them is large, and the recorder knows its places
  prefetch_lines(dirty.items().data(), 1);
  recorder.warm();
  reports.warm();
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
