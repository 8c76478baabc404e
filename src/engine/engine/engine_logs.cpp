// Opens the configured logs, and runs the thread that drains their queues and rewrites the metrics file.
#include "engine/engine_logs.hpp"

#include <exception>
#include <string>
#include <utility>

#include "base/clocks.hpp"
#include "placement/thread_name.hpp"

namespace nfx {
namespace {

DeferredLogOptions log_options(const EngineConfig& config, const char* name, EngineLogs::Alert alert,
                               WakeSignal& signal) {
  DeferredLogOptions options;
  options.target = LogFileOptions{.folder = config.log.directory,
                                  .name = name,
                                  .max_bytes = config.log.rotate_bytes,
                                  .keep_files = config.log.keep_files,
                                  .keep_days = static_cast<std::uint32_t>(config.log.keep_age.count())};
  options.lanes = config.poll_threads;
  options.lane_bytes = config.log.queue_bytes;
  options.full = config.log.full;
  options.on_failure = std::move(alert);
  options.worker = &signal;
  return options;
}

}  // namespace

EngineLogs::EngineLogs(const EngineConfig& config, Alert alert) : alert_(std::move(alert)) {
  try {
    if (!config.log.directory.empty() && config.log.messages) {
      MessageLogOptions options;
      options.log = log_options(config, "messages", alert_, signal_);
      // Longer ones are cut, and the line states by how much: a queue holds several of the longest.
      options.log.longest_record =
          std::min<std::size_t>(config.max_message_size, std::max<std::size_t>(64 * 1024, config.log.queue_bytes / 4));
      options.format = config.log.format;
      options.session_message_rate = config.log.session_message_rate;
      const auto* const files = std::get_if<LogFileOptions>(&options.log.target);
      if (files != nullptr) {
        options.log.busy_target = *files;
        options.log.busy_target->name += "-busy";
      }
      messages_.emplace(std::move(options));
    }
    if (!config.log.directory.empty() && config.log.events)
      events_.emplace(log_options(config, "events", alert_, signal_));
  } catch (const std::exception& error) {
    throw ConfigError(std::string{"[log] "} + error.what());
  }
  if (!config.log.metrics_file.empty()) metrics_path_ = config.log.metrics_file;
  metrics_period_ = config.log.metrics_period;
}

std::optional<MessageLog::Lane> EngineLogs::message_lane(std::uint32_t thread) {
  return messages_ ? std::optional{messages_->lane(thread)} : std::nullopt;
}

std::optional<EventLog::Lane> EngineLogs::event_lane(std::uint32_t thread) {
  return events_ ? std::optional{events_->lane(thread)} : std::nullopt;
}

void EngineLogs::name(std::size_t session, const std::string& identity) {
  const auto number = static_cast<std::uint32_t>(session);
  if (messages_) messages_->name_session(number, identity);
  if (events_) events_->name_session(number, identity);
}

void EngineLogs::forget(std::size_t session) {
  const auto number = static_cast<std::uint32_t>(session);
  if (messages_) messages_->forget_session(number);
  if (events_) events_->forget_session(number);
}

void EngineLogs::begin(std::function<void()> on_start, IdleMode idle, std::vector<Figures*> figures,
                       std::function<void(MetricsPage&)> more) {
  if (!wanted() || worker_) return;
  if (messages_) messages_->open_file(read_utc());
  if (events_) events_->open_file(read_utc());
  idle_ = idle;
  figures_ = std::move(figures);
  more_ = std::move(more);
  if (metrics_path_) {
    try {
      metrics_.emplace(MetricsFileOptions{.path = *metrics_path_, .period = metrics_period_, .on_failure = alert_},
                       [this](MetricsPage& page) { collect(page); });
    } catch (const std::exception& error) {
      throw ConfigError(std::string{"[log] metrics_file: "} + error.what());
    }
    for (Figures* each : figures_) each->ask();
  }
  WorkerOptions options;
  options.idle = idle;
  options.on_start = std::move(on_start);
  worker_ = std::make_unique<WorkerThread>(
      signal_,
      WorkerThread::Work{
          .step = [this] { return step(); },
          .has_work = [this] { return (messages_ && messages_->has_work()) || (events_ && events_->has_work()); }},
      std::move(options));
}

void EngineLogs::end(const std::function<void()>& publish) noexcept {
  if (!worker_) return;
  worker_->stop();
  worker_.reset();
  if (!metrics_) return;
  for (Figures* each : figures_) each->ask();
  publish();
  static_cast<void>(metrics_->write());
}

std::size_t EngineLogs::step() {
  const MonotonicTime begin = read_monotonic();
  watch_.turn_began(begin);
  std::size_t done = 0;
  bool wrote_metrics = false;
  try {
    done = write(begin, wrote_metrics);
  } catch (const std::exception& error) {
    // Mostly out of memory. The next step tries again; of a series only the first is reported.
    if (counters_.failed_steps++ == 0 && alert_) {
      alert_(std::string{"the thread that writes logs and metrics: "} + error.what() + "; it tries again");
    }
  }
  watch_.turn_ended(read_monotonic(), done == 0 && !wrote_metrics && idle_ == IdleMode::spin);
  return done;
}

std::size_t EngineLogs::write(MonotonicTime begin, bool& wrote_metrics) {
  const UtcTime now = read_utc();
  std::size_t done = 0;
  if (messages_) done += messages_->step(now);
  if (events_) done += events_->step(now);
  wrote_metrics = metrics_ && metrics_->step(begin);
  return done;
}

void EngineLogs::collect(MetricsPage& page) {
  for (std::uint32_t thread = 0; thread < figures_.size(); ++thread) {
    const ThreadFigures* there = figures_[thread]->look();
    if (there == nullptr) continue;
    add_poll_thread(page, thread_name(ThreadRole::poll, thread), *there);
    figures_[thread]->ask();
  }
  if (messages_) add_log(page, "messages", messages_->counters());
  if (events_) add_log(page, "events", events_->counters());
  add_log_thread(page, thread_name(ThreadRole::log, 0), counters_);
  more_(page);
}

}  // namespace nfx
