// The noise report as JSON, and the comparison with an earlier one.
#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/noise/report_parts.hpp"

namespace nfx {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* schema = "nexusfix.noise.2";
// The earlier schema calls stalls "gaps"; the compared values have the same names in both.
constexpr const char* schema_before = "nexusfix.noise.1";
constexpr std::array<const char*, hiccup_limits_ns.size()> limit_names{"1us", "10us", "50us", "100us", "1ms", "10ms"};

Json summary_json(const NoiseSummary& summary) {
  Json over = Json::object();
  for (std::size_t i = 0; i < limit_names.size(); ++i) over[limit_names[i]] = summary.over[i];
  return {{"windows", summary.windows},           {"p50_us", us(summary.p50_ns)},    {"p90_us", us(summary.p90_ns)},
          {"p99_us", us(summary.p99_ns)},         {"p99.9_us", us(summary.p999_ns)}, {"max_us", us(summary.max_ns)},
          {"lost_percent", summary.lost_percent}, {"stalls_over", std::move(over)}};
}

Json cause_json(const NoiseCause& cause) {
  return {{"kind", to_string(cause.kind)},
          {"name", cause.name},
          {"share_us", us(cause.share_ns)},
          {"unaccounted_us", us(cause.unaccounted_ns)}};
}

Json counters_json(const CpuCounters& counters) {
  Json softirqs = Json::object();
  for (const auto& [name, count] : counters.softirqs) softirqs[name] = count;
  return {{"timer", counters.timer},
          {"devices", counters.devices},
          {"rescheduling", counters.rescheduling},
          {"function_calls", counters.function_calls},
          {"tlb_shootdowns", counters.tlb_shootdowns},
          {"other", counters.other},
          {"softirqs", std::move(softirqs)},
          {"steal_ms", counters.steal * 10}};
}

// The worst stall per group of windows, by seconds since the beginning.
Json worst_by_seconds(const NoiseReport& report, const std::vector<std::uint64_t>& windows) {
  constexpr std::size_t most_points = 2000;
  const std::size_t points = std::min(windows.size(), most_points);
  Json curve = Json::array();
  for (std::size_t i = 0; i < points; ++i) {
    const std::size_t begin = windows.size() * i / points, end = windows.size() * (i + 1) / points;
    const std::uint64_t worst = *std::max_element(windows.begin() + static_cast<std::ptrdiff_t>(begin),
                                                  windows.begin() + static_cast<std::ptrdiff_t>(end));
    curve.push_back({static_cast<double>(begin) * report.window_us / 1e6, us(worst)});
  }
  return curve;
}

// The worst stall of all windows except one in two, in ten, in a hundred and so on, with equally many points per
// factor.
Json worst_by_rarity(std::vector<std::uint64_t> windows) {
  std::ranges::sort(windows);
  Json curve = Json::array();
  const auto count = static_cast<double>(windows.size());
  for (double rarity = 1; rarity <= count; rarity *= 1.03) {
    const auto index = std::min(static_cast<std::size_t>(count * (1 - 1 / rarity)), windows.size() - 1);
    curve.push_back({rarity, us(windows[index])});
  }
  if (!windows.empty()) curve.push_back({count, us(windows.back())});
  return curve;
}

Json cpu_json(const NoiseReport& report, const CpuNoise& cpu) {
  const CpuHiccups& hiccups = cpu.hiccups;
  Json json{{report.pinned ? "cpu" : "thread", hiccups.cpu}};
  if (!hiccups.error.empty()) {
    json["error"] = hiccups.error;
    return json;
  }
  json["seconds"] = static_cast<double>(hiccups.duration_ns) / 1e9;
  json["readings"] = hiccups.readings;
  json.update(summary_json(cpu.summary));
  json["hops"] = hiccups.hops;
  json["voluntary_switches"] = hiccups.voluntary_switches;
  json["involuntary_switches"] = hiccups.involuntary_switches;
  json["page_faults"] = hiccups.page_faults;
  json["stalls_over_threshold"] = hiccups.gaps.size() + hiccups.gaps_not_kept;
  json["stalls_not_stored"] = hiccups.gaps_not_kept;
  if (report.attributed) {
    Json causes = Json::array();
    for (const CauseTotal& total : cause_totals({&cpu, 1})) {
      causes.push_back({{"kind", to_string(total.kind)},
                        {"name", total.name},
                        {"stalls", total.gaps},
                        {"total_us", us(total.total_ns)},
                        {"worst_us", us(total.worst_ns)}});
    }
    json["causes"] = std::move(causes);
  }
  if (report.pinned) json["counters"] = counters_json(cpu.counters);
  return json;
}

// The values that can be compared, by their JSON names.
constexpr std::array compared{"p50_us", "p99_us", "p99.9_us", "max_us", "lost_percent"};

std::string ratios(const Json& now, const Json& then) {
  std::string out;
  for (const char* name : compared) {
    const double a = now.value(name, 0.0), b = then.value(name, 0.0);
    char text[32];
    if (b > 0) {
      std::snprintf(text, sizeof text, "%11.4g", a / b);
    } else {
      std::snprintf(text, sizeof text, "%11s", "-");
    }
    out += text;
  }
  return out + '\n';
}

// The entry of the same CPU, or of the thread with the same number.
const Json* counterpart(const Json& earlier, const char* key, int number) {
  for (const Json& cpu : earlier) {
    if (cpu.is_object() && cpu.contains(key) && cpu[key] == number && !cpu.contains("error")) return &cpu;
  }
  return nullptr;
}

Json report_json(const NoiseReport& report, bool with_curves = false) {
  Json json{{"schema", schema},
            {"kernel", report.kernel},
            {"clock", report.clock},
            {"seconds", report.seconds},
            {"window_us", report.window_us},
            {"threshold_us", report.threshold_us},
            {"pinned", report.pinned},
            {"fifo_priority", report.fifo_priority},
            {"interrupted", report.interrupted}};
  Json attribution{{"done", report.attributed}};
  if (report.attributed) {
    attribution["tracer"] = report.osnoise ? "osnoise" : "events";
    attribution["trace_clock"] = report.trace_clock;
    attribution["events"] = report.trace_events;
    attribution["events_lost"] = report.trace_events_lost;
  } else {
    attribution["why_not"] = report.why_not_attributed;
  }
  json["attribution"] = std::move(attribution);
  json["notes"] = report.notes;
  json["all"] = summary_json(summarise(report.cpus));
  json["cpus"] = Json::array();
  for (const CpuNoise& cpu : report.cpus) {
    Json& added = json["cpus"].emplace_back(cpu_json(report, cpu));
    if (!with_curves || !cpu.hiccups.error.empty()) continue;
    added["worst_us_by_s"] = worst_by_seconds(report, cpu.hiccups.window_worst_ns);
    added["worst_us_by_rarity"] = worst_by_rarity(cpu.hiccups.window_worst_ns);
  }
  json["longest_stalls"] = Json::array();
  for (const WorstGap& worst : worst_gaps(report, 10)) {
    Json gap{{"at_s", static_cast<double>(worst.gap->begin_ns) / 1e9},
             {"us", us(worst.gap->length_ns)},
             {"cpu", worst.gap->cpu},
             {"cpu_before", worst.gap->cpu_before}};
    if (worst.cause != nullptr) gap["cause"] = cause_json(*worst.cause);
    json["longest_stalls"].push_back(std::move(gap));
  }
  return json;
}

bool readable(const Json& name) { return name == schema || name == schema_before; }

}  // namespace

std::string to_json(const NoiseReport& report, bool with_curves) {
  // Names of tasks need not be UTF-8.
  return report_json(report, with_curves).dump(2, ' ', true, Json::error_handler_t::replace) + '\n';
}

std::expected<std::string, std::string> compare(const NoiseReport& report, std::string_view earlier_json) {
  const Json earlier = Json::parse(earlier_json, nullptr, false);
  if (earlier.is_discarded() || !earlier.is_object() || !readable(earlier.value("schema", Json{})) ||
      !earlier.contains("all") || !earlier["all"].is_object() || !earlier.contains("cpus"))
    return std::unexpected(std::string{"is not a report of nfx host noise --format json ("} + schema + ')');
  try {
    std::string out = "\nNow divided by then; below 1: less noise now\n";
    char head[96];
    std::snprintf(head, sizeof head, "  %-9s%11s%11s%11s%11s%11s\n", "", "p50", "p99", "p99.9", "max", "lost %");
    out += head;
    const Json now = report_json(report);
    const char* key = report.pinned ? "cpu" : "thread";
    const auto name = [](const std::string& text) {
      return "  " + text + std::string(text.size() < 9 ? 9 - text.size() : 0, ' ');
    };
    for (std::size_t i = 0; i < report.cpus.size(); ++i) {
      if (!report.cpus[i].hiccups.error.empty()) continue;
      const Json* then = counterpart(earlier["cpus"], key, report.cpus[i].hiccups.cpu);
      if (then != nullptr) out += name(place_name(report, report.cpus[i])) + ratios(now["cpus"][i], *then);
    }
    out += name("all") + ratios(now["all"], earlier["all"]);
    // Ratios between different measurements are easily misread.
    for (const char* setting : {"seconds", "window_us", "pinned", "fifo_priority", "kernel"}) {
      const Json then = earlier.value(setting, Json{});
      if (then != now[setting])
        out += std::string{"  differs: "} + setting + " was " +
               then.dump(-1, ' ', true, Json::error_handler_t::replace) + " and is " +
               now[setting].dump(-1, ' ', true, Json::error_handler_t::replace) + '\n';
    }
    return out;
  } catch (const Json::exception& error) {
    return std::unexpected(std::string{"is not a report of nfx host noise: "} + error.what());
  }
}

}  // namespace nfx
