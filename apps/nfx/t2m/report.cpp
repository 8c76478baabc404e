// Percentile tables of stages and conditions, in microseconds.
#include "t2m/report.hpp"

#include <algorithm>
#include <cstdio>

#include "json_output.hpp"
#include "nexusfix/base/counter_rows.hpp"

namespace nfx::app::t2m {
namespace {

using strategy::Stage;

// "12.345", in microseconds; "-" where there are too few messages.
std::string micros(std::optional<std::uint64_t> ns) {
  if (!ns) return "-";
  std::array<char, 32> text;
  const int size = std::snprintf(text.data(), text.size(), "%.3f", static_cast<double>(*ns) / 1000);
  return {text.data(), static_cast<std::size_t>(size)};
}

std::string padded(std::string_view text, std::size_t width, bool right) {
  const std::size_t fill = width > text.size() ? width - text.size() : 0;
  return right ? std::string(fill, ' ') + std::string{text} : std::string{text} + std::string(fill, ' ');
}

constexpr std::size_t name_width = 26;
constexpr std::size_t number_width = 11;

void print_head(SafeText& out, std::string_view first) {
  out += padded(first, name_width, false);
  for (const PercentileRow& row : percentile_rows) out += padded(row.name, number_width, true);
  out += padded("max", number_width, true);
  out += "\n";
}

void print_row(SafeText& out, std::string_view name, const StageFigures& figures) {
  out += padded(name, name_width, false);
  for (const auto& ns : figures.ns) out += padded(micros(ns), number_width, true);
  out += padded(micros(figures.max_ns), number_width, true);
  out += "\n";
}

bool any_refused(const RunResult& result) {
  return std::ranges::any_of(result.stages, [](const StageFigures& each) {
    return std::ranges::any_of(each.ns, [](const auto& ns) { return !ns; });
  });
}

void print_slow(SafeText& out, const SlowLine& line) {
  const strategy::SlowMessage& message = line.message;
  out.add("  {} us, message {}{}, CPU {}:", micros(message.total_ns), message.number,
          message.order ? " with an order" : "", message.cpu);
  // Parts of at least a twentieth, the largest first.
  std::vector<std::size_t> parts;
  for (std::size_t i = std::to_underlying(Stage::queued); i <= std::to_underlying(Stage::send); ++i)
    if (std::uint64_t{message.ns[i]} * 20 >= message.total_ns) parts.push_back(i);
  std::ranges::sort(parts, std::greater{}, [&](std::size_t i) { return message.ns[i]; });
  for (const std::size_t i : parts) out.add(" {} {}", strategy::stage_rows[i].name, micros(message.ns[i]));
  if (const std::string host = to_text(line.host); !host.empty()) out.add("; host: {}", host);
  out += "\n";
}

// The median over the runs of each percentile.
StageFigures middle_of(std::span<const RunResult> runs) {
  const auto median_of = [&](const auto& pick) {
    std::vector<std::uint64_t> values;
    for (const RunResult& run : runs) {
      const StageFigures* figures = run.find(Stage::tick_to_model);
      const std::optional<std::uint64_t> value = figures == nullptr ? std::nullopt : pick(*figures);
      if (value) values.push_back(*value);
    }
    std::ranges::sort(values);
    return values.size() == runs.size() ? std::optional{values[values.size() / 2]} : std::nullopt;
  };
  StageFigures middle;
  for (std::size_t i = 0; i < middle.ns.size(); ++i)
    middle.ns[i] = median_of([i](const StageFigures& figures) { return figures.ns[i]; });
  middle.max_ns = median_of([](const StageFigures& figures) { return std::optional{figures.max_ns}; }).value_or(0);
  return middle;
}

// How far apart the runs are at the median.
void print_spread(SafeText& out, std::span<const RunResult> runs) {
  std::vector<std::uint64_t> medians;
  for (const RunResult& run : runs) {
    if (const StageFigures* figures = run.find(Stage::tick_to_model); figures != nullptr && figures->ns[0])
      medians.push_back(*figures->ns[0]);
  }
  if (medians.size() < 2) return;
  const auto [least, most] = std::ranges::minmax(medians);
  out.add("  P50 of the {} runs from {} to {}\n", medians.size(), micros(least), micros(most));
}

// The time that feed, book and model add to the raw loop.
void print_ratio(SafeText& out, const StageFigures& model, const StageFigures& raw) {
  std::string text;
  for (std::size_t i = 0; i < percentile_rows.size(); ++i) {
    if (!model.ns[i] || !raw.ns[i] || *raw.ns[i] == 0) continue;
    std::array<char, 32> ratio;
    const int size = std::snprintf(ratio.data(), ratio.size(), "%.2f",
                                   static_cast<double>(*model.ns[i]) / static_cast<double>(*raw.ns[i]));
    text += (text.empty() ? "" : ", ") + std::string{percentile_rows[i].name} + ' ' +
            std::string{ratio.data(), static_cast<std::size_t>(size)};
  }
  if (!text.empty()) out.add("  to the model, times the raw loop: {}\n", text);
}

Json json_of(const StageFigures& figures) {
  Json json{{"stage", to_string(figures.stage)},
            {"count", figures.count},
            {"mean_ns", static_cast<std::uint64_t>(figures.mean_ns)}};
  for (std::size_t i = 0; i < figures.ns.size(); ++i)
    json[std::string{percentile_rows[i].name} + "_ns"] = or_null(figures.ns[i]);
  json["max_ns"] = figures.max_ns;
  return json;
}

Json json_of(const HostWindow& host) {
  return {{"waited_ns", host.waited_ns},
          {"involuntary_switches", host.involuntary_switches},
          {"migrations", host.migrations},
          {"steal_ms", host.steal_ticks * 10},
          {"timer_interrupts", host.timer_interrupts},
          {"device_interrupts", host.device_interrupts},
          {"other_interrupts", host.other_interrupts}};
}

Json json_of(const SlowLine& line) {
  const strategy::SlowMessage& message = line.message;
  Json stages = Json::object();
  for (std::size_t i = 0; i <= std::to_underlying(Stage::send); ++i)
    stages[std::string{strategy::stage_rows[i].name}] = message.ns[i];
  return {{"number", message.number}, {"total_ns", message.total_ns},   {"order", message.order},
          {"cpu", message.cpu},       {"stages_ns", std::move(stages)}, {"host", json_of(line.host)}};
}

template <class Rows>
Json list_of(const Rows& rows) {
  Json all = Json::array();
  for (const auto& row : rows) all.push_back(json_of(row));
  return all;
}

}  // namespace

std::string conditions(const RunResult& result) {
  const RunOptions& run = result.options;
  const MessageOptions& messages = run.messages;
  const auto name = [](const auto& names, auto value) { return std::string{names[std::to_underlying(value)]}; };
  std::string text = name(feed_kinds, messages.feed) + ", " + std::to_string(messages.names) +
                     (messages.names == 1 ? " name, " : " names, ") + name(wait_modes, run.mode) + ", " + result.where +
                     ", " + name(load_kinds, messages.load) + ' ' +
                     std::to_string(static_cast<std::uint64_t>(messages.rate_per_s)) + "/s";
  if (run.noise != 0) text += ", " + std::to_string(run.noise) + " noisy processes";
  if (run.orders) text += ", with orders";
  if (run.raw) text += ", raw recvmsg()";
  return text;
}

void print_run(SafeText& out, const RunResult& result, std::size_t slowest) {
  out.add("{}: {} messages\n", conditions(result), result.messages);
  print_head(out, "us");
  for (const Stage total : {Stage::due_to_model, Stage::due_to_order, Stage::tick_to_model, Stage::tick_to_order}) {
    if (const StageFigures* figures = result.find(total)) print_row(out, to_string(total), *figures);
  }
  for (const StageFigures& figures : result.stages) {
    if (figures.stage <= Stage::service) print_row(out, "  " + std::string{to_string(figures.stage)}, figures);
  }
  if (any_refused(result)) out += "-: fewer than ten messages are beyond it; measure more of them\n";
  out.add("publisher: {} sent, {} refused; late by {} us at the median, {} at P99, {} at most\n", result.publisher.sent,
          result.publisher.refused, micros(result.publisher.late_p50_ns), micros(result.publisher.late_p99_ns),
          micros(result.publisher.late_max_ns));
  if (result.missing != 0) out.add("{} messages were lost: the receiver does not keep up\n", result.missing);
  if (result.not_kept != 0) out.add("{} messages have no stamps\n", result.not_kept);
  if (result.anomalies != 0) out.add("{} events did not fit the books\n", result.anomalies);
  if (result.options.orders) out.add("orders: {}\n", strategy::to_text(result.orders));
  if (const std::string host = to_text(result.host); !host.empty()) out.add("host: {}\n", host);
  for (const std::string& warning : result.warnings) out.add("warning: {}\n", warning);
  if (slowest == 0 || result.slowest.empty()) return;
  out += "the slowest, from the kernel's stamp:\n";
  for (std::size_t i = 0; i < std::min(slowest, result.slowest.size()); ++i) print_slow(out, result.slowest[i]);
}

void print_comparison(SafeText& out, std::span<const ComparisonRow> rows) {
  print_head(out, "tick to model, us");
  StageFigures before;
  for (const ComparisonRow& row : rows) {
    if (row.runs.empty()) {
      out += padded(row.name(), name_width, false);
      out.add("  left out: {}\n", row.left_out);
      before = {};
      continue;
    }
    const StageFigures middle = middle_of(row.runs);
    print_row(out, row.name(), middle);
    print_spread(out, row.runs);
    if (row.raw) print_ratio(out, before, middle);
    before = middle;
  }
}

std::string to_json(std::span<const RunResult> runs) {
  Json all = Json::array();
  for (const RunResult& run : runs) {
    Json orders = Json::object();
    for (const auto& row : counter_rows<strategy::RiskCounters>) {
      const std::string label = row.label.empty() ? std::string{} : '.' + std::string{row.label_value};
      orders[std::string{row.metric} + label] = run.orders.*row.member;
    }
    all.push_back({{"conditions", conditions(run)},
                   {"names", run.options.messages.names},
                   {"where", run.where},
                   {"pin", run.options.pin},
                   {"isolate", run.options.isolate},
                   {"noise", run.options.noise},
                   {"raw", run.options.raw},
                   {"messages", run.messages},
                   {"missing", run.missing},
                   {"not_kept", run.not_kept},
                   {"anomalies", run.anomalies},
                   {"book_hash", std::to_string(run.book_hash)},
                   {"order_hash", std::to_string(run.order_hash)},
                   {"publisher",
                    {{"sent", run.publisher.sent},
                     {"refused", run.publisher.refused},
                     {"late_p50_ns", run.publisher.late_p50_ns},
                     {"late_p99_ns", run.publisher.late_p99_ns},
                     {"late_max_ns", run.publisher.late_max_ns}}},
                   {"host", json_of(run.host)},
                   {"stages", list_of(run.stages)},
                   {"orders", std::move(orders)},
                   {"slowest", list_of(run.slowest)},
                   {"warnings", run.warnings}});
  }
  return std::string{json_line({{"runs", std::move(all)}}).view()};
}

}  // namespace nfx::app::t2m
