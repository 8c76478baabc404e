// Measures the wire layer, compared with its baseline and with other libraries in one run: bench_wire --help. Exit
// status 1 if a row gives a wrong answer, 2 if the run is not possible.
#include <cstdio>

#include "harness/program.hpp"
#include "harness/random.hpp"
#include "harness/report.hpp"
#include "placement/thread_sampler.hpp"
#include "wire/rows.hpp"

namespace {

using namespace nfx::bench;

struct Options {
  bool quick = false;
  std::uint32_t repeats = 5;
  std::uint64_t seed = 20240315;
  std::optional<unsigned> core;
  std::string json_file;
  std::string only;
};

struct NamedGroup {
  const char* name;
  Group (*make)(const Inputs&);
};

constexpr NamedGroup groups[] = {
    {"index", index_group}, {"reads", reads_group}, {"encode", encode_group}, {"stream", stream_group}};

// Empty if the corpora are valid.
std::string make_inputs(Inputs& inputs, std::uint64_t seed, bool with_quickfix) {
  inputs.seed = seed;
  for (const Kind kind : {Kind::heartbeat, Kind::new_order_single, Kind::execution_report, Kind::market_data}) {
    inputs.corpora.push_back(make_corpus(kind, seed));
    const Corpus& corpus = inputs.corpora.back();
    if (std::string wrong = what_is_wrong_with(corpus); !wrong.empty()) return wrong;
    std::vector<PlainMessage> plain;
    for (std::uint32_t i = 0; i < corpus.size(); ++i) plain.push_back(*read_plainly(corpus[i]));
    inputs.plain.push_back(std::move(plain));
  }
  if (with_quickfix) inputs.quickfix = make_quickfix_peer(NFX_SOURCE_DIR "/dictionaries/FIX44.xml");
  return {};
}

MeasureOptions measure_options(const Options& options, const Group& group) {
  MeasureOptions measure;
  measure.repeats = options.repeats;
  measure.seed = options.seed;
  // The stream's rounds add up to its million messages, even in a quick run.
  measure.rounds = !group.shuffled ? 16 : options.quick ? 16 : 60;
  measure.slice_ns = options.quick ? 250'000 : 500'000;
  return measure;
}

RunFacts make_facts(const Options& options, const Inputs& inputs, unsigned core) {
  RunFacts facts;
  facts.benchmark = "wire";
  facts.machine = this_machine();
  for (const auto* table : all_kernels()) facts.instruction_sets.emplace_back(table->name);
  facts.clock = calibrate_clock();
  facts.own_cost_ticks = own_cost_ticks();
  facts.counters = PerfCounters{}.describe();
  facts.core = core;
  facts.seed = options.seed;
  facts.options = measure_options(options, Group{});
  for (const Corpus& corpus : inputs.corpora) {
    facts.corpora.push_back(
        {std::string{to_string(corpus.kind)}, corpus.size(), corpus.bytes.size(), digest(corpus.bytes)});
  }
  facts.notes.emplace_back(
      inputs.quickfix
          ? "QuickFIX verifies BodyLength, CheckSum and the dictionary's rules, and its prices are doubles; "
            "\"not validated\" leaves the dictionary's rules out"
          : "QuickFIX was not found when this was built (package libquickfix-dev): its rows are left out");
  facts.notes.emplace_back("each corpus is one busy second of a session, in random order");
  facts.notes.emplace_back(
      "the baseline reads every byte once and finds nothing; no parser that verifies CheckSum is faster");
  return facts;
}

int run(const Options& options) {
  const unsigned core = run_on_core(options.core);
  Inputs inputs;
  if (const std::string wrong = make_inputs(inputs, options.seed, true); !wrong.empty())
    throw WrongAnswerError("the corpus: " + wrong);
  const RunFacts facts = make_facts(options, inputs, core);
  print_facts(stdout, facts);

  const auto switches_before = nfx::read_thread_stats().involuntary_switches;
  std::vector<GroupResult> results;
  for (const NamedGroup& named : groups) {
    if (!options.only.empty() && options.only != named.name) continue;
    const Group group = named.make(inputs);
    auto result = measure(group, measure_options(options, group), facts.clock, facts.own_cost_ticks);
    if (!result) throw WrongAnswerError(to_string(result.error()));
    print_table(stdout, *result);
    std::fflush(stdout);
    results.push_back(*std::move(result));
  }
  if (const auto switches = nfx::read_thread_stats().involuntary_switches; switches && switches_before) {
    std::printf("\nthe kernel gave the core to others %llu times; those batches are in p99.9 and max\n",
                static_cast<unsigned long long>(*switches - *switches_before));
  }
  if (!options.json_file.empty()) write_file(options.json_file, to_json(facts, results));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const nfx::cli::Command program{
      .name = "bench_wire",
      .summary = "Cost of indexing, reading and encoding FIX messages, compared with a baseline and with QuickFIX",
      .options = {{.names = "--quick", .target = &options.quick, .help = "All groups in less than 30 seconds"},
                  repeats_option(options.repeats),
                  seed_option(options.seed),
                  core_option(options.core),
                  json_option(options.json_file),
                  {.names = "--only",
                   .target = &options.only,
                   .help = "One group",
                   .one_of = {"index", "reads", "encode", "stream"}}},
  };
  return run_program(program, argc, argv, [&] { return run(options); });
}
