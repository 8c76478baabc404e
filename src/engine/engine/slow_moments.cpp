// Differences of counters, the rule for causes, and the slowest of many.
#include "engine/slow_moments.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

namespace nfx {

HostEvidence evidence_between(const std::deque<HostSample>& samples, MonotonicTime began,
                              MonotonicTime ended) noexcept {
  if (samples.empty()) return {};
  auto first = std::ranges::upper_bound(samples, began, {}, &HostSample::at);
  if (first != samples.begin()) --first;
  auto last = std::ranges::lower_bound(samples, ended, {}, &HostSample::at);
  if (last == samples.end()) --last;
  const HostEvidence &a = first->counted, &b = last->counted;
  const auto passed = [](auto from, auto to) { return std::max(to, from) - from; };
  return {.between = last->at - first->at,
          .ran = passed(a.ran, b.ran),
          .waited = passed(a.waited, b.waited),
          .stolen = passed(a.stolen, b.stolen),
          .interrupts = passed(a.interrupts, b.interrupts),
          .involuntary_switches = passed(a.involuntary_switches, b.involuntary_switches),
          .migrations = passed(a.migrations, b.migrations),
          .minor_faults = passed(a.minor_faults, b.minor_faults),
          .major_faults = passed(a.major_faults, b.major_faults)};
}

SlowCause cause_of(const SlowRecord& record, const HostEvidence& host) noexcept {
  switch (record.wait) {
    case SendWait::disk: return SlowCause::disk;
    case SendWait::peer: return SlowCause::peer;
    case SendWait::nothing: break;
  }
  if (host.waited >= record.took / 2) return SlowCause::scheduler;
  if (host.stolen >= record.took / 2) return SlowCause::steal;
  return record.stage == LatencyStage::in_application ? SlowCause::application : SlowCause::none_known;
}

Duration next_limit(std::span<const SlowRecord> records, Duration limit) {
  if (records.size() < SlowMoments::most) return limit - limit / 8;
  std::vector<Duration> took;
  std::ranges::transform(records, std::back_inserter(took), &SlowRecord::took);
  const auto hundredth = took.begin() + static_cast<std::ptrdiff_t>(SlowMoments::most - 1);
  std::ranges::nth_element(took, hundredth, std::ranges::greater{});
  return *hundredth;
}

void SlowMoments::add(const SlowMoment& moment, MonotonicTime now) {
  const auto slower = [](const SlowMoment& a, const SlowMoment& b) { return a.took > b.took; };
  const std::lock_guard lock{mutex_};
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    std::vector<SlowMoment>& slowest = windows_[i].at(now, length_of(static_cast<LatencyWindow>(i)));
    if (slowest.size() == most) {
      if (moment.took <= slowest.front().took) continue;
      std::ranges::pop_heap(slowest, slower);
      slowest.pop_back();
    }
    slowest.push_back(moment);
    std::ranges::push_heap(slowest, slower);
  }
}

std::vector<SlowMoment> SlowMoments::slowest(LatencyWindow of, UtcTime now) const {
  std::vector<SlowMoment> found;
  {
    const std::lock_guard lock{mutex_};
    for (const auto& step : windows_.at(static_cast<std::size_t>(of)).steps())
      std::ranges::copy_if(step.value, std::back_inserter(found), [&](const SlowMoment& each) {
        return of == LatencyWindow::since_start || now - each.ended <= length_of(of);
      });
  }
  std::ranges::sort(found, std::ranges::greater{}, &SlowMoment::took);
  found.resize(std::min(found.size(), most));
  return found;
}

}  // namespace nfx
