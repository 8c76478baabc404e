// What each way to a socket costs: round trips of a 176-byte request and a 253-byte answer over TCP on this host, each
// side a thread on its own core. All rows run in turn, several times (A B C A B C ...), and each is compared with the
// raw sockets of the same repeat that wait the same way. Exit status 1 when an answer is wrong, 2 when it cannot run.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <vector>

#include "harness/machine.hpp"
#include "harness/measure.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "nexusfix/transport/io_uring_transport.hpp"
#include "transport/ping_pong.hpp"

namespace {

using namespace nfx;
using namespace nfx::bench;

struct Options {
  std::uint32_t repeats = 5;
  PingPong plan;
  std::string only;
  bool quick = false;
};

struct Figures {
  double p50 = 0, p99 = 0, p999 = 0, max = 0;  // microseconds
};

Figures figures_of(const LatencyHistogram& times) {
  const auto at = [&](double percent) { return static_cast<double>(times.percentile(percent)) / 1000; };
  return {at(50), at(99), at(99.9), static_cast<double>(times.max()) / 1000};
}

using Results = std::map<std::string, std::vector<Figures>>;

double middle(const std::vector<Figures>& repeats, double Figures::* which) {
  std::vector<double> values;
  for (const Figures& each : repeats) values.push_back(each.*which);
  return median(std::move(values));
}

// Against the raw row of the same repeat, since a slow phase of the machine slows all rows of a repeat alike.
double ratio(const std::vector<Figures>& own, const std::vector<Figures>& baseline, double Figures::* which) {
  std::vector<double> values;
  for (std::size_t i = 0; i < own.size(); ++i) values.push_back(own[i].*which / baseline[i].*which);
  return median(std::move(values));
}

void print(const std::vector<Condition>& rows, const Results& results) {
  std::printf("%-32s%10s%10s%10s%10s%12s%12s\n", "round trip, us", "p50", "p99", "p99.9", "max", "raw x p50",
              "raw x p99");
  for (const Condition& row : rows) {
    const auto found = results.find(row.name);
    if (found == results.end()) continue;
    const std::vector<Figures>& own = found->second;
    std::printf("%-32s%10.1f%10.1f%10.1f%10.1f", row.name.c_str(), middle(own, &Figures::p50),
                middle(own, &Figures::p99), middle(own, &Figures::p999), middle(own, &Figures::max));
    const auto baseline = results.find(row.baseline);
    if (baseline == results.end()) {
      std::printf("%12s%12s\n", "1", "1");
    } else {
      std::printf("%12.2f%12.2f\n", ratio(own, baseline->second, &Figures::p50),
                  ratio(own, baseline->second, &Figures::p99));
    }
  }
}

void choose_cores(PingPong& plan) {
  std::vector<unsigned> allowed;
  const CpuSet cpus = CpuAffinity::get();
  for (int cpu = 0; cpu <= cpus.last(); ++cpu) {
    if (cpus.contains(cpu)) allowed.push_back(static_cast<unsigned>(cpu));
  }
  if (allowed.size() < 2) throw std::runtime_error("needs two cores, one per side");
  plan.client_core = allowed[0];
  plan.server_core = allowed[1];
}

int run(Options options) {
  if (options.quick) options.repeats = 2, options.plan.warm_up = 500, options.plan.measured = 5'000;
  choose_cores(options.plan);
  std::vector<Condition> rows;
  add_raw_rows(rows);
  add_ring_rows(rows);
  add_transport_rows(rows);
  add_engine_rows(rows);
  const Machine machine = this_machine();
  std::printf("# %s, %u cores, %s, %s %s%s\n", machine.cpu_model.c_str(), machine.cores, machine.kernel.c_str(),
              machine.compiler.c_str(), machine.flags.c_str(), machine.assertions ? ", ASSERTIONS ON" : "");
  std::printf("# cores %u and %u, %u round trips a repeat after %u, median of %u repeats; %s\n",
              options.plan.client_core, options.plan.server_core, options.plan.measured, options.plan.warm_up,
              options.repeats, probe_io_uring().text.c_str());
  Results results;
  for (std::uint32_t repeat = 1; repeat <= options.repeats; ++repeat) {
    options.plan.seed = repeat;
    for (const Condition& row : rows) {
      const bool wanted = options.only.empty() || row.baseline.empty() || row.name.contains(options.only);
      if (!wanted) continue;
      if (!row.why_not.empty()) {
        if (repeat == 1) std::printf("# left out: %s: %s\n", row.name.c_str(), row.why_not.c_str());
        continue;
      }
      results[row.name].push_back(figures_of(row.run(options.plan)));
      std::fprintf(stderr, "repeat %u, %-32s p50 %.1f us\n", repeat, row.name.c_str(), results[row.name].back().p50);
    }
  }
  print(rows, results);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Round trips over TCP on this host, through every transport.", "bench_transport"};
  Options options;
  app.add_option("--repeats", options.repeats)->check(CLI::Range(1u, 1000u))->capture_default_str();
  app.add_option("--warm-up", options.plan.warm_up)->check(CLI::Range(100u, 100'000'000u))->capture_default_str();
  app.add_option("--measured", options.plan.measured)->check(CLI::Range(1000u, 100'000'000u))->capture_default_str();
  app.add_option("--only", options.only, "rows whose name has this in it, and the raw ones");
  app.add_flag("--quick", options.quick, "two repeats of 5,000 round trips");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(options);
  } catch (const WrongReply& error) {
    std::fprintf(stderr, "bench_transport: WRONG ANSWER: %s\n", error.what());
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_transport: %s\n", error.what());
    return 2;
  }
}
