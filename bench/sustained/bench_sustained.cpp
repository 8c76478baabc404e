// How many messages a second two engines exchange over loopback TCP with their stores on, beside QuickFIX with its
// FileStore and FileLog in the same run; and whether a long flow at a part of that stays as it is: bench_sustained
// --help. Exit status 1 when an answer is wrong, 2 when the run cannot be done.
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/machine.hpp"
#include "harness/measure.hpp"
#include "sustained/flow.hpp"

namespace {

using namespace nfx::bench;

constexpr int wrong_answer = 1;
constexpr int cannot_run = 2;

struct Options {
  std::uint32_t repeats = 5;
  double seconds = 5;
  double long_seconds = 0;
  double load = 0.8;
  std::uint32_t window = 256;
  std::string directory;
  std::vector<std::string> stores = {"memory", "interval"};
  bool spin = false;
  bool no_dictionary = false;
  bool no_quickfix = false;
};

struct Both {
  FlowResult venue, trader;
};

// A side in a process of its own; its result comes through a pipe.
class SideProcess {
 public:
  SideProcess(FlowResult (*run)(const FlowPlan&), FlowPlan plan, bool tells_port) {
    int result[2], port[2];
    if (::pipe(result) != 0 || ::pipe(port) != 0) throw std::runtime_error("no pipe");
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("no process");
    if (pid_ == 0) {
      ::close(result[0]);
      ::close(port[0]);
      plan.port_pipe = port[1];
      const FlowResult found = run(plan);
      const bool told = ::write(result[1], &found, sizeof found) == static_cast<ssize_t>(sizeof found);
      ::_exit(told ? 0 : 1);
    }
    ::close(result[1]);
    ::close(port[1]);
    result_ = result[0];
    if (tells_port && ::read(port[0], &port_, sizeof port_) != static_cast<ssize_t>(sizeof port_)) port_ = 0;
    ::close(port[0]);
  }
  ~SideProcess() {
    ::close(result_);
    int status = 0;
    if (pid_ > 0) ::waitpid(pid_, &status, 0);
  }
  SideProcess(const SideProcess&) = delete;
  SideProcess& operator=(const SideProcess&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] FlowResult result() const {
    FlowResult found;
    if (::read(result_, &found, sizeof found) != static_cast<ssize_t>(sizeof found))
      throw std::runtime_error("a side's process ended without its result");
    return found;
  }

 private:
  pid_t pid_ = -1;
  int result_ = -1;
  std::uint16_t port_ = 0;
};

class Runs {
 public:
  explicit Runs(const Options& options) : options_(options) {
    const std::filesystem::path base =
        options.directory.empty() ? std::filesystem::temp_directory_path() : std::filesystem::path{options.directory};
    folder_ = base / ("nexusfix-sustained-" + std::to_string(::getpid()));
  }

  Both run(const std::string& store, double seconds, std::uint64_t rate) {
    const bool quickfix = store == "quickfix";
    FlowPlan plan;
    plan.seconds = seconds;
    plan.rate = rate;
    plan.window = options_.window;
    plan.store = store;
    plan.spin = options_.spin;
    if (!options_.no_dictionary) plan.dictionary = NFX_SOURCE_DIR "/dictionaries/FIX44.xml";
    plan.folder = (folder_ / std::to_string(++count_)).string();
    std::filesystem::create_directories(plan.folder);
    if (quickfix) plan.port = free_port();
    Both both;
    {
      const SideProcess venue{quickfix ? run_quickfix_venue : run_nexusfix_venue, plan, true};
      if (venue.port() == 0) throw std::runtime_error("the venue did not start");
      plan.port = venue.port();
      const SideProcess trader{quickfix ? run_quickfix_trader : run_nexusfix_trader, plan, false};
      both.trader = trader.result();
      both.venue = venue.result();
    }
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
    for (const FlowResult* side : {&both.venue, &both.trader}) {
      if (!side->right)
        throw std::logic_error(store + ": " + (side->problem[0] != '\0' ? side->problem : "nothing came"));
    }
    return both;
  }

 private:
  // QuickFIX takes no port 0.
  static std::uint16_t free_port() { return static_cast<std::uint16_t>(20000 + ::getpid() % 20000); }

  const Options& options_;
  std::filesystem::path folder_;
  int count_ = 0;
};

double rate_of(const FlowResult& side) { return static_cast<double>(side.messages) / side.seconds; }

int run(const Options& options) {
  Runs runs{options};
  std::vector<std::string> rows = options.stores;
  if (!options.no_quickfix && has_quickfix()) rows.emplace_back("quickfix");
  std::vector<std::vector<double>> rates(rows.size());
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      rates[i].push_back(rate_of(runs.run(rows[i], options.seconds, 0).trader));
  }
  const Machine machine = this_machine();
  std::printf("%s, %u cores, %s, %s\n", machine.cpu_model.c_str(), machine.cores, machine.kernel.c_str(),
              machine.compiler.c_str());
  std::printf(
      "orders and reports between two processes, %u unanswered, %s, idle %s; medians of %u repeats of %.0f s\n\n",
      options.window, options.no_dictionary ? "no dictionary" : "FIX44 dictionary", options.spin ? "spin" : "block",
      options.repeats, options.seconds);
  std::printf("%-28s %14s %14s %14s   %s\n", "store", "messages/s", "least", "most",
              "times QuickFIX (median of the repeats' ratios)");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string ratio = "-";
    if (rows.back() == "quickfix") {
      std::vector<double> ratios;
      for (std::size_t r = 0; r < rates[i].size(); ++r) ratios.push_back(rates[i][r] / rates.back()[r]);
      char text[32];
      std::snprintf(text, sizeof text, "%.1f", median(ratios));
      ratio = text;
    }
    const std::string name = rows[i] == "quickfix" ? "QuickFIX FileStore, FileLog"
                             : rows[i] == "memory" ? "memory"
                                                   : "journal, " + rows[i];
    std::printf("%-28s %14.0f %14.0f %14.0f   %s\n", name.c_str(), median(rates[i]),
                *std::ranges::min_element(rates[i]), *std::ranges::max_element(rates[i]), ratio.c_str());
  }
  if (options.long_seconds <= 0) return 0;

  const std::string& store = options.stores.back();
  const double most = median(rates[options.stores.size() - 1]);
  const auto orders = static_cast<std::uint64_t>(most / 2 * options.load);
  std::printf("\n%.0f s at %.0f%% of the journal's figure: %llu orders a second\n", options.long_seconds,
              options.load * 100, static_cast<unsigned long long>(orders));
  std::fflush(stdout);
  const Both both = runs.run(store, options.long_seconds, orders);
  std::printf("%-10s %14.0f messages/s\n", "rate", rate_of(both.trader));
  const auto us = [](std::uint64_t ns) { return static_cast<double>(ns) / 1000; };
  std::printf("%-10s %14.1f p50 %.1f p99 %.1f p99.9 %.1f max, us, from when an order was due\n", "round trip",
              us(both.trader.p50_ns), us(both.trader.p99_ns), us(both.trader.p999_ns), us(both.trader.max_ns));
  for (const auto& [name, side] : {std::pair{"trader", &both.trader}, {"venue", &both.venue}}) {
    std::printf(
        "%-10s resident KiB %llu at the beginning, %llu in the middle, %llu at the end; %llu allocations on the poll "
        "thread\n",
        name, static_cast<unsigned long long>(side->rss_begin_kib),
        static_cast<unsigned long long>(side->rss_middle_kib), static_cast<unsigned long long>(side->rss_end_kib),
        static_cast<unsigned long long>(side->allocations));
  }
  return both.trader.allocations + both.venue.allocations == 0 ? 0 : wrong_answer;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Messages a second with the store on, beside QuickFIX, and a long flow at a part of that"};
  Options options;
  app.add_option("--repeats", options.repeats, "Of all stores in turn")->check(CLI::Range(1, 100));
  app.add_option("--seconds", options.seconds, "Of each measurement")->check(CLI::Range(1.0, 3600.0));
  app.add_option("--long-seconds", options.long_seconds, "Of the long flow behind it; 0: none");
  app.add_option("--load", options.load, "Of the long flow: the part of the figure measured before")
      ->check(CLI::Range(0.01, 1.0));
  app.add_option("--window", options.window, "Unanswered orders")->check(CLI::Range(1, 100'000));
  app.add_option("--stores", options.stores, "memory, none, interval, group, message")
      ->delimiter(',')
      ->check(CLI::IsMember({"memory", "none", "interval", "group", "message"}));
  app.add_option("--directory", options.directory, "Where stores are made; the temporary folder");
  app.add_flag("--spin", options.spin, "Poll threads spin instead of sleeping");
  app.add_flag("--no-dictionary", options.no_dictionary, "Check only what the session layer needs");
  app.add_flag("--no-quickfix", options.no_quickfix, "Without QuickFIX");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(options);
  } catch (const std::logic_error& error) {
    std::fprintf(stderr, "wrong answer: %s\n", error.what());
    return wrong_answer;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return cannot_run;
  }
}
