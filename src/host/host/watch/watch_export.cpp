// Machine-readable formats of an interval.
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "host/exposition.hpp"
#include "host/watch_view.hpp"
#include "placement/numbers.hpp"

namespace nfx {
namespace {

using Json = nlohmann::ordered_json;

// Rounds to three decimal places; further digits of a rate are noise.
double rounded(double value) { return std::isfinite(value) ? std::round(value * 1000) / 1000 : 0; }
double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

Json cpu_json(const CpuActivity& cpu, const WatchInterval& interval) {
  Json names = Json::array();
  for (const std::size_t index : cpu.threads) names.push_back(interval.threads[index].now.name);
  return {{"cpu", cpu.cpu},
          {"role", to_string(cpu.role)},
          {"threads", std::move(names)},
          {"busy_percent", rounded(cpu.busy_percent)},
          {"steal_percent", rounded(cpu.steal_percent)},
          {"stall_us_per_s", rounded(cpu.stall_us)},
          {"migrations_per_s", rounded(cpu.migrations)},
          {"voluntary_switches_per_s", rounded(cpu.voluntary_switches)},
          {"involuntary_switches_per_s", rounded(cpu.involuntary_switches)},
          {"faults_per_s", rounded(cpu.faults)},
          {"interrupts_per_s",
           {{"timer", rounded(cpu.timer)},
            {"device", rounded(cpu.devices)},
            {"rescheduling", rounded(cpu.rescheduling)},
            {"function_call", rounded(cpu.function_calls)},
            {"tlb_shootdown", rounded(cpu.tlb_shootdowns)},
            {"other", rounded(cpu.other_interrupts)}}},
          {"softirqs_per_s", rounded(cpu.softirqs)}};
}

Json thread_json(const ThreadActivity& thread) {
  const ThreadSample& now = thread.now;
  Json out{{"thread", now.name},
           {"pid", now.pid},
           {"tid", now.tid},
           {"state", std::string(1, now.state)},
           {"cpu", now.cpu},
           {"allowed", now.allowed.to_list()},
           {"scheduling", scheduling(now.policy, now.priority)},
           {"planned", thread.planned},
           {"measured", thread.measured}};
  out["run_percent"] = now.run_ns ? Json(rounded(thread.run_percent)) : Json(nullptr);
  out["stall_us_per_s"] = now.wait_ns ? Json(rounded(thread.stall_us)) : Json(nullptr);
  out["migrations_per_s"] = rounded(thread.migrations);
  out["voluntary_switches_per_s"] = rounded(thread.voluntary_switches);
  out["involuntary_switches_per_s"] = rounded(thread.involuntary_switches);
  out["minor_faults_per_s"] = rounded(thread.minor_faults);
  out["major_faults_per_s"] = rounded(thread.major_faults);
  return out;
}

void cpu_metrics(Exposition& out, const WatchSample& sample, const WatchInterval& interval) {
  const auto each = [&](auto&& write) {
    for (const CpuCounters& cpu : sample.counters.cpus) write(label("cpu", std::to_string(cpu.cpu)), cpu);
  };
  out.metric("nexusfix_cpu_interrupts_total", "counter", "Interrupts that the CPU has taken, by kind.");
  each([&](const std::string& cpu, const CpuCounters& c) {
    const auto kind = [&](std::string_view name, std::uint64_t count) {
      out.value(cpu + ',' + label("kind", name), count);
    };
    kind("timer", c.timer);
    kind("device", c.devices);
    kind("rescheduling", c.rescheduling);
    kind("function_call", c.function_calls);
    kind("tlb_shootdown", c.tlb_shootdowns);
    kind("other", c.other);
  });
  out.metric("nexusfix_cpu_softirqs_total", "counter", "Softirqs that the CPU has run, by kind.");
  each([&](const std::string& cpu, const CpuCounters& c) {
    for (const auto& [name, count] : c.softirqs) out.value(cpu + ',' + label("kind", name), count);
  });
  out.metric("nexusfix_cpu_seconds_total", "counter", "Time of the CPU, by what it was spent on.");
  each([&](const std::string& cpu, const CpuCounters& c) {
    const auto mode = [&](std::string_view name, std::uint64_t ticks) {
      out.value(cpu + ',' + label("mode", name), std::string_view{fixed(static_cast<double>(ticks) / 100, 2)});
    };
    mode("user", c.user);
    mode("system", c.system);
    mode("idle", c.idle);
    mode("interrupt", c.interrupt);
    mode("softirq", c.softirq);
    mode("steal", c.steal);
  });
  out.metric("nexusfix_cpu_isolated", "gauge", "1 for CPUs that are to be free of everything but their thread.");
  for (const CpuActivity& cpu : interval.cpus)
    out.value(label("cpu", std::to_string(cpu.cpu)), std::uint64_t{cpu.role == CpuRole::isolated ? 1U : 0U});
}

void thread_metrics(Exposition& out, const WatchSample& sample) {
  const auto counter = [&](std::string_view name, std::string_view type, std::string_view help, auto&& value) {
    out.metric(name, type, help);
    for (const ThreadSample& thread : sample.threads) {
      const auto number = std::invoke(value, thread);
      if (!number) continue;
      out.value(label("thread", thread.name) + ',' + label("pid", std::to_string(thread.pid)) + ',' +
                    label("tid", std::to_string(thread.tid)),
                *number);
    }
  };
  using Count = std::optional<std::uint64_t>;
  const auto in_seconds = [](const Count& ns) {
    return ns ? std::optional{static_cast<double>(*ns) / 1e9} : std::nullopt;
  };
  counter("nexusfix_thread_cpu", "gauge", "The CPU that the thread runs on, or ran on last.",
          [](const ThreadSample& t) { return t.cpu < 0 ? Count{} : Count{static_cast<std::uint64_t>(t.cpu)}; });
  counter("nexusfix_thread_allowed_cpus", "gauge", "How many CPUs the thread may run on.",
          [](const ThreadSample& t) { return Count{t.allowed.size()}; });
  counter("nexusfix_thread_migrations_total", "counter", "Moves of the thread to another CPU.",
          &ThreadSample::migrations);
  counter("nexusfix_thread_voluntary_switches_total", "counter", "How often the thread gave its CPU away.",
          [](const ThreadSample& t) { return Count{t.voluntary_switches}; });
  counter("nexusfix_thread_involuntary_switches_total", "counter", "How often another task was put in its place.",
          [](const ThreadSample& t) { return Count{t.involuntary_switches}; });
  counter("nexusfix_thread_minor_faults_total", "counter", "Page faults without a disk access.",
          [](const ThreadSample& t) { return Count{t.minor_faults}; });
  counter("nexusfix_thread_major_faults_total", "counter", "Page faults with a disk access.",
          [](const ThreadSample& t) { return Count{t.major_faults}; });
  counter("nexusfix_thread_run_seconds_total", "counter", "Time on a CPU.",
          [&](const ThreadSample& t) { return in_seconds(t.run_ns); });
  counter("nexusfix_thread_stall_seconds_total", "counter", "Time in which the thread could run and another task did.",
          [&](const ThreadSample& t) { return in_seconds(t.wait_ns); });
}

}  // namespace

std::string to_json(const WatchInterval& interval, bool alerts_only) {
  Json out{{"time_s", rounded(seconds(interval.time))}, {"interval_s", rounded(interval.seconds)}};
  if (!interval.utc.empty()) out["utc"] = interval.utc;
  if (!alerts_only) {
    out["cpus"] = Json::array();
    for (const CpuActivity& cpu : interval.cpus) out["cpus"].push_back(cpu_json(cpu, interval));
    out["threads"] = Json::array();
    for (const ThreadActivity& thread : interval.threads) out["threads"].push_back(thread_json(thread));
  }
  out["alerts"] = Json::array();
  for (const Alert& alert : interval.drift.alerts) {
    Json one{{"id", to_string(alert.drift)}, {"subject", alert.subject}, {"text", alert.text}};
    if (alert.value > 0) {
      one["value"] = rounded(alert.value);
      one["limit"] = rounded(alert.limit);
    }
    one["why"] = info_of(alert.drift).why;
    one["fix"] = info_of(alert.drift).fix;
    out["alerts"].push_back(std::move(one));
  }
  out["alerts_left_out"] = interval.drift.left_out;
  out["notes"] = interval.notes;
  // Replaces invalid bytes in names, so that the line stays valid JSON.
  return out.dump(-1, ' ', true, Json::error_handler_t::replace) + '\n';
}

std::string to_prometheus(const WatchSample& sample, const WatchInterval& interval) {
  Exposition out;
  cpu_metrics(out, sample, interval);
  thread_metrics(out, sample);
  out.metric("nexusfix_host_alerts", "gauge", "What is off the plan, in the last interval, by kind of alert.");
  std::map<Drift, std::uint64_t> alerts;
  for (const Alert& alert : interval.drift.alerts) ++alerts[alert.drift];
  for (const DriftInfo& info : drift_table()) out.value(label("alert", info.id), alerts[info.drift]);
  return out.take();
}

}  // namespace nfx
