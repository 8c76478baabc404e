// Copies of counts without their empty buckets, and differences to them.
#include "engine/latency_history.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

namespace nfx {

LatencyHistory::Counts::Counts(const LatencyCounts& counts) : sum_ns(counts.sum()) {
  for (std::size_t i = 0; i < LatencyCounts::bucket_count; ++i) {
    if (const std::uint64_t count = counts.in_bucket(i); count != 0)
      buckets.push_back({static_cast<std::uint32_t>(i), count});
  }
}

void LatencyHistory::Counts::take_from(LatencyCounts& counts) const {
  for (const Bucket& each : buckets) counts.add_to_bucket(each.bucket, std::uint64_t{0} - each.count);
  counts.add_to_sum(std::uint64_t{0} - sum_ns);
}

LatencyHistory::Stages LatencyHistory::kept(const LatencySet& set) {
  Stages stages;
  for (const LatencyCounts& each : set.of) stages.emplace_back(each);
  return stages;
}

void LatencyHistory::take(const Stages& earlier, LatencySet& from) {
  for (std::size_t i = 0; i < from.of.size(); ++i) earlier[i].take_from(from.of[i]);
}

void LatencyHistory::add(const LatencyReport& since_start, Instant now) {
  auto made = std::make_shared<Copy>();
  made->at = now.utc;
  for (const SessionLatency& each : since_start.sessions) {
    auto stages = std::make_shared<const Stages>(kept(each.stages));
    // Most sessions did nothing since the last copy: they share it.
    if (latest_ != nullptr) {
      const auto before = latest_->sessions.find(each.serial);
      if (before != latest_->sessions.end() && *before->second == *stages) stages = before->second;
    }
    made->sessions.emplace(each.serial, std::move(stages));
  }
  for (const ThreadLatency& each : since_start.threads)
    made->threads.emplace(each.poll_thread,
                          Thread{Counts{each.loop.handling}, Counts{each.loop.poll_gap}, kept(each.stages)});
  const std::lock_guard lock{mutex_};
  latest_ = std::move(made);
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    std::shared_ptr<const Copy>& step = windows_[i].at(now.monotonic, length_of(static_cast<LatencyWindow>(i)));
    if (step == nullptr) step = latest_;
  }
}

LatencyReport LatencyHistory::window(LatencyWindow of, LatencyReport report, MonotonicTime now) const {
  std::shared_ptr<const Copy> start;
  if (of != LatencyWindow::since_start) {
    const std::lock_guard lock{mutex_};
    for (const auto& step : windows_.at(static_cast<std::size_t>(of)).steps()) {
      if (now - step.began >= length_of(of)) start = step.value;
    }
  }
  if (start == nullptr) return report;
  report.from = start->at;
  for (SessionLatency& each : report.sessions) {
    if (const auto before = start->sessions.find(each.serial); before != start->sessions.end())
      take(*before->second, each.stages);
  }
  std::erase_if(report.sessions, [](const SessionLatency& each) {
    return std::ranges::all_of(each.stages.of, [](const LatencyCounts& counts) { return counts.count() == 0; });
  });
  for (ThreadLatency& each : report.threads) {
    const auto before = start->threads.find(each.poll_thread);
    if (before == start->threads.end()) continue;
    before->second.handling.take_from(each.loop.handling);
    before->second.poll_gap.take_from(each.loop.poll_gap);
    take(before->second.stages, each.stages);
  }
  return report;
}

}  // namespace nfx
