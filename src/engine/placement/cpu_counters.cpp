// Interrupts, softirqs and steal per CPU, parsed from /proc.
#include "placement/cpu_counters.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "placement/proc_text.hpp"

namespace nfx {
namespace {

std::vector<int> table_head(std::string_view line) {
  std::vector<int> cpus;
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
    if (const auto cpu = cpu_number(word)) cpus.push_back(*cpu);
  }
  return cpus;
}

// A line of /proc/interrupts or /proc/softirqs: a name, a count per column, and in /proc/interrupts a description.
struct TableLine {
  std::string_view name;
  std::vector<std::uint64_t> counts;
  std::string description;
};

TableLine parse_line(std::string_view line, std::size_t columns) {
  TableLine parsed;
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return parsed;
  std::string_view name = line.substr(0, colon);
  parsed.name = next_word(name);
  line.remove_prefix(colon + 1);
  while (parsed.counts.size() < columns) {
    std::string_view rest = line;
    const auto count = number<std::uint64_t>(next_word(rest));
    if (!count) break;
    parsed.counts.push_back(*count);
    line = rest;
  }
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
    if (!parsed.description.empty()) parsed.description += ' ';
    parsed.description += word;
  }
  return parsed;
}

// Maps CPU numbers to the entries of a sample. It is a plain table, because every count needs a look-up.
class CpuIndex {
 public:
  explicit CpuIndex(const std::vector<CpuCounters>& cpus) {
    for (std::size_t i = 0; i < cpus.size(); ++i) {
      const auto cpu = static_cast<std::size_t>(cpus[i].cpu);
      if (cpu >= at_.size()) at_.resize(cpu + 1, none);
      at_[cpu] = i;
    }
  }
  [[nodiscard]] std::size_t operator[](int cpu) const {
    return cpu >= 0 && static_cast<std::size_t>(cpu) < at_.size() ? at_[static_cast<std::size_t>(cpu)] : none;
  }
  static constexpr std::size_t none = ~std::size_t{0};

 private:
  std::vector<std::size_t> at_;
};

void read_stat(const HostFiles& files, CounterSample& sample) {
  const auto text = files.read("/proc/stat");
  if (!text) return;
  std::string_view rest = *text;
  while (!rest.empty()) {
    std::string_view line = next_line(rest);
    const std::string_view name = next_word(line);
    if (name == "ctxt") sample.context_switches = number<std::uint64_t>(next_word(line)).value_or(0);
    const auto cpu = cpu_number(name);
    if (!cpu) continue;  // "cpu" alone is the sum of all CPUs
    // user nice system idle iowait irq softirq steal; user already includes guest time.
    std::array<std::uint64_t, 8> ticks{};
    for (std::uint64_t& tick : ticks) tick = number<std::uint64_t>(next_word(line)).value_or(0);
    CpuCounters counters;
    counters.cpu = *cpu;
    counters.user = ticks[0] + ticks[1];
    counters.system = ticks[2];
    counters.idle = ticks[3] + ticks[4];
    counters.interrupt = ticks[5];
    counters.softirq = ticks[6];
    counters.steal = ticks[7];
    sample.cpus.push_back(std::move(counters));
  }
}

// The counter for a kind of interrupt. x86 uses short names, ARM uses numbered IPIs that only their description
// explains.
std::uint64_t CpuCounters::* counter_of(const TableLine& line) {
  if (number<int>(line.name)) return &CpuCounters::devices;
  if (line.name == "LOC") return &CpuCounters::timer;
  if (line.name == "RES" || line.description == "Rescheduling interrupts") return &CpuCounters::rescheduling;
  if (line.name == "CAL" || line.description == "Function call interrupts") return &CpuCounters::function_calls;
  if (line.name == "TLB") return &CpuCounters::tlb_shootdowns;
  return &CpuCounters::other;
}

void read_interrupts(const HostFiles& files, CounterSample& sample) {
  const auto text = files.read("/proc/interrupts");
  if (!text) return;
  std::string_view rest = *text;
  const std::vector<int> columns = table_head(next_line(rest));
  // If /proc/stat is not readable, the columns show which CPUs exist.
  if (sample.cpus.empty()) {
    for (const int cpu : columns) sample.cpus.emplace_back().cpu = cpu;
  }
  std::ranges::sort(sample.cpus, {}, &CpuCounters::cpu);
  const CpuIndex index{sample.cpus};
  while (!rest.empty()) {
    TableLine line = parse_line(next_line(rest), columns.size());
    // "ERR: 0" is a sum over all CPUs.
    if (line.counts.size() < columns.size()) continue;
    const auto number_of = number<int>(line.name);
    const auto counter = counter_of(line);
    InterruptCounter interrupt;
    if (number_of) {
      interrupt.number = *number_of;
      interrupt.name = std::move(line.description);
      interrupt.per_cpu.resize(sample.cpus.size());
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::size_t at = index[columns[i]];
      if (at == CpuIndex::none) continue;
      sample.cpus[at].*counter += line.counts[i];
      if (number_of) interrupt.per_cpu[at] = line.counts[i];
    }
    if (number_of) sample.interrupts.push_back(std::move(interrupt));
  }
}

// Its columns are all possible CPUs.
void read_softirqs(const HostFiles& files, CounterSample& sample) {
  const auto text = files.read("/proc/softirqs");
  if (!text) return;
  std::string_view rest = *text;
  const std::vector<int> columns = table_head(next_line(rest));
  const CpuIndex index{sample.cpus};
  while (!rest.empty()) {
    const TableLine line = parse_line(next_line(rest), columns.size());
    if (line.counts.size() < columns.size()) continue;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::size_t at = index[columns[i]];
      if (at != CpuIndex::none) sample.cpus[at].softirqs.emplace(line.name, line.counts[i]);
    }
  }
}

std::uint64_t grown(std::uint64_t before, std::uint64_t after) { return after > before ? after - before : 0; }

CpuCounters difference(const CpuCounters& before, const CpuCounters& after) {
  CpuCounters result;
  result.cpu = after.cpu;
  for (const auto counter :
       {&CpuCounters::timer, &CpuCounters::rescheduling, &CpuCounters::function_calls, &CpuCounters::tlb_shootdowns,
        &CpuCounters::devices, &CpuCounters::other, &CpuCounters::user, &CpuCounters::system, &CpuCounters::idle,
        &CpuCounters::interrupt, &CpuCounters::softirq, &CpuCounters::steal}) {
    result.*counter = grown(before.*counter, after.*counter);
  }
  for (const auto& [name, count] : after.softirqs) {
    const auto found = before.softirqs.find(name);
    result.softirqs.emplace(name, grown(found == before.softirqs.end() ? 0 : found->second, count));
  }
  return result;
}

}  // namespace

CounterSample sample_counters(const HostFiles& files) {
  CounterSample sample;
  read_stat(files, sample);
  read_interrupts(files, sample);
  read_softirqs(files, sample);
  return sample;
}

CounterSample difference(const CounterSample& before, const CounterSample& after) {
  CounterSample result;
  result.context_switches = grown(before.context_switches, after.context_switches);
  const CpuIndex in_before{before.cpus}, in_after{after.cpus};
  for (const CpuCounters& cpu : after.cpus) {
    const std::size_t at = in_before[cpu.cpu];
    if (at != CpuIndex::none) result.cpus.push_back(difference(before.cpus[at], cpu));
  }
  for (const InterruptCounter& interrupt : after.interrupts) {
    // A number that now belongs to another device has counted from zero.
    const auto earlier = std::ranges::find_if(before.interrupts, [&](const InterruptCounter& candidate) {
      return candidate.number == interrupt.number && candidate.name == interrupt.name;
    });
    InterruptCounter change{interrupt.number, interrupt.name, {}};
    for (const CpuCounters& cpu : result.cpus) {
      const std::size_t now = in_after[cpu.cpu], then = in_before[cpu.cpu];
      const auto count = [](const InterruptCounter& counter, std::size_t i) {
        return i < counter.per_cpu.size() ? counter.per_cpu[i] : 0;
      };
      change.per_cpu.push_back(
          grown(earlier == before.interrupts.end() ? 0 : count(*earlier, then), count(interrupt, now)));
    }
    result.interrupts.push_back(std::move(change));
  }
  return result;
}

}  // namespace nfx
