// nfx t2m: how long market data takes from the kernel to a model, and to an order, on this machine.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <stdexcept>

#include "base/error_text.hpp"
#include "command.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "output.hpp"
#include "report/report.hpp"
#include "t2m/report.hpp"
#include "t2m/run.hpp"

namespace nfx::app {
namespace t2m {
namespace {

struct Options {
  std::string feed = "itch";
  std::string mode = "block";
  std::string load = "poisson";
  RunOptions run;
  std::uint32_t slowest = 10;
  std::string json_file;
  std::string report_file;
};

template <class Enum, class Names>
Enum chosen(const std::string& text, const Names& names) {
  return static_cast<Enum>(std::ranges::find(names, text) - names.begin());
}

RunOptions read(const Options& options) {
  RunOptions run = options.run;
  run.messages.feed = chosen<FeedKind>(options.feed, feed_kinds);
  run.messages.load = chosen<LoadKind>(options.load, load_kinds);
  run.mode = chosen<WaitMode>(options.mode, wait_modes);
  if (run.messages.load == LoadKind::recorded && run.messages.recording.empty())
    throw ConfigError("--load recorded takes its times from a file: give --recording FILE.dbn");
  return run;
}

std::vector<cli::Option> message_options(Options& options) {
  MessageOptions& messages = options.run.messages;
  return {
      {.names = "--feed",
       .target = &options.feed,
       .help = "Feed: NASDAQ ITCH over MoldUDP64; DBN in datagrams; ws: book tickers by websocket; fix: the "
               "demonstration's venue, by the session that takes the orders",
       .one_of = {feed_kinds.begin(), feed_kinds.end()}},
      {.names = "--load",
       .target = &options.load,
       .help = "Arrival of messages: independent of each other, in bursts, or at the intervals of a recording",
       .one_of = {load_kinds.begin(), load_kinds.end()}},
      {.names = "--rate",
       .target = &messages.rate_per_s,
       .help = "Messages per second, on average",
       .range = {{1, 2'000'000}}},
      {.names = "--burst",
       .target = &messages.burst,
       .help = "Messages per burst; about one arrival in fifty is a burst",
       .range = {{1, 10'000}}},
      {.names = "--recording",
       .target = &messages.recording,
       .help = "DBN file whose times --load recorded uses",
       .kind = cli::Kind::existing_file},
      {.names = "--messages",
       .target = &messages.messages,
       .help = "Messages to measure, after the messages that build the books",
       .range = {{100, 5'000'000}}},
      {.names = "--seed", .target = &messages.seed, .help = "Random seed of the market"},
  };
}

template <class... Lists>
std::vector<cli::Option> joined(Lists&&... lists) {
  std::vector<cli::Option> all;
  (all.insert(all.end(), lists.begin(), lists.end()), ...);
  return all;
}

void write(const std::string& file, const std::string& text) {
  std::ofstream out{file, std::ios::binary};
  out << text;
  if (!out.flush()) throw std::runtime_error(cannot("write", file, errno));
}

void write_files(const Options& options, std::span<const RunResult> runs) {
  if (!options.json_file.empty()) write(options.json_file, to_json(runs));
  if (!options.report_file.empty())
    write(options.report_file, report_page(ReportKind::t2m, "Tick to model", to_json(runs)));
}

std::vector<cli::Option> file_options(Options& options) {
  return {{.names = "--report",
           .target = &options.report_file,
           .help = "Also write a self-contained HTML page with charts",
           .kind = cli::Kind::file},
          {.names = "--json",
           .target = &options.json_file,
           .help = "Also write the result to this file",
           .kind = cli::Kind::file}};
}

bool complete(const RunResult& result) {
  return result.missing == 0 && result.anomalies == 0 && result.messages + result.not_kept != 0;
}

int run_command(const Options& options) {
  const RunResult result = run_once(read(options));
  SafeText out;
  print_run(out, result, options.slowest);
  print(out);
  write_files(options, {&result, 1});
  return complete(result) ? exit_done : exit_failed;
}

cli::Command run_row() {
  static Options options;
  return {
      .name = "run",
      .summary = "Measure one publisher and one receiver, and show where the time of each message goes",
      .run = [] { return run_command(options); },
      .options = joined(
          std::vector<cli::Option>{
              {.names = "--names", .target = &options.run.messages.names, .help = "Instruments", .range = {{1, 1000}}},
              {.names = "--mode",
               .target = &options.mode,
               .help = "Idle mode of the receiver's thread",
               .one_of = {wait_modes.begin(), wait_modes.end()}},
              {.names = "--pin",
               .target = &options.run.pin,
               .help = "Pin only the receiver's thread, as a plan for this machine would"},
              {.names = "--isolate",
               .target = &options.run.isolate,
               .help = "As --pin, and keep everything else off its CPU while it runs; needs root"},
              {.names = "--noise",
               .target = &options.run.noise,
               .help = "Start this many processes that use all the CPU time they get",
               .range = {{0, 1024}},
               .default_text = "0"},
              {.names = "--orders",
               .target = &options.run.orders,
               .help = "Quote the first name at the demonstration's venue, by FIX, from the same thread"},
              {.names = "--record",
               .target = &options.run.record,
               .help = "Record everything received to this folder; 'nfx t2m replay' makes the same books and orders "
                       "from it",
               .kind = cli::Kind::folder},
              {.names = "--slow-model-every",
               .target = &options.run.slow_model_every,
               .help = "Use a model that takes 50 us for one message in N",
               .value = "N",
               .default_text = "never"}},
          message_options(options),
          std::vector<cli::Option>{{.names = "--slowest",
                                    .target = &options.slowest,
                                    .help = "Number of slowest messages shown; --json has 100",
                                    .range = {{0, 100}}}},
          file_options(options)),
      .details =
          "The publisher is a separate process that sends each message when it is due, whether or not the receiver "
          "keeps up (open loop). Each message states when it was due, so latencies 'from due' include the delays of "
          "publisher and network. A percentile is shown if at least ten messages exceed it.",
      .exit_codes =
          "0 done, 1 messages were lost or did not fit the books, 2 wrong usage, or a plan that this machine cannot "
          "keep",
      .examples = {{.line = "nfx t2m run --feed itch --names 4", .about = "from the kernel's stamp to the model"},
                   {.line = "nfx t2m run --mode spin --isolate --orders --json run.json"}},
  };
}

int replay_command(const std::string& recording) {
  const ReplayResult result = replay(recording);
  print("{}: {} inputs, {} orders {}; books {}\n{}\n", feed_kinds[std::to_underlying(result.feed)], result.inputs,
        result.orders, result.order_hash, result.book_hash, result.end);
  return result.complete ? exit_done : exit_failed;
}

cli::Command replay_row() {
  static std::string recording;
  return {
      .name = "replay",
      .summary = "Make the books and orders of a recorded run again, with the same code",
      .run = [] { return replay_command(recording); },
      .options = {{.names = "RECORDING",
                   .target = &recording,
                   .help = "Folder of 'nfx t2m run --record'",
                   .required = true,
                   .kind = cli::Kind::existing_folder}},
      .details = "Prints the number of orders, and the hashes of orders and books, which are equal to the run's.",
      .exit_codes = "0 done, 1 the recording is torn or damaged, 2 wrong usage, or another recording",
      .examples = {{.line = "nfx t2m replay today"}},
  };
}

struct CompareOptions {
  Options common;
  std::uint32_t runs = 5;
  std::uint32_t noise = 2;
  bool no_isolate = false;
};

bool by_datagrams(const Options& options) { return row_of(read(options).messages.feed).datagrams; }

std::vector<ComparisonRow> table_of(const CompareOptions& options, std::uint16_t names) {
  std::vector<ComparisonRow> table;
  const auto add = [&](const Condition& condition, unsigned noise, bool raw) {
    table.push_back({.condition = condition, .noise = noise, .raw = raw});
    if (condition.isolate && options.no_isolate) table.back().left_out = "--no-isolate";
  };
  for (const Condition& each : compared_conditions) {
    add(each, 0, false);
    if (names == 1 && by_datagrams(options.common)) add(each, 0, true);
  }
  for (const Condition& each : compared_conditions) {
    if (options.noise != 0) add(each, options.noise, false);
  }
  return table;
}

// Each condition once. One that this machine refuses is left out from then on.
void run_turn(std::vector<ComparisonRow>& table, const CompareOptions& options, std::uint16_t names) {
  for (ComparisonRow& row : table) {
    if (!row.left_out.empty()) continue;
    RunOptions run = read(options.common);
    run.mode = WaitMode::spin;
    run.messages.names = names;
    run.pin = row.condition.pin;
    run.isolate = row.condition.isolate;
    run.noise = row.noise;
    run.raw = row.raw;
    try {
      row.runs.push_back(run_once(run));
    } catch (const std::runtime_error& error) {
      row.left_out = error.what();
    }
  }
}

// Prints each warning once: several runs repeat them with other counts.
void print_warnings(SafeText& out, std::span<const RunResult> runs) {
  std::set<std::string> printed;
  for (const RunResult& run : runs) {
    for (const std::string& warning : run.warnings) {
      std::string without_counts = warning;
      std::erase_if(without_counts, [](char c) { return c >= '0' && c <= '9'; });
      if (printed.insert(without_counts).second) out.add("warning: {}\n", warning);
    }
  }
}

int compare_command(const CompareOptions& options) {
  SafeText out;
  std::vector<RunResult> all;
  for (const std::uint16_t names : {std::uint16_t{1}, std::uint16_t{4}}) {
    std::vector<ComparisonRow> table = table_of(options, names);
    // In turns, so that a slow phase of the machine is in all of them.
    for (std::uint32_t turn = 0; turn < options.runs; ++turn) {
      print_error(made("{} names, turn {} of {}\n", names, turn + 1, options.runs));
      run_turn(table, options, names);
    }
    if (!all.empty()) out += "\n";
    out.add("{} names, {} {}/s, {} messages a run, the median of {} runs\n", names, options.common.load,
            static_cast<std::uint64_t>(options.common.run.messages.rate_per_s), options.common.run.messages.messages,
            options.runs);
    print_comparison(out, table);
    for (ComparisonRow& each : table) std::ranges::move(each.runs, std::back_inserter(all));
  }
  print_warnings(out, all);
  print(out);
  write_files(options.common, all);
  return std::ranges::all_of(all, complete) ? exit_done : exit_failed;
}

cli::Command compare_row() {
  static CompareOptions options = [] {
    CompareOptions defaults;
    defaults.common.run.messages.messages = 20'000;
    return defaults;
  }();
  return {
      .name = "compare",
      .summary =
          "Compare busy-polling, pinned and isolated receivers, with and without noisy processes, for one name and "
          "four",
      .run = [] { return compare_command(options); },
      .options = joined(message_options(options.common),
                        std::vector<cli::Option>{{.names = "--runs",
                                                  .target = &options.runs,
                                                  .help = "Runs of each condition, interleaved",
                                                  .range = {{1, 100}}},
                                                 {.names = "--noise",
                                                  .target = &options.noise,
                                                  .help = "Noisy processes in the second half; 0: without that half",
                                                  .range = {{0, 1024}}},
                                                 {.names = "--no-isolate",
                                                  .target = &options.no_isolate,
                                                  .help = "Change nothing on this host: leave the isolated rows out"}},
                        file_options(options.common)),
      .details =
          "Each percentile is the median over the runs. Isolation needs root; without root its rows are left out. For "
          "each run it does what 'nfx host apply --runtime' does, and restores everything. The raw rows are a loop "
          "around recvmsg() on the same socket with the same kernel stamps, without feed, book or model, for one name "
          "by datagrams.",
      .exit_codes = "0 done, 1 messages were lost, 2 wrong usage",
      .examples = {{.line = "nfx t2m compare", .about = "what pinning and isolation are worth on this machine"}},
  };
}

}  // namespace

}  // namespace t2m

cli::Command t2m_command() {
  return {
      .name = "t2m",
      .summary = "Tick to model to order: measure it on this machine, stage by stage",
      .commands = {t2m::run_row(), t2m::compare_row(), t2m::replay_row()},
      .exit_codes = "0 done, 1 messages were lost, 2 wrong usage, or a plan that this machine cannot keep",
  };
}

}  // namespace nfx::app
