#include "engine/engine_logs.hpp"

#include <utility>

namespace nfx {
namespace {

UtcTime wall_clock() { return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()); }
MonotonicTime monotonic_clock() { return std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now()); }

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

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

void add_session(MetricsPage& page, const SessionFigures& of) {
  const MetricLabel session{"session", of.identity};
  const SessionCounters& counts = of.counters;
  page.gauge({"nfx_session_up", "1 while Logons are exchanged"}, of.logged_on ? 1 : 0, {session});
  page.gauge({"nfx_next_inbound", "MsgSeqNum expected next"}, static_cast<double>(value(of.next_inbound)), {session});
  page.gauge({"nfx_next_outbound", "MsgSeqNum sent next"}, static_cast<double>(value(of.next_outbound)), {session});
  page.counter({"nfx_messages_total", "Messages, session messages and resent ones included"}, counts.messages_in,
               {session, {"direction", "in"}});
  page.counter({"nfx_messages_total", ""}, counts.messages_out, {session, {"direction", "out"}});
  page.counter({"nfx_resent_total", "Messages resent"}, counts.resent, {session});
  page.counter({"nfx_garbled_total", "Messages ignored because framing, length or checksum was wrong"}, counts.garbled,
               {session});
  page.counter({"nfx_rejected_total", "Messages answered with a Reject"}, counts.rejected, {session});
  page.counter({"nfx_resend_requests_total", "Gaps asked for"}, counts.resend_requests, {session});
  page.counter({"nfx_send_refused_total", "Messages the application could not send for want of room"},
               counts.send_refused, {session});
  page.counter({"nfx_logons_total", "Logons exchanged"}, counts.logons, {session});
  page.counter({"nfx_disconnects_total", "Connections that stood and ended"}, counts.disconnects, {session});
  if (!of.journal) return;
  page.gauge({"nfx_store_condition", "0 good, 1 busy, 2 full, 3 failed"},
             static_cast<double>(std::to_underlying(of.store_condition)), {session});
  page.counter({"nfx_store_bytes_total", "Bytes appended to the journal"}, of.journal->bytes, {session});
  page.counter({"nfx_store_syncs_total", "Syncs of the journal"}, of.journal->syncs, {session});
  page.counter({"nfx_store_ring_full_total", "Appends that found no room in the ring"}, of.journal->ring_full,
               {session});
  page.gauge({"nfx_store_longest_sync_seconds", "The longest sync so far"}, seconds(of.journal->longest_sync),
             {session});
}

}  // namespace

EngineLogs::EngineLogs(const EngineConfig& config, Alert alert) : alert_(std::move(alert)) {
  try {
    if (!config.log.directory.empty() && config.log.messages) {
      MessageLogOptions options;
      options.log = log_options(config, "messages", alert_, signal_);
      options.log.longest_record = config.max_message_size;
      options.format = config.log.format;
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

void EngineLogs::end() noexcept {
  if (!worker_) return;
  worker_->stop();
  worker_.reset();
  if (metrics_) static_cast<void>(metrics_->write());
}

std::size_t EngineLogs::step() {
  const UtcTime now = wall_clock();
  const MonotonicTime begin = monotonic_clock();
  watch_.turn_began(begin);
  std::size_t done = 0;
  if (messages_) done += messages_->step(now);
  if (events_) done += events_->step(now);
  const bool wrote = metrics_ && metrics_->step(begin);
  watch_.turn_ended(monotonic_clock(), done == 0 && !wrote && idle_ == IdleMode::spin);
  return done;
}

void EngineLogs::collect(MetricsPage& page) {
  for (Figures* each : figures_) {
    const std::vector<SessionFigures>* there = each->look();
    if (there == nullptr) continue;
    for (const SessionFigures& session : *there) add_session(page, session);
    each->ask();
  }
  const auto add_log = [&page](const char* log, const DeferredLogCounters& counts) {
    page.counter({"nfx_log_lines_total", "Lines written to the log"}, counts.written, {{"log", log}});
    page.counter({"nfx_log_spilled_total", "Lines that waited in the spill, behind a full queue"}, counts.spilled,
                 {{"log", log}});
    page.counter({"nfx_log_blocked_total", "Times a poll thread waited for room in the queue"}, counts.blocked,
                 {{"log", log}});
    page.counter({"nfx_log_dropped_total", "Lines that found no room in the queue"}, counts.dropped, {{"log", log}});
    page.counter({"nfx_log_lost_total", "Lines that the disk did not take"}, counts.lost, {{"log", log}});
  };
  if (messages_) add_log("messages", messages_->counters());
  if (events_) add_log("events", events_->counters());
  more_(page);
}

}  // namespace nfx
