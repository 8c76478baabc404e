// What accounts for half of a moment is its cause.
#include "engine/slow_moments.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "nexusfix/base/assert.hpp"

namespace nfx {
namespace {

// What one of each takes at most, mostly; docs/latency.md states them.
constexpr Duration one_minor_fault = std::chrono::microseconds{1};
constexpr Duration one_major_fault = std::chrono::milliseconds{1};
constexpr Duration one_migration = std::chrono::microseconds{100};
constexpr Duration one_interrupt = std::chrono::microseconds{5};
constexpr Duration one_disturbing_interrupt = std::chrono::microseconds{25};  // with the softirqs that follow it
// What a hypervisor runs instead mostly takes longer; the kernel reports steal in steps of 10 ms.
constexpr Duration usual_steal = std::chrono::microseconds{200};
constexpr Duration one_tick = std::chrono::milliseconds{10};  // the kernel counts what a thread runs at each

template <class Moment>
bool slower(const Moment& a, const Moment& b) noexcept {
  return a.took > b.took;
}

std::uint64_t since(std::uint64_t later, std::uint64_t earlier) noexcept {
  return later > earlier ? later - earlier : 0;
}

// Whether the thread sleeps in no part of it: then it waits for its CPU only after another task took that from it.
bool runs_throughout(LatencyStage stage) noexcept {
  return stage == LatencyStage::read_to_application || stage == LatencyStage::in_application ||
         stage == LatencyStage::commit_to_socket || stage == LatencyStage::request_to_answer ||
         stage == LatencyStage::turn;
}

double share(Duration part, Duration whole) noexcept { return part / std::chrono::duration<double, std::nano>{whole}; }

// How many interrupts so long a time has at their rate, and three standard deviations more.
double interrupts_within(Duration took, const HostEvidence& host) noexcept {
  if (host.between <= Duration::zero()) return 0;
  const double expected = static_cast<double>(host.interrupts) * std::min(1.0, share(took, host.between));
  return expected + 3 * std::sqrt(expected);
}

// What share of the time the thread ran, between the two samples with the least.
double least_share(const std::deque<HostSample>& samples) noexcept {
  double least = 1;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const HostSample &a = samples[i - 1], &b = samples[i];
    if (b.at > a.at) least = std::min(least, share(b.counted.ran - a.counted.ran, b.at - a.at));
  }
  return std::max(least, 0.0);
}

// What the thread ran in a moment of `took`, at most; `around` is what was counted between the samples around it. In
// the rest of that time it ran for the share `least`, or all the time where it did not sleep. Zero on a CPU without a
// regular tick (nohz_full): there the kernel counts what it ran once a second, more than there was time.
Duration ran_within(Duration took, const HostEvidence& around, double least) noexcept {
  NFX_ASSERT(took >= Duration::zero());
  if (around.ran > around.between + one_tick) return {};
  if (around.ran + around.waited + around.stolen >= around.between - 2 * one_tick) least = 1;
  const auto rest = static_cast<double>(std::max(around.between - took, Duration::zero()).count());
  return std::clamp(around.ran - Duration{static_cast<Duration::rep>(rest * least)}, Duration::zero(), took);
}

}  // namespace

HostEvidence evidence_between(const std::deque<HostSample>& samples, MonotonicTime began,
                              MonotonicTime ended) noexcept {
  if (samples.empty()) return {};
  auto first = std::ranges::upper_bound(samples, began, {}, &HostSample::at);
  if (first != samples.begin()) --first;
  auto last = std::ranges::lower_bound(samples, ended, {}, &HostSample::at);
  if (last == samples.end()) --last;
  const HostEvidence &a = first->counted, &b = last->counted;
  HostEvidence around{.between = last->at - first->at,
                      .ran = std::max(b.ran - a.ran, Duration::zero()),
                      .waited = std::max(b.waited - a.waited, Duration::zero()),
                      .stolen = std::max(b.stolen - a.stolen, Duration::zero()),
                      .interrupts = since(b.interrupts, a.interrupts),
                      .involuntary_switches = since(b.involuntary_switches, a.involuntary_switches),
                      .migrations = since(b.migrations, a.migrations),
                      .minor_faults = since(b.minor_faults, a.minor_faults),
                      .major_faults = since(b.major_faults, a.major_faults)};
  around.ran = ran_within(ended - began, around, least_share(samples));
  return around;
}

Duration callback_time(const SlowRecord& record, std::span<const SlowRecord> records) noexcept {
  // A request whose stages were not timed is mostly its callback.
  const auto has_callback = [](LatencyStage stage) {
    return stage == LatencyStage::in_application || stage == LatencyStage::request_to_answer;
  };
  if (has_callback(record.stage)) return record.took;
  Duration within{};
  for (const SlowRecord& each : records) {
    if (!has_callback(each.stage)) continue;
    within += std::max(std::min(record.ended, each.ended) - std::max(record.began(), each.began()), Duration::zero());
  }
  return std::min(within, record.took);  // a callback can be within a request
}

SlowCause cause_of(const SlowRecord& record, const HostEvidence& host, Duration in_callback) noexcept {
  const Duration half = record.took / 2;
  const auto times = [](std::uint64_t count, Duration each) { return static_cast<Duration::rep>(count) * each; };
  switch (record.wait) {
    case SendWait::disk: return SlowCause::disk;
    case SendWait::peer: return SlowCause::peer;
    case SendWait::nothing: break;
  }
  if (host.involuntary_switches != 0 && host.waited >= half) return SlowCause::scheduler;
  const bool interrupted = interrupts_within(record.took, host) * one_disturbing_interrupt >= half;
  if (interrupted && record.took < usual_steal) return SlowCause::interrupt;
  // Was the time stolen from the moment, or from what is around it?
  const bool ran_callback = in_callback >= half && host.ran >= half && record.took >= one_tick;
  if (host.stolen >= half && !ran_callback) return SlowCause::steal;
  if (times(host.major_faults, one_major_fault) + times(host.minor_faults, one_minor_fault) >= half)
    return SlowCause::page_fault;
  if (interrupted) return SlowCause::interrupt;
  if (!runs_throughout(record.stage) && host.waited >= half) return SlowCause::scheduler;
  if (in_callback >= half) return SlowCause::application;
  if (times(host.migrations, one_migration) >= half) return SlowCause::migration;
  if (times(host.interrupts, one_interrupt) >= half) return SlowCause::interrupt;
  return SlowCause::none_known;
}

bool WaitsFound::has_one_at(const SlowRecord& record) const noexcept {
  return std::ranges::any_of(
      found_, [&](const SlowRecord& each) { return each.began() < record.ended && record.began() < each.ended; });
}

Duration WaitsFound::left_for(const SlowRecord& record, Duration waited) const noexcept {
  if (has_one_at(record)) return waited;
  for (const SlowRecord& each : found_) waited -= each.took;
  return std::max(waited, Duration::zero());
}

void WaitsFound::add(const SlowRecord& record) {
  NFX_ASSERT(found_.empty() || record.took <= found_.back().took);
  if (!has_one_at(record)) found_.push_back(record);
}

Duration SlowLimit::next(std::span<const SlowRecord> records, Duration limit, MonotonicTime now) {
  for (const SlowRecord& each : records) {
    if (second_.size() == SlowMoments::most && each.took <= second_.front()) continue;
    if (second_.size() == SlowMoments::most) {
      std::ranges::pop_heap(second_, std::ranges::greater{});
      second_.pop_back();
    }
    second_.push_back(each.took);
    std::ranges::push_heap(second_, std::ranges::greater{});
  }
  const bool full = second_.size() == SlowMoments::most;
  if (full) limit = std::max(limit, second_.front());
  if (now - second_began_ < std::chrono::seconds{1}) return limit;
  // A second with few of them: more are wanted of the next.
  if (!full) limit /= 2;
  if (full) limit = second_.front() - second_.front() / 8;
  second_.clear();
  second_began_ = now;
  return limit;
}

void SlowMoments::add(SlowMoment moment, MonotonicTime now) {
  turn(now);
  const std::lock_guard lock{mutex_};
  for (Window& window : windows_) {
    if (window.now.size() == most) {
      if (moment.took <= window.now.front().took) continue;
      std::ranges::pop_heap(window.now, slower<SlowMoment>);
      window.now.pop_back();
    }
    window.now.push_back(moment);
    std::ranges::push_heap(window.now, slower<SlowMoment>);
  }
}

void SlowMoments::turn(MonotonicTime now) {
  const std::lock_guard lock{mutex_};
  for (std::size_t i = 0; i < timed_window_count; ++i) {
    Window& window = windows_[i];
    const Duration length = length_of(static_cast<LatencyWindow>(i));
    if (window.began == MonotonicTime{}) window.began = now;
    if (now - window.began < length) continue;
    // After a pause of more than a window the last one is empty.
    const bool recent = now - window.began < 2 * length;
    window.last.clear();
    if (recent) std::swap(window.last, window.now);
    window.now.clear();
    window.complete = true;
    window.began = recent ? window.began + length : now;
  }
}

std::vector<SlowMoment> SlowMoments::slowest(LatencyWindow of) const {
  std::vector<SlowMoment> found;
  {
    const std::lock_guard lock{mutex_};
    const Window& window = windows_.at(static_cast<std::size_t>(of));
    found = window.complete ? window.last : window.now;
  }
  std::ranges::sort(found, slower<SlowMoment>);
  return found;
}

}  // namespace nfx
