// Measures the effect of pinning and isolating a CPU on parsing, on an order's round trip and on a busy-polling thread,
// on an idle and on a busy host: bench_cpu_affinity --help. Exit status 1 if an answer is wrong, 2 if the run is not
// possible.
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "demo/report.hpp"
#include "demo/trader.hpp"
#include "demo/venue.hpp"
#include "harness/cycle_clock.hpp"
#include "harness/figures.hpp"
#include "harness/machine.hpp"
#include "harness/program.hpp"
#include "harness/report.hpp"
#include "host/hiccup_meter.hpp"
#include "isolation.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "noisy_processes.hpp"
#include "placement/place_thread.hpp"
#include "wire/corpus.hpp"

namespace {

using namespace nfx;
using namespace nfx::bench;
using app::Isolation;
using app::NoisyProcesses;

struct Options {
  std::uint32_t repeats = 5;
  std::uint32_t warm_up = 10'000;
  std::uint32_t measured = 100'000;
  unsigned load = 4;
  double hiccup_seconds = 2;
  bool no_isolation = false;
  std::string json_file;
};

enum class Placing : std::uint8_t { anywhere, pinned, isolated };

struct Condition {
  const char* name;
  Placing placing;
  bool load;
};

constexpr std::array conditions{
    Condition{"not pinned", Placing::anywhere, false}, Condition{"pinned", Placing::pinned, false},
    Condition{"isolated", Placing::isolated, false},   Condition{"not pinned, load", Placing::anywhere, true},
    Condition{"pinned, load", Placing::pinned, true},  Condition{"isolated, load", Placing::isolated, true},
};

struct Repeat {
  Figures parse_ns;  // per message
  Figures round_trip_us;
  Figures hiccup_us;  // the worst gap per millisecond
  double lost_percent = 0;
  CounterRates counters;  // of parsing and round trips
};

// Batches are long enough for the clock; every message differs.
Figures time_parsing(const Corpus& corpus, const Options& options, const CycleClock& clock) {
  constexpr std::uint32_t batch = 50;
  MessageView view{96};
  LatencyHistogram picoseconds;
  std::uint64_t fields = 0, expected = 0;
  for (std::uint32_t i = 0; i < corpus.size(); ++i) {
    if (view.parse(corpus[i]) != WireError::none) throw WrongAnswerError("a message of the corpus is not parsed");
    expected += static_cast<std::uint64_t>(view.size());
  }
  std::uint32_t next = 0;
  const auto run = [&](std::uint32_t messages) {
    for (std::uint32_t i = 0; i < messages; ++i) {
      fields += view.parse(corpus[next]) == WireError::none ? static_cast<std::uint64_t>(view.size()) : 0;
      next = (next + 1) % corpus.size();
    }
  };
  for (std::uint32_t done = 0; done < options.warm_up; done += batch) run(batch);
  fields = next = 0;
  const std::uint32_t whole = (options.measured / corpus.size()) * corpus.size();
  std::uint64_t fields_of_whole = 0;
  for (std::uint32_t done = 0; done < options.measured;) {
    const std::uint32_t count = std::min(batch, done < whole ? whole - done : options.measured - done);
    const std::uint64_t begin = ticks_before();
    run(count);
    const std::uint64_t end = ticks_after();
    picoseconds.record(static_cast<std::uint64_t>(clock.to_ns(static_cast<double>(end - begin)) * 1000 / count));
    done += count;
    if (done == whole) fields_of_whole = fields;
  }
  if (fields_of_whole != expected * (whole / corpus.size())) throw WrongAnswerError("parsing found other fields");
  return figures_of(picoseconds, 1000);
}

// Both engines on the calling thread, in turn, over TCP on loopback. The time includes both engines and the kernel, but
// not the wake-up of another CPU.
Figures time_round_trips(const Options& options, std::uint64_t seed, const Isolation* isolation) {
  using namespace app::demo;
  Trader trader{{{.name = "warm-up", .requests = options.warm_up, .window = 1, .reported = false},
                 {.name = "one at a time", .requests = options.measured, .window = 1}},
                seed};
  Venue venue{trader.total_requests()};
  const auto engine_of = [](Role role, Endpoint endpoint, Callbacks program) {
    EngineConfig config;
    config.idle = IdleMode::spin;
    SessionSettings settings;
    settings.session.role = role;
    settings.session.sender_comp_id = role == Role::acceptor ? "VENUE" : "TRADER";
    settings.session.target_comp_id = role == Role::acceptor ? "TRADER" : "VENUE";
    settings.prefault = true;
    (role == Role::acceptor ? settings.listen : settings.connect.emplace_back()) = std::move(endpoint);
    config.sessions = {settings};
    return Engine{std::move(config), std::move(program)};
  };
  Engine serving = engine_of(Role::acceptor, {"127.0.0.1", 0}, venue);
  serving.start();
  Engine trading = engine_of(Role::initiator, {"127.0.0.1", serving.local_endpoint(0)->port}, trader);
  trading.start();
  while (!trader.done() || !venue.done()) {
    trading.turn(Duration::zero());
    serving.turn(Duration::zero());
    if (isolation != nullptr && isolation->interrupted())
      throw std::runtime_error("interrupted; everything on the host is as it was");
  }
  if (!trader.completed()) throw WrongAnswerError("the session ended before all requests were answered");
  app::demo::Outcome outcome;
  outcome.trader = &trader;
  outcome.venue.counts = venue.counts();
  outcome.venue.orders = venue.summaries();
  outcome.venue.next_inbound = value(serving.session(0)->next_inbound());
  outcome.venue.next_outbound = value(serving.session(0)->next_outbound());
  outcome.trader_next_inbound = value(trading.session(0)->next_inbound());
  outcome.trader_next_outbound = value(trading.session(0)->next_outbound());
  if (const auto problems = disagreements(outcome); !problems.empty()) throw WrongAnswerError(problems.front());
  return figures_of(trader.phases()[1].round_trip, 1000);
}

// The gaps of a thread that only reads a clock.
void measure_gaps(Repeat& repeat, Placing placing, const Options& options, int cpu) {
  HiccupOptions how;
  how.cpus = {cpu};
  how.pinned = placing != Placing::anywhere;
  how.duration = std::chrono::nanoseconds{static_cast<std::int64_t>(options.hiccup_seconds * 1e9)};
  const std::atomic<bool> stop{false};
  const HiccupRun run = measure_hiccups(how, stop);
  if (run.cpus.empty() || !run.cpus[0].error.empty())
    throw std::runtime_error("cannot measure gaps: " + (run.cpus.empty() ? "no CPU" : run.cpus[0].error));
  LatencyHistogram worst;
  for (const std::uint64_t gap_ns : run.cpus[0].window_worst_ns) worst.record(gap_ns);
  repeat.hiccup_us = figures_of(worst, 1000);
  repeat.lost_percent = 100 * static_cast<double>(run.cpus[0].lost_ns) /
                        static_cast<double>(std::max<std::uint64_t>(run.cpus[0].duration_ns, 1));
}

// Moves the calling thread as the condition requires.
void place(Placing placing, int cpu) {
  if (placing == Placing::anywhere) return;
  const AffinityResult result = place_thread({cpu});
  if (!result) throw std::runtime_error("cannot run on CPU " + std::to_string(cpu) + ": " + result.message());
}

// On a separate thread, because pinning cannot be undone.
Repeat measure_once(const Condition& condition, const Options& options, int cpu, const CycleClock& clock,
                    std::uint64_t seed) {
  Repeat repeat;
  std::exception_ptr thrown;
  std::optional<NoisyProcesses> load;
  if (condition.load) load.emplace(options.load);
  std::unique_ptr<Isolation> isolation;
  if (condition.placing == Placing::isolated) isolation = app::isolate(1);
  std::thread thread{[&] {
    try {
      place(condition.placing, cpu);
      const Corpus corpus = make_corpus(Kind::execution_report, seed);
      const PerfCounters counters;
      const PerfCounters::Totals before = counters.read();
      repeat.parse_ns = time_parsing(corpus, options, clock);
      repeat.round_trip_us = time_round_trips(options, seed, isolation.get());
      repeat.counters = counters.rates(difference(counters.read(), before), options.measured);
    } catch (...) {
      thrown = std::current_exception();
    }
  }};
  thread.join();
  if (thrown) std::rethrow_exception(thrown);
  measure_gaps(repeat, condition.placing, options, cpu);
  return repeat;
}

using Repeats = std::array<std::vector<Repeat>, conditions.size()>;

// How many times better than the first condition of the same load: the median of the repeats' own ratios.
template <class Pick>
double ratio(const Repeats& all, std::size_t condition, const Pick& pick) {
  const std::size_t first = conditions[condition].load ? conditions.size() / 2 : 0;
  return middle_ratio(all[first], all[condition], pick);
}

void print(const char* title, const char* unit, const Repeats& all, Figures Repeat::* kind) {
  std::printf("\n%s, %s: medians of the repeats; x: times better at p99 and p99.9 than not pinned\n", title, unit);
  std::printf("  %-18s %10s %10s %10s %10s %10s %9s %9s\n", "", "mean", "p50", "p99", "p99.9", "max", "x p99",
              "x p99.9");
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    if (all[i].empty()) continue;
    const auto m = [&](double Figures::* which) {
      return middle(all[i], [&](const Repeat& each) { return each.*kind.*which; });
    };
    const auto x = [&](double Figures::* which) {
      return ratio(all, i, [&](const Repeat& each) { return each.*kind.*which; });
    };
    std::printf("  %-18s %10.2f %10.2f %10.2f %10.2f %10.1f %9.2f %9.2f\n", conditions[i].name, m(&Figures::mean),
                m(&Figures::p50), m(&Figures::p99), m(&Figures::p999), m(&Figures::max), x(&Figures::p99),
                x(&Figures::p999));
  }
}

// The same as a group of rows, for the file.
RepeatedGroup group_of(const char* name, const char* title, const char* unit, const Repeats& all,
                       Figures Repeat::* kind) {
  RepeatedGroup group{name, title, {}};
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    RepeatedRow row{.section = conditions[i].load ? "load" : "no load",
                    .name = conditions[i].name,
                    .baseline = conditions[i].placing == Placing::anywhere,
                    .unit = unit,
                    .note = all[i].empty() ? "isolation was left out" : "",
                    .repeats = {},
                    .counters = {}};
    for (const Repeat& each : all[i]) {
      row.repeats.push_back(each.*kind);
      row.counters.switches += each.counters.switches;
      row.counters.migrations += each.counters.migrations;
    }
    group.rows.push_back(std::move(row));
  }
  return group;
}

void write_results(const Options& options, int cpu, const CycleClock& clock, const Repeats& all) {
  RunFacts facts;
  facts.benchmark = "cpu_affinity";
  facts.machine = this_machine();
  facts.clock = clock;
  facts.counters = PerfCounters{}.describe();
  facts.core = static_cast<unsigned>(cpu);
  facts.options.repeats = options.repeats;
  facts.options.rounds = 1;
  write_file(
      options.json_file,
      to_json(facts, std::vector{group_of("parse", "parsing an ExecutionReport", "ns", all, &Repeat::parse_ns),
                                 group_of("round trip", "an order's round trip", "us", all, &Repeat::round_trip_us),
                                 group_of("gap", "worst gap of a millisecond", "us", all, &Repeat::hiccup_us)}));
}

int run(const Options& options) {
  std::printf("machine   %s\n", describe(this_machine()).c_str());
  std::printf("state     %s\n", describe_state(this_machine()).c_str());
  std::printf("measured  %u after %u of warm-up, %u repeats, conditions in turn; load: %u noisy processes\n",
              options.measured, options.warm_up, options.repeats, options.load);
  const int cpu = app::cpus_to_isolate(1).front();
  std::printf("CPU       %d, where pinned or isolated\n", cpu);
  const CycleClock clock = calibrate_clock();
  Repeats all;
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    for (std::size_t i = 0; i < conditions.size(); ++i) {
      if (options.no_isolation && conditions[i].placing == Placing::isolated) continue;
      all[i].push_back(measure_once(conditions[i], options, cpu, clock, repeat + 1));
      const Repeat& last = all[i].back();
      std::fprintf(stderr, "repeat %u, %-18s round trip p50 %.1f p99 %.1f us, hiccups p99 %.1f us\n", repeat + 1,
                   conditions[i].name, last.round_trip_us.p50, last.round_trip_us.p99, last.hiccup_us.p99);
    }
  }
  print("parsing an ExecutionReport", "ns", all, &Repeat::parse_ns);
  print("order round trip, both engines on one thread, TCP on loopback", "us", all, &Repeat::round_trip_us);
  print("worst gap per millisecond of a busy-polling thread", "us", all, &Repeat::hiccup_us);
  std::printf("\nCPU time lost, %%; context switches; migrations: medians of the repeats\n");
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    if (all[i].empty()) continue;
    std::printf("  %-18s %10.3f %10.0f %10.0f\n", conditions[i].name,
                middle(all[i], [](const Repeat& each) { return each.lost_percent; }),
                middle(all[i], [](const Repeat& each) { return static_cast<double>(each.counters.switches); }),
                middle(all[i], [](const Repeat& each) { return static_cast<double>(each.counters.migrations); }));
  }
  if (!options.json_file.empty()) write_results(options, cpu, clock, all);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const nfx::cli::Command program{
      .name = "bench_cpu_affinity",
      .summary = "What pinning and isolating a CPU does, on an idle and on a busy host",
      .options = {repeats_option(options.repeats),
                  {.names = "--warm-up",
                   .target = &options.warm_up,
                   .help = "Round trips before each repeat",
                   .range = {{100, 100'000'000}}},
                  {.names = "--measured",
                   .target = &options.measured,
                   .help = "Round trips of each repeat",
                   .range = {{1000, 100'000'000}}},
                  {.names = "--load",
                   .target = &options.load,
                   .help = "Noisy processes in the rows with load",
                   .range = {{1, 1024}}},
                  {.names = "--hiccup-seconds",
                   .target = &options.hiccup_seconds,
                   .help = "How long to measure gaps",
                   .range = {{0.1, 600}}},
                  json_option(options.json_file),
                  {.names = "--no-isolation",
                   .target = &options.no_isolation,
                   .help = "Leave out what needs root and changes the host while it runs"}},
      .details =
          "While a CPU is isolated, all other tasks and interrupts are moved off it; they are restored afterwards.",
  };
  return run_program(program, argc, argv, [&] { return run(options); });
}
