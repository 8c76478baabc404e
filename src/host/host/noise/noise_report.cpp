// Runs a measurement, traces it if permitted, and computes the results. The output formats only print them.
#include "host/noise_report.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "host/noise/report_parts.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"

namespace nfx {
namespace {

constexpr std::uint64_t most_memory = std::uint64_t{1} << 30;

NoiseSummary summarise_windows(std::vector<std::uint64_t> windows) {
  NoiseSummary summary;
  summary.windows = windows.size();
  if (windows.empty()) return summary;
  std::ranges::sort(windows);
  const auto quantile = [&](double q) {
    return windows[static_cast<std::size_t>(static_cast<double>(windows.size() - 1) * q)];
  };
  summary.p50_ns = quantile(0.5);
  summary.p90_ns = quantile(0.9);
  summary.p99_ns = quantile(0.99);
  summary.p999_ns = quantile(0.999);
  summary.max_ns = windows.back();
  return summary;
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

void check(const HostFacts& facts, const NoiseOptions& options) {
  const HiccupOptions& hiccups = options.hiccups;
  if (hiccups.cpus.empty()) throw std::invalid_argument("there is no CPU to measure");
  if (hiccups.fifo_priority > 0 && hiccups.cpus.size() >= std::max<std::size_t>(facts.online.size(), 1)) {
    throw std::invalid_argument(
        "real-time threads on all CPUs would leave none for the host; leave at least one CPU out of --cpus");
  }
  if (const std::uint64_t bytes = hiccup_memory_bytes(hiccups); bytes > most_memory) {
    throw std::invalid_argument("would need " + std::to_string(bytes >> 20) +
                                " MiB of memory; measure fewer CPUs or for a shorter time");
  }
}

// A real-time priority without both kernel settings is worse than none.
void warn_of_throttling(NoiseReport& report, const HostFacts& facts) {
  if (report.fifo_priority == 0) return;
  if (facts.rt_runtime_us && *facts.rt_runtime_us >= 0) {
    report.notes.push_back("SCHED_FIFO is throttled: /proc/sys/kernel/sched_rt_runtime_us is " +
                           std::to_string(*facts.rt_runtime_us) + " of " +
                           std::to_string(facts.rt_period_us.value_or(1'000'000)) +
                           " us, so expect stalls of the rest in every period; -1 switches that off");
  }
  if (facts.fair_server.value_or(false)) {
    report.notes.emplace_back(
        "the fair server takes time from SCHED_FIFO threads for other tasks of the same CPU: move those away, or write "
        "0 to /sys/kernel/debug/sched/fair_server/cpu*/runtime");
  } else if (!facts.fair_server) {
    report.notes.emplace_back(
        "the fair server may take time from SCHED_FIFO threads: cannot read /sys/kernel/debug/sched/fair_server "
        "(debugfs not mounted, or not root)");
  }
}

std::optional<TraceSession> start_trace(NoiseReport& report, const HostFiles& files, const HostFacts& facts,
                                        const NoiseOptions& options) {
  if (!options.trace) {
    report.why_not_attributed = "it was not requested";
    return std::nullopt;
  }
  auto tracefs = find_tracefs(files);
  if (!tracefs && options.mount_tracefs) tracefs = mount_private_tracefs();
  if (!tracefs) {
    report.why_not_attributed = tracefs.error();
    return std::nullopt;
  }
  auto session = TraceSession::start({
      .tracefs = *tracefs,
      // Threads that are not pinned may run on any CPU.
      .cpus = options.hiccups.pinned ? options.hiccups.cpus : facts.online,
      .tsc = why_not_tsc().empty(),
      .pinned = options.hiccups.pinned,
      .seconds = report.seconds,
  });
  if (!session) {
    report.why_not_attributed = session.error();
    return std::nullopt;
  }
  return *std::move(session);
}

AttributionContext context_of(const NoiseReport& report, const TraceSession::Result& traced) {
  AttributionContext context;
  context.overwritten = traced.overwritten;
  context.all_sources = report.osnoise;
  // Times in text have six decimal places; TSC times are exact.
  context.slack_ns = report.trace_clock == "x86-tsc" ? 200 : 1500;
  for (const CpuNoise& cpu : report.cpus) context.own_threads.insert(cpu.hiccups.thread_id);
  return context;
}

void attribute_gaps(NoiseReport& report, const TraceSession& session, const TickClock& clock) {
  const TraceSession::Result traced = session.read(clock);
  report.attributed = true;
  report.trace_events = traced.events.size();
  report.trace_events_lost = traced.lost;
  for (const std::string& note : session.notes()) report.notes.push_back(note);
  if (traced.lost > 0)
    report.notes.push_back("the trace lost " + std::to_string(traced.lost) +
                           " events: stalls before those it stored are 'not traced'; measure for a shorter time");
  if (traced.not_understood > 0)
    report.notes.push_back(std::to_string(traced.not_understood) + " lines of the trace were not understood");
  const AttributionContext context = context_of(report, traced);
  // All CPUs at once, so that their timelines are built only once.
  std::vector<HiccupGap> gaps;
  for (const CpuNoise& cpu : report.cpus) gaps.insert(gaps.end(), cpu.hiccups.gaps.begin(), cpu.hiccups.gaps.end());
  const std::vector<NoiseCause> causes = attribute(gaps, traced.events, context);
  auto next = causes.begin();
  for (CpuNoise& cpu : report.cpus) {
    const auto end = next + static_cast<std::ptrdiff_t>(cpu.hiccups.gaps.size());
    cpu.causes.assign(next, end);
    next = end;
  }
}

// Keeps the calling thread off some CPUs during its lifetime, if other CPUs remain.
class StayOff {
 public:
  StayOff(const CpuSet& online, const CpuSet& cpus) {
    const CpuSet others = online - cpus;
    if (others.empty()) return;
    before_ = CpuAffinity::get();
    if (!CpuAffinity::set(others)) before_ = {};
  }
  ~StayOff() {
    if (!before_.empty()) static_cast<void>(CpuAffinity::set(before_));
  }
  StayOff(const StayOff&) = delete;
  StayOff& operator=(const StayOff&) = delete;

 private:
  CpuSet before_;
};

// Keeps this thread, which reads counters and traces, off the measured CPUs.
HiccupRun measure_apart(const HostFacts& facts, const HiccupOptions& options, const std::atomic<bool>& stop) {
  // Threads that are not pinned inherit this thread's mask.
  if (!options.pinned) return measure_hiccups(options, stop);
  const StayOff stay_off{facts.online, options.cpus};
  return measure_hiccups(options, stop);
}

}  // namespace

NoiseSummary summarise(const CpuHiccups& hiccups) {
  NoiseSummary summary = summarise_windows(hiccups.window_worst_ns);
  summary.lost_percent = percent(hiccups.lost_ns, hiccups.duration_ns);
  summary.over = hiccups.over;
  return summary;
}

NoiseSummary summarise(std::span<const CpuNoise> cpus) {
  std::vector<std::uint64_t> windows;
  std::uint64_t lost = 0, duration = 0;
  std::array<std::uint64_t, hiccup_limits_ns.size()> over{};
  for (const CpuNoise& cpu : cpus) {
    windows.insert(windows.end(), cpu.hiccups.window_worst_ns.begin(), cpu.hiccups.window_worst_ns.end());
    lost += cpu.hiccups.lost_ns;
    duration += cpu.hiccups.duration_ns;
    for (std::size_t i = 0; i < over.size(); ++i) over[i] += cpu.hiccups.over[i];
  }
  NoiseSummary summary = summarise_windows(std::move(windows));
  summary.lost_percent = percent(lost, duration);
  summary.over = over;
  return summary;
}

std::vector<CauseTotal> cause_totals(std::span<const CpuNoise> cpus) {
  std::map<std::pair<NoiseKind, std::string>, CauseTotal> by_cause;
  for (const CpuNoise& cpu : cpus) {
    NFX_REQUIRE(cpu.causes.size() <= cpu.hiccups.gaps.size());  // causes have the same index as their stalls
    for (std::size_t i = 0; i < cpu.causes.size(); ++i) {
      const NoiseCause& cause = cpu.causes[i];
      CauseTotal& total = by_cause[{cause.kind, cause.name}];
      total.kind = cause.kind;
      total.name = cause.name;
      ++total.gaps;
      total.total_ns += cpu.hiccups.gaps[i].length_ns;
      total.worst_ns = std::max(total.worst_ns, cpu.hiccups.gaps[i].length_ns);
    }
  }
  std::vector<CauseTotal> totals;
  for (auto& [key, total] : by_cause) totals.push_back(std::move(total));
  std::ranges::sort(totals, [](const CauseTotal& a, const CauseTotal& b) {
    if (a.total_ns != b.total_ns) return a.total_ns > b.total_ns;
    return std::pair{a.kind, a.name} < std::pair{b.kind, b.name};
  });
  return totals;
}

NoiseReport measure_noise(const HostFiles& files, const HostFacts& facts, const NoiseOptions& options,
                          const std::atomic<bool>& stop) {
  check(facts, options);
  NoiseReport report;
  report.kernel = facts.kernel_release;
  report.seconds = std::chrono::duration<double>(options.hiccups.duration).count();
  report.window_us = std::chrono::duration<double, std::micro>(options.hiccups.window).count();
  report.threshold_us = std::chrono::duration<double, std::micro>(options.hiccups.threshold).count();
  report.pinned = options.hiccups.pinned;
  report.fifo_priority = options.hiccups.fifo_priority;
  warn_of_throttling(report, facts);
  std::optional<TraceSession> session = start_trace(report, files, facts, options);
  if (session) {
    report.trace_clock = session->clock();
    report.osnoise = session->osnoise();
  }

  const CounterSample before = sample_counters(files);
  HiccupRun run = measure_apart(facts, options.hiccups, stop);
  if (session) session->stop();
  const CounterSample counted = difference(before, sample_counters(files));

  report.clock = run.clock.description();
  report.interrupted = run.interrupted;
  for (std::string& note : run.notes) report.notes.push_back(std::move(note));
  for (CpuHiccups& hiccups : run.cpus) {
    CpuNoise cpu;
    cpu.summary = summarise(hiccups);
    const auto counters = std::ranges::find(counted.cpus, hiccups.cpu, &CpuCounters::cpu);
    if (report.pinned && counters != counted.cpus.end()) cpu.counters = *counters;
    if (hiccups.gaps_not_kept > 0)
      report.notes.push_back("CPU " + std::to_string(hiccups.cpu) + ": " + std::to_string(hiccups.gaps_not_kept) +
                             " of the shorter stalls above the threshold are counted but were not stored");
    if (hiccups.went_back > 0)
      report.notes.push_back("CPU " + std::to_string(hiccups.cpu) + ": the clock went back " +
                             std::to_string(hiccups.went_back) + " times: clocks of different CPUs differ");
    cpu.hiccups = std::move(hiccups);
    report.cpus.push_back(std::move(cpu));
  }
  if (session) attribute_gaps(report, *session, run.clock);
  return report;
}

// Shared by all formats.

std::string us_text(std::uint64_t ns) {
  const double us = static_cast<double>(ns) / 1000;
  return fixed(us, us < 10 ? 2 : us < 100 ? 1 : 0);
}

std::string seconds_text(double seconds) {
  char text[64];
  std::snprintf(text, sizeof text, "%g s", seconds);
  return text;
}

std::string place_name(const NoiseReport& report, const CpuNoise& cpu) {
  return (report.pinned ? "CPU " : "thread ") + std::to_string(cpu.hiccups.cpu);
}

std::vector<WorstGap> worst_gaps(const NoiseReport& report, std::size_t count) {
  std::vector<WorstGap> all;
  for (const CpuNoise& cpu : report.cpus) {
    for (std::size_t i = 0; i < cpu.hiccups.gaps.size(); ++i)
      all.push_back({&cpu, &cpu.hiccups.gaps[i], i < cpu.causes.size() ? &cpu.causes[i] : nullptr});
  }
  const std::size_t wanted = std::min(count, all.size());
  std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(wanted),
                            [](const WorstGap& a, const WorstGap& b) {
                              if (a.gap->length_ns != b.gap->length_ns) return a.gap->length_ns > b.gap->length_ns;
                              return a.gap->begin_ns < b.gap->begin_ns;
                            });
  all.resize(wanted);
  return all;
}

std::vector<Count> counts_of(const CpuCounters& counters) {
  std::vector<Count> counts{{"timer", counters.timer},
                            {"device interrupts", counters.devices},
                            {"rescheduling", counters.rescheduling},
                            {"function calls", counters.function_calls},
                            {"TLB shootdowns", counters.tlb_shootdowns},
                            {"other interrupts", counters.other}};
  for (const auto& [name, count] : counters.softirqs) counts.push_back({"softirq " + name, count});
  counts.push_back({"stolen ms", counters.steal * 10});
  std::erase_if(counts, [](const Count& count) { return count.value == 0; });
  return counts;
}

std::string measured_text(const NoiseReport& report) {
  const std::uint64_t count = measured_cpus(report);
  return std::to_string(count) + (report.pinned ? " CPU" : " thread") + (count == 1 ? "" : "s");
}

std::uint64_t measured_cpus(const NoiseReport& report) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(report.cpus, [](const CpuNoise& cpu) { return cpu.hiccups.error.empty(); }));
}

}  // namespace nfx
