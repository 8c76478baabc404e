// nfx host noise: measures how long each CPU keeps a thread waiting, and why.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "base/error_text.hpp"
#include "command.hpp"
#include "host/host.hpp"
#include "host/noise/report_parts.hpp"
#include "host/noise_report.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "noisy_processes.hpp"
#include "output.hpp"
#include "report/report.hpp"

namespace nfx::app::host {
namespace {

struct Options {
  std::string cpus;  // empty: chosen
  double seconds = 10;
  double threshold_us = 5;
  int fifo = 0;
  bool unpinned = false;
  bool attribute = false;
  bool no_trace = false;
  bool mount_tracefs = false;
  std::string compare;
  std::string format = "text";
  std::string html;
  unsigned load = 0;
};

// Ctrl-C and SIGTERM end the measurement in order, so that its setup is removed and its results are reported.
std::atomic<bool> stop_measuring{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only use what takes no lock");

class StopMeasuringOnSignal {
 public:
  StopMeasuringOnSignal() noexcept {
    stop_measuring = false;
    handle([](int) { stop_measuring = true; });
  }
  ~StopMeasuringOnSignal() { handle(SIG_DFL); }
  StopMeasuringOnSignal(const StopMeasuringOnSignal&) = delete;
  StopMeasuringOnSignal& operator=(const StopMeasuringOnSignal&) = delete;

 private:
  static void handle(void (*handler)(int)) noexcept {
    struct sigaction action{};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
  }
};

// The isolated CPUs; if there are none, all except the first, which is left to the host.
CpuSet chosen_cpus(const Options& options, const HostFacts& facts) {
  if (!options.cpus.empty()) {
    auto cpus = CpuSet::parse_list(options.cpus);
    if (!cpus) throw ConfigError("--cpus " + options.cpus + ": " + cpus.error());
    if (cpus->empty()) throw ConfigError("--cpus: expected CPUs such as 2-5,8");
    if (!facts.online.empty() && !facts.online.contains_all(*cpus))
      throw ConfigError("--cpus " + options.cpus + ": not online: " + (*cpus - facts.online).to_list() +
                        "; online are " + facts.online.to_list());
    return *std::move(cpus);
  }
  if (CpuSet isolated_cpus = facts.isolated_cpus() & facts.online; !isolated_cpus.empty()) return isolated_cpus;
  CpuSet cpus = CpuAffinity::get();
  if (cpus.size() > 1) cpus.erase(cpus.first());
  return cpus;
}

std::string read_text(const std::string& file) {
  std::ifstream in{file, std::ios::binary};
  std::ostringstream text;
  text << in.rdbuf();
  if (!in || !text) throw ConfigError(cannot("read", file, errno));
  return std::move(text).str();
}

void write_text(const std::string& file, const std::string& text) {
  std::ofstream out{file, std::ios::binary | std::ios::trunc};
  out << text << std::flush;
  if (!out) throw std::runtime_error(cannot("write", file, errno));
}

NoiseReport measure(const Options& options) {
  std::optional<NoisyProcesses> load;
  if (options.load > 0) load.emplace(options.load);
  const HostFiles files;
  const HostFacts facts = read_host_facts(files);
  NoiseOptions noise;
  noise.hiccups.cpus = chosen_cpus(options, facts);
  noise.hiccups.duration = std::chrono::nanoseconds{static_cast<std::int64_t>(options.seconds * 1e9)};
  noise.hiccups.threshold = std::chrono::nanoseconds{static_cast<std::int64_t>(options.threshold_us * 1e3)};
  noise.hiccups.fifo_priority = options.fifo;
  noise.hiccups.pinned = !options.unpinned;
  noise.trace = !options.no_trace;
  noise.mount_tracefs = options.mount_tracefs;
  const StopMeasuringOnSignal stop_on_signal;
  try {
    return measure_noise(files, facts, noise, stop_measuring);
  } catch (const std::invalid_argument& error) {
    throw ConfigError(error.what());
  }
}

int run_noise(const Options& options) {
  // Loaded before the measurement, which takes a while.
  const std::string earlier = options.compare.empty() ? std::string{} : read_text(options.compare);
  if (!options.html.empty()) write_text(options.html, "");
  const NoiseReport report = measure(options);
  std::string out = options.format == "json"         ? to_json(report)
                    : options.format == "prometheus" ? to_prometheus(report)
                                                     : to_text(report);
  if (!options.html.empty()) {
    const std::string title = "Noise of " + measured_text(report);
    write_text(options.html, report_page(ReportKind::noise, title, to_json(report, true)));
  }
  std::string comparison;
  if (!options.compare.empty()) {
    auto compared = compare(report, earlier);
    if (!compared) throw ConfigError(options.compare + ": " + compared.error());
    comparison = *std::move(compared);
  }
  // Formats for programs are not changed.
  if (options.format == "text") out += comparison;
  print(SafeText::lines(out));
  if (options.format != "text") print_error(SafeText::lines(comparison));
  bool measured = false;
  for (const CpuNoise& cpu : report.cpus) {
    measured = measured || cpu.hiccups.error.empty();
    if (!cpu.hiccups.error.empty() && options.format != "text")
      print_error("nfx: not measured: {}\n", cpu.hiccups.error);
  }
  if (!measured) return exit_failed;
  if (options.attribute && !report.attributed) {
    if (options.format != "text") print_error("nfx: gaps are not attributed: {}\n", report.why_not_attributed);
    return static_cast<int>(HostExit::cannot_tell);
  }
  return exit_done;
}

}  // namespace

cli::Command noise_command() {
  static Options options;
  return {
      .name = "noise",
      .summary = "Measure how long each CPU keeps a thread waiting, and for what",
      .run = [] { return run_noise(options); },
      .options = {{.names = "--cpus",
                   .target = &options.cpus,
                   .help = "CPUs, such as 2-5,8",
                   .value = "LIST",
                   .default_text = "isolated ones, else all but the first"},
                  {.names = "--seconds",
                   .target = &options.seconds,
                   .help = "Duration of the measurement",
                   .range = {{0.01, 3600}}},
                  {.names = "--threshold-us",
                   .target = &options.threshold_us,
                   .help = "Gaps longer than this are recorded and attributed",
                   .range = {{0.1, 1e6}}},
                  {.names = "--unpinned", .target = &options.unpinned, .help = "Leave the measuring threads unpinned"},
                  {.names = "--fifo",
                   .target = &options.fifo,
                   .help = "Run the threads under SCHED_FIFO with this priority",
                   .value = "PRIORITY",
                   .range = {{1, 99}}},
                  {.names = "--attribute",
                   .target = &options.attribute,
                   .help = "Exit with code 3 if gaps cannot be attributed"},
                  {.names = "--load",
                   .target = &options.load,
                   .help = "During the measurement run this many processes that use all the CPU time they get",
                   .range = {{0, 1024}}},
                  {.names = "--no-trace",
                   .target = &options.no_trace,
                   .help = "Do not use tracefs, which slows each interrupt a little",
                   .excludes = {"--attribute"}},
                  {.names = "--mount-tracefs",
                   .target = &options.mount_tracefs,
                   .help = "Mount tracefs where only this process sees it"},
                  {.names = "--compare",
                   .target = &options.compare,
                   .help = "Show the ratios to an earlier result of --format json",
                   .kind = cli::Kind::existing_file},
                  format_option(options.format, {"text", "json", "prometheus"}),
                  {.names = "--html",
                   .target = &options.html,
                   .help = "Also write a self-contained HTML page with charts",
                   .kind = cli::Kind::file}},
      .details =
          "One thread per CPU does nothing but read the clock; a gap between two readings is time that something else "
          "used. The CPUs are fully used during the measurement.",
      .exit_codes =
          "0 measured, 1 no CPU could be measured, 2 wrong usage, 3 --attribute was given and gaps cannot be "
          "attributed",
      .examples = {{.line = "nfx host noise --cpus 2-5 --seconds 60 --html noise.html"},
                   {.line = "nfx host noise --format json > before.json", .about = "then change something"},
                   {.line = "nfx host noise --compare before.json"}},
  };
}

}  // namespace nfx::app::host
