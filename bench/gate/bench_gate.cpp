// The speed gate: one row for each part of a message's path, and a reference timed in alternation with it. bench_gate
// --help. Exit status 1 if an answer is wrong, 2 if the run is not possible.
#include <array>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "gate/gate_rows.hpp"
#include "harness/cycle_clock.hpp"
#include "harness/figures.hpp"
#include "harness/machine.hpp"
#include "harness/program.hpp"
#include "harness/scratch_folder.hpp"
#include "nexusfix/dictionary/load.hpp"

namespace nfx::bench {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> bodies_of(const Corpus& corpus, std::string_view first_field) {
  std::vector<std::string> bodies;
  for (std::uint32_t i = 0; i < corpus.size(); ++i) {
    const std::string_view message = corpus[i];
    const std::size_t begin = message.find(first_field) + 1;
    bodies.emplace_back(message.substr(begin, message.rfind("\x01"
                                                            "10=") +
                                                  1 - begin));
  }
  return bodies;
}

}  // namespace

GateInputs::GateInputs(std::uint64_t seed)
    : orders(make_corpus(Kind::new_order_single, seed, gate_messages)),
      reports(make_corpus(Kind::execution_report, seed, gate_messages)),
      order_bodies(bodies_of(orders,
                             "\x01"
                             "11=")),
      report_bodies(bodies_of(reports,
                              "\x01"
                              "37=")),
      dictionary(std::make_shared<const Dictionary>(load_dictionary(NFX_SOURCE_DIR "/dictionaries/FIX44.xml"))) {}

namespace {

struct Options {
  bool serve = false, list = false;
  std::vector<std::string> rows;
  std::string json, folder;
  std::uint32_t rounds = 30;
  std::uint64_t seed = 1;
};

std::vector<GateEntry> all_entries() {
  std::vector<GateEntry> all;
  for (auto* part :
       {wire_gate_entries, session_gate_entries, memory_gate_entries, network_gate_entries, engine_gate_entries}) {
    for (GateEntry& entry : part()) all.push_back(std::move(entry));
  }
  return all;
}

// Empty: all.
std::vector<GateEntry> entries_of(const std::vector<std::string>& names) {
  std::vector<GateEntry> all = all_entries();
  if (names.empty()) return all;
  std::vector<GateEntry> chosen;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(all, name, &GateEntry::name);
    if (found == all.end()) throw std::invalid_argument("no row '" + name + "'; bench_gate --list names them");
    chosen.push_back(*found);
  }
  return chosen;
}

// A row in use: created, checked and warmed up.
class Measured {
 public:
  Measured(GateEntry its_entry, const GateInputs& inputs) : entry(std::move(its_entry)), row_(entry.make(inputs)) {
    row_->check();
    for (int i = 0; i < 4; ++i) static_cast<void>(batch(nullptr));
  }

  // Ticks of one batch of the row.
  [[nodiscard]] std::uint64_t batch(std::vector<std::uint64_t>* of_blocks) {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < entry.batch_blocks; ++i) {
      row_->prepare();
      const std::uint64_t before = ticks_before();
      row_->work();
      const std::uint64_t ticks = ticks_after() - before;
      row_->verify();
      sum += ticks;
      if (of_blocks != nullptr) of_blocks->push_back(ticks);
    }
    return sum;
  }
  [[nodiscard]] std::uint64_t reference_batch() {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < entry.batch_blocks; ++i) {
      row_->prepare();
      // Does the work from prepare() first, because a row may count its input.
      row_->work();
      row_->verify();
      const std::uint64_t before = ticks_before();
      row_->reference();
      sum += ticks_after() - before;
    }
    return sum;
  }
  [[nodiscard]] double batch_ops() const noexcept { return double(entry.block_ops) * entry.batch_blocks; }

  GateEntry entry;
  LatencyHistogram ps;                           // per operation, of every block
  std::vector<double> ns, reference_ns, ratios;  // per batch

 private:
  std::unique_ptr<GateRow> row_;
};

// Answers each line of the standard input with a line of JSON, until its end.
int serve(const GateInputs& inputs) {
  Json revisions;
  for (const GateEntry& entry : all_entries()) revisions[entry.name] = entry.revision;
  std::cout << Json{{"rows", revisions}} << std::endl;
  std::map<std::string, std::unique_ptr<Measured>> rows;
  const CycleClock clock = calibrate_clock();
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words{line};
    std::string name;
    std::uint32_t batches = 0;
    words >> name >> batches;
    auto& row = rows[name];
    if (!row) row = std::make_unique<Measured>(entries_of({name}).at(0), inputs);
    std::string answer;
    for (std::uint32_t i = 0; i < batches; ++i) {
      const double ns = clock.to_ns(static_cast<double>(row->batch(nullptr))) / row->batch_ops();
      std::array<char, 32> text;
      std::snprintf(text.data(), text.size(), "%s%.3f", i == 0 ? "" : ",", ns);
      answer += text.data();
    }
    std::cout << "{\"row\":\"" << name << "\",\"ns\":[" << answer << "]}" << std::endl;
  }
  return 0;
}

void measure_round(Measured& row, const CycleClock& clock, double own_cost) {
  constexpr double turn_ns = 4e6;
  std::vector<std::uint64_t> of_blocks;
  for (double spent = 0; spent < turn_ns;) {
    of_blocks.clear();
    const double own = own_cost * row.entry.batch_blocks;
    const double ns = clock.to_ns(double(row.batch(&of_blocks)) - own) / row.batch_ops();
    const double reference = clock.to_ns(double(row.reference_batch()) - own) / row.batch_ops();
    for (const std::uint64_t ticks : of_blocks) {
      const double each = std::max(0.0, clock.to_ns(double(ticks) - own_cost)) / row.entry.block_ops;
      row.ps.record(static_cast<std::uint64_t>(each * 1000 + 0.5));
    }
    row.ns.push_back(ns);
    row.reference_ns.push_back(reference);
    row.ratios.push_back(ns / reference);
    spent += (ns + reference) * row.batch_ops();
  }
}

// Interpolates between the two nearest values, like median(), so that the median is between the quartiles.
double quantile(std::vector<double> values, double at) {
  std::ranges::sort(values);
  const double place = at * double(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - double(below)) * (values[above] - values[below]);
}

void print(const std::vector<std::unique_ptr<Measured>>& rows, const std::string& machine) {
  std::printf("%s\n\n%-12s %10s %10s %10s %12s %10s %22s\n", machine.c_str(), "ns/op", "p50", "p99", "p99.9", "max",
              "reference", "ratio [quartiles]");
  for (const auto& row : rows) {
    const Figures figures = figures_of(row->ps, 1000);
    std::printf("%-12s %10.1f %10.1f %10.1f %12.1f %10.1f %8.3f [%.3f, %.3f]\n", row->entry.name.c_str(), figures.p50,
                figures.p99, figures.p999, figures.max, median(row->reference_ns), median(row->ratios),
                quantile(row->ratios, 0.25), quantile(row->ratios, 0.75));
  }
  std::printf("\np50 to max are of blocks timed as one, the ratio of batches timed in turn with the reference:\n");
  for (const auto& row : rows) {
    const GateEntry& entry = row->entry;
    std::printf("  %-12s %s; %u a block, %u blocks a batch; reference: %s\n", entry.name.c_str(), entry.what.c_str(),
                entry.block_ops, entry.batch_blocks, entry.reference.c_str());
  }
}

std::string json_of(const std::vector<std::unique_ptr<Measured>>& rows, const Machine& machine,
                    const Options& options) {
  Json all = Json::array();
  for (const auto& row : rows) {
    const Figures figures = figures_of(row->ps, 1000);
    all.push_back({{"name", row->entry.name},
                   {"revision", row->entry.revision},
                   {"what", row->entry.what},
                   {"reference", row->entry.reference},
                   {"ns_p50", figures.p50},
                   {"ns_p99", figures.p99},
                   {"ns_p999", figures.p999},
                   {"ns_max", figures.max},
                   {"ops_a_block", row->entry.block_ops},
                   {"ns_reference", median(row->reference_ns)},
                   {"ratio", median(row->ratios)},
                   {"ratio_low", quantile(row->ratios, 0.25)},
                   {"ratio_high", quantile(row->ratios, 0.75)}});
  }
  const Json json{{"suite", "gate"},
                  {"seed", options.seed},
                  {"rounds", options.rounds},
                  {"machine",
                   {{"cpu", machine.cpu_model},
                    {"kernel", machine.kernel},
                    {"compiler", machine.compiler},
                    {"flags", machine.flags},
                    {"cores", machine.cores}}},
                  {"rows", all}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

int measure_suite(const Options& options, const GateInputs& inputs) {
  const auto core = pin_to_core(std::nullopt);
  if (!core) throw std::runtime_error(core.error());
  const CycleClock clock = calibrate_clock();
  const double own_cost = own_cost_ticks();
  std::vector<std::unique_ptr<Measured>> rows;
  for (const GateEntry& entry : entries_of(options.rows)) rows.push_back(std::make_unique<Measured>(entry, inputs));
  for (std::uint32_t round = 0; round < options.rounds; ++round) {
    for (const auto& row : rows) measure_round(*row, clock, own_cost);
  }
  print(rows, describe(this_machine()));
  if (options.json.empty()) return 0;
  std::ofstream file{options.json};
  file << json_of(rows, this_machine(), options) << '\n';
  if (!file.flush()) throw std::runtime_error("cannot write " + options.json);
  return 0;
}

int run(const Options& options) {
  if (options.list) {
    for (const GateEntry& entry : all_entries()) std::printf("%-12s %s\n", entry.name.c_str(), entry.what.c_str());
    return 0;
  }
  std::string below = options.folder;
  // So that no disk affects the results.
  if (below.empty() && std::filesystem::is_directory("/dev/shm")) below = "/dev/shm";
  const ScratchFolder folder{"gate", below};
  GateInputs inputs{options.seed};
  inputs.folder = folder.path();
  return options.serve ? serve(inputs) : measure_suite(options, inputs);
}

}  // namespace
}  // namespace nfx::bench

int main(int argc, char** argv) {
  using namespace nfx;
  bench::Options options;
  const cli::Command program{
      .name = "bench_gate",
      .summary =
          "The speed gate: each part of the path of a message, and a reference that is timed in alternation with it",
      .options = {{.names = "--rows",
                   .target = &options.rows,
                   .help = "These rows alone; --list names them",
                   .value = "ROW,...",
                   .separator = ','},
                  {.names = "--rounds",
                   .target = &options.rounds,
                   .help = "How often each row is timed",
                   .range = {{1, 1'000'000}}},
                  {.names = "--json",
                   .target = &options.json,
                   .help = "Write the results there as well",
                   .kind = cli::Kind::file},
                  {.names = "--folder",
                   .target = &options.folder,
                   .help = "Where the store's files are made",
                   .kind = cli::Kind::folder,
                   .default_text = "/dev/shm where it exists"},
                  {.names = "--seed", .target = &options.seed, .help = "Of the messages"},
                  {.names = "--list", .target = &options.list, .help = "Print the rows"},
                  {.names = "--serve",
                   .target = &options.serve,
                   .help = "Measure what the standard input requests: lines with a row and a number of batches"}},
      .exit_codes = "0 done, 1 an answer is wrong, 2 the run cannot be done",
  };
  return bench::run_program(program, argc, argv, [&] { return bench::run(options); });
}
