// The noise report as one HTML page.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "host/html.hpp"
#include "host/noise/report_parts.hpp"

namespace nfx {
namespace {

constexpr std::size_t most_points = 2000;  // per line
constexpr std::size_t most_lines = 6;      // more cannot be distinguished

// The noisiest CPUs, in the order of their ids.
std::vector<const CpuNoise*> shown(const NoiseReport& report) {
  std::vector<const CpuNoise*> cpus;
  for (const CpuNoise& cpu : report.cpus) {
    if (cpu.hiccups.error.empty()) cpus.push_back(&cpu);
  }
  if (cpus.size() > most_lines) {
    std::ranges::sort(cpus, std::greater{}, [](const CpuNoise* cpu) { return cpu->summary.max_ns; });
    cpus.resize(most_lines);
    std::ranges::sort(cpus, {}, [](const CpuNoise* cpu) { return cpu->hiccups.cpu; });
  }
  return cpus;
}

std::string time_chart(const NoiseReport& report) {
  SvgChart chart{.title = "Worst stall per window",
                 .x_label = "seconds since the measurement began",
                 .y_label = "us",
                 .log_y = true,
                 .x_ticks = {},
                 .lines = {}};
  for (const CpuNoise* cpu : shown(report)) {
    std::vector<std::pair<double, double>> points;
    const auto& windows = cpu->hiccups.window_worst_ns;
    for (std::size_t i = 0; i < windows.size(); ++i)
      points.emplace_back(static_cast<double>(i) * report.window_us / 1e6, std::max(us(windows[i]), 0.001));
    chart.lines.push_back({place_name(report, *cpu), downsampled_by_max(points, most_points)});
  }
  return svg_series(chart);
}

// The share of windows whose worst stall is at most this long; nines are equally far apart.
std::string distribution_chart(const NoiseReport& report) {
  SvgChart chart{
      .title = "Distribution of the worst stall per window",
      .x_label = "share of the windows that are not worse",
      .y_label = "us",
      .log_x = true,
      .log_y = true,
      .steps = true,
      .x_ticks = {{1, "0%"}, {2, "50%"}, {10, "90%"}, {100, "99%"}, {1e3, "99.9%"}, {1e4, "99.99%"}, {1e5, "99.999%"}},
      .lines = {}};
  for (const CpuNoise* cpu : shown(report)) {
    std::vector<std::uint64_t> windows = cpu->hiccups.window_worst_ns;
    std::ranges::sort(windows);
    SvgLine line{place_name(report, *cpu), {}};
    // Equally many points per factor: there are few windows after the last nines.
    const auto count = static_cast<double>(windows.size());
    for (double rarity = 1; rarity <= count; rarity *= 1.03) {
      const auto index = std::min(static_cast<std::size_t>(count * (1 - 1 / rarity)), windows.size() - 1);
      line.points.emplace_back(rarity, std::max(us(windows[index]), 0.001));
    }
    if (!windows.empty()) line.points.emplace_back(count, std::max(us(windows.back()), 0.001));
    chart.lines.push_back(std::move(line));
  }
  return svg_series(chart);
}

std::string cause_bars(const NoiseReport& report) {
  std::vector<SvgBar> bars;
  for (const CauseTotal& total : cause_totals(report.cpus)) {
    if (bars.size() == 12) break;
    bars.push_back({printable_text(NoiseCause{total.kind, total.name}.text()), us(total.total_ns),
                    us_text(total.total_ns) + " us in " + std::to_string(total.gaps)});
  }
  return bars.empty() ? "" : svg_bars("Time in stalls over the threshold, by cause", bars);
}

std::string summary_table(const NoiseReport& report) {
  HtmlTable table{.head = {report.pinned ? "CPU" : "thread", "p50 us", "p90", "p99", "p99.9", "max", "lost %", ">1us",
                           ">10us", ">50us", ">100us", ">1ms", ">10ms", "hops", "switches"},
                  .rows = {}};
  for (const CpuNoise& cpu : report.cpus) {
    if (!cpu.hiccups.error.empty()) continue;
    const NoiseSummary& s = cpu.summary;
    std::vector<std::string> row{std::to_string(cpu.hiccups.cpu),
                                 us_text(s.p50_ns),
                                 us_text(s.p90_ns),
                                 us_text(s.p99_ns),
                                 us_text(s.p999_ns),
                                 us_text(s.max_ns),
                                 fixed(s.lost_percent, 3)};
    for (const std::uint64_t count : s.over) row.push_back(std::to_string(count));
    row.push_back(std::to_string(cpu.hiccups.hops));
    row.push_back(std::to_string(cpu.hiccups.involuntary_switches + cpu.hiccups.voluntary_switches));
    table.rows.push_back(std::move(row));
  }
  return html_table(table);
}

std::string cause_table(const NoiseReport& report) {
  HtmlTable table{.head = {"CPU", "stalls", "total us", "worst us", "cause"}, .rows = {}, .left_columns_at_end = 1};
  for (const CpuNoise& cpu : report.cpus) {
    for (const CauseTotal& total : cause_totals({&cpu, 1})) {
      table.rows.push_back({std::to_string(cpu.hiccups.cpu), std::to_string(total.gaps), us_text(total.total_ns),
                            us_text(total.worst_ns), printable_text(NoiseCause{total.kind, total.name}.text())});
    }
  }
  return html_table(table);
}

std::string worst_table(const NoiseReport& report) {
  HtmlTable table{.head = {"at s", "us", "CPU", "cause"}, .rows = {}, .left_columns_at_end = 1};
  for (const WorstGap& gap : worst_gaps(report, 10)) {
    table.rows.push_back({fixed(static_cast<double>(gap.gap->begin_ns) / 1e9, 6), us_text(gap.gap->length_ns),
                          std::to_string(gap.gap->cpu),
                          gap.cause == nullptr ? "not attributed" : printable_text(gap.cause->text())});
  }
  return html_table(table);
}

std::string head(const NoiseReport& report) {
  std::string out = "<p class=\"soft\">kernel " + html_escaped(report.kernel) + "; " + seconds_text(report.seconds) +
                    "; clock " + html_escaped(report.clock) + (report.pinned ? "; pinned" : "; not pinned");
  out += report.fifo_priority > 0 ? "; SCHED_FIFO " + std::to_string(report.fifo_priority) : "; ordinary scheduler";
  out += report.interrupted ? "; interrupted</p>\n" : "</p>\n";
  std::string items;
  const auto add = [&](std::string_view text) { items += "<li>" + html_escaped(text) + "</li>\n"; };
  for (const CpuNoise& cpu : report.cpus) {
    if (!cpu.hiccups.error.empty()) add("not measured: " + cpu.hiccups.error);
  }
  if (!report.attributed) add("Single stalls cannot be attributed: " + report.why_not_attributed);
  for (const std::string& note : report.notes) add(note);
  return items.empty() ? out : out + "<ul>\n" + items + "</ul>\n";
}

}  // namespace

std::string to_html(const NoiseReport& report) {
  std::string body = head(report);
  body +=
      "<p>A thread on each CPU did nothing but read the clock. A stall is the time between two readings: what the "
      "kernel, other tasks or the hypervisor took from it.</p>\n";
  body += summary_table(report);
  if (shown(report).size() < measured_cpus(report))
    body += "<p class=\"soft\">The plots show the " + std::to_string(most_lines) + " noisiest CPUs.</p>\n";
  body += time_chart(report) + distribution_chart(report);
  if (report.attributed) body += "<h2>Causes</h2>\n" + cause_bars(report) + cause_table(report);
  body += "<h2>The longest stalls</h2>\n" + worst_table(report);
  return html_page("Noise of " + measured_text(report), body);
}

}  // namespace nfx
