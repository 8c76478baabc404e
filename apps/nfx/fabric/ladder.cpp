// nfx fabric ladder: the published steps as options, run one after the other on this machine.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "fabric/fabric.hpp"
#include "fabric/figures_text.hpp"
#include "fabric/rail_bench.hpp"
#include "fabric/rail_simulation.hpp"
#include "json_output.hpp"
#include "output_file.hpp"
#include "report/report.hpp"

namespace nfx::app::fabric {
namespace {

using nfx::fabric::ladder_steps;
using nfx::fabric::LadderStep;
using nfx::fabric::published_ladder;

struct LadderOptions {
  std::string provider = "shm";
  std::vector<std::string> rails_per_group{"1", "2", "4"};
  std::uint32_t groups = 2;
  std::uint32_t page_bytes = 65536;
  std::uint32_t repeats = 3;
  std::uint32_t noisy = 0;
  double seconds = 0.2;
  std::string idle = "yield";
  std::string report;
  bool json = false;
};

// One column of the table.
struct Column {
  std::uint32_t rails_per_group = 1;
  bool noise = false;
  std::array<std::vector<double>, ladder_steps> repeats;
  std::array<double, ladder_steps> gbps{};   // medians
  std::array<double, ladder_steps> model{};  // computed
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

BenchOptions bench_of(const LadderOptions& options, const Column& column, const LadderStep& step) {
  BenchOptions bench;
  bench.provider = options.provider;
  bench.rails = step.program.rails == 1 ? 1 : column.rails_per_group * options.groups;
  bench.groups = step.program.thread_per_group ? options.groups : 1;
  bench.page_bytes = options.page_bytes;
  bench.batch = static_cast<std::uint32_t>(step.program.batch);
  bench.seconds = options.seconds;
  bench.round_trips = 0;
  bench.pinning = step.program.pinned ? Pinning::pair : Pinning::none;
  bench.idle = options.idle == "spin" ? IdleMode::spin : IdleMode::yield;
  bench.warm_up = step.program.warmed_up;
  bench.lazy = step.program.lazy;
  bench.shared_counters = !step.program.sharded;
  bench.noisy = column.noise ? options.noisy : 0;
  return bench;
}

// The model of this machine takes one cost from the measurement: the time per page with one thread and one rail. A CPU
// makes the copy here, so a link is never the limit.
void compute_model(const LadderOptions& options, Column& column) {
  const double bits = static_cast<double>(options.page_bytes) * 8;
  nfx::fabric::SimulatedMachine machine{.groups = options.groups,
                                        .rails_per_group = column.rails_per_group,
                                        .link_gbps = 10'000,
                                        .answer_ns = 0,
                                        .queue = 32,
                                        .page_bytes = options.page_bytes};
  nfx::fabric::SimulatedCosts costs;
  costs.post_ns = std::max(0.0, bits / column.gbps[0] - costs.poll_ns - costs.completion_ns);
  for (std::size_t i = 0; i < ladder_steps; ++i)
    column.model[i] = simulate(machine, costs, published_ladder()[i].program, 5e7).gbps;
}

std::vector<Column> measure(const LadderOptions& options) {
  std::vector<Column> columns;
  for (const bool noise : {false, true}) {
    if (noise && options.noisy == 0) continue;
    for (const std::string& text : options.rails_per_group) {
      Column& column = columns.emplace_back();
      column.rails_per_group = text == "1" ? 1 : text == "2" ? 2 : 4;
      column.noise = noise;
    }
  }
  // All steps in turn, so that a slow phase of the machine affects all of them.
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    for (Column& column : columns) {
      for (std::size_t i = 0; i < ladder_steps; ++i)
        column.repeats[i].push_back(run_bench(bench_of(options, column, published_ladder()[i])).gbps);
    }
  }
  for (Column& column : columns) {
    for (std::size_t i = 0; i < ladder_steps; ++i) column.gbps[i] = median(column.repeats[i]);
    compute_model(options, column);
  }
  return columns;
}

std::string factor(const auto& rates, std::size_t step) {
  return step == 0 ? std::string{"-"} : decimal(rates(step) / rates(step - 1), 2);
}

std::string name_of(const Column& column) {
  return std::to_string(column.rails_per_group) + (column.rails_per_group == 1 ? " rail" : " rails") +
         (column.noise ? ", noise" : "");
}

void print_text(const LadderOptions& options, const std::vector<Column>& columns) {
  SafeText out;
  out.add("provider {}, {} groups, pages of {} bytes, {} s a step, medians of {}; rails are of each group\n",
          options.provider, options.groups, options.page_bytes, decimal(options.seconds, 2), options.repeats);
  if (options.noisy > 0) out.add("noise: {} processes that take all the CPU time they get\n", options.noisy);
  out += "published: measured by others on another machine, eight groups of four cards of 100 Gb/s\n";
  out += "Gb/s, the factor to the step before, and the same of the model that has one cost of this machine\n\n";
  out.append_spaces(14);
  append_right(out, "published", 17);
  for (const Column& column : columns) append_right(out, name_of(column), 30);
  out += '\n';
  const auto& steps = published_ladder();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::size_t begin = out.size();
    out.add("{} {}", steps[i].chapter, steps[i].name);
    out.pad_to(begin, 14);
    append_right(out, decimal(steps[i].published_gbps, 1), 10);
    append_right(out, factor([&](std::size_t s) { return steps[s].published_gbps; }, i), 7);
    for (const Column& column : columns) {
      append_right(out, decimal(column.gbps[i], 2), 10);
      append_right(out, factor([&](std::size_t s) { return column.gbps[s]; }, i), 6);
      append_right(out, decimal(column.model[i], 1), 8);
      append_right(out, factor([&](std::size_t s) { return column.model[s]; }, i), 6);
    }
    out += '\n';
  }
  print(out);
}

SafeText json_of(const std::vector<Column>& columns) {
  Json all = Json::array();
  for (const Column& column : columns) {
    Json steps = Json::array();
    for (std::size_t i = 0; i < ladder_steps; ++i) {
      const LadderStep& step = published_ladder()[i];
      steps.push_back({{"chapter", step.chapter},
                       {"name", step.name},
                       {"gbps", column.gbps[i]},
                       {"model_gbps", column.model[i]},
                       {"published_gbps", step.published_gbps}});
    }
    all.push_back({{"rails_per_group", column.rails_per_group}, {"noise", column.noise}, {"steps", std::move(steps)}});
  }
  return json_line({{"columns", std::move(all)}});
}

void write_report(const std::string& path, const std::vector<Column>& columns) {
  OutputFile file{{.path = path, .overwrite = true, .printable = true}};
  file.bytes = report_page(ReportKind::ladder, "The published steps on this machine", json_of(columns).view());
  file.finish();
}

int ladder(const LadderOptions& options) {
  const std::vector<Column> columns = measure(options);
  options.json ? print(json_of(columns)) : print_text(options, columns);
  if (!options.report.empty()) write_report(options.report, columns);
  return exit_done;
}

}  // namespace

cli::Command ladder_command() {
  static LadderOptions options;
  return {
      .name = "ladder",
      .summary = "Measure the published techniques one after the other on this machine",
      .run = [] { return ladder(options); },
      .options =
          {provider_option(options.provider),
           {.names = "--rails",
            .target = &options.rails_per_group,
            .help = "Rails of each group: a column for each",
            .one_of = {"1", "2", "4"},
            .separator = ','},
           {.names = "--groups",
            .target = &options.groups,
            .help = "Groups; from the step 'threads' on, each has a thread",
            .range = {{1, 8}}},
           {.names = "--page",
            .target = &options.page_bytes,
            .help = "Bytes of a page",
            .value = "BYTES",
            .range = {{64, 1 << 26}}},
           {.names = "--seconds", .target = &options.seconds, .help = "Duration of each step", .range = {{0.01, 10}}},
           {.names = "--repeats",
            .target = &options.repeats,
            .help = "Repeats; results are medians",
            .range = {{1, 100}}},
           {.names = "--load",
            .target = &options.noisy,
            .help = "Noisy processes, for a second set of columns",
            .range = {{0, 64}},
            .default_text = "none"},
           {.names = "--idle",
            .target = &options.idle,
            .help = "Idle mode of the threads",
            .one_of = {"spin", "yield"}},
           {.names = "--report",
            .target = &options.report,
            .help = "Also write a self-contained HTML page with a chart",
            .value = "FILE",
            .kind = cli::Kind::file},
           {.names = "--json", .target = &options.json, .help = "Print one JSON object"}},
      .details =
          "Each step keeps the switches of those before it: many pages under way, all rails, warm-up, a thread for "
          "each group, pinning, own counters for each thread, batches, lazy posting. Rails are connections between two "
          "processes of this host, so CPUs copy what cards would carry.",
      .examples = {{.line = "nfx fabric ladder --load 4 --report ladder.html"},
                   {.line = "nfx fabric ladder --provider net --rails 2"}},
  };
}

}  // namespace nfx::app::fabric
