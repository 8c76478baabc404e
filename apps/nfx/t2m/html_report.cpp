// The page of `nfx t2m --report`: percentiles, where the time goes, and the slowest messages, as charts.
#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "host/html.hpp"
#include "t2m/report.hpp"

namespace nfx::app::t2m {
namespace {

using strategy::Stage;

constexpr std::size_t slowest_shown = 30;
constexpr std::size_t most_lines = 8;
// Those that a total consists of, in a chart of at most eight colours.
constexpr std::array stages_shown{Stage::queued, Stage::poll,  Stage::read,   Stage::parse,
                                  Stage::book,   Stage::model, Stage::encode, Stage::send};

std::string us_digits(double ns) {
  std::array<char, 32> text;
  return {text.data(), static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%.3f", ns / 1000))};
}

std::vector<std::string> stage_names() {
  std::vector<std::string> names;
  for (const Stage stage : stages_shown) names.emplace_back(to_string(stage));
  return names;
}

// By how rarely a message takes longer: one in two, ten, a hundred.
SvgLine percentiles_of(const StageFigures& figures, std::string name) {
  SvgLine line{std::move(name), {}};
  for (std::size_t i = 0; i < percentile_rows.size(); ++i) {
    if (figures.ns[i])
      line.points.emplace_back(100 / (100 - percentile_rows[i].percent), static_cast<double>(*figures.ns[i]) / 1000);
  }
  return line;
}

std::string percentile_chart(std::string title, std::vector<SvgLine> lines) {
  SvgChart chart{.title = std::move(title),
                 .x_label = "percentile",
                 .y_label = "us",
                 .log_x = true,
                 .log_y = true,
                 .x_ticks = {},
                 .lines = std::move(lines)};
  for (const PercentileRow& row : percentile_rows) chart.x_ticks.emplace_back(100 / (100 - row.percent), row.name);
  return svg_series(chart);
}

std::string stage_table(const RunResult& run) {
  HtmlTable table;
  for (const PercentileRow& row : percentile_rows) table.head.emplace_back(row.name);
  table.head.insert(table.head.end(), {"max", "mean", "us"});
  table.left_columns_at_end = 1;
  for (const StageFigures& figures : run.stages) {
    std::vector<std::string> cells;
    for (const auto& ns : figures.ns) cells.push_back(ns ? us_digits(static_cast<double>(*ns)) : "-");
    cells.push_back(us_digits(static_cast<double>(figures.max_ns)));
    cells.push_back(us_digits(figures.mean_ns));
    cells.emplace_back(to_string(figures.stage));
    table.rows.push_back(std::move(cells));
  }
  return html_table(table);
}

std::string mean_stages(const RunResult& run) {
  SvgStack mean{"mean", {}, {}};
  double sum = 0;
  for (const Stage stage : stages_shown) {
    const StageFigures* figures = run.find(stage);
    // Of all messages: those without the stage had none of it.
    const double all = static_cast<double>(std::max<std::uint64_t>(run.messages, 1));
    mean.parts.push_back(figures == nullptr ? 0 : figures->mean_ns * static_cast<double>(figures->count) / all);
    sum += mean.parts.back();
  }
  mean.label = us_digits(sum) + " us";
  return svg_stacks("Where the time of a message goes, on average", stage_names(), {mean});
}

std::string slowest_messages(const RunResult& run) {
  std::vector<SvgStack> stacks;
  for (const SlowLine& line : run.slowest) {
    if (stacks.size() == slowest_shown) break;
    SvgStack stack{"message " + std::to_string(line.message.number), {}, {}};
    for (const Stage stage : stages_shown)
      stack.parts.push_back(static_cast<double>(line.message.ns[std::to_underlying(stage)]));
    stack.label = us_digits(static_cast<double>(line.message.total_ns)) + " us; " + to_text(line.host);
    stacks.push_back(std::move(stack));
  }
  return svg_stacks("The slowest messages, from the kernel's stamp, and what the host did then", stage_names(), stacks);
}

std::string section(const RunResult& run) {
  std::string out = "<h2>" + html_escaped(conditions(run)) + "</h2>\n<p>" + std::to_string(run.messages) +
                    " messages; the publisher was late by " +
                    us_digits(static_cast<double>(run.publisher.late_p99_ns)) + " us at P99.</p>\n";
  for (const std::string& warning : run.warnings)
    out += "<p class=\"soft\">Warning: " + html_escaped(warning) + "</p>\n";
  std::vector<SvgLine> lines;
  for (const Stage total : {Stage::due_to_model, Stage::tick_to_model, Stage::due_to_order, Stage::tick_to_order}) {
    if (const StageFigures* figures = run.find(total))
      lines.push_back(percentiles_of(*figures, std::string{to_string(total)}));
  }
  return out + percentile_chart("Percentiles", std::move(lines)) + mean_stages(run) + stage_table(run) +
         slowest_messages(run);
}

// The published comparison, in its own terms: busy-polling without pinning against pinning, one name and four, by
// percentile. Its text has these numbers; the others are in its pictures alone.
struct PublishedLatency {
  std::string_view name;
  double us;
  std::string_view label;
};
constexpr std::array<PublishedLatency, 2> published_latencies{
    // typical, one name, pinned and isolated
    {{"published, from", 5, "5 us, typical"}, {"published, to", 7, "7 us, typical"}}};

// Over not pinned, one name, in the order of percentile_rows: P50 to P99.
struct PublishedGain {
  double us;
  std::string_view label;
};
constexpr std::array<PublishedGain, 5> published_gains{{{0.5, "0.5 us"},
                                                        {2, "nearly 2 us"},
                                                        {0, "not stated"},
                                                        {0, "not stated"},
                                                        {0, "slightly slower, by how much is not stated"}}};
static_assert(published_gains.size() < percentile_rows.size());
static_assert(percentile_rows[published_gains.size() - 1].name == "P99");

// The median of these runs, without noisy processes, in microseconds.
std::optional<double> median_us(std::span<const RunResult> runs, std::uint16_t names, const Condition& condition,
                                std::size_t percentile) {
  std::vector<std::uint64_t> values;
  for (const RunResult& run : runs) {
    const RunOptions& options = run.options;
    const bool same = options.messages.names == names && options.noise == 0 && !options.raw &&
                      options.isolate == condition.isolate && (options.pin || options.isolate) == condition.pin;
    const StageFigures* figures = same ? run.find(Stage::tick_to_model) : nullptr;
    if (figures != nullptr && figures->ns[percentile]) values.push_back(*figures->ns[percentile]);
  }
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  return static_cast<double>(values[values.size() / 2]) / 1000;
}

std::string us_text(double us) { return us_digits(us * 1000) + " us"; }

std::string percentile_bars(std::span<const RunResult> runs, std::uint16_t names) {
  std::vector<SvgBar> bars;
  if (names == 1) {
    for (const PublishedLatency& published : published_latencies)
      bars.push_back({std::string{published.name}, published.us, std::string{published.label}});
  }
  for (std::size_t i = 0; i < published_gains.size(); ++i) {
    for (const Condition& condition : compared_conditions) {
      const auto us = median_us(runs, names, condition, i);
      if (us)
        bars.push_back({std::string{percentile_rows[i].name} + " " + std::string{condition.name}, *us, us_text(*us)});
    }
  }
  return svg_bars(names == 1 ? "Tick to model, 1 name" : "Tick to model, 4 names", bars);
}

std::string gain_bars(std::span<const RunResult> runs) {
  std::vector<SvgBar> bars;
  for (std::size_t i = 0; i < published_gains.size(); ++i) {
    const std::string name{percentile_rows[i].name};
    const PublishedGain& published = published_gains[i];
    bars.push_back({name + " published", published.us, std::string{published.label}});
    const auto before = median_us(runs, 1, compared_conditions[0], i);
    for (std::size_t k = 1; k < compared_conditions.size(); ++k) {
      const auto after = median_us(runs, 1, compared_conditions[k], i);
      if (!before || !after) continue;
      bars.push_back(
          {name + " " + std::string{compared_conditions[k].name}, *before - *after, us_text(*before - *after)});
    }
  }
  return svg_bars("What is gained over not pinning, 1 name: published, and here", bars);
}

// Those of a comparison; empty for other runs.
std::vector<std::string> published_charts(std::span<const RunResult> runs) {
  const auto has = [&](std::uint16_t names) { return median_us(runs, names, compared_conditions[0], 0).has_value(); };
  std::vector<std::string> charts;
  if (runs.size() < 2) return charts;
  if (has(1)) {
    charts.push_back(percentile_bars(runs, 1));
    charts.push_back(gain_bars(runs));
  }
  if (has(4)) charts.push_back(percentile_bars(runs, 4));
  return charts;
}

std::string comparison(std::span<const RunResult> runs) {
  std::vector<SvgLine> lines;
  for (const RunResult& run : runs) {
    const StageFigures* figures = run.find(Stage::tick_to_model);
    const std::string name = run.where + (run.options.messages.names == 1 ? "" : ", 4 names") +
                             (run.options.noise == 0 ? "" : ", noise") + (run.options.raw ? ", raw" : "");
    const bool known = std::ranges::find(lines, name, &SvgLine::name) != lines.end();
    if (figures != nullptr && !known && lines.size() < most_lines) lines.push_back(percentiles_of(*figures, name));
  }
  return percentile_chart("Tick to model", std::move(lines));
}

}  // namespace

std::string to_svg(std::span<const RunResult> runs) {
  std::vector<std::string> charts = published_charts(runs);
  if (charts.empty()) charts.push_back(comparison(runs));
  return svg_document("Tick to model", charts);
}

std::string to_html(std::span<const RunResult> runs) {
  std::string body;
  if (runs.size() > 1) {
    body += comparison(runs);
    const std::vector<std::string> charts = published_charts(runs);
    if (!charts.empty()) {
      body +=
          "<h2>The published comparison</h2>\n<p>Busy-polling, and pinned and isolated, by percentile: what its text "
          "states, next to the medians of these runs without noisy processes. Four names: \"less evidence for a "
          "consistent advantage\", without numbers.</p>\n";
    }
    for (const std::string& chart : charts) body += chart;
  }
  for (const RunResult& run : runs) body += section(run);
  return html_page("Tick to model", body);
}

}  // namespace nfx::app::t2m
