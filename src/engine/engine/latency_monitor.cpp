// The thread that copies, samples, and names what the poll threads offer.
#include "engine/latency_monitor.hpp"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/clocks.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "nexusfix/placement/machine.hpp"

namespace nfx {

LatencyMonitor::LatencyMonitor(std::vector<const MeasuredThread*> threads, TraceLog* traces)
    : traces_(traces), made_at_(read_utc()) {
  for (const MeasuredThread* thread : threads) watched_.push_back({.thread = thread});
}

void LatencyMonitor::begin(EnginePlacement& placement) {
  if (thread_.joinable() || watched_.empty()) return;
  stop_ = false;
  thread_ = std::thread{[this, &placement] { placement.run_on_housekeeping("nfx-latency", [this] { run(); }); }};
}

void LatencyMonitor::end() noexcept {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock{mutex_};
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void LatencyMonitor::run() {
  CpuAffinity::give_way();
  for (bool last = false;;) {
    try {
      step(read_clocks());
    } catch (const std::exception&) {
      // Without memory this period is left out; the poll threads count what does not fit their rings.
    }
    if (last) return;
    std::unique_lock lock{mutex_};
    last = changed_.wait_for(lock, period, [this] { return stop_; });
  }
}

void LatencyMonitor::step(Instant now) {
  if (now.monotonic >= next_copy_) {
    next_copy_ = now.monotonic + copy_period;
    LatencyReport report = since_start(now.utc);
    history_.add(report, now);
    names_.clear();
    for (SessionLatency& each : report.sessions) names_.emplace(each.serial, std::move(each.session));
  }
  // Taken before the sample, so that each has ended when it is made.
  for (Watched& each : watched_) {
    each.records.clear();
    each.thread->slow().take(each.records);
  }
  cpus_ = cpu_files_.read();
  const MonotonicTime sampled = read_monotonic();
  for (std::uint32_t i = 0; i < watched_.size(); ++i) {
    sample(watched_[i], sampled);
    take(watched_[i], i, now);
  }
  if (traces_ != nullptr) write_traces();
}

// Adds what the kernel has counted of the thread, and of the CPU that it is on, to the last sample.
void LatencyMonitor::sample(Watched& watched, MonotonicTime now) {
  const int tid = watched.thread->thread_id();
  if (tid == 0) return;
  if (tid != std::exchange(watched.tid, tid)) watched.files.emplace(HostFiles{}, ::getpid(), tid);
  HostEvidence sum = watched.samples.empty() ? HostEvidence{} : watched.samples.back().counted;
  if (const auto thread = watched.files->read()) {
    sum.ran = Duration{static_cast<Duration::rep>(thread->run_ns)};
    sum.waited = Duration{static_cast<Duration::rep>(thread->wait_ns)};
    sum.involuntary_switches = thread->involuntary_switches;
    sum.migrations = thread->migrations;
    sum.minor_faults = thread->minor_faults;
    sum.major_faults = thread->major_faults;
    const auto cpu = std::ranges::find(cpus_, thread->cpu, &CpuInterruptions::cpu);
    if (cpu != cpus_.end()) {
      if (cpu->cpu == watched.cpu.cpu) {
        static const long ticks_per_second = std::max(::sysconf(_SC_CLK_TCK), 1L);
        const auto ticks = static_cast<Duration::rep>(cpu->stolen_ticks - watched.cpu.stolen_ticks);
        sum.stolen += Duration{std::chrono::seconds{1}} * ticks / ticks_per_second;
        sum.interrupts += cpu->interrupts - watched.cpu.interrupts;
      }
      watched.cpu = *cpu;
    }
  }
  watched.samples.push_back({now, sum});
  if (watched.samples.size() > most_samples) watched.samples.pop_front();
}

void LatencyMonitor::take(Watched& watched, std::uint32_t number, Instant now) {
  SlowRing& ring = watched.thread->slow();
  ring.set_limit(next_limit(watched.records, ring.limit()));
  for (const SlowRecord& record : watched.records) {
    SlowMoment moment{.ended = now.utc - (now.monotonic - record.ended),
                      .took = record.took,
                      .stage = record.stage,
                      .session = {},
                      .poll_thread = number,
                      .host = evidence_between(watched.samples, record.began(), record.ended)};
    if (record.session != 0) moment.session = name_of(record.session);
    moment.cause = cause_of(record, moment.host);
    moments_.add(moment, now.monotonic);
  }
}

void LatencyMonitor::write_traces() {
  std::vector<TraceRecord> records;
  std::vector<NamedTrace> named;
  for (std::uint32_t i = 0; i < watched_.size(); ++i) {
    records.clear();
    watched_[i].thread->traces()->take(records);
    for (const TraceRecord& record : records) named.push_back({record, name_of(record.session), i});
  }
  traces_->write(named, read_clocks());
}

LatencyReport LatencyMonitor::since_start(UtcTime now) const {
  LatencyReport report{.from = made_at_, .to = now, .sessions = {}, .threads = {}};
  for (const Watched& each : watched_) each.thread->add_latency(report);
  return report;
}

// For a session that connected since the last copy, or was removed.
const std::string& LatencyMonitor::name_of(std::uint64_t serial) {
  const auto found = names_.find(serial);
  if (found != names_.end()) return found->second;
  std::string& name = names_[serial];
  for (const SessionLatency& each : since_start({}).sessions) {
    if (each.serial == serial) name = each.session;
  }
  return name;
}

LatencyReport LatencyMonitor::window(LatencyWindow window) const {
  const Instant now = read_clocks();
  return history_.window(window, since_start(now.utc), now.monotonic);
}

std::vector<SlowMoment> LatencyMonitor::slowest(LatencyWindow window) const {
  return moments_.slowest(window, read_utc());
}

}  // namespace nfx
