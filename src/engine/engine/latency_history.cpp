// Copies of counts without their empty buckets, and differences of two.
#include "engine/latency_history.hpp"

#include <algorithm>

namespace nfx {

LatencyHistory::Counts LatencyHistory::compressed(const LatencyCounts& counts) {
  Counts kept;
  kept.sum_ns = counts.sum_ns();
  for (std::size_t i = 0; i < LatencyCounts::bucket_count; ++i) {
    if (const std::uint64_t count = counts.in_bucket(i); count != 0)
      kept.buckets.push_back({static_cast<std::uint32_t>(i), count});
  }
  return kept;
}

LatencyHistory::Stages LatencyHistory::compressed(const LatencySet& set) {
  Stages kept;
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = compressed(set.of[i]);
  return kept;
}

void LatencyHistory::add_difference(LatencyCounts& into, const Counts& end, const Counts* start) {
  auto before = start == nullptr ? std::vector<Counts::Bucket>::const_iterator{} : start->buckets.begin();
  for (const Counts::Bucket& each : end.buckets) {
    std::uint64_t count = each.count;
    if (start != nullptr) {
      while (before != start->buckets.end() && before->bucket < each.bucket) ++before;
      if (before != start->buckets.end() && before->bucket == each.bucket) count -= std::min(count, before->count);
    }
    into.add_to_bucket(each.bucket, count);
  }
  into.add_to_sum(end.sum_ns - (start == nullptr ? 0 : std::min(end.sum_ns, start->sum_ns)));
}

void LatencyHistory::add_difference(LatencySet& into, const Stages& end, const Stages* start) {
  for (std::size_t i = 0; i < end.size(); ++i)
    add_difference(into.of[i], end[i], start == nullptr ? nullptr : &(*start)[i]);
}

void LatencyHistory::add(const LatencyReport& since_start, Instant now) {
  auto made = std::make_shared<Snapshot>();
  made->at = now.utc;
  for (const SessionLatency& each : since_start.sessions) {
    auto session = std::make_shared<Session>(Session{each.session, each.poll_thread, compressed(each.stages)});
    std::shared_ptr<const Session>& place = made->sessions[each.serial];
    // Most sessions did nothing since the last copy: they share it.
    if (latest_ != nullptr) {
      const auto before = latest_->sessions.find(each.serial);
      if (before != latest_->sessions.end() && before->second->stages == session->stages) place = before->second;
    }
    if (place == nullptr) place = std::move(session);
  }
  for (const ThreadLatency& each : since_start.threads) {
    made->threads.push_back(
        {each.poll_thread, compressed(each.loop.handling), compressed(each.loop.poll_gap), compressed(each.stages)});
  }
  const std::lock_guard lock{mutex_};
  latest_ = std::move(made);
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    Window& window = windows_[i];
    if (window.start == nullptr) {
      window.began = now.monotonic;
      window.start = latest_;
      continue;
    }
    const Duration length = length_of(static_cast<LatencyWindow>(i));
    if (now.monotonic - window.began < length) continue;
    window.last_start = std::move(window.start);
    window.last_end = window.start = latest_;
    // A late copy makes this window longer, and not the next one shorter.
    window.began = std::max(window.began + length, now.monotonic - length / 2);
  }
}

LatencyReport LatencyHistory::window(LatencyWindow of) const {
  Shared start, end;
  {
    const std::lock_guard lock{mutex_};
    const Window& window = windows_.at(static_cast<std::size_t>(of));
    start = window.last_start != nullptr ? window.last_start : window.start;
    end = window.last_end != nullptr ? window.last_end : latest_;
  }
  LatencyReport report;
  if (start == nullptr) return report;
  report.from = start->at;
  report.to = end->at;
  for (const auto& [serial, session] : end->sessions) {
    const auto before = start->sessions.find(serial);
    const bool known = before != start->sessions.end();
    if (known && before->second->stages == session->stages) continue;
    SessionLatency& into = report.sessions.emplace_back();
    into.session = session->name;
    into.poll_thread = session->poll_thread;
    into.serial = serial;
    add_difference(into.stages, session->stages, known ? &before->second->stages : nullptr);
  }
  for (const Thread& thread : end->threads) {
    const auto before = std::ranges::find(start->threads, thread.poll_thread, &Thread::poll_thread);
    const Thread* const known = before == start->threads.end() ? nullptr : &*before;
    ThreadLatency& into = report.threads.emplace_back();
    into.poll_thread = thread.poll_thread;
    add_difference(into.loop.handling, thread.handling, known == nullptr ? nullptr : &known->handling);
    add_difference(into.loop.poll_gap, thread.poll_gap, known == nullptr ? nullptr : &known->poll_gap);
    add_difference(into.stages, thread.stages, known == nullptr ? nullptr : &known->stages);
  }
  return report;
}

}  // namespace nfx
