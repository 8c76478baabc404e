// nfx host noise: how long each CPU keeps a thread waiting, and for what.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "command.hpp"
#include "host/host.hpp"
#include "nexusfix/host/noise_report.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "noisy_processes.hpp"

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

// Ctrl-C and SIGTERM end the measurement, so that what it set up is removed and what it saw is reported.
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

// Those that are set apart for the engine; else all but the first, which is the host's own.
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
  if (CpuSet quiet = facts.quiet() & facts.online; !quiet.empty()) return quiet;
  CpuSet cpus = CpuAffinity::get();
  if (cpus.size() > 1) cpus.erase(cpus.first());
  return cpus;
}

std::string read_text(const std::string& file) {
  std::ifstream in{file, std::ios::binary};
  std::ostringstream text;
  text << in.rdbuf();
  if (!in || !text) throw ConfigError(file + ": cannot read: " + std::generic_category().message(errno));
  return std::move(text).str();
}

void write_text(const std::string& file, const std::string& text) {
  std::ofstream out{file, std::ios::binary | std::ios::trunc};
  out << text << std::flush;
  if (!out) throw std::runtime_error(file + ": cannot write: " + std::generic_category().message(errno));
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
  // Before the measurement, which takes its time.
  const std::string earlier = options.compare.empty() ? std::string{} : read_text(options.compare);
  if (!options.html.empty()) write_text(options.html, "");
  const NoiseReport report = measure(options);
  std::string out = options.format == "json"         ? to_json(report)
                    : options.format == "prometheus" ? to_prometheus(report)
                                                     : to_text(report);
  if (!options.html.empty()) write_text(options.html, to_html(report));
  std::string comparison;
  if (!options.compare.empty()) {
    auto compared = compare(report, earlier);
    if (!compared) throw ConfigError(options.compare + ": " + compared.error());
    comparison = *std::move(compared);
  }
  // What programs read stays as they expect it.
  if (options.format == "text") out += comparison;
  std::cout << out << std::flush;
  if (options.format != "text") std::cerr << comparison;
  if (!std::cout) return exit_failed;
  bool measured = false;
  for (const CpuNoise& cpu : report.cpus) {
    measured = measured || cpu.hiccups.error.empty();
    if (!cpu.hiccups.error.empty() && options.format != "text")
      std::cerr << "nfx: not measured: " << cpu.hiccups.error << '\n';
  }
  if (!measured) return exit_failed;
  if (options.attribute && !report.attributed) {
    if (options.format != "text") std::cerr << "nfx: gaps are not attributed: " << report.why_not_attributed << '\n';
    return static_cast<int>(HostExit::cannot_tell);
  }
  return exit_done;
}

}  // namespace

void add_host_noise(CLI::App& host, int& exit_code) {
  CLI::App* command = host.add_subcommand("noise", "Measure how long each CPU keeps a thread waiting, and for what");
  auto options = std::make_shared<Options>();
  command->add_option("--cpus", options->cpus, "CPUs, such as 2-5,8; default: isolated ones, else all but the first")
      ->type_name("LIST");
  command->add_option("--seconds", options->seconds, "How long")
      ->check(CLI::Range(0.01, 3600.0))
      ->capture_default_str();
  command->add_option("--threshold-us", options->threshold_us, "Gaps longer than this are kept and attributed")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  command->add_flag("--unpinned", options->unpinned, "As many threads, wherever the scheduler puts them");
  command->add_option("--fifo", options->fifo, "Under SCHED_FIFO with this priority")
      ->type_name("PRIORITY")
      ->check(CLI::Range(1, 99));
  auto* attribute = command->add_flag("--attribute", options->attribute, "Exit with 3 when gaps cannot be attributed");
  command->add_option("--load", options->load, "Beside so many processes that want every CPU they can get")
      ->check(CLI::Range(0u, 1024u));
  command->add_flag("--no-trace", options->no_trace, "Without tracefs, which adds a little to every interrupt")
      ->excludes(attribute);
  command->add_flag("--mount-tracefs", options->mount_tracefs, "Mount tracefs where only this process sees it");
  command->add_option("--compare", options->compare, "An earlier --format json: the ratios to it")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  command->add_option("--format", options->format, "text, json or prometheus")
      ->check(CLI::IsMember({"text", "json", "prometheus"}))
      ->capture_default_str();
  command->add_option("--html", options->html, "A page with plots as well")->type_name("FILE");
  command->footer(
      "One thread per CPU does nothing but read the clock; a gap between two readings is time that something else\n"
      "took. The CPUs are fully used meanwhile. Exit codes: 0 measured, 1 no CPU could be measured, 2 wrong usage,\n"
      "3 --attribute was given and gaps cannot be attributed.\n\n"
      "Examples:\n"
      "  nfx host noise --cpus 2-5 --seconds 60 --html noise.html\n"
      "  nfx host noise --format json > before.json    # then change something\n"
      "  nfx host noise --compare before.json");
  command->callback([options, &exit_code] { exit_code = run_noise(*options); });
}

}  // namespace nfx::app::host
