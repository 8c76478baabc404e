// Windows, causes and slow moments as text.
#include <array>
#include <cstdio>

#include "engine/hdr_log.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/engine/latency.hpp"
#include "placement/thread_name.hpp"

namespace nfx {

std::string_view to_string(LatencyWindow window) noexcept {
  switch (window) {
    case LatencyWindow::second: return "1s";
    case LatencyWindow::ten_seconds: return "10s";
    case LatencyWindow::minute: return "1min";
    case LatencyWindow::day: return "1day";
    case LatencyWindow::since_start: return "start";
  }
  return "?";
}

std::string_view to_string(SlowCause cause) noexcept {
  switch (cause) {
    case SlowCause::disk: return "disk";
    case SlowCause::peer: return "peer";
    case SlowCause::scheduler: return "scheduler";
    case SlowCause::steal: return "steal";
    case SlowCause::application: return "application";
    case SlowCause::none_known: return "none known";
  }
  return "?";
}

std::string hdr_log_text(const LatencyReport& report) {
  HdrLog log{report.from};
  const auto add = [&](const std::string& of, std::string_view stage, const LatencyCounts& latencies) {
    if (latencies.count() != 0) log.add(of + '/' + std::string{stage}, report.from, report.to, latencies);
  };
  const auto add_stages = [&](const std::string& of, const LatencySet& stages) {
    for (std::size_t i = 0; i < session_stage_count; ++i) add(of, latency_stages[i].name, stages.of[i]);
  };
  for (const SessionLatency& session : report.sessions) add_stages(session.session, session.stages);
  for (const ThreadLatency& thread : report.threads) {
    const std::string name = thread_name(ThreadRole::poll, thread.poll_thread);
    add_stages(name, thread.stages);
    add(name, "handling", thread.loop.handling);
    add(name, to_string(LatencyStage::turn), thread.loop.poll_gap);
  }
  return log.text();
}

std::string to_string(const SlowMoment& moment) {
  const auto us = [](Duration time) { return std::chrono::duration<double, std::micro>(time).count(); };
  const auto ms = [](Duration time) { return std::chrono::duration<double, std::milli>(time).count(); };
  std::array<char, 24> took;
  std::array<char, 96> host;
  std::snprintf(took.data(), took.size(), "%.1f us", us(moment.took));
  std::snprintf(host.data(), host.size(), "; in %.1f ms ran %.1f ms, waited %.3f ms", ms(moment.host.between),
                ms(moment.host.ran), ms(moment.host.waited));
  std::array<char, 32> when;
  UtcTimestampWriter writer;
  std::string text{when.data(), writer.write(when.data(), moment.ended, 6)};
  text += ' ' + std::string{took.data()} + ' ' + std::string{to_string(moment.stage)};
  if (!moment.session.empty()) text += ' ' + moment.session;
  text += ' ' + thread_name(ThreadRole::poll, moment.poll_thread) + ": " + std::string{to_string(moment.cause)};
  text += host.data();
  const auto add = [&text](std::uint64_t count, const char* what) {
    if (count != 0) text += ", " + std::to_string(count) + ' ' + what;
  };
  add(moment.host.involuntary_switches, "involuntary switches");
  add(moment.host.migrations, "migrations");
  add(moment.host.major_faults + moment.host.minor_faults, "page faults");
  add(moment.host.interrupts, "interrupts");
  if (moment.host.stolen > Duration::zero())
    add(static_cast<std::uint64_t>(moment.host.stolen / std::chrono::milliseconds{1}), "ms stolen");
  return text;
}

}  // namespace nfx
