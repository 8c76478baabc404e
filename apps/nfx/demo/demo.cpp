// nfx demo: two processes, one FIX session, orders through a matching book, and a check that both sides agree.
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "command.hpp"
#include "config/placement.hpp"
#include "demo/baseline.hpp"
#include "demo/report.hpp"
#include "demo/trader.hpp"
#include "demo/venue_process.hpp"
#include "isolation.hpp"
#include "nexusfix/base/enum_values.hpp"
#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/engine/program.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "noisy_processes.hpp"
#include "output.hpp"

namespace nfx::app {
namespace {

using namespace demo;

struct Options {
  std::uint32_t orders = 50000;
  std::uint32_t rate = 20000;
  std::uint32_t window = 256;
  std::string idle = "auto";
  std::string json;
  std::uint64_t seed = 1;
  bool no_dictionary = false;
  unsigned noise = 0;
  bool isolate = false;
  bool no_latency = false;
  std::string control;
};

// In the open loop. Due requests then wait in the trader, not in buffers that the reports need too.
constexpr std::uint32_t most_unanswered = 4096;

std::vector<PhasePlan> plan_of(const Options& options) {
  return {
      {.name = "warm-up", .requests = std::min(options.orders, 20000u), .window = 16, .reported = false},
      {.name = "open loop, at the set rate",
       .title = std::to_string(options.rate) + " orders a second",
       .requests = options.orders,
       .rate_per_s = options.rate,
       .window = most_unanswered,
       .may_repeat = true},
      {.name = "closed loop, one at a time",
       .title = "one order at a time",
       .requests = options.orders,
       .window = 1,
       .may_repeat = true},
      {.name = "closed loop, window full",
       .title = std::to_string(options.window) + " orders unanswered",
       .requests = options.orders * 4,
       .window = options.window,
       .may_repeat = true},
  };
}

// Shows progress on stderr, from a thread of its own that sleeps nearly all the time; rarely if stderr is not a
// terminal.
class ProgressLine {
 public:
  explicit ProgressLine(const Trader& trader)
      : trader_(trader), terminal_(is_terminal(Stream::err)), thread_([this] { run(); }) {}
  ~ProgressLine() {
    {
      const std::lock_guard lock{mutex_};
      done_ = true;
    }
    changed_.notify_all();
    thread_.join();
    if (!terminal_) return;
    SafeText clear;
    clear += line_start;
    clear += line_end;
    print_error(clear);
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  // Turns wrapping off, so that it is one line in a narrow terminal too.
  static constexpr TerminalControl line_start{"\r\x1b[?7l"};
  static constexpr TerminalControl line_end{"\x1b[K\x1b[?7h"};

  void run() {
    const auto pause = terminal_ ? std::chrono::milliseconds{250} : std::chrono::milliseconds{2000};
    std::unique_lock lock{mutex_};
    while (!changed_.wait_for(lock, pause, [this] { return done_; })) {
      const std::uint32_t done = trader_.progress(), total = trader_.total_requests();
      SafeText line;
      if (terminal_) line += line_start;
      line.add("{} of {} requests answered ({}%)", done, total, std::uint64_t{done} * 100 / total);
      if (terminal_) {
        line += line_end;
      } else {
        line += '\n';
      }
      print_error(line);
    }
  }

  const Trader& trader_;
  bool terminal_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

// Pins the engine of one side to its CPU; unpinned if there is none.
PlacementRequest placement_on(const Isolation* isolation, std::size_t side) {
  PlacementRequest request;
  if (isolation == nullptr) return request;
  request.enabled = true;
  request.housekeeping = isolation->housekeeping();
  request.role(ThreadRole::poll).cpus = {isolation->cpus().at(side)};
  request.check_interval = std::chrono::milliseconds{0};
  return request;
}

// Runs the trader's engine until it has logged out. False if nothing happened for ten seconds.
bool trade(Engine& engine, const Trader& trader, const Isolation* isolation) {
  constexpr std::chrono::seconds patience{10};
  auto last_change = std::chrono::steady_clock::now();
  std::uint32_t last_progress = 0;
  engine.start();
  for (std::uint32_t turns = 0; !trader.done(); ++turns) {
    engine.turn(std::chrono::milliseconds{100});
    if (turns % 1024 != 0 && engine.config().idle != IdleMode::block) continue;
    if (turns == 0) require_in_place(engine);
    if (isolation != nullptr && isolation->interrupted())
      throw std::runtime_error("interrupted; everything on the host is restored");
    const auto now = std::chrono::steady_clock::now();
    if (trader.progress() != last_progress) {
      last_progress = trader.progress();
      last_change = now;
    } else if (now - last_change > patience) {
      return false;
    }
  }
  engine.stop();
  while (!engine.finished()) engine.turn(std::chrono::milliseconds{10});
  return true;
}

// Chooses like an engine with "auto". The choice is made here for both sides, because each side knows only its own CPU.
PollIdle choose_idle(const std::string& wanted, const Isolation* isolation) {
  const IdleMode mode = *parse_enum<IdleMode>(wanted);
  if (mode != IdleMode::automatic) return {.mode = mode, .why = "from --idle"};
  if (isolation == nullptr)
    return {.mode = IdleMode::block, .why = "the two sides share their CPUs with other work; --isolate changes that"};
  if (isolation->shared()) return {.mode = IdleMode::block, .why = "the two sides share one CPU"};
  return {.mode = IdleMode::spin, .why = "each side has a CPU for itself"};
}

// Measures twice if the first run was disturbed.
void add_baseline(Outcome& outcome, const BaselinePlan& plan) {
  DisturbanceMeter meter{0, plan.idle};
  for (int runs = 0; runs < 2; ++runs) {
    meter.begin();
    outcome.baseline = measure_baseline(plan);
    outcome.baseline_disturbance = meter.end();
    if (runs == 1 || !outcome.baseline_disturbance.spoilt()) return;
    outcome.baseline_first_run = outcome.baseline_disturbance;
  }
}

int run(const Options& options) {
  std::optional<NoisyProcesses> noise;
  if (options.noise > 0) noise.emplace(options.noise);
  std::unique_ptr<Isolation> isolation;
  if (options.isolate) isolation = isolate(2);
  const auto [idle, idle_reason] = choose_idle(options.idle, isolation.get());
  SessionSettings venue_session = demo_session(Role::acceptor), trader_session = demo_session(Role::initiator);
  if (!options.no_dictionary) {
    const auto path = find_shipped_dictionary("FIX44.xml");
    if (!path)
      throw ConfigError("no dictionary FIX44.xml found: set NFX_DICTIONARIES to its folder, or give --no-dictionary");
    venue_session.dictionary = trader_session.dictionary = std::make_shared<const Dictionary>(load_dictionary(*path));
  }
  const std::vector<PhasePlan> plan = plan_of(options);
  Trader trader{plan, options.seed};
  VenueProcess venue{{.session = venue_session,
                      .idle = idle,
                      .max_requests = trader.most_requests(),
                      .latency = !options.no_latency,
                      .placement = placement_on(isolation.get(), 0)}};
  const auto port = venue.port();
  if (!port) throw std::runtime_error("the venue's process did not start");

  DisturbanceMeter meter{venue.pid(), idle};
  trader.measure_with(meter);
  trader_session.connect = {{"127.0.0.1", *port}};
  EngineConfig config;
  config.idle = idle;
  config.sessions = {trader_session};
  config.placement = placement_on(isolation.get(), 1);
  config.latency = !options.no_latency;
  config.control.socket = options.control;
  if (!options.control.empty()) config.control.audit = options.control + ".audit";
  Outcome outcome;
  outcome.noise = options.noise;
  if (isolation) outcome.isolated_cpus = CpuSet{isolation->cpus()[0], isolation->cpus()[1]}.to_list();
  outcome.trader = &trader;
  outcome.idle = to_string(idle);
  outcome.idle_reason = idle_reason;
  Engine engine{config, trader};
  const std::shared_ptr<void> control = start_control_part(engine);
  {
    const ProgressLine line{trader};
    if (!trade(engine, trader, isolation.get()))
      throw std::runtime_error("nothing moved for ten seconds: the demonstration is stuck");
  }
  if (!trader.completed()) throw std::runtime_error("the session ended before all requests were answered");
  auto report = venue.report();
  if (!report) throw std::runtime_error("the venue's process ended without its report");
  outcome.venue = std::move(*report);
  const SessionHandle& session = *engine.session(0);
  outcome.trader_session = session.counters();
  outcome.trader_next_inbound = value(session.next_inbound());
  outcome.trader_next_outbound = value(session.next_outbound());
  // Next to noisy processes, or on one CPU, two threads that busy-poll sockets would measure the scheduler.
  if (!noise && !isolation && (idle == IdleMode::block || CpuAffinity::get().size() > 1)) {
    add_baseline(
        outcome,
        {.request_bytes = trader.mean_request_bytes(), .answer_bytes = trader.mean_answer_bytes(), .idle = idle});
  }

  const std::vector<std::string> problems = disagreements(outcome);
  print(table(outcome, problems));
  if (!options.json.empty()) write_json(options.json, outcome, problems);
  return problems.empty() ? 0 : 1;
}

}  // namespace

cli::Command demo_command() {
  static Options options;
  return {
      .name = "demo",
      .summary = "Trade between two processes on this machine and show how long it took",
      .run = [] { return run(options); },
      .options =
          {{.names = "--orders",
            .target = &options.orders,
            .help = "Requests per measured phase; four times as many with the window full",
            .range = {{100, 5'000'000}}},
           {.names = "--rate",
            .target = &options.rate,
            .help = "Orders per second in the first row",
            .range = {{1, 10'000'000}}},
           {.names = "--window",
            .target = &options.window,
            .help = "Unanswered orders in the third row",
            .range = {{1, 4096}}},
           {.names = "--idle",
            .target = &options.idle,
            .help = "Idle mode of the poll threads; auto: \"spin\" where --isolate gives each side a CPU "
                    "of its own, otherwise \"block\"",
            .one_of = {"auto", "spin", "yield", "block"}},
           {.names = "--noise",
            .target = &options.noise,
            .help = "Start this many processes that use all the CPU time they get",
            .range = {{0, 1024}},
            .default_text = "0"},
           {.names = "--isolate",
            .target = &options.isolate,
            .help = "Keep everything else off the CPUs of the two sides while it runs; needs root"},
           {.names = "--json",
            .target = &options.json,
            .help = "Also write the result to this file",
            .kind = cli::Kind::file},
           {.names = "--seed", .target = &options.seed, .help = "Random seed of the orders"},
           {.names = "--no-latency",
            .target = &options.no_latency,
            .help = "Turn off the engines' own latency measurement, to see its cost"},
           {.names = "--control",
            .target = &options.control,
            .help =
                "UNIX socket of the trader's engine, for 'nfx top --socket' while it runs; its audit log is next to it",
            .kind = cli::Kind::file},
           {.names = "--no-dictionary",
            .target = &options.no_dictionary,
            .help = "Check only what the session layer needs"}},
      .details =
          "The first row sends orders at --rate, and a round trip counts from when its order was due. The next two "
          "send "
          "as fast as answers arrive. The last row is the same bytes over TCP without FIX, between two threads that "
          "wait in the same way.\n"
          "A preempted row is measured once more, and a note names it if it is preempted again. Preempted means: the "
          "hypervisor took 1% of the CPU time (steal), the sides waited 1% of the time for a CPU, or a side that "
          "busy-polls was "
          "interrupted ten times per second or more. --json has these numbers for each row.\n"
          "--isolate does what 'nfx host apply --runtime' does, and restores everything at the end. After a "
          "kill -9, run 'nfx host revert'.",
      .exit_codes = "0 done, 1 the two sides disagree on a sequence number or an order, 2 wrong usage",
      .examples = {{.line = "nfx demo", .about = "a venue and a trader, two processes, trade on this machine"},
                   {.line = "nfx demo --orders 200000 --rate 50000 --idle spin --json demo.json"},
                   {.line = "nfx demo --noise 4 --isolate", .about = "compare with the same without --isolate"}},
  };
}

}  // namespace nfx::app
