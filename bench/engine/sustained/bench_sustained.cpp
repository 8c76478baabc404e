// Measures how many messages per second two engines exchange over loopback TCP with their stores on, compared with
// QuickFIX with its FileStore and FileLog in the same run; and whether a long flow at a part of that rate is stable:
// bench_sustained --help. Exit status 1 if an answer is wrong or the long flow does not keep its rate and its memory, 2
// if the run is not possible.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/figures.hpp"
#include "harness/machine.hpp"
#include "harness/program.hpp"
#include "harness/scratch_folder.hpp"
#include "sustained/verdict.hpp"
#include "transport/loopback.hpp"

namespace {

using namespace nfx::bench;

struct Options {
  std::uint32_t repeats = 5;
  double seconds = 5;
  double long_seconds = 0;
  double load = 0.8;
  std::uint32_t window = 256;
  std::string folder;
  std::vector<std::string> stores = {"memory", "interval"};
  bool spin = false;
  bool no_dictionary = false;
  bool no_quickfix = false;
};

struct Both {
  FlowResult venue, trader;
};

// A side in a separate process; its result comes through a pipe.
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
  explicit Runs(const Options& options) : options_(options), folder_("sustained", options.folder) {}

  [[nodiscard]] std::string place() const { return folder_.describe(); }

  Both run(const std::string& store, double seconds, std::uint64_t rate) {
    const bool quickfix = store == "quickfix";
    FlowPlan plan;
    plan.seconds = seconds;
    plan.rate = rate;
    plan.window = options_.window;
    plan.store = store;
    plan.spin = options_.spin;
    if (!options_.no_dictionary) plan.dictionary = NFX_SOURCE_DIR "/dictionaries/FIX44.xml";
    plan.folder = (folder_.path() / std::to_string(++count_)).string();
    std::filesystem::create_directories(plan.folder);
    if (quickfix) plan.port = nfx::test::free_port();  // QuickFIX does not accept port 0
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
    std::filesystem::remove_all(plan.folder, ignored);
    for (const FlowResult* side : {&both.venue, &both.trader}) {
      if (!side->right)
        throw WrongAnswerError(store + ": " + (side->problem[0] != '\0' ? side->problem : "nothing came"));
    }
    return both;
  }

 private:
  const Options& options_;
  ScratchFolder folder_;
  int count_ = 0;
};

void print_side(const char* name, const FlowResult& side) {
  std::printf(
      "%-10s resident KiB %llu at the beginning, %llu in the middle, %llu at the end; %llu allocations on the poll "
      "thread\n",
      name, static_cast<unsigned long long>(side.rss_begin_kib), static_cast<unsigned long long>(side.rss_middle_kib),
      static_cast<unsigned long long>(side.rss_end_kib), static_cast<unsigned long long>(side.allocations));
}

// Whether a long flow of `orders` per second is stable.
bool run_long(const Options& options, Runs& runs, std::uint64_t orders) {
  const double due = 2 * static_cast<double>(orders);
  std::printf("\n%.0f s at %.0f%% of the maximum with store %s: %llu orders a second\n", options.long_seconds,
              options.load * 100, options.stores.back().c_str(), static_cast<unsigned long long>(orders));
  std::fflush(stdout);
  const Both both = runs.run(options.stores.back(), options.long_seconds, orders);
  std::printf("%-10s %.0f messages/s of %.0f that were due\n", "rate", rate_of(both.trader), due);
  const auto us = [](std::uint64_t ns) { return static_cast<double>(ns) / 1000; };
  std::printf("%-10s %.1f p50 %.1f p99 %.1f p99.9 %.1f max, us, from when an order was due\n", "round trip",
              us(both.trader.p50_ns), us(both.trader.p99_ns), us(both.trader.p999_ns), us(both.trader.max_ns));
  print_side("trader", both.trader);
  print_side("venue", both.venue);
  const std::vector<std::string> failures = what_failed(both.trader, both.venue, due);
  for (const std::string& failure : failures) std::printf("FAILED     %s\n", failure.c_str());
  if (failures.empty()) std::printf("stable     rate and memory, and no allocation\n");
  return failures.empty();
}

int run(const Options& options) {
  Runs runs{options};
  std::vector<std::string> rows = options.stores;
  if (!options.no_quickfix && has_quickfix()) rows.emplace_back("quickfix");
  std::vector<std::vector<double>> rates(rows.size());
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      rates[i].push_back(rate_of(runs.run(rows[i], options.seconds, 0).trader));
  }
  std::printf("%s; stores in %s\n", describe(this_machine()).c_str(), runs.place().c_str());
  std::printf(
      "orders and reports between two processes, %u unanswered, %s, idle %s; medians of %u repeats of %.0f s\n\n",
      options.window, options.no_dictionary ? "no dictionary" : "FIX44 dictionary", options.spin ? "spin" : "block",
      options.repeats, options.seconds);
  std::printf("%-28s %14s %14s %14s   %s\n", "store", "messages/s", "least", "most",
              "times QuickFIX (median of the repeats' ratios)");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string ratio = "-";
    if (rows.back() == "quickfix") {
      char text[32];
      std::snprintf(text, sizeof text, "%.1f", middle_ratio(rates[i], rates.back(), std::identity{}));
      ratio = text;
    }
    const std::string name = rows[i] == "quickfix" ? "QuickFIX FileStore, FileLog"
                             : rows[i] == "memory" ? "memory"
                                                   : "journal, " + rows[i];
    std::printf("%-28s %14.0f %14.0f %14.0f   %s\n", name.c_str(), median(rates[i]),
                *std::ranges::min_element(rates[i]), *std::ranges::max_element(rates[i]), ratio.c_str());
  }
  if (options.long_seconds <= 0) return 0;
  const double most = median(rates[options.stores.size() - 1]);
  return run_long(options, runs, static_cast<std::uint64_t>(most / 2 * options.load)) ? 0 : wrong_answer;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const nfx::cli::Command program{
      .name = "bench_sustained",
      .summary = "Messages per second with the store on, compared with QuickFIX, and a long flow at a part of that",
      .options =
          {repeats_option(options.repeats),
           {.names = "--seconds",
            .target = &options.seconds,
            .help = "Seconds of each measurement",
            .range = {{1, 3600}}},
           {.names = "--long-seconds",
            .target = &options.long_seconds,
            .help = "Seconds of the long flow after it, which has to hold its rate and memory; 0: none",
            .default_text = "0"},
           {.names = "--load",
            .target = &options.load,
            .help = "Of the long flow: the part of the rate measured before",
            .range = {{0.01, 1}}},
           {.names = "--window", .target = &options.window, .help = "Unanswered orders", .range = {{1, 100'000}}},
           {.names = "--stores",
            .target = &options.stores,
            .help = "The stores to measure",
            .value = "STORE[,STORE]",
            .one_of = {"memory", "none", "interval", "group", "message"},
            .separator = ','},
           folder_option(options.folder, "--folder,--directory"),
           {.names = "--spin", .target = &options.spin, .help = "Poll threads busy-poll instead of sleeping"},
           {.names = "--no-dictionary",
            .target = &options.no_dictionary,
            .help = "Check only what the session layer needs"},
           {.names = "--no-quickfix", .target = &options.no_quickfix, .help = "Without QuickFIX"}},
  };
  return run_program(program, argc, argv, [&] { return run(options); });
}
