// Prints the results of a run as tables and as JSON, with the machine and each row's ratio to the baseline.
#include "harness/report.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "base/text.hpp"

namespace nfx::bench {
namespace {

using Json = nlohmann::ordered_json;

double ns(std::uint64_t ps) noexcept { return static_cast<double>(ps) / 1000; }

const RowResult* baseline_of(const GroupResult& group, const std::string& section) noexcept {
  for (const RowResult& row : group.rows) {
    if (row.baseline && row.section == section) return &row;
  }
  return nullptr;
}

// Half of the difference between the slowest and the fastest repeat, in percent.
double spread_percent(const RowResult& row) noexcept {
  if (row.ns_of_repeats.empty() || row.ns_median <= 0) return 0;
  const auto [least, most] = std::ranges::minmax(row.ns_of_repeats);
  return 50 * (most - least) / row.ns_median;
}

// Only if the processor's counters can be read.
void print_counters(std::FILE* out, const CounterRates& counters) {
  if (!counters.instructions || !counters.cycles || *counters.cycles <= 0) return;
  std::fprintf(out, "  %.0f instructions, IPC %.2f", *counters.instructions, *counters.instructions / *counters.cycles);
  if (counters.branch_misses) std::fprintf(out, ", %.2f branch misses", *counters.branch_misses);
  if (counters.cache_misses) std::fprintf(out, ", %.2f cache misses", *counters.cache_misses);
}

void print_row(std::FILE* out, const GroupResult& group, const RowResult& row) {
  std::fprintf(out, "    %-40s %9.1f %5.1f %9.1f %9.1f %10.1f %5u", row.name.c_str(), row.ns_median,
               spread_percent(row), ns(row.ps.percentile(99)), ns(row.ps.percentile(99.9)), ns(row.ps.max()),
               row.messages_per_batch);
  if (row.bytes_per_message > 0 && row.ns_median > 0) {
    const double bytes_per_ns = row.bytes_per_message / row.ns_median;
    const double ticks_per_ns = group.ticks_per_ns > 0 ? group.ticks_per_ns : 1;
    std::fprintf(out, " %7.2f %7.2f %8.2f", bytes_per_ns, bytes_per_ns / ticks_per_ns, 1000 / row.ns_median);
  } else {
    std::fprintf(out, " %7s %7s %8s", "", "", "");
  }
  const double ratio = ratio_to_baseline(group, row);
  if (ratio > 0) std::fprintf(out, " %8.2f", ratio);
  print_counters(out, row.counters);
  std::fputc('\n', out);
}

Json json_of(const CounterRates& counters) {
  Json json;
  const auto add = [&](const char* name, const std::optional<double>& rate) {
    if (rate) json[name] = *rate;
  };
  add("instructions", counters.instructions);
  add("cycles", counters.cycles);
  add("branch_misses", counters.branch_misses);
  add("cache_misses", counters.cache_misses);
  json["switches"] = counters.switches;
  json["migrations"] = counters.migrations;
  return json;
}

Json json_of(const GroupResult& group, const RowResult& row) {
  Json json{{"section", row.section},
            {"name", row.name},
            {"baseline", row.baseline},
            {"ns_median", row.ns_median},
            {"ns_of_repeats", row.ns_of_repeats},
            {"ns_min", ns(row.ps.min())},
            {"ns_p50", ns(row.ps.percentile(50))},
            {"ns_p99", ns(row.ps.percentile(99))},
            {"ns_p99_9", ns(row.ps.percentile(99.9))},
            {"ns_max", ns(row.ps.max())},
            {"batches", row.ps.count()},
            {"messages_per_batch", row.messages_per_batch},
            {"bytes_per_message", row.bytes_per_message}};
  if (const double ratio = ratio_to_baseline(group, row); ratio > 0) json["baseline_over_this"] = ratio;
  json["counters"] = json_of(row.counters);
  return json;
}

Json json_of(const RepeatedGroup&, const RepeatedRow& row) {
  Json repeats = Json::array();
  for (const Figures& each : row.repeats) {
    repeats.push_back(
        {{"mean", each.mean}, {"p50", each.p50}, {"p99", each.p99}, {"p99_9", each.p999}, {"max", each.max}});
  }
  return {{"section", row.section}, {"name", row.name},   {"baseline", row.baseline},         {"unit", row.unit},
          {"note", row.note},       {"repeats", repeats}, {"counters", json_of(row.counters)}};
}

Json json_of(const RunFacts& facts) {
  const Machine& machine = facts.machine;
  Json corpora = Json::array();
  for (const CorpusFacts& corpus : facts.corpora) {
    corpora.push_back({{"name", corpus.name},
                       {"messages", corpus.messages},
                       {"bytes", corpus.bytes},
                       {"digest", hexadecimal(corpus.digest)}});
  }
  return {{"benchmark", facts.benchmark},
          {"machine",
           {{"cpu", machine.cpu_model},
            {"architecture", machine.architecture},
            {"cores", machine.cores},
            {"kernel", machine.kernel},
            {"compiler", machine.compiler},
            {"flags", machine.flags},
            {"ghz", machine.ghz},
            {"governor", machine.governor},
            {"isolated", machine.isolated},
            {"hypervisor", machine.hypervisor},
            {"assertions", machine.assertions},
            {"instruction_sets", facts.instruction_sets}}},
          {"clock",
           {{"source", facts.clock.source},
            {"hz", facts.clock.ticks_per_ns * 1e9},
            {"step_ns", facts.clock.step_ns},
            {"own_cost_ns", facts.clock.to_ns(facts.own_cost_ticks)}}},
          {"counters", facts.counters},
          {"core", facts.core},
          {"seed", facts.seed},
          {"repeats", facts.options.repeats},
          {"rounds", facts.options.rounds},
          {"corpora", corpora},
          {"notes", facts.notes}};
}

template <class AnyGroup>
std::string json_text(const RunFacts& facts, const std::vector<AnyGroup>& groups) {
  Json json = json_of(facts);
  json["groups"] = Json::array();
  for (const AnyGroup& group : groups) {
    Json rows = Json::array();
    for (const auto& row : group.rows) rows.push_back(json_of(group, row));
    json["groups"].push_back({{"name", group.name}, {"title", group.title}, {"rows", rows}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

const RepeatedRow* baseline_of(const RepeatedGroup& group, const std::string& section) noexcept {
  for (const RepeatedRow& row : group.rows) {
    if (row.baseline && row.section == section && !row.repeats.empty()) return &row;
  }
  return nullptr;
}

}  // namespace

double ratio_to_baseline(const GroupResult& group, const RowResult& row) {
  const RowResult* const baseline = baseline_of(group, row.section);
  if (baseline == nullptr) return 0;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < row.ns_of_repeats.size(); ++i) {
    if (row.ns_of_repeats[i] > 0) ratios.push_back(baseline->ns_of_repeats[i] / row.ns_of_repeats[i]);
  }
  return median(std::move(ratios));
}

void print_facts(std::FILE* out, const RunFacts& facts) {
  const Machine& machine = facts.machine;
  std::fprintf(out, "machine    %s, %u cores, %s, %s, pinned to core %u\n", machine.cpu_model.c_str(), machine.cores,
               machine.architecture.c_str(), machine.kernel.c_str(), facts.core);
  std::fprintf(out, "state      %s\n", describe_state(machine).c_str());
  std::fprintf(out, "counters   %s\n", facts.counters.c_str());
  std::fprintf(out, "compiler   %s, %s%s\n", machine.compiler.c_str(), machine.flags.c_str(),
               machine.assertions ? ", WITH ASSERTIONS: not for quoting" : "");
  std::string sets;
  for (const std::string& name : facts.instruction_sets) sets += (sets.empty() ? "" : " ") + name;
  std::fprintf(out, "kernels    %s\n", sets.c_str());
  std::fprintf(out, "clock      %s at %.1f MHz, step %.1f ns, own cost %.1f ns a batch, subtracted\n",
               facts.clock.source, facts.clock.ticks_per_ns * 1000, facts.clock.step_ns,
               facts.clock.to_ns(facts.own_cost_ticks));
  std::fprintf(out, "method     medians of %u repeats of %u interleaved rounds, seed %llu\n", facts.options.repeats,
               facts.options.rounds, static_cast<unsigned long long>(facts.seed));
  for (const CorpusFacts& corpus : facts.corpora) {
    std::fprintf(out, "corpus     %-28s %6u messages, %6.1f bytes on average, digest %s\n", corpus.name.c_str(),
                 corpus.messages, static_cast<double>(corpus.bytes) / std::max(1U, corpus.messages),
                 hexadecimal(corpus.digest).c_str());
  }
  for (const std::string& note : facts.notes) std::fprintf(out, "note       %s\n", note.c_str());
  std::fputs(
      "columns    ns per message; +-% is half the span of the repeats; p99, p99.9 and max are of batches, \"batch\" "
      "messages each; ticks are those of the clock\n",
      out);
}

void print_table(std::FILE* out, const GroupResult& group) {
  std::fprintf(out, "\n%s: %s\n", group.name.c_str(), group.title.c_str());
  std::string section;
  bool first = true;
  for (const RowResult& row : group.rows) {
    if (first || row.section != section) {
      section = row.section;
      const RowResult* const baseline = baseline_of(group, section);
      std::fprintf(out, "  %-42s %9s %5s %9s %9s %10s %5s %7s %7s %8s  %s\n", section.c_str(), "ns", "+-%", "p99",
                   "p99.9", "max", "batch", "GB/s", "B/tick", "M msg/s",
                   baseline == nullptr ? "" : ("times \"" + baseline->name + "\"").c_str());
      first = false;
    }
    print_row(out, group, row);
  }
}

std::string to_json(const RunFacts& facts, const std::vector<GroupResult>& groups) { return json_text(facts, groups); }

double ratio_to_baseline(const RepeatedGroup& group, const RepeatedRow& row) {
  const RepeatedRow* const baseline = baseline_of(group, row.section);
  return baseline == nullptr ? 0 : middle_ratio(baseline->repeats, row.repeats, &Figures::p50);
}

void print_table(std::FILE* out, const RepeatedGroup& group) {
  std::fprintf(out, "\n%s: %s\n", group.name.c_str(), group.title.c_str());
  std::string section;
  bool first = true;
  for (const RepeatedRow& row : group.rows) {
    if (first || row.section != section) {
      section = row.section;
      const RepeatedRow* const baseline = baseline_of(group, section);
      std::fprintf(out, "  %-44s %9s %9s %9s %9s %11s  %s\n", section.c_str(), "mean", "p50", "p99", "p99.9", "max",
                   baseline == nullptr ? "" : ("times \"" + baseline->name + "\"").c_str());
      first = false;
    }
    if (row.repeats.empty()) {
      std::fprintf(out, "    %-42s left out: %s\n", row.name.c_str(), row.note.c_str());
      continue;
    }
    const auto m = [&](double Figures::* which) { return middle(row.repeats, which); };
    std::fprintf(out, "    %-42s %9.1f %9.1f %9.1f %9.1f %11.1f", row.name.c_str(), m(&Figures::mean), m(&Figures::p50),
                 m(&Figures::p99), m(&Figures::p999), m(&Figures::max));
    if (const double ratio = ratio_to_baseline(group, row); ratio > 0) std::fprintf(out, " %6.2f", ratio);
    std::fprintf(out, "%s%s", row.note.empty() ? "" : "  ", row.note.c_str());
    print_counters(out, row.counters);
    std::fputc('\n', out);
  }
  std::fflush(out);
}

std::string to_json(const RunFacts& facts, const std::vector<RepeatedGroup>& groups) {
  return json_text(facts, groups);
}

void write_file(const std::string& path, std::string_view text) {
  std::ofstream out{path};
  out << text;
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path);
}

}  // namespace nfx::bench
