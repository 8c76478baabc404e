// Finds the cause of each stall in the trace events of its CPU. Pure, so that tests can use hand-written traces.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/enumerator_name.hpp"
#include "host/trace_reader.hpp"

namespace nfx {
namespace {

using Edge = TraceEvent::Edge;

// A period in which one thing ran on the CPU. A nested interrupt is a separate stretch.
struct Stretch {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  NoiseKind kind = NoiseKind::task;
  const std::string* name = nullptr;  // points into an event
};

struct CpuTimeline {
  std::int64_t first_event = std::numeric_limits<std::int64_t>::max();
  std::vector<Stretch> stretches;  // sorted by end
};

// Tracks what runs on a CPU from event to event.
class TimelineBuilder {
 public:
  TimelineBuilder(CpuTimeline& timeline, const std::set<int>& own_threads) : out_(timeline), own_(own_threads) {}

  // Sets the task that runs before the first switch.
  void begin(const TraceEvent* first_switch) {
    if (first_switch == nullptr) return;
    task_ = &first_switch->name_before;
    own_task_ = own_.contains(first_switch->thread_id_before);
  }

  void add(const TraceEvent& event) {
    if (out_.first_event > event.time_ns) out_.first_event = now_ = event.time_ns;
    switch (event.edge) {
      case Edge::change:
        advance(event.time_ns);
        task_ = &event.name;
        own_task_ = own_.contains(event.thread_id);
        return;
      case Edge::entry:
        advance(event.time_ns);
        active_.push_back(&event);
        return;
      case Edge::exit: leave(event); return;
      case Edge::whole:
        if (!own_.contains(event.thread_id)) whole(event);
        return;
    }
  }

 private:
  void advance(std::int64_t time) {
    if (!active_.empty()) {
      emit(time, active_.back()->kind, &active_.back()->name);
    } else if (!own_task_) {
      emit(time, NoiseKind::task, task_);
    }
    now_ = time;
  }

  void leave(const TraceEvent& event) {
    const auto entered =
        std::ranges::find(active_.rbegin(), active_.rend(), event.kind, [](const TraceEvent* e) { return e->kind; });
    if (entered != active_.rend()) {
      advance(event.time_ns);
      // The trace lost exits: everything nested inside has ended as well.
      active_.erase(entered.base() - 1, active_.end());
    } else {
      // It was entered before the trace began, or the entry was lost: the time since the last event belongs to it.
      emit(event.time_ns, event.kind, &event.name);
      now_ = event.time_ns;
    }
  }

  // An interruption within it is a separate event; neither counts the other's time. An event before the origin is in no
  // stall.
  void whole(const TraceEvent& event) {
    constexpr std::uint64_t most = 3'600'000'000'000;  // the longest measurement
    if (event.time_ns < 0) return;
    const auto took = static_cast<std::int64_t>(std::min(event.duration_ns, most));
    out_.stretches.push_back({event.time_ns - took, event.time_ns, event.kind, &event.name});
  }

  void emit(std::int64_t end, NoiseKind kind, const std::string* name) {
    if (end > now_ && name != nullptr) out_.stretches.push_back({now_, end, kind, name});
  }

  CpuTimeline& out_;
  const std::set<int>& own_;
  std::vector<const TraceEvent*> active_;
  const std::string* task_ = nullptr;
  bool own_task_ = true;
  std::int64_t now_ = 0;
};

// The timelines point into the events.
std::map<int, CpuTimeline> timelines(std::span<const TraceEvent> events, const std::set<int>& own_threads) {
  std::map<int, std::vector<const TraceEvent*>> per_cpu;
  for (const TraceEvent& event : events) per_cpu[event.cpu].push_back(&event);
  std::map<int, CpuTimeline> result;
  for (auto& [cpu, own_events] : per_cpu) {
    // Events with equal times keep the order of the trace.
    std::ranges::sort(own_events, [](const TraceEvent* a, const TraceEvent* b) {
      return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : std::less{}(a, b);
    });
    TimelineBuilder builder{result[cpu], own_threads};
    const auto first = std::ranges::find(own_events, Edge::change, [](const TraceEvent* event) { return event->edge; });
    builder.begin(first == own_events.end() ? nullptr : *first);
    for (const TraceEvent* event : own_events) builder.add(*event);
  }
  return result;
}

struct Share {
  NoiseKind kind = NoiseKind::unexplained;
  const std::string* name = nullptr;
  std::uint64_t time = 0;
  bool touched = false;
};

// The largest share of the time between two moments, and the sum of all shares.
struct Shares {
  Share largest;
  std::uint64_t total = 0;
};

Shares shares_of(const CpuTimeline& timeline, std::int64_t begin, std::int64_t end, std::int64_t slack) {
  std::vector<Share> shares;
  const auto& stretches = timeline.stretches;
  auto at = std::ranges::lower_bound(stretches, begin - slack, {}, &Stretch::end);
  Shares result;
  for (; at != stretches.end() && at->begin <= end + slack; ++at) {
    const std::int64_t overlap = std::min(at->end, end) - std::max(at->begin, begin);
    // Shorter than the resolution of the trace's clock, or next to the stall by no more than the resolution.
    const auto time = static_cast<std::uint64_t>(std::max<std::int64_t>(overlap, 0));
    auto share =
        std::ranges::find_if(shares, [&](const Share& s) { return s.kind == at->kind && *s.name == *at->name; });
    if (share == shares.end()) share = shares.insert(shares.end(), Share{at->kind, at->name, 0, true});
    share->time = std::min(share->time + time, static_cast<std::uint64_t>(end - begin));
    result.total += time;
  }
  for (const Share& share : shares) {
    if (!result.largest.touched || share.time > result.largest.time) result.largest = share;
  }
  return result;
}

NoiseCause cause_of(const HiccupGap& gap, const std::map<int, CpuTimeline>& timelines,
                    const AttributionContext& context) {
  const auto begin = static_cast<std::int64_t>(gap.begin_ns);
  const auto end = static_cast<std::int64_t>(gap.begin_ns + gap.length_ns);
  const auto slack = static_cast<std::int64_t>(context.slack_ns);
  // A migrated thread waits on its old CPU, for the task that runs there.
  const bool moved = gap.cpu_before != gap.cpu && gap.cpu_before >= 0;
  const auto timeline = timelines.find(moved ? gap.cpu_before : gap.cpu);
  NoiseCause cause;
  cause.kind = context.all_sources ? NoiseKind::hardware : NoiseKind::unexplained;
  cause.unaccounted_ns = gap.length_ns;
  Shares shares;
  if (timeline != timelines.end()) {
    if (end < timeline->second.first_event && context.overwritten.contains(timeline->first)) {
      cause.kind = NoiseKind::not_traced;
      return cause;
    }
    shares = shares_of(timeline->second, begin, end, slack);
  }
  if (moved) {
    cause.kind = NoiseKind::migration;
    if (shares.largest.touched)
      cause.name = "waiting for " + NoiseCause{shares.largest.kind, *shares.largest.name}.text();
    cause.share_ns = shares.largest.time;
    cause.unaccounted_ns = gap.length_ns - std::min(gap.length_ns, shares.total);
    return cause;
  }
  cause.unaccounted_ns = gap.length_ns - std::min(gap.length_ns, shares.total);
  const bool explained =
      shares.largest.touched && (cause.unaccounted_ns <= shares.total || cause.unaccounted_ns <= context.overhead_ns);
  if (!explained) return cause;
  cause.kind = shares.largest.kind;
  cause.name = *shares.largest.name;
  cause.share_ns = shares.largest.time;
  return cause;
}

}  // namespace

std::string_view to_string(NoiseKind kind) noexcept { return enumerator_name<' '>(kind); }

std::string NoiseCause::text() const {
  std::string text{to_string(kind)};
  if (!name.empty()) text += ' ' + name;
  return text;
}

std::vector<NoiseCause> attribute(std::span<const HiccupGap> gaps, std::span<const TraceEvent> events,
                                  const AttributionContext& context) {
  const std::map<int, CpuTimeline> known = timelines(events, context.own_threads);
  std::vector<NoiseCause> causes;
  causes.reserve(gaps.size());
  for (const HiccupGap& gap : gaps) causes.push_back(cause_of(gap, known, context));
  return causes;
}

}  // namespace nfx
