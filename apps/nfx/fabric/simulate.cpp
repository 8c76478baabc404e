// nfx fabric simulate: computes the published steps from one card to thirty-two, with the costs measured here and with
// the cost that the published rates imply.
#include <array>
#include <string>

#include "command.hpp"
#include "fabric/fabric.hpp"
#include "fabric/figures_text.hpp"
#include "fabric/rail_simulation.hpp"
#include "json_output.hpp"

namespace nfx::app::fabric {
namespace {

using namespace nfx::fabric;

struct SimulateOptions {
  SimulatedMachine machine;
  SimulatedCosts costs;
  std::uint64_t queue = 256;
  std::uint32_t groups = 8;
  std::uint32_t rails = 4;
  double milliseconds = 20;
  bool json = false;
};

struct Row {
  const LadderStep* step = nullptr;
  SimulatedRun here;    // with the given costs
  SimulatedRun fitted;  // with the cost of a post that results in the rate of chapter 10
  double implied_ns = 0;
};

struct Results {
  std::array<Row, ladder_steps> rows;
  double fitted_post_ns = 0;
};

Results compute(const SimulateOptions& options) {
  const double duration = options.milliseconds * 1e6;
  const auto& steps = published_ladder();
  // Chapter 10 is limited only by one thread's own costs: no other thread, and all cards connected.
  constexpr std::size_t one_thread_alone = 2;
  Results results;
  results.fitted_post_ns = implied_post_ns(options.machine, options.costs, steps[one_thread_alone].program,
                                           steps[one_thread_alone].published_gbps, duration);
  SimulatedCosts fitted = options.costs;
  fitted.post_ns = results.fitted_post_ns > 0 ? results.fitted_post_ns : options.costs.post_ns;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Row& row = results.rows[i];
    row.step = &steps[i];
    row.here = simulate(options.machine, options.costs, steps[i].program, duration);
    row.fitted = simulate(options.machine, fitted, steps[i].program, duration);
    row.implied_ns =
        implied_post_ns(options.machine, options.costs, steps[i].program, steps[i].published_gbps, duration);
  }
  return results;
}

std::string factor(double now, double before) { return before > 0 ? decimal(now / before, 2) : std::string{"-"}; }

std::string error_of(double model, double published) { return decimal((model / published - 1) * 100, 0) + " %"; }

void print_text(const SimulateOptions& options, const Results& results) {
  const SimulatedCosts& costs = options.costs;
  SafeText out;
  out.add("{} groups of {} cards of {} Gb/s, switches {}, pages of {} bytes\n", options.groups, options.rails,
          decimal(options.machine.link_gbps, 0),
          options.machine.switch_gbps > 0 ? decimal(options.machine.switch_gbps, 0) + " Gb/s"
                                          : std::string{"never a limit"},
          options.machine.page_bytes);
  out.add("costs in ns: poll {}, completion {}, post {}, refused post {}, shared line {}, connect {}, unpinned x {}\n",
          decimal(costs.poll_ns, 0), decimal(costs.completion_ns, 0), decimal(costs.post_ns, 0),
          decimal(costs.refused_post_ns, 0), decimal(costs.shared_line_ns, 0), decimal(costs.connect_ns, 0),
          decimal(costs.unpinned_factor, 2));
  out += "published: measured by others on another machine, one p5.48xlarge to another\n\n";
  out +=
      "                 ------ published ------  ---- with these costs -----  -- post fitted to chapter 10 --  a post "
      "that\n";
  out +=
      "chapter               Gb/s       factor     Gb/s  factor   error       Gb/s  factor   error  ends at  gives "
      "it, ns\n";
  const Row* before = nullptr;
  for (const Row& row : results.rows) {
    const std::size_t begin = out.size();
    out.add("{} {}", row.step->chapter, row.step->name);
    out.pad_to(begin, 14);
    const auto last = [&](auto rate) { return before == nullptr ? 0.0 : rate(*before); };
    append_right(out, decimal(row.step->published_gbps, 1), 12);
    append_right(out, factor(row.step->published_gbps, last([](const Row& r) { return r.step->published_gbps; })), 13);
    append_right(out, decimal(row.here.gbps, 1), 9);
    append_right(out, factor(row.here.gbps, last([](const Row& r) { return r.here.gbps; })), 8);
    append_right(out, error_of(row.here.gbps, row.step->published_gbps), 8);
    append_right(out, decimal(row.fitted.gbps, 1), 11);
    append_right(out, factor(row.fitted.gbps, last([](const Row& r) { return r.fitted.gbps; })), 8);
    append_right(out, error_of(row.fitted.gbps, row.step->published_gbps), 8);
    out += "  ";
    const std::size_t limit = out.size();
    out += to_string(row.fitted.bottleneck);
    out.pad_to(limit, 9);
    append_right(out, row.implied_ns < 0 ? std::string{"none"} : decimal(row.implied_ns, 0), 12);
    out += '\n';
    before = &row;
  }
  out.add(
      "\nThe fitted post takes {} ns. An error is the model's, which leaves out NUMA nodes, the receiver, packet "
      "headers, caches and page tables of the cards.\n",
      decimal(results.fitted_post_ns, 0));
  print(out);
}

Json json_of(const SimulatedRun& run) {
  return {{"gbps", run.gbps},
          {"thread_busy", run.thread_busy},
          {"link_busy", run.link_busy},
          {"shared_wait", run.shared_wait},
          {"bottleneck", to_string(run.bottleneck)}};
}

void print_json(const Results& results) {
  Json steps = Json::array();
  for (const Row& row : results.rows)
    steps.push_back({{"chapter", row.step->chapter},
                     {"name", row.step->name},
                     {"published_gbps", row.step->published_gbps},
                     {"simulated", json_of(row.here)},
                     {"fitted", json_of(row.fitted)},
                     {"implied_post_ns", row.implied_ns < 0 ? Json{} : Json(row.implied_ns)}});
  print(json_line({{"fitted_post_ns", results.fitted_post_ns}, {"steps", std::move(steps)}}));
}

cli::Option cost(std::string_view name, double& target, std::string_view help, double least = 0) {
  return {.names = name, .target = &target, .help = help, .value = "NS", .range = {{least, 1e9}}};
}

int simulate_ladder(SimulateOptions& options) {
  options.machine.groups = options.groups;
  options.machine.rails_per_group = options.rails;
  options.machine.queue = options.queue;
  const Results results = compute(options);
  options.json ? print_json(results) : print_text(options, results);
  return exit_done;
}

}  // namespace

cli::Command simulate_command() {
  static SimulateOptions options;
  return {
      .name = "simulate",
      .summary = "Compute the gain of each published technique on many cards, and where it comes from",
      .run = [] { return simulate_ladder(options); },
      .options =
          {{.names = "--groups", .target = &options.groups, .help = "Groups of cards", .range = {{1, 64}}},
           {.names = "--rails", .target = &options.rails, .help = "Cards of each group", .range = {{1, 64}}},
           {.names = "--link-rate",
            .target = &options.machine.link_gbps,
            .help = "Rate of a card, in Gb/s",
            .value = "GBPS",
            .range = {{0.001, 10'000}}},
           {.names = "--switch-rate",
            .target = &options.machine.switch_gbps,
            .help = "Rate of a group's PCIe switch, in Gb/s; 0: never a limit",
            .value = "GBPS",
            .range = {{0, 100'000}},
            .default_text = "0"},
           {.names = "--page",
            .target = &options.machine.page_bytes,
            .help = "Bytes of a page",
            .value = "BYTES",
            .range = {{64, 64 << 20}}},
           {.names = "--queue",
            .target = &options.queue,
            .help = "Pages that a card takes before it is full",
            .range = {{1, 4096}}},
           cost("--answer-ns", options.machine.answer_ns, "Time from the end of a page to its completion"),
           cost("--poll-ns", options.costs.poll_ns, "Cost of reading one completion queue", 1),
           cost("--completion-ns", options.costs.completion_ns, "Cost of each completion"),
           cost("--post-ns", options.costs.post_ns, "Cost of posting a page that the card takes"),
           cost("--refused-post-ns", options.costs.refused_post_ns, "Cost of posting to a card that is full"),
           cost("--shared-line-ns", options.costs.shared_line_ns, "Time to read memory that another thread wrote"),
           cost("--connect-ns", options.costs.connect_ns, "Cost of a card's first page"),
           {.names = "--unpinned-factor",
            .target = &options.costs.unpinned_factor,
            .help = "Factor of a thread's costs while it is not pinned",
            .range = {{1, 1000}}},
           {.names = "--milliseconds", .target = &options.milliseconds, .help = "Simulated time", .range = {{1, 1000}}},
           {.names = "--json", .target = &options.json, .help = "Print one JSON object"}},
      .details =
          "The published rates come from other authors' program on another machine. Default costs were measured over "
          "libfabric's provider shm; docs/fabric.md has the machine and the command. The second model has one cost "
          "changed: a post takes what the published rate of one thread implies.",
      .examples = {{.line = "nfx fabric simulate"},
                   {.line = "nfx fabric simulate --unpinned-factor 3.5 --shared-line-ns 200",
                    .about = "with threads that the kernel moves, and memory that is far"}},
  };
}

}  // namespace nfx::app::fabric
