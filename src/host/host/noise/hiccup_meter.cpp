// Measures stalls by reading the TSC in a loop; anything slower would hide the short ones.
#include "host/hiccup_meter.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "nexusfix/placement/cpu_affinity.hpp"
#include "placement/place_thread.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace nfx {
namespace {

// The clocks.

std::uint64_t raw_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

struct RawClockSource {
  [[nodiscard]] TickReading now() const noexcept { return {raw_ns(), ::sched_getcpu()}; }
};
static_assert(TickSource<RawClockSource>);

#if defined(__x86_64__)
struct TscSource {
  // The kernel stores node << 12 | cpu in the register that rdtscp returns, so time and CPU are read together.
  [[nodiscard]] TickReading now() const noexcept {
    unsigned where = 0;
    const std::uint64_t ticks = __rdtscp(&where);
    return {ticks, static_cast<int>(where & 0xfff)};
  }
};
static_assert(TickSource<TscSource>);

// Reads both clocks at one moment: keeps the attempt that took the least time.
void read_both(std::uint64_t& ticks, std::uint64_t& raw) noexcept {
  const TscSource source;
  std::uint64_t best = ~std::uint64_t{0};
  for (int i = 0; i < 64; ++i) {
    const std::uint64_t before = source.now().ticks, now = raw_ns(), after = source.now().ticks;
    if (after - before >= best) continue;
    best = after - before;
    ticks = before + best / 2;
    raw = now;
  }
}

TickClock calibrate() {
  TickClock clock;
  clock.why_not_tsc = why_not_tsc();
  if (!clock.why_not_tsc.empty()) return clock;
  std::uint64_t ticks = 0, raw = 0, later_ticks = 0, later_raw = 0;
  read_both(ticks, raw);
  std::this_thread::sleep_for(std::chrono::milliseconds{50});
  read_both(later_ticks, later_raw);
  if (later_raw <= raw || later_ticks <= ticks) {
    clock.why_not_tsc = "the TSC did not advance";
    return clock;
  }
  clock.tsc = true;
  clock.ticks_per_ns = static_cast<double>(later_ticks - ticks) / static_cast<double>(later_raw - raw);
  return clock;
}
#else
TickClock calibrate() { return {.why_not_tsc = why_not_tsc()}; }
#endif

// The threads.

// Makes all threads start measuring at the same moment, when all are ready.
struct Start {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t ready = 0;
  bool go = false;
  std::uint64_t ticks = 0;
};

struct Task {
  const HiccupOptions& options;
  const TickClock& clock;
  const std::atomic<bool>& stop;
  Start& start;
};

template <TickSource Source>
void spin(Source source, HiccupRecorder& recorder, const Task& task) noexcept {
  TickReading first = source.now();
  while (first.ticks < task.start.ticks) first = source.now();
  // A thread that starts late was stalled since the beginning.
  recorder.begin({task.start.ticks, first.cpu});
  if (recorder.record(first)) record_hiccups(source, recorder, task.stop);
}

rusage usage_of_this_thread() noexcept {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage;
}

std::uint64_t grown(long before, long after) { return after > before ? static_cast<std::uint64_t>(after - before) : 0; }

// Pins the thread before it allocates, so that its memory is on the near node.
std::string prepare_thread(const HiccupOptions& options, int cpu) {
  CpuAffinity::name_thread("nfx-noise-" + std::to_string(cpu));
  const std::string name = "CPU " + std::to_string(cpu) + ": ";
  if (options.pinned) {
    if (const AffinityResult pinned = place_thread({cpu}); !pinned) return name + pinned.message();
  }
  if (options.fifo_priority > 0) {
    if (const AffinityResult fifo = CpuAffinity::set_fifo_priority(options.fifo_priority); !fifo)
      return name + "SCHED_FIFO: " + fifo.message() + ", or a limit for real-time priority (RLIMIT_RTPRIO)";
  }
  return {};
}

void measure_on(int cpu, const Task& task, CpuHiccups& out) noexcept {
  const auto wait_for_start = [&] {
    std::unique_lock lock{task.start.mutex};
    ++task.start.ready;
    task.start.changed.notify_all();
    task.start.changed.wait(lock, [&] { return task.start.go; });
  };
  const HiccupOptions& options = task.options;
  bool waited = false;
  try {
    out.cpu = cpu;
    out.thread_id = static_cast<int>(::syscall(SYS_gettid));
    out.error = prepare_thread(options, cpu);
    if (!out.error.empty()) return wait_for_start();
    HiccupRecorder recorder{{.ticks_per_ns = task.clock.ticks_per_ns,
                             .duration_ns = static_cast<std::uint64_t>(options.duration.count()),
                             .window_ns = static_cast<std::uint64_t>(options.window.count()),
                             .threshold_ns = static_cast<std::uint64_t>(options.threshold.count()),
                             .max_gaps = options.max_gaps}};
    waited = true;
    wait_for_start();
    const rusage before = usage_of_this_thread();
#if defined(__x86_64__)
    if (task.clock.tsc) {
      spin(TscSource{}, recorder, task);
    } else {
      spin(RawClockSource{}, recorder, task);
    }
#else
    spin(RawClockSource{}, recorder, task);
#endif
    const rusage after = usage_of_this_thread();
    // The rest may take a while, so other threads get the CPU again.
    if (options.fifo_priority > 0) static_cast<void>(CpuAffinity::set_fifo_priority(0));
    const int thread_id = out.thread_id;
    out = recorder.result();
    out.cpu = cpu;
    out.thread_id = thread_id;
    out.voluntary_switches = grown(before.ru_nvcsw, after.ru_nvcsw);
    out.involuntary_switches = grown(before.ru_nivcsw, after.ru_nivcsw);
    out.page_faults = grown(before.ru_minflt + before.ru_majflt, after.ru_minflt + after.ru_majflt);
  } catch (const std::bad_alloc&) {
    out.error = "CPU " + std::to_string(cpu) + ": out of memory";
    if (!waited) wait_for_start();
  }
}

std::uint64_t now_ticks(const TickClock& clock) {
#if defined(__x86_64__)
  if (clock.tsc) return TscSource{}.now().ticks;
#endif
  return clock.tsc ? 0 : raw_ns();
}

}  // namespace

std::string why_not_tsc() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0x80000001, &a, &b, &c, &d) == 0 || (d >> 27 & 1U) == 0) return "the processor has no rdtscp";
  if (__get_cpuid(0x80000007, &a, &b, &c, &d) == 0 || (d >> 8 & 1U) == 0)
    return "the processor does not report an invariant TSC";
  return {};
#else
  return "the processor is not x86-64";
#endif
}

std::string TickClock::description() const {
  if (!tsc) return "CLOCK_MONOTONIC_RAW (" + why_not_tsc + ')';
  char text[64];
  std::snprintf(text, sizeof text, "TSC, invariant, %.4f GHz", ticks_per_ns);
  return text;
}

HiccupRecorder::HiccupRecorder(const Config& config)
    : ticks_per_ns_(config.ticks_per_ns),
      window_ticks_(std::max<std::uint64_t>(
          1, static_cast<std::uint64_t>(static_cast<double>(config.window_ns) * config.ticks_per_ns))),
      duration_ticks_(static_cast<std::uint64_t>(static_cast<double>(config.duration_ns) * config.ticks_per_ns)),
      threshold_ticks_(static_cast<std::uint64_t>(static_cast<double>(config.threshold_ns) * config.ticks_per_ns)),
      windows_(std::max<std::size_t>(1, config.duration_ns / config.window_ns)),
      max_gaps_(config.max_gaps) {
  for (std::size_t i = 0; i < limits_.size(); ++i)
    limits_[i] = static_cast<std::uint64_t>(static_cast<double>(hiccup_limits_ns[i]) * ticks_per_ns_);
  notable_ = std::min(limits_.front(), threshold_ticks_);
  // Reserved pages are mapped only when they are first written.
  gaps_.resize(max_gaps_);
  gaps_.clear();
  window_ = windows_.data();
}

void HiccupRecorder::begin(TickReading start) noexcept {
  last_ = start;
  start_ = start.ticks;
  window_end_ = start_ + window_ticks_;
  end_ = start_ + duration_ticks_;
}

bool HiccupRecorder::record_notable(TickReading now) noexcept {
  if (now.cpu != last_.cpu) ++hops_;
  if (now.ticks < last_.ticks) {
    // The clocks of two CPUs differ. The later reading is kept, because the difference would otherwise count as a
    // stall.
    ++went_back_;
    last_.cpu = now.cpu;
    return true;
  }
  const std::uint64_t gap = now.ticks - last_.ticks;
  for (std::size_t i = 0; i < limits_.size() && gap > limits_[i]; ++i) ++over_[i];
  if (gap > limits_.front()) lost_ += std::min(now.ticks, end_) - last_.ticks;
  if (gap > threshold_ticks_) keep({last_.ticks - start_, gap, now.cpu, last_.cpu});
  const std::size_t newest = std::min<std::size_t>((now.ticks - start_) / window_ticks_, windows_.size() - 1);
  std::uint64_t* const current = windows_.data() + newest;
  for (; window_ <= current; ++window_) *window_ = std::max(*window_, gap);
  window_ = current;
  window_end_ = start_ + (newest + 1) * window_ticks_;
  last_ = now;
  return now.ticks < end_;
}

void HiccupRecorder::keep(const Gap& gap) noexcept {
  const auto shortest_on_top = [](const Gap& a, const Gap& b) { return a.length > b.length; };
  if (gaps_.size() == max_gaps_) {
    ++gaps_not_kept_;
    if (max_gaps_ == 0 || gap.length <= gaps_.front().length) {
      ticks_not_kept_ += gap.length;
      return;
    }
    ticks_not_kept_ += gaps_.front().length;
    std::ranges::pop_heap(gaps_, shortest_on_top);
    gaps_.back() = gap;
  } else {
    gaps_.push_back(gap);
  }
  std::ranges::push_heap(gaps_, shortest_on_top);
}

CpuHiccups HiccupRecorder::result() const {
  CpuHiccups result;
  const std::uint64_t elapsed = std::min(last_.ticks - start_, duration_ticks_);
  const auto complete = std::min<std::size_t>(windows_.size(), elapsed / window_ticks_);
  result.duration_ns = ns(elapsed);
  result.readings = readings_;
  for (std::size_t i = 0; i < complete; ++i) result.window_worst_ns.push_back(ns(windows_[i]));
  for (const Gap& gap : gaps_) result.gaps.push_back({ns(gap.begin), ns(gap.length), gap.cpu, gap.cpu_before});
  std::ranges::sort(result.gaps, {}, &HiccupGap::begin_ns);
  result.gaps_not_kept = gaps_not_kept_;
  result.gaps_ns_not_kept = ns(ticks_not_kept_);
  result.over = over_;
  result.lost_ns = ns(lost_);
  result.hops = hops_;
  result.went_back = went_back_;
  return result;
}

std::uint64_t hiccup_memory_bytes(const HiccupOptions& options) noexcept {
  const auto windows = static_cast<std::uint64_t>(options.duration / options.window + 1);
  // Once during the measurement and once in the result.
  return 2 * options.cpus.size() * (windows * sizeof(std::uint64_t) + options.max_gaps * sizeof(HiccupGap));
}

HiccupRun measure_hiccups(const HiccupOptions& options, const std::atomic<bool>& stop) {
  HiccupRun run;
  run.clock = calibrate();
  const std::vector<int> cpus = options.cpus.members();
  run.cpus.resize(cpus.size());
  Start start;
  {
    const Task task{options, run.clock, stop, start};
    std::vector<std::jthread> threads;
    threads.reserve(cpus.size());
    for (std::size_t i = 0; i < cpus.size(); ++i)
      threads.emplace_back([&task, cpu = cpus[i], &out = run.cpus[i]] { measure_on(cpu, task, out); });
    std::unique_lock lock{start.mutex};
    start.changed.wait(lock, [&] { return start.ready == cpus.size(); });
    // All memory is mapped. Later pages are locked when they are touched, so stacks cost nothing.
    if (::mlockall(MCL_CURRENT | MCL_ONFAULT) != 0)
      run.notes.push_back(std::string{"memory is not locked (mlockall: "} + std::generic_category().message(errno) +
                          "): under memory pressure stalls may be page faults; raise RLIMIT_MEMLOCK");
    constexpr double lead_ns = 2e7;  // time for all threads to wake up
    run.clock.origin_raw_ns = raw_ns() + static_cast<std::uint64_t>(lead_ns);
    run.clock.origin_ticks = now_ticks(run.clock) + static_cast<std::uint64_t>(lead_ns * run.clock.ticks_per_ns);
    start.ticks = run.clock.origin_ticks;
    start.go = true;
    start.changed.notify_all();
  }
  ::munlockall();
  run.interrupted = stop.load();
  return run;
}

}  // namespace nfx
