// Turns rows into samples, so that a counter with a row is on the page without further code.
#include "engine/engine_metrics.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "engine/engine_counter_rows.hpp"

namespace nfx {
namespace {

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

template <class Counters>
void add_rows(MetricsPage& page, const Counters& of, const MetricLabel& label) {
  for (const CounterRow<Counters>& row : counter_rows<Counters>) {
    const std::array labels{label, MetricLabel{row.label, row.label_value}};
    const std::size_t count = row.label.empty() ? 1 : 2;
    page.counter({row.metric, row.help}, MetricsPage::Labels{labels.data(), count}, of.*row.member);
  }
}

template <class Source, std::size_t count>
void add_rows(MetricsPage& page, const std::array<MetricRow<Source>, count>& rows, const Source& of,
              const MetricLabel& label) {
  for (const MetricRow<Source>& row : rows) {
    const std::optional<double> value = row.value(of);
    if (!value) continue;
    switch (row.kind) {
      case MetricRow<Source>::Kind::counter:
        page.counter({row.metric, row.help}, static_cast<std::uint64_t>(*value), {label});
        break;
      case MetricRow<Source>::Kind::gauge: page.gauge({row.metric, row.help}, *value, {label}); break;
    }
  }
}

template <class Source, std::size_t count>
void add_rows(MetricsPage& page, const std::array<HistogramRow<Source>, count>& rows, const Source& of,
              const MetricLabel& label) {
  for (const HistogramRow<Source>& row : rows) {
    if (const LatencyCounts* const latencies = row.value(of); latencies != nullptr)
      page.histogram({row.metric, row.help}, MetricsPage::Labels{&label, 1}, *latencies);
  }
}

std::optional<double> unix_time(std::optional<UtcTime> time) {
  return time ? std::optional{seconds(time->time_since_epoch())} : std::nullopt;
}

std::optional<double> number(const std::optional<std::uint64_t>& count) {
  return count ? std::optional{static_cast<double>(*count)} : std::nullopt;
}

}  // namespace

using enum MetricRow<SessionFigures>::Kind;

constexpr std::array<MetricRow<SessionFigures>, 10> session_metric_rows{{
    {"nfx_session_up", gauge, "1 while the session is logged on, otherwise 0.",
     [](const SessionFigures& of) -> std::optional<double> { return of.logged_on ? 1 : 0; }},
    {"nfx_session_within_schedule", gauge,
     "1 while the session's schedule allows a Logon, or it has none; otherwise 0.",
     [](const SessionFigures& of) -> std::optional<double> { return of.times.in_hours ? 1 : 0; }},
    {"nfx_session_logged_on_timestamp_seconds", gauge,
     "Since when the session has been logged on, as UNIX time. Absent: it is not.",
     [](const SessionFigures& of) { return unix_time(of.times.logged_on_since); }},
    {"nfx_session_last_in_timestamp_seconds", gauge,
     "When the peer's last message was received, as UNIX time. Absent: none since the start.",
     [](const SessionFigures& of) { return unix_time(of.times.last_in); }},
    {"nfx_session_last_out_timestamp_seconds", gauge,
     "When the last message was sent, as UNIX time. Absent: none since the start.",
     [](const SessionFigures& of) { return unix_time(of.times.last_out); }},
    {"nfx_session_unhandled_timestamp_seconds", gauge,
     "When the message that the application does not handle yet was delivered first, as UNIX time. Absent: there is "
     "none.",
     [](const SessionFigures& of) { return unix_time(of.times.unhandled_since); }},
    {"nfx_next_inbound", gauge, "MsgSeqNum expected in the peer's next message.",
     [](const SessionFigures& of) -> std::optional<double> { return static_cast<double>(value(of.next_inbound)); }},
    {"nfx_next_outbound", gauge, "MsgSeqNum of our next message.",
     [](const SessionFigures& of) -> std::optional<double> { return static_cast<double>(value(of.next_outbound)); }},
    {"nfx_store_condition", gauge, "State of the journal: 0 good, 1 busy, 2 disk full, 3 failed.",
     [](const SessionFigures& of) -> std::optional<double> {
       if (!of.journal) return std::nullopt;
       return static_cast<double>(std::to_underlying(of.store_condition));
     }},
    {"nfx_store_longest_sync_seconds", gauge, "Longest sync of the journal since the start.",
     [](const SessionFigures& of) -> std::optional<double> {
       return of.journal ? std::optional{seconds(of.journal->longest_sync)} : std::nullopt;
     }},
}};

constexpr std::array<MetricRow<ThreadReport>, 4> thread_metric_rows{{
    {"nfx_thread_migrations_total", MetricRow<ThreadReport>::Kind::counter, "Moves of the thread between CPUs.",
     [](const ThreadReport& of) { return number(of.migrations); }},
    {"nfx_thread_voluntary_switches_total", MetricRow<ThreadReport>::Kind::counter,
     "Times that the thread gave up its CPU because it waited.",
     [](const ThreadReport& of) { return number(of.voluntary_switches); }},
    {"nfx_thread_involuntary_switches_total", MetricRow<ThreadReport>::Kind::counter,
     "Times that the CPU was given to another task while the thread wanted to run.",
     [](const ThreadReport& of) { return number(of.involuntary_switches); }},
    {"nfx_thread_worst_gap_seconds", MetricRow<ThreadReport>::Kind::gauge,
     "Longest time from a poll of a busy-polling thread that found nothing to its next iteration: time that was taken "
     "from it.",
     [](const ThreadReport& of) -> std::optional<double> {
       if (of.worst_idle_gap <= Duration::zero()) return std::nullopt;
       return seconds(of.worst_idle_gap);
     }},
}};

constexpr std::array<MetricRow<HelperFigures>, 2> helper_metric_rows{{
    {"nfx_helper_longest_turn_seconds", MetricRow<HelperFigures>::Kind::gauge,
     "Longest iteration of a helper thread: a job, which mostly waits for a disk, or a step of a TLS handshake.",
     [](const HelperFigures& of) -> std::optional<double> { return seconds(of.longest_turn); }},
    {"nfx_flusher_journals", MetricRow<HelperFigures>::Kind::gauge, "Journals that the flusher thread writes.",
     [](const HelperFigures& of) -> std::optional<double> {
       return of.journals ? std::optional{static_cast<double>(*of.journals)} : std::nullopt;
     }},
}};

constexpr std::array<MetricRow<ThreadFigures>, 1> loop_metric_rows{{
    {"nfx_submit_queue_bytes", MetricRow<ThreadFigures>::Kind::gauge,
     "Bytes of submit_queue_bytes in use: messages of other threads that the poll thread has not taken yet.",
     [](const ThreadFigures& of) -> std::optional<double> { return static_cast<double>(of.submitted_bytes); }},
}};

constexpr std::array<HistogramRow<LoopLatency>, 2> loop_histogram_rows{{
    {"nfx_poll_handling_seconds",
     "Time from the first bytes that an iteration received until all that it received is handled and its answers are "
     "passed to the kernel, except those that wait for the disk or the peer.",
     [](const LoopLatency& of) { return &of.handling; }},
    {"nfx_poll_gap_seconds",
     "Time between two polls of the network by a busy-polling thread, the handling of messages included.",
     [](const LoopLatency& of) { return of.poll_gap.count() == 0 ? nullptr : &of.poll_gap; }},
}};

constexpr std::array<HistogramRow<HelperFigures>, 1> helper_histogram_rows{{
    {"nfx_flusher_sync_seconds", "Duration of each sync of a journal by the flusher thread.",
     [](const HelperFigures& of) -> const LatencyCounts* { return of.syncs ? &*of.syncs : nullptr; }},
}};

void add_stages(MetricsPage& page, std::string_view thread, const LatencySet& stages) {
  const MetricLabel label{"thread", thread};
  for (std::size_t i = 0; i < session_stage_count; ++i) {
    if (stages.of[i].count() != 0)
      page.histogram({latency_stages[i].metric, latency_stages[i].help}, MetricsPage::Labels{&label, 1}, stages.of[i]);
  }
}

void add_session_latencies(MetricsPage& page, const LatencyReport& report) {
  // Prometheus has the label "quantile" for summaries alone.
  struct Percentile {
    std::string_view name;
    double percent;
  };
  constexpr std::array<Percentile, 4> percentiles{{{"50", 50}, {"99", 99}, {"99.9", 99.9}, {"100", 100}}};
  for (const SessionLatency& session : report.sessions) {
    for (std::size_t i = 0; i < session_stage_count; ++i) {
      const LatencyCounts& latencies = session.stages.of[i];
      if (latencies.count() == 0) continue;
      for (const Percentile& each : percentiles) {
        page.gauge(session_latency_metric, static_cast<double>(latencies.percentile(each.percent)) / 1e9,
                   {{"session", session.session}, {"stage", latency_stages[i].name}, {"percentile", each.name}});
      }
    }
  }
}

void add_session_stages(MetricsPage& page, std::vector<SessionLatency>& sessions, std::size_t most) {
  std::ranges::sort(sessions, {}, &SessionLatency::serial);
  const std::size_t shown = std::min(most, sessions.size());
  for (const SessionLatency& session : std::span{sessions}.first(shown)) {
    for (std::size_t i = 0; i < session_stage_count; ++i) {
      if (session.stages.of[i].count() == 0) continue;
      const std::array labels{MetricLabel{"session", session.session}, MetricLabel{"stage", latency_stages[i].name}};
      page.histogram(session_stage_metric, labels, session.stages.of[i]);
    }
  }
  page.gauge(session_histograms_omitted_metric, static_cast<double>(sessions.size() - shown));
}

void add_session(MetricsPage& page, const SessionFigures& of) {
  const MetricLabel session{"session", of.identity};
  add_rows(page, session_metric_rows, of, session);
  if (of.end_reason != EndReason::none)
    page.gauge(session_end_metric, seconds(of.ended.time_since_epoch()),
               {session, {"reason", row_of(of.end_reason).name}});
  add_rows(page, of.counters, session);
  if (of.journal) add_rows(page, *of.journal, session);
}

void add_poll_thread(MetricsPage& page, std::string_view name, const ThreadFigures& of) {
  const MetricLabel thread{"thread", name};
  add_rows(page, of.loop, thread);
  add_rows(page, loop_metric_rows, of, thread);
  add_rows(page, loop_histogram_rows, of.latency, thread);
  add_rows(page, of.transport, thread);
  if (of.tls) add_rows(page, *of.tls, thread);
  for (const SessionFigures& session : of.sessions) add_session(page, session);
}

void add_thread(MetricsPage& page, const ThreadReport& of) {
  add_rows(page, thread_metric_rows, of, {"thread", of.name});
}

void add_helper(MetricsPage& page, std::string_view thread, const HelperFigures& of) {
  add_rows(page, helper_metric_rows, of, {"thread", thread});
  add_rows(page, helper_histogram_rows, of, {"thread", thread});
}

void add_callback_exceptions(MetricsPage& page, std::uint64_t count) {
  const auto& rows = counter_rows<PollLoopCounters>;
  const auto row =
      std::ranges::find(rows, &PollLoopCounters::callback_exceptions, &CounterRow<PollLoopCounters>::member);
  page.counter({row->metric, row->help}, count, {{"thread", "other"}});
}

void add_hand_on(MetricsPage& page, std::string_view gateway, const HandOnCounters& of) {
  add_rows(page, of, {"gateway", gateway});
}

void add_log(MetricsPage& page, std::string_view log, const DeferredLogCounters& of) {
  add_rows(page, of, {"log", log});
}

void add_log_thread(MetricsPage& page, std::string_view thread, const LogThreadCounters& of) {
  add_rows(page, of, {"thread", thread});
}

}  // namespace nfx
