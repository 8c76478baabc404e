// Formats the results of the demonstration as a table and as JSON, and compares the counts of both sides.
#include "demo/report.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "base/error_text.hpp"
#include "json_output.hpp"
#include "output.hpp"

namespace nfx::app::demo {
namespace {

constexpr double percentiles[] = {50, 99, 99.9};

double microseconds(std::uint64_t ns) { return static_cast<double>(ns) / 1000; }

std::string in_columns(std::string_view text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ').append(text);
}
std::string in_columns(std::uint64_t number, std::size_t width) { return in_columns(std::to_string(number), width); }
std::string in_columns(double number, int decimals, std::size_t width) {
  char text[512];
  return in_columns({text, static_cast<std::size_t>(std::snprintf(text, sizeof text, "%.*f", decimals, number))},
                    width);
}

void append_name(SafeText& out, std::string_view name) {
  out += "  ";
  const std::size_t start = out.size();
  out += name;
  out.pad_to(start, 30);
}

void append_latencies(SafeText& out, std::string_view name, const LatencyHistogram& h,
                      std::optional<double> messages_per_s) {
  append_name(out, name);
  out.add(" {}", in_columns(h.count(), 9));
  for (const double p : percentiles) out.add(" {}", in_columns(microseconds(h.percentile(p)), 1, 9));
  out.add(" {}", in_columns(microseconds(h.max()), 1, 9));
  if (messages_per_s) out.add(" {}", in_columns(*messages_per_s, 0, 11));
  out += '\n';
}

std::optional<std::uint64_t> difference(std::optional<std::uint64_t> after, std::optional<std::uint64_t> before) {
  if (!after || !before) return std::nullopt;
  return *after - *before;
}

constexpr std::string_view baseline_title = "same bytes over TCP, no FIX";

// One line about the rows that other work on the machine has disturbed.
void append_note(SafeText& out, const Outcome& outcome) {
  SafeText rows;
  const auto add = [&](std::string_view title, const Disturbance& disturbance) {
    if (!disturbance.spoilt()) return;
    if (!rows.empty()) rows += "; ";
    rows += title;
  };
  for (const PhaseResult& phase : outcome.trader->phases())
    if (phase.plan.reported) add(phase.plan.title, phase.disturbance);
  if (outcome.baseline) add(baseline_title, outcome.baseline_disturbance);
  if (!rows.empty()) out.add("  note: preempted, so the tail is the scheduler's and not the engine's: {}\n", rows);
}

void append_summary(SafeText& out, const Outcome& outcome) {
  const TraderCounts& t = outcome.trader->counts();
  out.add("  {} orders, {} replaces, {} cancels, {} fills and {} rejects were exchanged.", t.orders, t.replaces,
          t.cancels, t.fills, t.rejects);
  const auto single = std::ranges::find(outcome.trader->phases(), 1U, [](const PhaseResult& phase) {
    return phase.plan.reported ? phase.plan.window : 0U;
  });
  if (outcome.baseline && single != outcome.trader->phases().end()) {
    const double with = microseconds(single->round_trip.percentile(50));
    const double without = microseconds(outcome.baseline->percentile(50));
    out.add("\n  One order and its reports take {} us in the median; the same bytes without FIX take {} us.\n",
            in_columns(with, 1, 0), in_columns(without, 1, 0));
  } else {
    out += '\n';
  }
}

Json json_of(const LatencyHistogram& h, const Disturbance& shown, bool repeated) {
  return {{"count", h.count()},
          {"p50_ns", h.percentile(50)},
          {"p90_ns", h.percentile(90)},
          {"p99_ns", h.percentile(99)},
          {"p99_9_ns", h.percentile(99.9)},
          {"max_ns", h.max()},
          {"steal_percent", shown.steal_percent},
          {"wait_percent", shown.wait_percent},
          {"involuntary_switches", shown.involuntary_switches},
          {"spoilt", shown.spoilt()},
          {"repeated", repeated}};
}

Json side_json(const ThreadStats& before, const ThreadStats& after, const SessionCounters& s) {
  return {{"messages_in", s.messages_in},
          {"messages_out", s.messages_out},
          {"core", or_null(after.core)},
          {"migrations", or_null(difference(after.migrations, before.migrations))},
          {"involuntary_switches", or_null(difference(after.involuntary_switches, before.involuntary_switches))},
          {"voluntary_switches", or_null(difference(after.voluntary_switches, before.voluntary_switches))}};
}

}  // namespace

std::vector<std::string> disagreements(const Outcome& outcome) {
  std::vector<std::string> problems;
  const auto expect_equal = [&](const char* what, std::uint64_t trader, std::uint64_t venue) {
    if (trader == venue) return;
    problems.push_back(std::string{what} + ": trader has " + std::to_string(trader) + ", venue " +
                       std::to_string(venue));
  };
  const TraderCounts& t = outcome.trader->counts();
  const VenueCounts& v = outcome.venue.counts;
  expect_equal("sequence numbers trader to venue", outcome.trader_next_outbound, outcome.venue.next_inbound);
  expect_equal("sequence numbers venue to trader", outcome.trader_next_inbound, outcome.venue.next_outbound);
  expect_equal("orders", t.orders, v.orders);
  expect_equal("fills", t.fills, v.fills);
  expect_equal("rejects", t.rejects, v.rejects);
  expect_equal("replaces and cancels, including rejected ones", t.replaces + t.cancels,
               v.replaces + v.cancels + v.rejects);
  if (t.unexpected != 0) problems.push_back("trader: " + std::to_string(t.unexpected) + " reports that fit no request");
  if (v.unsent != 0) problems.push_back("venue: " + std::to_string(v.unsent) + " reports that could not be sent");
  const std::vector<OrderSummary> orders = outcome.trader->summaries();
  if (orders.size() != outcome.venue.orders.size()) {
    problems.push_back("the two sides have tables of different sizes");
    return problems;
  }
  std::size_t differing = 0;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    if (orders[i] == outcome.venue.orders[i]) continue;
    if (differing++ == 0)
      problems.push_back("order " + std::to_string(i) + ": the two sides see another state, price or quantity");
  }
  if (differing > 1) problems.push_back("and " + std::to_string(differing - 1) + " more orders");
  return problems;
}

SafeText table(const Outcome& outcome, const std::vector<std::string>& problems) {
  SafeText out;
  const TraderCounts& t = outcome.trader->counts();
  out.add("\nnfx demo: a trader and a venue with a matching book, two processes, FIX 4.4 over TCP on loopback\n");
  out.add("  idle {}: {}\n\n", outcome.idle, outcome.idle_reason);
  if (outcome.noise != 0 || !outcome.isolated_cpus.empty()) {
    const std::string where =
        outcome.isolated_cpus.empty() ? "not isolated" : "isolated on CPU " + outcome.isolated_cpus;
    out.add("  with {} noisy processes, {}\n\n", outcome.noise, where);
  }
  append_name(out, "round trip in us");
  for (const std::string_view column : {"requests", "median", "99%", "99.9%", "max"}) {
    out.add(" {}", in_columns(column, 9));
  }
  out.add(" {}\n", in_columns("messages/s", 11));
  for (const PhaseResult& phase : outcome.trader->phases()) {
    if (phase.plan.reported) append_latencies(out, phase.plan.title, phase.round_trip, phase.messages_per_s());
  }
  if (outcome.baseline) append_latencies(out, baseline_title, *outcome.baseline, std::nullopt);
  out += '\n';
  append_note(out, outcome);
  append_summary(out, outcome);
  if (problems.empty()) {
    out.add(
        "  Check passed: both sides agree on every sequence number ({} and {}) and on the state of all {} orders.\n",
        outcome.trader_next_outbound, outcome.trader_next_inbound, t.orders);
  }
  for (const std::string& problem : problems) out.add("  CHECK FAILED: {}\n", problem);
  return out;
}

void write_json(const std::filesystem::path& file, const Outcome& outcome, const std::vector<std::string>& problems) {
  const TraderCounts& t = outcome.trader->counts();
  Json json{{"idle", outcome.idle}, {"noise", outcome.noise}, {"isolated_cpus", outcome.isolated_cpus},
            {"orders", t.orders},   {"replaces", t.replaces}, {"cancels", t.cancels},
            {"fills", t.fills},     {"rejects", t.rejects},   {"phases", Json::array()}};
  for (const PhaseResult& phase : outcome.trader->phases()) {
    if (!phase.plan.reported) continue;
    Json& added = json["phases"].emplace_back(Json{{"name", phase.plan.name}});
    added.update(json_of(phase.round_trip, phase.disturbance, phase.first_run.has_value()));
    added["messages_per_s"] = phase.messages_per_s();
  }
  if (outcome.baseline)
    json["floor"] = json_of(*outcome.baseline, outcome.baseline_disturbance, outcome.baseline_first_run.has_value());
  json["trader"] = side_json(outcome.trader->thread_before(), outcome.trader->thread_after(), outcome.trader_session);
  json["venue"] = side_json(outcome.venue.thread_before, outcome.venue.thread_after, outcome.venue.session);
  json["agree"] = problems.empty();
  std::ofstream out{file};
  if (!out) throw std::runtime_error(cannot("write", file, errno));
  out << json.dump(2) << '\n';
  if (!out.flush()) throw std::runtime_error(cannot("write", file, errno));
}

}  // namespace nfx::app::demo
