// Measures the cost of rails: pages over shared memory compared with memcpy, over TCP with iperf3, small writes with
// libfabric's fi_pingpong and direct calls of libfabric, and pages among confined noise with none: bench_fabric --help.
// Exit status 1 if an answer is wrong, 2 if the run is not possible.
#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/bare_libfabric.hpp"
#include "fabric/other_programs.hpp"
#include "fabric/rail_bench.hpp"
#include "harness/machine.hpp"
#include "harness/measure.hpp"
#include "harness/program.hpp"
#include "harness/report.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"

namespace {

using namespace nfx::bench;
using nfx::app::fabric::BenchOptions;
using nfx::app::fabric::BenchReport;
using nfx::app::fabric::Noise;
using nfx::app::fabric::Pinning;
using nfx::app::fabric::run_bench;

struct Options {
  std::uint32_t repeats = 5;
  double seconds = 0.5;
  std::uint32_t round_trips = 20'000;
  std::uint32_t noisy = 4;
  std::string only;
  std::string json_file;
};

struct FabricRow {
  std::string name;
  std::string unit;
  std::function<double()> run;
  std::vector<double> repeats = {};
  std::string left_out = {};  // the reason
};

// The goal concerns two rows: the first divided by the second, or their difference.
struct Goal {
  std::size_t row = 0;
  std::size_t beside = 0;
  bool difference = false;
  double limit = 0;
  bool at_least = true;
};

struct FabricGroup {
  std::string name;
  std::string title;
  std::vector<FabricRow> rows;
  std::vector<Goal> goals;
};

double gbps(const Options& options, const std::string& provider, std::uint32_t rails, std::uint32_t groups,
            std::uint32_t page, nfx::IdleMode idle, Pinning pinning) {
  BenchOptions bench;
  bench.provider = provider;
  bench.rails = rails;
  bench.groups = groups;
  bench.page_bytes = page;
  bench.seconds = options.seconds;
  bench.round_trips = 0;
  bench.pinning = pinning;
  bench.idle = idle;
  bench.window = 8;  // pages in flight stay in the caches
  return run_bench(bench).gbps;
}

FabricGroup page_group(const Options& options) {
  FabricGroup group{
      .name = "pages", .title = "Pages of 64 KiB, 4 rails in 2 groups, shared memory", .rows = {}, .goals = {}};
  group.rows.push_back({"memcpy, two threads", "Gb/s", [&] { return memcpy_gbps(65536, options.seconds); }});
  for (const char* provider : {"shm", "ring"}) {
    group.rows.push_back({std::string{provider} + ", 4 rails in 2 groups", "Gb/s", [&options, provider] {
                            return gbps(options, provider, 4, 2, 65536, nfx::IdleMode::yield, Pinning::pair);
                          }});
    group.goals.push_back({.row = group.rows.size() - 1, .beside = 0, .limit = 0.85});
  }
  return group;
}

FabricGroup tcp_group(const Options& options) {
  FabricGroup group{.name = "tcp", .title = "Pages of 256 KiB, one rail, TCP on loopback", .rows = {}, .goals = {}};
  group.rows.push_back({"iperf3", "Gb/s", [&] { return iperf3_gbps(262'144, std::max(1.0, options.seconds)); }});
  for (const char* provider : {"tcp;ofi_rxm", "net", "socket"}) {
    group.rows.push_back({std::string{provider} + ", one rail", "Gb/s", [&options, provider] {
                            return gbps(options, provider, 1, 1, 262'144, nfx::IdleMode::spin, Pinning::split);
                          }});
    group.goals.push_back({.row = group.rows.size() - 1, .beside = 0, .limit = 0.95});
  }
  return group;
}

double small_us(const Options& options, const std::string& provider, double percent) {
  BenchOptions bench;
  bench.provider = provider;
  bench.rails = bench.groups = 1;
  bench.page_bytes = 4096;
  bench.seconds = 0.01;
  bench.round_trips = options.round_trips;
  bench.pinning = Pinning::split;
  return static_cast<double>(run_bench(bench).small_ns.percentile(percent)) / 1000;
}

FabricGroup small_group(const Options& options) {
  FabricGroup group{.name = "small",
                    .title = "A write of 64 bytes and its number, one way, busy-polling on two CPUs",
                    .rows = {},
                    .goals = {}};
  group.rows.push_back({"fi_pingpong, shm, mean", "us", [&] { return fi_pingpong_us(64, options.round_trips); }});
  group.rows.push_back(
      {"libfabric called by hand, shm, p50", "us", [&] {
         return static_cast<double>(
                    bare_round_trips({.bytes = 64, .round_trips = options.round_trips}).percentile(50)) /
                1000;
       }});
  for (const char* provider : {"shm", "ring"}) {
    group.rows.push_back(
        {std::string{provider} + ", p50", "us", [&options, provider] { return small_us(options, provider, 50); }});
  }
  group.rows.push_back({"shm, p99", "us", [&] { return small_us(options, "shm", 99); }});
  group.rows.push_back({"ring, p99", "us", [&] { return small_us(options, "ring", 99); }});
  // A rail may add 60 ns to libfabric for each operation.
  group.goals.push_back({.row = 2, .beside = 1, .difference = true, .limit = 0.06, .at_least = false});
  constexpr std::size_t absolute = ~std::size_t{0};
  for (const std::size_t row : {std::size_t{2}, std::size_t{3}})
    group.goals.push_back({.row = row, .beside = absolute, .limit = 0.35, .at_least = false});
  return group;
}

FabricGroup noise_group(const Options& options) {
  FabricGroup group{.name = "noise",
                    .title = "Both ends of 4 rails on the last CPU, noisy processes on the others",
                    .rows = {},
                    .goals = {}};
  const auto row = [&](const char* name, std::uint32_t noisy, Noise noise, Pinning pinning) {
    group.rows.push_back({name, "Gb/s", [=, &options] {
                            BenchOptions bench;
                            bench.seconds = options.seconds;
                            bench.groups = 1;
                            bench.round_trips = 0;
                            bench.pinning = pinning;
                            bench.idle = nfx::IdleMode::yield;
                            bench.noisy = noisy;
                            bench.noise = noise;
                            return run_bench(bench).gbps;
                          }});
  };
  row("no noise", 0, Noise::free, Pinning::one);
  row("noise confined to the other CPUs", options.noisy, Noise::confined, Pinning::one);
  row("noise anywhere, threads pinned", options.noisy, Noise::free, Pinning::one);
  row("noise anywhere, threads not pinned", options.noisy, Noise::free, Pinning::none);
  group.goals.push_back({.row = 1, .beside = 0, .limit = 0.95});
  return group;
}

FabricGroup cost_group() {
  FabricGroup group{.name = "costs",
                    .title = "Costs of one thread, for 'nfx fabric simulate': libfabric called by hand, shm",
                    .rows = {},
                    .goals = {}};
  group.rows.push_back({"poll without an entry", "ns", [] { return bare_costs().poll_ns; }});
  group.rows.push_back({"post of 64 bytes", "ns", [] { return bare_costs().post_ns; }});
  group.rows.push_back({"post that is refused", "ns", [] {
                          const double ns = bare_costs().refused_ns;
                          if (ns == 0) throw std::runtime_error("the provider took every post");
                          return ns;
                        }});
  group.rows.push_back({"completion, more than the poll", "ns", [] { return bare_costs().completion_ns; }});
  group.rows.push_back({"line of memory from another CPU", "ns", [] { return shared_line_ns(); }});
  return group;
}

// Runs all rows in turn; leaves out a row that cannot run, with the reason.
void measure_group(FabricGroup& group, const Options& options, const nfx::CpuSet& cpus) {
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    for (FabricRow& row : group.rows) {
      if (!row.left_out.empty()) continue;
      static_cast<void>(nfx::CpuAffinity::set(cpus));
      try {
        row.repeats.push_back(row.run());
      } catch (const std::exception& error) {
        if (std::string_view{error.what()}.find("wrong answer") != std::string_view::npos)
          throw WrongAnswerError(row.name + ": " + error.what());
        row.left_out = error.what();
      }
    }
  }
  static_cast<void>(nfx::CpuAffinity::set(cpus));
}

std::string verdict(const FabricGroup& group, std::size_t row) {
  std::string text;
  for (const Goal& goal : group.goals) {
    if (goal.row != row || group.rows[row].repeats.empty()) continue;
    const double own = median(group.rows[row].repeats);
    double value = own;
    std::string what = "itself";
    if (goal.beside < group.rows.size()) {
      if (group.rows[goal.beside].repeats.empty()) continue;
      // The repeats' own ratios, because a slow phase of the machine slows all rows of a repeat.
      std::vector<double> each;
      for (std::size_t i = 0; i < group.rows[row].repeats.size() && i < group.rows[goal.beside].repeats.size(); ++i) {
        const double beside = group.rows[goal.beside].repeats[i];
        each.push_back(goal.difference ? group.rows[row].repeats[i] - beside : group.rows[row].repeats[i] / beside);
      }
      value = median(each);
      what = group.rows[goal.beside].name;
    }
    const bool met = goal.at_least ? value >= goal.limit : value <= goal.limit;
    std::array<char, 160> line;
    std::snprintf(line.data(), line.size(), "%s%s%.3f %s, goal %s %.2f: %s", text.empty() ? "" : "; ",
                  goal.beside >= group.rows.size() ? "" : (goal.difference ? "differs by " : "ratio "), value,
                  goal.beside >= group.rows.size() ? "us" : ("to " + what).c_str(),
                  goal.at_least ? ">=" : "<=", goal.limit, met ? "met" : "missed");
    text += line.data();
  }
  return text;
}

void print(const FabricGroup& group) {
  std::printf("\n%s\n", group.title.c_str());
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    const FabricRow& row = group.rows[i];
    if (row.repeats.empty()) {
      std::printf("# left out: %s: %s\n", row.name.c_str(), row.left_out.c_str());
      continue;
    }
    const auto [low, high] = std::ranges::minmax(row.repeats);
    std::printf("%-42s %10.3f %-5s %10.3f to %.3f   %s\n", row.name.c_str(), median(row.repeats), row.unit.c_str(), low,
                high, verdict(group, i).c_str());
  }
  std::fflush(stdout);
}

std::string to_json(const std::vector<FabricGroup>& groups, const Machine& machine) {
  using Json = nlohmann::ordered_json;
  Json all = Json::array();
  for (const FabricGroup& group : groups) {
    Json rows = Json::array();
    for (const FabricRow& row : group.rows)
      rows.push_back({{"name", row.name}, {"unit", row.unit}, {"left_out", row.left_out}, {"repeats", row.repeats}});
    all.push_back({{"name", group.name}, {"rows", rows}});
  }
  const Json json{{"benchmark", "fabric"}, {"machine", describe(machine)}, {"groups", all}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

int run(const Options& options) {
  const nfx::CpuSet cpus = nfx::CpuAffinity::get();
  if (cpus.size() < 2) throw std::runtime_error("needs two CPUs, one for each end");
  const Machine machine = this_machine();
  std::printf("%s\n%s\nmedians of %u repeats of %.2f s, rows in turn; lowest and highest\n", describe(machine).c_str(),
              describe_state(machine).c_str(), options.repeats, options.seconds);
  std::vector<FabricGroup> groups;
  for (FabricGroup& group :
       std::vector{page_group(options), tcp_group(options), small_group(options), noise_group(options), cost_group()}) {
    if (!options.only.empty() && options.only != group.name) continue;
    measure_group(group, options, cpus);
    print(group);
    groups.push_back(std::move(group));
  }
  if (!options.json_file.empty()) write_file(options.json_file, to_json(groups, machine));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const nfx::cli::Command program{
      .name = "bench_fabric",
      .summary = "What rails cost, compared with memcpy, iperf3, fi_pingpong and libfabric called by hand",
      .options = {repeats_option(options.repeats),
                  {.names = "--seconds", .target = &options.seconds, .help = "Of each rate", .range = {{0.01, 10}}},
                  {.names = "--round-trips",
                   .target = &options.round_trips,
                   .help = "Of small writes",
                   .range = {{100, 10'000'000}}},
                  {.names = "--load", .target = &options.noisy, .help = "Noisy processes", .range = {{1, 64}}},
                  {.names = "--only",
                   .target = &options.only,
                   .help = "One group",
                   .one_of = {"pages", "tcp", "small", "noise", "costs"}},
                  json_option(options.json_file)}};
  return run_program(program, argc, argv, [&] { return run(options); });
}
