// All techniques together, from an order's bytes to its report's: none, each alone, all, and all but each. What a
// technique is worth alone need not be what it is worth together with the others.
#include <array>

#include "harness/random.hpp"
#include "techniques/path.hpp"
#include "techniques/ring.hpp"
#include "techniques/rows.hpp"
#include "wire/corpus.hpp"
#include "wire/plain_reading.hpp"

namespace nfx::bench {
namespace {

struct Switch {
  const char* name;
  bool PathTechniques::* member;
};

constexpr std::array switches{
    Switch{"io_uring with DEFER_TASKRUN", &PathTechniques::defer_taskrun},
    Switch{"vector code", &PathTechniques::vector_code},
    Switch{"views and an index of tags", &PathTechniques::views},
    Switch{"dense message index", &PathTechniques::dense_index},
    Switch{"deferred log", &PathTechniques::deferred},
    Switch{"pinned", &PathTechniques::pinned},
};

struct Condition {
  std::string section;
  std::string name;
  PathTechniques on;
};

std::vector<Condition> all_conditions() {
  PathTechniques everything;
  for (const Switch& each : switches) everything.*each.member = true;
  const std::string alone = "each technique alone", without = "all but one";
  std::vector<Condition> conditions{{alone, "none", {}}};
  for (const Switch& each : switches) {
    PathTechniques on;
    on.*each.member = true;
    conditions.push_back({alone, each.name, on});
  }
  conditions.push_back({alone, "all", everything});
  conditions.push_back({without, "all", everything});
  for (const Switch& each : switches) {
    PathTechniques on = everything;
    on.*each.member = false;
    conditions.push_back({without, std::string{"without "} + each.name, on});
  }
  return conditions;
}

std::string why_not(const PathTechniques& on, const TechniqueOptions& options) {
  if (on.deferred && options.core == options.other) return "the worker needs a second CPU";
  if (on.defer_taskrun)
    return why_no_ring(IORING_SETUP_COOP_TASKRUN | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
                       options.core, options.other);
  return why_no_ring(0, options.core, options.other);
}

// The report answers this order, and its BodyLength and CheckSum are right.
void check_report(std::string_view report, const PlainMessage& order, const std::string& name) {
  const auto plain = read_plainly(report);
  bool right = plain.has_value() && plain_text(*plain, 35) == "8" && plain_text(*plain, 151) == plain_text(order, 38);
  for (const int tag : {11, 55, 54, 38, 44, 60}) right = right && plain_text(*plain, tag) == plain_text(order, tag);
  if (!right) throw WrongAnswerError(name + ": the report is not the one to its order");
}

struct Orders {
  Corpus corpus;
  std::vector<PlainMessage> plain;
  std::vector<std::uint64_t> sums;  // of the fields that are read
};

Orders make_orders(std::uint64_t seed) {
  Orders orders{make_corpus(Kind::new_order_single, seed), {}, {}};
  for (std::uint32_t i = 0; i < orders.corpus.size(); ++i) {
    orders.plain.push_back(*read_plainly(orders.corpus[i]));
    orders.sums.push_back(expected_readings(Kind::new_order_single, orders.plain.back(), Prices::exact));
  }
  return orders;
}

struct Timed {
  Figures figures;
  std::uint64_t log_bytes = 0;
};

Timed time_path(const Condition& condition, const Orders& orders, std::uint64_t seed, const TechniqueOptions& options,
                const TechniqueTools& tools) {
  const auto path = make_path(condition.on, {options.core, options.other});
  Random random{seed};
  Timings timings{tools};
  // Every order once, its report checked whole: this warms up, too.
  const std::uint32_t checked = orders.corpus.size();
  const std::uint32_t measured = options.operations / 5;
  for (std::uint32_t i = 0; i < checked + measured; ++i) {
    const std::uint32_t item = i < checked ? i : static_cast<std::uint32_t>(random.below(orders.corpus.size()));
    const std::string_view order = orders.corpus[item];
    std::uint64_t sum = 0;
    path->deliver(order);
    if (i < checked)
      sum = path->process(order.size());
    else
      timings.time([&] { sum = path->process(order.size()); });
    const std::string_view report = path->collect();
    if (sum != orders.sums[item]) throw WrongAnswerError(condition.name + ": other fields were read");
    if (i < checked) check_report(report, orders.plain[item], condition.name);
  }
  return {timings.figures(), path->finish()};
}

}  // namespace

std::vector<RepeatedGroup> path_groups(const TechniqueOptions& options, const TechniqueTools& tools) {
  RepeatedGroup group{"path", "ns from an order in a socket to its report in the socket, one at a time", {}};
  const std::vector<Condition> conditions = all_conditions();
  for (const Condition& each : conditions) {
    group.rows.push_back(empty_row(each.section, each.name,
                                   each.name == (each.section == conditions[0].section ? "none" : "all"),
                                   why_not(each.on, options)));
  }
  const Orders orders = make_orders(options.seed);
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    std::uint64_t log_bytes = 0;  // the same for all conditions of a repeat, or one of them did other work
    for (std::size_t i = 0; i < conditions.size(); ++i) {
      if (!group.rows[i].note.empty()) continue;
      run_repeat(group.rows[i], tools.counters, options.operations / 5, [&] {
        const Timed timed = time_path(conditions[i], orders, options.seed + repeat, options, tools);
        if (log_bytes != 0 && timed.log_bytes != log_bytes)
          throw WrongAnswerError(conditions[i].name + ": other log lines were written");
        log_bytes = timed.log_bytes;
        return timed.figures;
      });
    }
  }
  return {group};
}

}  // namespace nfx::bench
