// An engine's part of the metrics page: counters from the rows next to their structs, other values from the rows here.
// docs/metrics.md is made from the same rows.
// Thread: the log's, with copies of other threads' counters. Cost: allocates; not part of a hot path.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/handed_on.hpp"
#include "engine/metrics.hpp"
#include "engine/session_figures.hpp"
#include "log/deferred_log.hpp"
#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/base/latency_histogram.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/engine/engine_counters.hpp"
#include "nexusfix/engine/latency.hpp"
#include "transport/transport_counters.hpp"

namespace nfx {

// A poll thread's sessions and counters.
struct ThreadFigures {
  std::vector<SessionFigures> sessions;
  PollLoopCounters loop;
  std::size_t submitted_bytes = 0;
  LoopLatency latency;
  TransportCounters transport;
  std::optional<TlsCounters> tls;  // empty: no session is encrypted
};

// A flusher or another helper thread.
struct HelperFigures {
  Duration longest_turn{};
  std::optional<std::size_t> journals;  // of a flusher
  std::optional<LatencyCounts> syncs;   // of a flusher
};

// The thread that writes logs and metrics.
struct LogThreadCounters {
  std::uint64_t failed_steps = 0;
};
template <>
inline constexpr auto counter_rows<LogThreadCounters> = std::to_array<CounterRow<LogThreadCounters>>({
    {&LogThreadCounters::failed_steps, "nfx_log_thread_failed_total",
     "Iterations of the thread that writes logs and metrics that an error ended; an alert gives the reason of the "
     "first."},
});
static_assert(rows_are_complete<LogThreadCounters>());

// One value of `Source` that is not a plain counter.
template <class Source>
struct MetricRow {
  enum class Kind : std::uint8_t { counter, gauge };

  std::string_view metric;
  Kind kind = Kind::gauge;
  std::string_view help;
  std::optional<double> (*value)(const Source&);  // empty: not on the page now
};

// A distribution that `Source` has, in seconds.
template <class Source>
struct HistogramRow {
  std::string_view metric;  // its name ends in _seconds
  std::string_view help;
  const LatencyCounts* (*value)(const Source&);  // null: not on the page now
};

extern const std::array<MetricRow<SessionFigures>, 10> session_metric_rows;
extern const std::array<MetricRow<ThreadReport>, 4> thread_metric_rows;
extern const std::array<MetricRow<HelperFigures>, 2> helper_metric_rows;
extern const std::array<MetricRow<ThreadFigures>, 1> loop_metric_rows;
extern const std::array<HistogramRow<LoopLatency>, 2> loop_histogram_rows;
extern const std::array<HistogramRow<HelperFigures>, 1> helper_histogram_rows;

// Adds one histogram for each stage of a poll thread's sessions; turns are in loop_histogram_rows.
void add_stages(MetricsPage& page, std::string_view thread, const LatencySet& stages);
// Percentiles of each session and stage of a window.
inline constexpr MetricName session_latency_metric{
    "nfx_session_latency_seconds",
    "Latency of a stage in the last complete minute that this share of the messages did not exceed, at most 12.5 % too "
    "high."};
void add_session_latencies(MetricsPage& page, const LatencyReport& report);
// The same since the start, one histogram for each session and stage: of the first `most` sessions to have connected,
// so that the page is bounded and a session keeps its histograms while it exists. Sorts the sessions by that.
inline constexpr MetricName session_stage_metric{
    "nfx_session_stage_seconds",
    "Time that a stage of the session's messages took; of the first latency_histograms sessions that connected."};
inline constexpr MetricName session_histograms_omitted_metric{
    "nfx_session_histograms_omitted",
    "Sessions that have connected and have no nfx_session_stage_seconds, because latency_histograms others connected "
    "before them."};
void add_session_stages(MetricsPage& page, std::vector<SessionLatency>& sessions, std::size_t most);
// The poll thread's slowest moments.
inline constexpr MetricName slow_lost_metric{
    "nfx_slow_moments_lost_total",
    "Slow moments that are not in the lists of the slowest because too many came within a tenth of a second."};

// For [log] trace_every.
inline constexpr MetricName traces_lost_metric{
    "nfx_traces_lost_total",
    "Traces that were not written: too many within a tenth of a second, or their file failed."};

// With the reason of the last end as a label: one series for each session.
inline constexpr MetricName session_end_metric{"nfx_session_last_end_timestamp_seconds",
                                               "When the session, or an attempt to log on, ended last, as UNIX time; "
                                               "the label has the reason. Absent: not since the start."};
void add_session(MetricsPage& page, const SessionFigures& of);
void add_poll_thread(MetricsPage& page, std::string_view thread, const ThreadFigures& of);
void add_thread(MetricsPage& page, const ThreadReport& of);
void add_helper(MetricsPage& page, std::string_view thread, const HelperFigures& of);
// For the gateway of this name.
void add_hand_on(MetricsPage& page, std::string_view gateway, const HandOnCounters& of);
// Exceptions of callbacks that no poll thread calls.
void add_callback_exceptions(MetricsPage& page, std::uint64_t count);
void add_log(MetricsPage& page, std::string_view log, const DeferredLogCounters& of);
void add_log_thread(MetricsPage& page, std::string_view thread, const LogThreadCounters& of);

}  // namespace nfx
