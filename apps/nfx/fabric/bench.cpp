// nfx fabric bench: measures rate and latency of rails between two processes of this host.
#include <algorithm>
#include <string>

#include "command.hpp"
#include "fabric/fabric.hpp"
#include "fabric/figures_text.hpp"
#include "fabric/rail_bench.hpp"
#include "json_output.hpp"

namespace nfx::app::fabric {
namespace {

struct Options {
  BenchOptions bench;
  std::string pin = "none";
  std::string idle = "spin";
  std::string noise = "free";
  bool json = false;
};

void append_latency(SafeText& out, Literal name, std::uint32_t bytes, const LatencyHistogram& histogram) {
  out.add("{}{} bytes, one way in us: p50 {}, p99 {}, p99.9 {}, max {}\n", name, bytes,
          microseconds(histogram.percentile(50)), microseconds(histogram.percentile(99)),
          microseconds(histogram.percentile(99.9)), microseconds(histogram.max()));
}

// The thread's counters from connecting to the end.
void append_thread(SafeText& out, Literal name, const ThreadReport& thread) {
  const auto between = [](const auto& after, const auto& before) {
    return after && before ? std::to_string(*after - *before) : std::string{"unknown"};
  };
  out.add("  {} {}, moved {} times, switches {} voluntary and {} involuntary\n", name,
          thread.pinned_to < 0 ? std::string{"not pinned"} : "on CPU " + std::to_string(thread.pinned_to),
          between(thread.after.migrations, thread.before.migrations),
          between(thread.after.voluntary_switches, thread.before.voluntary_switches),
          between(thread.after.involuntary_switches, thread.before.involuntary_switches));
}

void print_text(const Options& options, const BenchReport& report) {
  const BenchOptions& bench = options.bench;
  SafeText out;
  out.add("{}: {} rails in {} groups, pages of {} bytes, window {}, pin {}, idle {}", bench.provider, bench.rails,
          bench.groups, bench.page_bytes, bench.window, options.pin, options.idle);
  if (bench.noisy > 0) out.add(", {} noisy processes {}", bench.noisy, options.noise);
  out.add("\nall      {} Gb/s, {} pages/s\n", decimal(report.gbps, 2), decimal(report.pages_per_s, 0));
  for (std::size_t g = 0; g < report.groups.size(); ++g) {
    const GroupReport& group = report.groups[g];
    out.add("group {}  {} Gb/s, rails", g, decimal(group.gbps, 2));
    for (std::size_t r = g; r < report.rails.size(); r += report.groups.size())
      out.add(" {}", decimal(report.rails[r].gbps, 2));
    out += '\n';
    append_thread(out, "sender  ", group.sender);
    append_thread(out, "receiver", group.receiver);
  }
  if (bench.round_trips > 0) {
    append_latency(out, "page     ", bench.page_bytes, report.page_ns);
    append_latency(out, "small    ", bench.small_bytes, report.small_ns);
  }
  out += "Every number, both ends of every page as it came, and all bytes of the last pages were as sent.\n";
  print(out);
}

Json json_of(const LatencyHistogram& histogram) {
  return {{"count", histogram.count()},
          {"p50", histogram.percentile(50)},
          {"p99", histogram.percentile(99)},
          {"p99.9", histogram.percentile(99.9)},
          {"max", histogram.max()}};
}

void print_json(const BenchReport& report) {
  Json groups = Json::array(), rails = Json::array();
  for (const GroupReport& group : report.groups) groups.push_back(group.gbps);
  for (const auto& rail : report.rails)
    rails.push_back({{"gbps", rail.gbps}, {"pages", rail.pages}, {"refused", rail.refused}});
  print(json_line({{"gbps", report.gbps},
                   {"pages_per_s", report.pages_per_s},
                   {"groups", std::move(groups)},
                   {"rails", std::move(rails)},
                   {"page_one_way_ns", json_of(report.page_ns)},
                   {"small_one_way_ns", json_of(report.small_ns)}}));
}

int bench(Options& options) {
  BenchOptions& bench = options.bench;
  bench.pinning = static_cast<Pinning>(std::ranges::find(pinning_names, options.pin) - pinning_names.begin());
  bench.idle = options.idle == "spin" ? IdleMode::spin : options.idle == "yield" ? IdleMode::yield : IdleMode::block;
  bench.noise = options.noise == "free" ? Noise::free : Noise::confined;
  if (bench.groups > bench.rails) throw cli::UsageError("--groups is more than --rails: each group has at least one");
  const BenchReport report = run_bench(bench);
  options.json ? print_json(report) : print_text(options, report);
  return exit_done;
}

}  // namespace

cli::Option provider_option(std::string& provider) {
  return {.names = "--provider",
          .target = &provider,
          .help =
              "Transport: ring (shared memory) and socket (TCP) need no library; shm, tcp;ofi_rxm, net and others "
              "are libfabric's"};
}

cli::Command bench_command() {
  static Options options;
  BenchOptions& bench_options = options.bench;
  return {
      .name = "bench",
      .summary = "Measure pages and small writes between two processes of this host",
      .run = [] { return bench(options); },
      .options = {{.names = "--rails",
                   .target = &bench_options.rails,
                   .help = "Number of rails",
                   .range = {{1, max_bench_rails}}},
                  {.names = "--groups",
                   .target = &bench_options.groups,
                   .help = "Polling threads of each process, which share the rails",
                   .range = {{1, max_bench_groups}}},
                  provider_option(bench_options.provider),
                  {.names = "--page",
                   .target = &bench_options.page_bytes,
                   .help = "Bytes of a page",
                   .value = "BYTES",
                   .range = {{64, 1 << 26}}},
                  {.names = "--small",
                   .target = &bench_options.small_bytes,
                   .help = "Bytes of a small write",
                   .value = "BYTES",
                   .range = {{4, 4096}}},
                  {.names = "--window",
                   .target = &bench_options.window,
                   .help = "Pages of a rail without the receiver's credit",
                   .range = {{1, 128}}},
                  {.names = "--batch",
                   .target = &bench_options.batch,
                   .help = "Pages posted to a rail between two polls",
                   .range = {{1, 128}}},
                  {.names = "--seconds",
                   .target = &bench_options.seconds,
                   .help = "Duration of the page measurement",
                   .range = {{0.01, 60}}},
                  {.names = "--round-trips",
                   .target = &bench_options.round_trips,
                   .help = "Round trips of a page and of a small write",
                   .range = {{0, 1'000'000}}},
                  {.names = "--pin",
                   .target = &options.pin,
                   .help = "Where threads run: none; pair: both of a group on one CPU; split: on two; one: all on the "
                           "last CPU",
                   .one_of = {"none", "pair", "split", "one"}},
                  {.names = "--idle",
                   .target = &options.idle,
                   .help = "Idle mode of the threads; block sleeps for 50 us",
                   .one_of = {"spin", "yield", "block"}},
                  {.names = "--load",
                   .target = &bench_options.noisy,
                   .help = "Noisy processes on this host during the measurement",
                   .range = {{0, 64}},
                   .default_text = "0"},
                  {.names = "--noise",
                   .target = &options.noise,
                   .help = "CPUs of the noise: any, or all but the last",
                   .one_of = {"free", "confined"}},
                  {.names = "--json", .target = &options.json, .help = "Print one JSON object"}},
      .details =
          "The receiver checks every number and both ends of every page, and compares the memory afterwards; a "
          "wrong answer is an error. Rails are connections of this host, not cards.",
      .examples = {{.line = "nfx fabric bench --rails 4 --groups 2"},
                   {.line = "nfx fabric bench --provider 'tcp;ofi_rxm' --rails 1 --groups 1 --page 262144"},
                   {.line = "nfx fabric bench --pin one --idle yield --load 4 --noise confined",
                    .about = "among noisy processes that are confined to the other CPUs"}},
  };
}

}  // namespace nfx::app::fabric
