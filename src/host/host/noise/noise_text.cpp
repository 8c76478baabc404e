// The noise report for a terminal.
#include <algorithm>
#include <string>
#include <vector>

#include "host/noise/report_parts.hpp"
#include "placement/numbers.hpp"

namespace nfx {
namespace {

// Table cells; numbers are right-aligned.
using Rows = std::vector<std::vector<std::string>>;

enum class LastColumn : std::uint8_t { text, number };

void append_table(std::string& out, const Rows& rows, LastColumn last) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += "  ";
      if (last == LastColumn::number || i + 1 < widths.size()) line.append(widths[i] - row[i].size(), ' ');
      line += row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
}

std::vector<std::string> summary_row(const std::string& name, const NoiseSummary& summary) {
  std::vector<std::string> row{name,
                               us_text(summary.p50_ns),
                               us_text(summary.p90_ns),
                               us_text(summary.p99_ns),
                               us_text(summary.p999_ns),
                               us_text(summary.max_ns),
                               fixed(summary.lost_percent, 3)};
  for (const std::uint64_t count : summary.over) row.push_back(std::to_string(count));
  return row;
}

void append_summaries(std::string& out, const NoiseReport& report) {
  Rows rows{{report.pinned ? "CPU" : "thread", "p50", "p90", "p99", "p99.9", "max", "lost %", ">1us", ">10us", ">50us",
             ">100us", ">1ms", ">10ms", "hops", "switches"}};
  for (const CpuNoise& cpu : report.cpus) {
    if (!cpu.hiccups.error.empty()) continue;
    rows.push_back(summary_row(std::to_string(cpu.hiccups.cpu), cpu.summary));
    rows.back().push_back(std::to_string(cpu.hiccups.hops));
    rows.back().push_back(std::to_string(cpu.hiccups.involuntary_switches + cpu.hiccups.voluntary_switches));
  }
  if (measured_cpus(report) > 1) rows.push_back(summary_row("all", summarise(report.cpus)));
  out += "\nWorst stall per window of " + fixed(report.window_us / 1000, 0) +
         " ms, in us; CPU time lost; stalls longer than\n";
  append_table(out, rows, LastColumn::number);
}

void append_causes(std::string& out, const NoiseReport& report) {
  if (!report.attributed) {
    out += "\nSingle stalls cannot be attributed: " + one_line(report.why_not_attributed) + ".\n";
    return;
  }
  for (const CpuNoise& cpu : report.cpus) {
    if (!cpu.hiccups.error.empty()) continue;
    out += "\nCauses of the stalls over " + fixed(report.threshold_us, 1) + " us on " + place_name(report, cpu) + ", " +
           std::to_string(cpu.hiccups.gaps.size()) + " stalls\n";
    Rows rows{{"stalls", "total us", "worst us", "cause"}};
    constexpr std::size_t most = 20;
    const std::vector<CauseTotal> totals = cause_totals({&cpu, 1});
    for (std::size_t i = 0; i < std::min(most, totals.size()); ++i) {
      const CauseTotal& total = totals[i];
      rows.push_back({std::to_string(total.gaps), us_text(total.total_ns), us_text(total.worst_ns),
                      printable_text(NoiseCause{total.kind, total.name}.text())});
    }
    append_table(out, rows, LastColumn::text);
    for (const NoiseKind kind : {NoiseKind::unexplained, NoiseKind::hardware}) {
      if (std::ranges::find(totals, kind, &CauseTotal::kind) != totals.end())
        out += "  " + std::string{to_string(kind)} + ": no event in the stall; " +
               (kind == NoiseKind::unexplained ? "an NMI, " : "") +
               "the hypervisor, system management mode or the processor itself\n";
    }
    if (totals.size() > most) out += "  and " + std::to_string(totals.size() - most) + " causes more\n";
  }
}

void append_worst(std::string& out, const NoiseReport& report) {
  const std::vector<WorstGap> worst = worst_gaps(report, 10);
  if (worst.empty()) return;
  out += "\nThe longest stalls\n";
  Rows rows{{"at s", "us", "CPU", "cause"}};
  for (const WorstGap& gap : worst) {
    std::string cause = "not attributed";
    if (gap.cause != nullptr) {
      cause = printable_text(gap.cause->text());
      if (gap.cause->share_ns > 0) cause += ", " + us_text(gap.cause->share_ns) + " us of it";
    }
    rows.push_back({fixed(static_cast<double>(gap.gap->begin_ns) / 1e9, 6), us_text(gap.gap->length_ns),
                    std::to_string(gap.gap->cpu), cause});
  }
  append_table(out, rows, LastColumn::text);
}

void append_counters(std::string& out, const NoiseReport& report) {
  bool first = true;
  for (const CpuNoise& cpu : report.cpus) {
    const std::vector<Count> counts = counts_of(cpu.counters);
    if (counts.empty()) continue;
    if (first) out += "\nCounted by the kernel during the measurement\n";
    first = false;
    std::string line = "  " + place_name(report, cpu) + ':';
    for (std::size_t i = 0; i < counts.size(); ++i)
      line += (i == 0 ? " " : ", ") + counts[i].name + ' ' + std::to_string(counts[i].value);
    out += line + '\n';
  }
}

}  // namespace

std::string to_text(const NoiseReport& report) {
  std::string out =
      measured_text(report) + ", " + seconds_text(report.seconds) + ", " + (report.pinned ? "pinned" : "not pinned");
  out += report.fifo_priority > 0 ? ", SCHED_FIFO " + std::to_string(report.fifo_priority) : ", ordinary scheduler";
  out += "\nkernel " + one_line(report.kernel) + "; clock " + one_line(report.clock);
  if (report.attributed)
    out += "; traced " + std::to_string(report.trace_events) + " events" + (report.osnoise ? " with osnoise" : "") +
           ", trace clock " + report.trace_clock;
  out += '\n';
  if (report.interrupted) out += "interrupted: results until then\n";
  for (const CpuNoise& cpu : report.cpus) {
    if (!cpu.hiccups.error.empty()) out += "not measured: " + one_line(cpu.hiccups.error) + '\n';
  }
  for (const std::string& note : report.notes) out += "note: " + one_line(note) + '\n';
  if (measured_cpus(report) == 0) return out;
  append_summaries(out, report);
  append_causes(out, report);
  append_worst(out, report);
  append_counters(out, report);
  return out;
}

}  // namespace nfx
