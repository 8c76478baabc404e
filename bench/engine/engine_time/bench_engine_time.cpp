// Measures the engine's own time per message, without the kernel, with and without a journal: from the last byte of an
// order to on_message, and from send() of a report until the transport has its bytes. bench_engine_time --help. Exit
// status 1 if an answer is wrong, 2 if the run is not possible.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/counter_clock.hpp"
#include "engine_time/after_silence.hpp"
#include "engine_time/one_session.hpp"
#include "harness/figures.hpp"
#include "harness/machine.hpp"
#include "harness/measure.hpp"
#include "harness/program.hpp"
#include "harness/report.hpp"
#include "harness/scratch_folder.hpp"
#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/dictionary/validator.hpp"
#include "nexusfix/engine/latency.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "nexusfix/wire/framer.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace {

using namespace nfx;
using namespace nfx::bench;

constexpr std::uint32_t orders_of_long_read = 64;
constexpr std::uint32_t parts = 4;  // parts of a repeat

struct Options {
  std::uint32_t repeats = 21;
  std::uint32_t warm_up = 5000;
  std::uint32_t measured = 25'000;
  std::uint32_t pace_ns = 4000;
  std::string folder;
  bool dictionary = true;
  bool waits = false;
  bool silence = false;
  SilenceOptions after;
};

// The account of the engine's time, phase by phase, in two ways: between points of the engine, and by calling functions
// alone with the same messages at the same pace. A phase without a point at one end is the difference of both.

struct TimeOptions {
  std::uint32_t measured = 0;
  std::uint32_t pace_ns = 0;
};

struct EnginePhase {
  const char* name;
  const char* what;
  bool incoming;
  bool measured;  // measured directly; a difference has no percentiles
};
const std::vector<EnginePhase>& engine_phases() {
  static const std::vector<EnginePhase> all{
      {"receive", "bytes handed over, to the clock's reading", true, true},
      {"frame", "FrameReader::next alone", true, true},
      {"index", "to on_traffic, less frame", true, false},
      {"validate", "validate() alone", true, true},
      {"session", "to on_message, less validate", true, false},
      {"compose", "send() to on_traffic, less store", false, false},
      {"store", "SessionStore::append alone", false, true},
      {"send's end", "on_traffic to the end of send()", false, true},
      {"hand over", "to the transport, with the number received stored", false, true},
  };
  return all;
}

// Calls `prepare(i)` and then, when due, `call()`; times only the latter.
template <class Prepare, class Call>
Figures time_alone(const TimeOptions& options, const CycleClock& clock, double own, const Prepare& prepare,
                   const Call& call) {
  const auto pace = static_cast<std::uint64_t>(options.pace_ns * clock.ticks_per_ns);
  const std::uint32_t warm_up = options.measured / 10;
  std::vector<std::uint32_t> ticks;
  std::uint64_t due = ticks_before();
  for (std::uint32_t i = 0; i < warm_up + options.measured; ++i) {
    prepare(i);
    due += pace;
    while (ticks_before() < due) {
    }
    const std::uint64_t begin = ticks_before();
    call();
    const std::uint64_t end = ticks_after();
    if (i >= warm_up) ticks.push_back(static_cast<std::uint32_t>(end - begin));
  }
  return figures_of_ticks(ticks, clock, own);
}

Figures time_frame(OneSession& session, const TimeOptions& options, const CycleClock& clock, double own) {
  FrameReader frames;
  std::string_view order;
  Frame frame;
  return time_alone(
      options, clock, own,
      [&](std::uint32_t) {
        if (!order.empty() && (frame.status != FrameStatus::complete || frame.size != order.size()))
          throw WrongAnswerError("an order has another frame");
        order = session.peek_order();
      },
      [&] {
        frame = frames.next(order);
        keep(frame);
      });
}

Figures time_validate(OneSession& session, const TimeOptions& options, const CycleClock& clock, double own) {
  const SessionSettings& settings = session.settings();
  if (settings.dictionary == nullptr) return {};
  MessageView view;
  ValidationReport report;
  bool wrong = false;
  return time_alone(
      options, clock, own,
      [&](std::uint32_t) {
        if (wrong || view.parse(session.peek_order()) != WireError::none) throw WrongAnswerError("an order is refused");
      },
      [&] { wrong = validate(view, *settings.dictionary, settings.session.validation, report).has_value(); });
}

Figures time_append(OneSession& session, const TimeOptions& options, const CycleClock& clock, double own) {
  SessionStore store = session.open_second_store();
  std::string message;
  std::uint64_t seq = 0;
  UtcTime now{std::chrono::seconds{1'795'000'000}};
  const Figures figures = time_alone(
      options, clock, own,
      [&](std::uint32_t i) {
        // As long as the report that a session makes from it.
        message.assign(session.report_body(i)).resize(report_size, 'x');
        now += std::chrono::microseconds{4};
        ++seq;
        // In case the disk is slower than the pace.
        const auto begin = std::chrono::steady_clock::now();
        while (store.journal() != nullptr && !store.journal()->accepts(message.size())) {
          std::this_thread::yield();
          if (std::chrono::steady_clock::now() - begin > std::chrono::seconds{20})
            throw WrongAnswerError("the second store took no message for 20 s: " + store.journal()->condition_text());
        }
      },
      [&] { static_cast<void>(store.append(SeqNum{seq}, message, now)); });
  const auto last = store.read(SeqNum{seq});
  if (!last || *last != message) throw WrongAnswerError("the store has another message");
  session.close_second_store(std::move(store));
  return figures;
}

Figures less(const Figures& whole, const Figures& part) { return {.mean = std::max(0.0, whole.mean - part.mean)}; }

// One row for each phase, over `measured` messages. Throws WrongAnswerError.
std::vector<Figures> account_of(OneSession& session, const TimeOptions& options, const CycleClock& clock, double own) {
  constexpr std::array segments{
      std::pair{Point::bytes_in, Point::time_read},     std::pair{Point::time_read, Point::message_read},
      std::pair{Point::message_read, Point::delivered}, std::pair{Point::send_begins, Point::encoded},
      std::pair{Point::encoded, Point::send_ends},      std::pair{Point::send_ends, Point::handed_over}};
  std::array<std::vector<std::uint32_t>, segments.size()> ticks;
  session.exchange(options.measured, options.pace_ns, clock, true, [&](const Marks& marks) {
    for (std::size_t i = 0; i < segments.size(); ++i)
      ticks[i].push_back(marks.between(segments[i].first, segments[i].second));
  });
  std::array<Figures, segments.size()> between;
  for (std::size_t i = 0; i < segments.size(); ++i) between[i] = figures_of_ticks(ticks[i], clock, own);
  const auto& [receive, read, step, encode, send_end, hand_over] = between;
  const Figures frame = time_frame(session, options, clock, own);
  const Figures check = time_validate(session, options, clock, own);
  const Figures append = time_append(session, options, clock, own);
  return {receive, frame,    less(read, frame), check, less(step, check), less(encode, append),
          append,  send_end, hand_over};
}

// The compared sessions.
struct Variant {
  const char* name;
  StoreKind store;
  Durability durability;
  bool latency;
};
constexpr std::array variants{Variant{"memory", StoreKind::memory, Durability::none, true},
                              Variant{"memory, not timed", StoreKind::memory, Durability::none, false},
                              Variant{"journal, none", StoreKind::journal, Durability::none, true},
                              Variant{"journal, interval", StoreKind::journal, Durability::interval, true}};

// The results of one store over all repeats.
struct Results {
  std::vector<Figures> in, out, iteration, idle;
  std::vector<Figures> long_read;             // an iteration with a read of many orders
  std::vector<std::vector<Figures>> account;  // by phase
};

void print_account(const std::vector<Results>& results) {
  std::printf("\naccount: mean of the undisturbed (p99), medians of the repeats; a reading ends what overlaps\n");
  for (std::size_t i = 0; i < results.size(); ++i) {
    double in = 0, out = 0;
    for (std::size_t phase = 0; phase < engine_phases().size(); ++phase) {
      const EnginePhase& each = engine_phases()[phase];
      const std::vector<Figures>& repeats = results[i].account[phase];
      const double mean = middle(repeats, &Figures::mean);
      (each.incoming ? in : out) += mean;
      std::printf("%-10s %-50s %-18s %7.1f", each.name, each.what, variants[i].name, mean);
      if (each.measured) std::printf(" (%.0f)", middle(repeats, &Figures::p99));
      std::printf("\n");
    }
    std::printf("%-10s %-50s %-18s %7.1f in, %.1f out\n", "sum", "", variants[i].name, in, out);
  }
}

// The cost of the engine's own stage timing: the same session with and without it, in each repeat.
void print_cost(const Results& timed, const Results& not_timed) {
  const auto cost = [&](std::vector<Figures> Results::* of) {
    return middle_difference(timed.*of, not_timed.*of, &Figures::mean);
  };
  const auto ratio = [&](std::vector<Figures> Results::* of, double Figures::* figure) {
    return middle_ratio(timed.*of, not_timed.*of, figure);
  };
  std::printf("\ntimed against not timed, of an iteration: p50 %.3f, p99 %.3f; of in: %.3f, %.3f; of out: %.3f, %.3f",
              ratio(&Results::iteration, &Figures::p50), ratio(&Results::iteration, &Figures::p99),
              ratio(&Results::in, &Figures::p50), ratio(&Results::in, &Figures::p99),
              ratio(&Results::out, &Figures::p50), ratio(&Results::out, &Figures::p99));
  std::printf(
      "\ntiming the stages costs %.1f ns of an iteration, %.1f for each of its two messages (%.1f of in, %.1f of "
      "out),\n"
      "and %.1f ns of the iteration after it, which counts them; %.1f for each of two messages in a read of %u "
      "orders,\n"
      "counting included, of %.0f ns\n",
      cost(&Results::iteration), cost(&Results::iteration) / 2, cost(&Results::in), cost(&Results::out),
      cost(&Results::idle), cost(&Results::long_read) / (2 * orders_of_long_read), orders_of_long_read,
      middle(timed.long_read, &Figures::mean) / (2 * orders_of_long_read));
}

// The cost of the parts of a measurement, each alone: a stamp, and counting a latency.
void print_stamps(const CycleClock& clock) {
  constexpr std::uint32_t rounds = 200'000;
  const CounterClock<> stamps;
  const auto warm = std::chrono::steady_clock::now() + 2 * CounterClock<>::first_measure;
  while (std::chrono::steady_clock::now() < warm) keep(stamps.monotonic());
  const auto counts = std::make_unique<LatencySet>();
  std::array<double, 2> least{1e9, 1e9};
  for (int repeat = 0; repeat < 5; ++repeat) {
    const std::uint64_t begin = ticks_before();
    for (std::uint32_t i = 0; i < rounds; ++i) keep(stamps.monotonic());
    const std::uint64_t between = ticks_after();
    for (std::uint32_t i = 0; i < rounds; ++i)
      counts->of[i % session_stage_count].record(std::uint64_t{i} * 2654435761U % 5000);
    const std::uint64_t end = ticks_after();
    keep(counts->of[0].sum());
    least = {std::min(least[0], clock.to_ns(static_cast<double>(between - begin)) / rounds),
             std::min(least[1], clock.to_ns(static_cast<double>(end - between)) / rounds)};
  }
  std::printf("a message that is answered has two stamps of %.1f ns and four latencies of %.1f ns\n", least[0],
              least[1]);
}

// The samples of one session in one repeat.
struct Samples {
  std::vector<std::uint32_t> in, out, iteration, idle, long_read;
};

void measure(OneSession& session, std::uint32_t warm_up, std::uint32_t measured, std::uint32_t pace_ns,
             const CycleClock& clock, Samples& samples) {
  session.exchange(warm_up, pace_ns, clock, false, [](const Marks&) {});
  session.exchange(measured, pace_ns, clock, false, [&](const Marks& marks) {
    samples.in.push_back(marks.between(Point::bytes_in, Point::delivered));
    samples.out.push_back(marks.between(Point::send_begins, Point::handed_over));
    samples.iteration.push_back(static_cast<std::uint32_t>(marks.iteration));
    samples.idle.push_back(static_cast<std::uint32_t>(marks.idle));
  });
  if (session.settings().store_kind != StoreKind::memory) return;
  session.exchange_reads(measured / orders_of_long_read + 1, orders_of_long_read, [&](const Marks& marks) {
    samples.long_read.push_back(static_cast<std::uint32_t>(marks.iteration + marks.idle));
  });
}

// The i-th variant to measure: each variant gets each place equally often, forwards and backwards.
constexpr std::size_t nth(std::uint32_t round, std::size_t i) {
  const std::size_t place = (i + round / 2) % variants.size();
  return round % 2 == 0 ? place : variants.size() - 1 - place;
}

int run(const Options& options) {
  const CpuSet allowed = CpuAffinity::get();
  const unsigned core = run_on_core(std::nullopt);
  const CycleClock clock = calibrate_clock();
  const double own = own_cost_ticks();
  const ScratchFolder folder{"engine-time", options.folder};
  SessionChoice choice;
  choice.helpers = allowed.size() == 1 ? allowed : allowed - CpuSet{static_cast<int>(core)};
  if (options.dictionary)
    choice.dictionary = std::make_shared<const Dictionary>(load_dictionary(NFX_SOURCE_DIR "/dictionaries/FIX44.xml"));
  if (options.waits) choice.max_wait = std::chrono::milliseconds{1};
  if (options.silence) {
    SilenceOptions after = options.after;
    after.repeats = options.repeats;
    after.folder = folder.path();
    after.own = own;
    std::printf("%s; core %u\n", describe(this_machine()).c_str(), core);
    measure_after_silence(after, choice, clock);
    return 0;
  }
  std::vector<Results> results(variants.size());
  for (Results& each : results) each.account.resize(engine_phases().size());
  std::size_t order_bytes = 0, report_bytes = 0;
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    // Created anew each time, because the placement of their memory changes an iteration by some per cent.
    choice.folder = folder.path() / std::to_string(repeat);
    std::array<std::unique_ptr<OneSession>, variants.size()> sessions;
    for (std::size_t i = 0; i < variants.size(); ++i) {
      const std::size_t chosen = nth(repeat, i);
      const Variant& variant = variants[chosen];
      choice.name = variant.name;
      choice.latency = variant.latency;
      choice.store = variant.store;
      choice.durability = variant.durability;
      sessions[chosen] = std::make_unique<OneSession>(choice);
    }
    std::vector<Samples> samples(variants.size());
    for (std::uint32_t part = 0; part < parts; ++part) {
      for (std::size_t i = 0; i < variants.size(); ++i) {
        const std::size_t chosen = nth(repeat * parts + part, i);
        measure(*sessions[chosen], options.warm_up / parts, options.measured / parts, options.pace_ns, clock,
                samples[chosen]);
      }
    }
    for (std::size_t i = 0; i < variants.size(); ++i) {
      results[i].in.push_back(figures_of_ticks(samples[i].in, clock, own));
      results[i].out.push_back(figures_of_ticks(samples[i].out, clock, own));
      results[i].iteration.push_back(figures_of_ticks(samples[i].iteration, clock, own));
      results[i].idle.push_back(figures_of_ticks(samples[i].idle, clock, own));
      if (!samples[i].long_read.empty())
        results[i].long_read.push_back(figures_of_ticks(samples[i].long_read, clock, own));
    }
    const TimeOptions shorter{std::max(options.measured / 5, 100U), options.pace_ns};
    for (std::size_t i = 0; i < variants.size(); ++i) {
      const std::vector<Figures> account = account_of(*sessions[i], shorter, clock, own);
      for (std::size_t phase = 0; phase < account.size(); ++phase) results[i].account[phase].push_back(account[phase]);
    }
    order_bytes = sessions[0]->order_bytes();
    report_bytes = sessions[0]->report_bytes();
    sessions = {};
    std::filesystem::remove_all(choice.folder);
  }
  std::printf("%s; core %u; clock step %.1f ns; own cost %.1f ns subtracted\n", describe(this_machine()).c_str(), core,
              clock.step_ns, clock.to_ns(own));
  std::printf("journals in %s\n", folder.describe().c_str());
  std::printf("orders of %zu B in, reports of %zu B out, one each %u ns, %s; medians of %u repeats of %u\n",
              order_bytes, report_bytes, options.pace_ns,
              options.dictionary ? "validated against FIX44.xml" : "header fields validated", options.repeats,
              options.measured);
  RepeatedGroup rows{"engine time", "ns, by store", {}};
  constexpr std::array<std::pair<const char*, std::vector<Figures> Results::*>, 3> paths{
      {{"last byte in -> on_message", &Results::in},
       {"send -> handed to the transport", &Results::out},
       {"iteration, both", &Results::iteration}}};
  for (const auto& [path, figures] : paths) {
    for (std::size_t i = 0; i < variants.size(); ++i) {
      rows.rows.push_back(empty_row(path, variants[i].name));
      rows.rows.back().repeats = results[i].*figures;
    }
  }
  print_table(stdout, rows);
  print_cost(results[0], results[1]);
  print_stamps(clock);
  print_account(results);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  bool header_only = false;
  const nfx::cli::Command program{
      .name = "bench_engine_time",
      .summary = "The engine's own time per message, without the kernel's",
      .options = {repeats_option(options.repeats),
                  {.names = "--warm-up", .target = &options.warm_up, .help = "Messages before each repeat"},
                  {.names = "--measured",
                   .target = &options.measured,
                   .help = "Messages of each repeat",
                   .range = {{100, 10'000'000}}},
                  {.names = "--pace-ns",
                   .target = &options.pace_ns,
                   .help = "Nanoseconds from one message to the next"},
                  {.names = "--waits",
                   .target = &options.waits,
                   .help = "Each iteration may wait for the network, as one of a poll thread that does not busy-poll"},
                  {.names = "--silence",
                   .target = &options.silence,
                   .help = "Instead, the first order after a silence, beside orders each 25 us"},
                  {.names = "--after-1ms",
                   .target = &options.after.after_1ms,
                   .help = "With --silence: orders of each repeat after 1 ms"},
                  {.names = "--after-100ms",
                   .target = &options.after.after_100ms,
                   .help = "With --silence: orders of each repeat after 100 ms"},
                  {.names = "--after-1s",
                   .target = &options.after.after_1s,
                   .help = "With --silence: orders of each repeat after 1 s"},
                  {.names = "--warm-up-us",
                   .target = &options.after.warm_up_us,
                   .help = "With --silence: after how long a silence the engine rehearses, in every second row"},
                  folder_option(options.folder, "--folder,--directory"),
                  {.names = "--header-only",
                   .target = &header_only,
                   .help = "Validate the header alone, without a dictionary"}},
  };
  return run_program(program, argc, argv, [&] {
    options.dictionary = !header_only;
    return run(options);
  });
}
