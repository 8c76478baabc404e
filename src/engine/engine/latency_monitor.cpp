// The thread that samples, and the names and causes of what the poll threads offer.
#include "engine/latency_monitor.hpp"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <utility>

#include "base/clocks.hpp"

namespace nfx {

HostSample HostSampler::sample(int tid, std::span<const CpuInterruptions> cpus, MonotonicTime now) {
  if (tid != std::exchange(tid_, tid)) thread_.emplace(files_, ::getpid(), tid);
  if (const auto thread = thread_->read()) {
    sum_.ran = Duration{static_cast<Duration::rep>(thread->run_ns)};
    sum_.waited = Duration{static_cast<Duration::rep>(thread->wait_ns)};
    sum_.involuntary_switches = thread->involuntary_switches;
    sum_.migrations = thread->migrations;
    sum_.minor_faults = thread->minor_faults;
    sum_.major_faults = thread->major_faults;
    const auto cpu = std::ranges::find(cpus, thread->cpu, &CpuInterruptions::cpu);
    if (cpu != cpus.end()) {
      if (cpu->cpu == before_.cpu) {
        static const long ticks_per_second = std::max(::sysconf(_SC_CLK_TCK), 1L);
        const auto ticks = static_cast<Duration::rep>(cpu->stolen_ticks - before_.stolen_ticks);
        sum_.stolen += Duration{std::chrono::seconds{1}} * ticks / ticks_per_second;
        sum_.interrupts += cpu->interrupts - before_.interrupts;
      }
      before_ = *cpu;
    }
  }
  return {now, sum_};
}

LatencyMonitor::LatencyMonitor(std::vector<const MeasuredThread*> threads, TraceLog* traces) : traces_(traces) {
  for (const MeasuredThread* thread : threads) watched_.push_back({thread, HostSampler{}, {}, {}, {}});
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
  const bool copies = now.monotonic >= next_copy_;
  if (copies) {
    next_copy_ = now.monotonic + copy_period;
    LatencyReport report;
    for (const Watched& each : watched_) each.thread->add_latency(report);
    history_.add(report, now);
    names_.clear();
    for (SessionLatency& each : report.sessions) names_.emplace(each.serial, std::move(each.session));
  }
  // Taken before the sample, so that each has ended when it is made.
  for (Watched& each : watched_) {
    each.records.clear();
    each.thread->slow().take(each.records);
  }
  const std::span<const CpuInterruptions> cpus = cpus_.read();
  const Instant sampled{now.utc + (read_monotonic() - now.monotonic), read_monotonic()};
  for (std::uint32_t i = 0; i < watched_.size(); ++i) take(watched_[i], i, cpus, sampled);
  moments_.turn(now.monotonic);
  if (traces_ != nullptr) write_traces();
}

void LatencyMonitor::write_traces() {
  named_traces_.clear();
  for (std::uint32_t i = 0; i < watched_.size(); ++i) {
    trace_records_.clear();
    watched_[i].thread->traces()->take(trace_records_);
    for (const TraceRecord& record : trace_records_) named_traces_.push_back({record, name_of(record.session), i});
  }
  traces_->write(named_traces_, read_clocks());
}

void LatencyMonitor::take(Watched& watched, std::uint32_t number, std::span<const CpuInterruptions> cpus, Instant now) {
  if (const int tid = watched.thread->thread_id(); tid != 0) {
    watched.samples.push_back(watched.sampler.sample(tid, cpus, now.monotonic));
    if (watched.samples.size() > SlowMoments::most_samples) watched.samples.pop_front();
  }
  SlowRing& ring = watched.thread->slow();
  ring.set_limit(watched.limit.next(watched.records, ring.limit(), now.monotonic));
  std::ranges::sort(watched.records, std::ranges::greater{}, &SlowRecord::took);
  waits_found_.clear();
  for (const SlowRecord& record : watched.records) {
    // Of what was before the first sample nothing is known.
    if (watched.samples.empty() || record.ended < watched.samples.front().at) continue;
    SlowMoment moment;
    moment.ended = now.utc - (now.monotonic - record.ended);
    moment.took = record.took;
    moment.stage = record.stage;
    if (record.session != 0) moment.session = name_of(record.session);
    moment.poll_thread = number;
    moment.host = evidence_between(watched.samples, record.began(), record.ended);
    HostEvidence of_moment = moment.host;
    of_moment.waited = waits_found_.left_for(record, of_moment.waited);
    moment.cause = cause_of(record, of_moment, callback_time(record, watched.records));
    if (moment.cause == SlowCause::scheduler) waits_found_.add(record);
    moments_.add(std::move(moment), now.monotonic);
  }
}

// Of a session that connected since the last copy, or was removed.
const std::string& LatencyMonitor::name_of(std::uint64_t serial) {
  const auto found = names_.find(serial);
  if (found != names_.end()) return found->second;
  LatencyReport report;
  for (const Watched& each : watched_) each.thread->add_latency(report);
  std::string& name = names_[serial];
  for (const SessionLatency& each : report.sessions) {
    if (each.serial == serial) name = each.session;
  }
  return name;
}

}  // namespace nfx
