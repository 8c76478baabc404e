// bench_sizing plan: costs measured on a cluster, a plan from them, and its predictions against a load of the same
// size.
#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

#include "cluster/options.hpp"
#include "command.hpp"
#include "fabric/figures_text.hpp"
#include "output.hpp"
#include "sizing/cluster_plan.hpp"
#include "sizing/sizing.hpp"

namespace nfx::bench {
namespace {

using app::exit_done;
using app::exit_failed;
using app::cluster_tools::nats_options;
using app::cluster_tools::StreamOptions;
using app::fabric::decimal;

struct PlanCommand {
  StreamOptions stream;
  PlanOptions plan;
  std::string costs = "cluster-costs.json";
  std::string servers;  // folder
  bool measure = false;
  bool compare = false;
  double seconds = 3;
};

std::vector<pid_t> servers_of(const std::string& folder) {
  std::vector<pid_t> pids;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".pid") continue;
    pid_t pid = 0;
    std::ifstream in{entry.path()};
    if (in >> pid) pids.push_back(pid);
  }
  if (pids.empty()) throw cli::UsageError(folder + " (--servers) has no NAME.pid of a running server");
  return pids;
}

MeasureOptions measure_options(const PlanCommand& command) {
  if (command.servers.empty())
    throw cli::UsageError(
        "--servers is needed, to read the servers' processor time: the folder of nfx cluster up on this host");
  return {.client = nats_options(command.stream),
          .servers = servers_of(command.servers),
          .seconds = command.seconds,
          // Another one for each run: the sessions of earlier ones stay in the stream.
          .prefix = "plan" + std::to_string(std::chrono::system_clock::now().time_since_epoch().count()) + "-"};
}

std::string bytes_text(double bytes) {
  constexpr std::string_view units[] = {" B", " kB", " MB", " GB", " TB", " PB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < std::size(units); ++unit) bytes /= 1000;
  return decimal(bytes, unit == 0 ? 0 : 1) + std::string{units[unit]};
}

void print_costs(const UnitCosts& costs) {
  SafeText out;
  out.add("costs of {} replicas on {}, {} processors\n", costs.replicas, costs.machine, costs.cores);
  out += "  frames/s   release p50, us   p99, us   processors of all servers   of the gateway\n";
  for (const CostPoint& point : costs.points) {
    const std::array<std::pair<std::string, std::size_t>, 5> cells{{{decimal(point.frames_per_s, 0), 10},
                                                                    {decimal(point.release_p50_us, 0), 18},
                                                                    {decimal(point.release_p99_us, 0), 10},
                                                                    {decimal(point.server_cores, 3), 28},
                                                                    {decimal(point.gateway_cores, 3), 17}}};
    for (const auto& [text, width] : cells) {
      if (text.size() < width) out.append_spaces(width - text.size());
      out += text;
    }
    out += '\n';
  }
  out.add("  more for each byte {} ns of a release and {} ns of the servers; for each record {} us of the gateway\n",
          decimal(costs.release_ns_per_byte, 1), decimal(costs.server_ns_per_byte, 2),
          decimal(costs.gateway_us_per_record, 2));
  out.add("  one stream at most {}/s; {} bytes of disk for each frame, apart from it; {}% on the busiest server\n",
          bytes_text(costs.bytes_per_s), decimal(costs.stored_bytes_per_frame, 0),
          decimal(costs.busiest_server_share * 100, 0));
  print(out);
}

void print_plan(const PlanOptions& options, const ClusterPlan& plan) {
  SafeText out;
  out.add("{} sessions, {} records/s each of {} bytes, {} replicas, at most {}% of streams and processors\n",
          options.sessions, decimal(options.rate, 1), options.size, options.replicas,
          decimal(options.utilization * 100, 0));
  out.add("  frames        {}/s with {} records each, {}/s\n", decimal(plan.frames_per_s, 0),
          decimal(plan.records_per_frame, 1), bytes_text(plan.bytes_per_s));
  out.add("  release       p50 {} us, p99 {} us, in a network like the one measured\n", decimal(plan.release_p50_us, 0),
          decimal(plan.release_p99_us, 0));
  out.add("  streams       {} (shards), each at {}% of what one does\n", plan.streams,
          decimal(plan.streams_utilization * 100, 0));
  out.add("  servers       {} with {} processors; {} used, {} on the busiest\n", plan.servers, options.cores,
          decimal(plan.server_cores, 2), decimal(plan.busiest_server_cores, 2));
  out.add("  gateways      {} with {} processors; {} used by all for frames\n", plan.gateways, options.cores,
          decimal(plan.gateway_cores, 2));
  out.add("  network       each server {}/s in, {}/s out; each gateway {}/s out\n",
          bytes_text(plan.server_in_bytes_per_s), bytes_text(plan.server_out_bytes_per_s),
          bytes_text(plan.gateway_out_bytes_per_s));
  out.add("  disks         each server {}/s, {} in a day of {} hours, {} for {} days\n",
          bytes_text(plan.disk_write_bytes_per_s), bytes_text(plan.disk_bytes_per_day), decimal(options.hours, 1),
          bytes_text(plan.disk_bytes), options.days);
  for (const std::string& limit : plan.limits) out.add("  does not fit  {}\n", limit);
  print(out);
}

void print_comparison(const CostSample& predicted, const CostSample& measured) {
  SafeText out;
  const auto row = [&](Literal name, double before, double after, int digits) {
    const std::size_t begin = out.size();
    out += name;
    out.pad_to(begin, 30);
    for (const std::string& text : {decimal(before, digits), decimal(after, digits),
                                    after > 0 ? decimal((before / after - 1) * 100, 0) + "%" : std::string{"-"}}) {
      if (text.size() < 14) out.append_spaces(14 - text.size());
      out += text;
    }
    out += '\n';
  };
  out.add(
      "{} sessions, {} records/s each of {} bytes\n                                   predicted      measured         "
      "error\n",
      decimal(measured.sessions, 0), decimal(measured.rate, 1), decimal(measured.record_bytes, 0));
  row("records/s", predicted.records_per_s, measured.records_per_s, 0);
  row("frames/s", predicted.frames_per_s, measured.frames_per_s, 0);
  row("release p50, us", predicted.release_p50_us, measured.release_p50_us, 0);
  row("release p99, us", predicted.release_p99_us, measured.release_p99_us, 0);
  row("processors of all servers", predicted.server_cores, measured.server_cores, 3);
  row("processors of busiest server", predicted.busiest_server_cores, measured.busiest_server_cores, 3);
  row("processors of the gateway", predicted.gateway_cores, measured.gateway_cores, 3);
  row("stored bytes/s, one replica", predicted.stored_bytes_per_s, measured.stored_bytes_per_s, 0);
  print(out);
}

int run_plan(const PlanCommand& command) {
  if (command.measure) {
    const MeasureOptions options = measure_options(command);
    const std::uint32_t replicas = nats::NatsStream{options.client}.state().replicas;
    const UnitCosts costs = measure_costs(options, replicas);
    write_costs(command.costs, costs);
    print_costs(costs);
    print("written to {}\n", command.costs);
    return exit_done;
  }
  const UnitCosts costs = read_costs(command.costs);
  const PlanOptions& plan = command.plan;
  if (command.compare) {
    const CostSample predicted = predict(costs, plan.sessions, plan.rate, plan.size);
    const MeasureOptions options = measure_options(command);
    print_comparison(predicted, measure_load(options, "compare", plan.sessions,
                                             {.rate = plan.rate, .bytes = plan.size, .seconds = command.seconds}));
    return exit_done;
  }
  const ClusterPlan made = make_plan(costs, plan);
  print_costs(costs);
  print("\n");
  print_plan(plan, made);
  return made.limits.empty() ? exit_done : exit_failed;
}

}  // namespace

cli::Command plan_command() {
  static PlanCommand command;
  std::vector<cli::Option> list{
      {.names = "--sessions", .target = &command.plan.sessions, .help = "FIX sessions", .range = cli::Range{1, 1e6}},
      {.names = "--rate",
       .target = &command.plan.rate,
       .help = "Records of each session per second, of both directions",
       .value = "RECORDS",
       .range = cli::Range{0.001, 1e6}},
      {.names = "--size",
       .target = &command.plan.size,
       .help = "Size of a record",
       .value = "BYTES",
       .range = cli::Range{32, 200'000}},
      {.names = "--replicas",
       .target = &command.plan.replicas,
       .help = "Servers that store each frame",
       .range = cli::Range{1, 5}},
      {.names = "--gateways",
       .target = &command.plan.gateways,
       .help = "Processes that own the sessions",
       .range = cli::Range{0, 10'000},
       .default_text = "as many as the load needs, and one more"},
      {.names = "--cores",
       .target = &command.plan.cores,
       .help = "Processors of each server and gateway",
       .range = cli::Range{1, 1024}},
      {.names = "--utilization",
       .target = &command.plan.utilization,
       .help = "Share of streams and processors that is used at most",
       .value = "SHARE",
       .range = cli::Range{0.01, 0.9}},
      {.names = "--hours",
       .target = &command.plan.hours,
       .help = "Hours a day at this rate",
       .range = cli::Range{0.1, 24}},
      {.names = "--days",
       .target = &command.plan.days,
       .help = "Days that frames stay in the streams",
       .range = cli::Range{1, 3650}},
      {.names = "--costs", .target = &command.costs, .help = "File of costs", .value = "FILE", .kind = cli::Kind::file},
      {.names = "--measure",
       .target = &command.measure,
       .help = "Measure the costs on a running cluster, and write the file",
       .excludes = {"--compare"}},
      {.names = "--compare",
       .target = &command.compare,
       .help = "Run this load on the cluster that was measured, and compare the prediction with it"},
      {.names = "--servers",
       .target = &command.servers,
       .help = "To measure and compare: the folder of nfx cluster up, with NAME.pid of each server",
       .value = "FOLDER",
       .kind = cli::Kind::existing_folder},
      {.names = "--seconds",
       .target = &command.seconds,
       .help = "Duration of each measured load",
       .range = cli::Range{0.5, 600}}};
  for (cli::Option& option : app::cluster_tools::options_of(command.stream)) list.push_back(std::move(option));
  return {
      .name = "plan",
      .summary = "Plan streams, servers, disks, network and processors from costs that were measured",
      .run = [] { return run_plan(command); },
      .options = std::move(list),
      .details =
          "Costs are measured by seven loads, each three times, on a cluster of this host: nfx cluster up "
          "--folder F, "
          "then --measure. The "
          "sessions that this makes stay in the stream; use one for trials. Docs: docs/cluster-tools.md.",
      .exit_codes = "0 done, 1 failed, or the plan does not fit, 2 wrong usage",
      .examples = {{.line = "bench_sizing plan --sessions 5000 --rate 50 --size 250",
                    .about = "from cluster-costs.json"},
                   {.line = "bench_sizing plan --measure --servers trial --url tls://127.0.0.1:4222 --ca trial/ca.pem "
                            "--credentials trial/gateway.creds",
                    .about = "on nfx cluster up --folder trial"}},
  };
}

}  // namespace nfx::bench
