// The files that an engine writes for operators and their tools: message log, event log and metrics, all by one
// housekeeping thread.
// Thread: made, begun and ended by the owner of the engine; log queues belong to their poll threads; name() and
// forget() from any. Errors: the constructor throws ConfigError for an unusable folder; later failures go to the alert,
// once per outage.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "concurrent/snapshot_box.hpp"
#include "engine/engine_metrics.hpp"
#include "engine/metrics.hpp"
#include "engine/session_figures.hpp"
#include "engine/thread_watch.hpp"
#include "log/event_log.hpp"
#include "log/message_log.hpp"
#include "nexusfix/concurrent/worker_thread.hpp"
#include "nexusfix/config/engine_config.hpp"

namespace nfx {

class EngineLogs {
 public:
  using Alert = std::function<void(std::string_view)>;
  using Figures = SnapshotBox<ThreadFigures>;

  EngineLogs(const EngineConfig& config, Alert alert);
  EngineLogs(const EngineLogs&) = delete;
  EngineLogs& operator=(const EngineLogs&) = delete;

  [[nodiscard]] bool wanted() const noexcept { return messages_ || events_ || metrics_path_; }
  [[nodiscard]] std::optional<MessageLog::Lane> message_lane(std::uint32_t thread);
  [[nodiscard]] std::optional<EventLog::Lane> event_lane(std::uint32_t thread);
  // The name of the session in lines and metrics.
  void name(std::size_t session, const std::string& identity);
  void forget(std::size_t session);

  // Starts the thread, which sleeps or busy-polls when idle, as `idle` specifies. The poll threads fill `figures` on
  // request; `more` adds the engine's own statistics.
  void begin(std::function<void()> on_start, IdleMode idle, std::vector<Figures*> figures,
             std::function<void(MetricsPage&)> more);
  // Writes what is left and ends the thread. The poll threads have ended, or record nothing more. `publish` has each of
  // them copy its counters, so that the metrics file gets the last values.
  void end(const std::function<void()>& publish) noexcept;

  [[nodiscard]] const HelperWatch& watch() const noexcept { return watch_; }

 private:
  std::size_t step();
  std::size_t write(MonotonicTime begin, bool& wrote_metrics);
  void collect(MetricsPage& page);

  Alert alert_;
  WakeSignal signal_;
  std::optional<MessageLog> messages_;
  std::optional<EventLog> events_;
  std::optional<std::filesystem::path> metrics_path_;
  Duration metrics_period_{};
  std::optional<MetricsFile> metrics_;
  std::vector<Figures*> figures_;
  std::function<void(MetricsPage&)> more_;
  IdleMode idle_ = IdleMode::block;
  LogThreadCounters counters_;  // the worker's
  HelperWatch watch_;
  std::unique_ptr<WorkerThread> worker_;
};

}  // namespace nfx
