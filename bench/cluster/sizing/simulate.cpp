// bench_sizing simulate: the loss of a site in virtual time.
#include "command.hpp"
#include "fabric/figures_text.hpp"
#include "output.hpp"
#include "sizing/sizing.hpp"
#include "sizing/takeover_simulation.hpp"
#include "sizing/unit_costs.hpp"

namespace nfx::bench {
namespace {

using app::exit_done;
using app::fabric::decimal;

struct SimulateCommand {
  TakeoverOptions options;
  std::string costs;
};

int run_simulate(SimulateCommand& command) {
  TakeoverOptions& options = command.options;
  if (options.servers < options.sites || options.gateways < options.sites)
    throw cli::UsageError("--servers and --gateways are at least --sites: each site has one");
  if (options.replicas > options.servers) throw cli::UsageError("--replicas are at most --servers");
  if (options.election_max_s < options.election_min_s)
    throw cli::UsageError("--election-max is at least --election-min");
  if (!command.costs.empty()) {
    const UnitCosts costs = read_costs(command.costs);
    const CostPoint& fastest = costs.points.back();
    options.round_trip_us = costs.points.front().release_p50_us;
    options.publish_us = fastest.server_cores * 1e6 / fastest.frames_per_s / costs.replicas;
    options.read_us = options.publish_us;  // of one server, which is more than a read takes
  }
  const TakeoverResult result = simulate_takeover(options);
  SafeText out;
  out.add("{} sessions on {} gateways and {} servers in {} sites; one site is lost (seed {})\n", options.sessions,
          options.gateways, options.servers, options.sites, options.seed);
  out.add("  each request {} us, {} us of a server for a publish and {} us for a read; {} frames to replay\n",
          decimal(options.round_trip_us, 0), decimal(options.publish_us, 0), decimal(options.read_us, 0),
          options.replay_frames);
  const auto add_spread = [&](Literal name, const Spread& spread) {
    out += name;
    out.add("p50 {} s, p99 {} s, all within {} s\n", decimal(spread.p50, 2), decimal(spread.p99, 2),
            decimal(spread.max, 2));
  };
  out.add("  sessions that moved    {}\n", result.moved);
  add_spread("  owned again            ", result.owned_s);
  add_spread("  logged on again        ", result.logged_on_s);
  out.add("  elections              {} of {} streams, the longest {} s; {} publishes were sent again\n",
          result.elections, options.streams, decimal(result.election_s_max, 1), result.lost_requests);
  out.add("  load on servers        at most {} requests/s and {}% of a second, in second {}\n",
          result.requests_per_s_max, decimal(result.busiest_server * 100, 0), decimal(result.busiest_second_s, 0));
  out.add("  Logons                 at most {}/s on one gateway (limit {}); {} refused and tried again\n",
          result.logons_per_s_max, options.logons_per_s, result.logons_refused);
  out.add("  events                 {}, digest {}\n", result.events, result.digest);
  print(out);
  return exit_done;
}

}  // namespace

cli::Command simulate_command() {
  static SimulateCommand command;
  TakeoverOptions& options = command.options;
  return {
      .name = "simulate",
      .summary = "Compute takeovers, load and Logons after the loss of a site, in virtual time",
      .run = [] { return run_simulate(command); },
      .options = {{.names = "--sessions",
                   .target = &options.sessions,
                   .help = "Sessions on all gateways together",
                   .range = cli::Range{1, 1e6}},
                  {.names = "--gateways",
                   .target = &options.gateways,
                   .help = "Number on all sites together",
                   .range = cli::Range{2, 10'000}},
                  {.names = "--sites",
                   .target = &options.sites,
                   .help = "Number of sites; one of them is lost",
                   .range = cli::Range{2, 100}},
                  {.names = "--servers",
                   .target = &options.servers,
                   .help = "Number on all sites together",
                   .range = cli::Range{2, 10'000}},
                  {.names = "--streams",
                   .target = &options.streams,
                   .help = "Number of streams",
                   .range = cli::Range{1, 10'000}},
                  {.names = "--replicas",
                   .target = &options.replicas,
                   .help = "Replicas of each stream",
                   .range = cli::Range{1, 5}},
                  {.names = "--lease",
                   .target = &options.lease_s,
                   .help = "Lease of a gateway",
                   .value = "SECONDS",
                   .range = cli::Range{1, 3600}},
                  {.names = "--answer-timeout",
                   .target = &options.answer_timeout_s,
                   .help = "Time after which an owner repeats a request",
                   .value = "SECONDS",
                   .range = cli::Range{0.01, 600}},
                  {.names = "--election-min",
                   .target = &options.election_min_s,
                   .help = "Shortest election",
                   .value = "SECONDS",
                   .range = cli::Range{0, 600}},
                  {.names = "--election-max",
                   .target = &options.election_max_s,
                   .help = "Longest election",
                   .value = "SECONDS",
                   .range = cli::Range{0, 600}},
                  {.names = "--replay",
                   .target = &options.replay_frames,
                   .help = "Frames of each session that a takeover reads",
                   .value = "FRAMES",
                   .range = cli::Range{0, 1e7}},
                  {.names = "--at-once",
                   .target = &options.takeovers_at_once,
                   .help = "Takeovers of a gateway at a time; the others wait",
                   .range = cli::Range{1, 1e6}},
                  {.names = "--reconnect",
                   .target = &options.reconnect_s,
                   .help = "Time between two logon attempts of a peer",
                   .value = "SECONDS",
                   .range = cli::Range{0.1, 3600}},
                  {.names = "--logons",
                   .target = &options.logons_per_s,
                   .help = "Logons that a gateway takes each second; it refuses more",
                   .range = cli::Range{1, 1e6}},
                  {.names = "--round-trip",
                   .target = &options.round_trip_us,
                   .help = "Round trip of a request without load",
                   .value = "US",
                   .range = cli::Range{1, 1e7}},
                  {.names = "--publish",
                   .target = &options.publish_us,
                   .help = "Processor time of each replica",
                   .value = "US",
                   .range = cli::Range{0.1, 1e6}},
                  {.names = "--read",
                   .target = &options.read_us,
                   .help = "Processor time of a read",
                   .value = "US",
                   .range = cli::Range{0.1, 1e6}},
                  {.names = "--costs",
                   .target = &command.costs,
                   .help = "File of costs that replaces the three times above",
                   .value = "FILE",
                   .kind = cli::Kind::existing_file,
                   .excludes = {"--round-trip", "--publish", "--read"}},
                  {.names = "--seed",
                   .target = &options.seed,
                   .help = "Random seed; the same seed gives the same result"}},
      .details =
          "A site has every third gateway, server and leader (of three sites). Its sessions move to the gateways that "
          "are left, each as soon as its lease has ended, and their peers log on again. docs/cluster-tools.md "
          "describes "
          "the model and what it leaves out.",
      .examples = {{.line = "bench_sizing simulate --sessions 1000000 --gateways 10000 --servers 300 --streams 300",
                    .about = "the largest one"},
                   {.line = "bench_sizing simulate --costs cluster-costs.json --replay 5000",
                    .about = "with measured costs, and a long history"}},
  };
}

}  // namespace nfx::bench
