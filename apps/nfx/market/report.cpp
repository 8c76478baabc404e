// Statistics as a page.
#include "market/report.hpp"

#include <array>
#include <chrono>
#include <limits>

#include "host/html.hpp"
#include "market/market.hpp"

namespace nfx::app::market {
namespace {

using nfx::market::EventKind;
using Points = std::vector<std::pair<double, double>>;

// File and instrument names are not this program's.
std::string shown(std::string_view text) {
  SafeText safe;
  safe += text;
  return std::string{safe.view()};
}

// "1,234,567".
std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

double seconds_of(Duration duration) { return std::chrono::duration<double>(duration).count(); }
double price_of(std::int64_t nano) { return static_cast<double>(nano) * 1e-9; }

// "09:30", with seconds where ticks are closer than a minute; with the day at its first tick.
std::string tick_label(UtcTime time, Duration step) {
  std::string text = time_text(time);
  const std::size_t begin = text.find('T') == std::string::npos ? 0 : text.find('T') + 1;
  const std::string clock = text.substr(begin, step < std::chrono::minutes{1} ? 8 : 5);
  return step >= std::chrono::days{1} && begin != 0 ? text.substr(5, 5) : clock;
}

// Up to about ten of them, at whole minutes or hours; none at the end, where its text has no space.
std::vector<std::pair<double, std::string>> time_ticks(UtcTime begin, Duration span) {
  using namespace std::chrono_literals;
  constexpr std::array<Duration, 17> steps{1s,    2s,    5s,    10s,    15s,    30s,    1min,   2min,   5min,
                                           15min, 30min, 60min, 120min, 240min, 480min, 720min, 1440min};
  Duration step = steps.back();
  for (const Duration each : steps) {
    if (span / each <= 10) {
      step = each;
      break;
    }
  }
  while (span / step > 10) step *= 2;
  std::vector<std::pair<double, std::string>> ticks;
  const auto since = begin.time_since_epoch();
  for (Duration at = (since + step - Duration{1}) / step * step; at <= since + span / 100 * 99; at += step) {
    ticks.emplace_back(seconds_of(at - since), tick_label(UtcTime{at}, step));
  }
  return ticks;
}

class Charts {
 public:
  explicit Charts(const ReportInput& input) : input_(input), axis_(input.series.axis()) {
    span_ = axis_.width() * static_cast<std::int64_t>(input.series.rates().size());
    ticks_ = time_ticks(axis_.begin(), span_);
  }

  std::vector<std::string> of_all() const {
    std::vector<std::string> charts{rates(), kinds(), gaps()};
    for (const ReportInstrument& each : input_.instruments) {
      for (std::string& chart : of_instrument(each)) charts.push_back(std::move(chart));
    }
    return charts;
  }

  std::string rates() const {
    SvgLine most{"most in one second", {}}, mean{"mean", {}};
    const auto& rates = input_.series.rates();
    for (std::size_t i = 0; i < rates.size(); ++i) {
      most.points.emplace_back(x_of(i), static_cast<double>(rates[i].most));
      mean.points.emplace_back(x_of(i), static_cast<double>(rates[i].messages) / seconds_of(axis_.width()));
    }
    return over_time("Messages a second, in stretches of " + stretch_text(), "messages a second", {most, mean});
  }

  std::string kinds() const {
    std::vector<SvgBar> bars;
    const Statistics& s = input_.statistics;
    for (std::size_t kind = 0; kind < s.kinds.size(); ++kind) {
      if (s.kinds[kind] == 0) continue;
      const auto tenths = s.kinds[kind] * 1000 / s.messages;
      bars.push_back(
          {std::string{to_string(static_cast<EventKind>(kind))}, static_cast<double>(s.kinds[kind]),
           grouped(s.kinds[kind]) + " (" + std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10) + "%)"});
    }
    return svg_bars("Messages by kind", bars);
  }

  std::string gaps() const {
    constexpr std::array<std::string_view, Series::gap_classes> names{
        "less than 10 ns", "10 ns to 100 ns", "100 ns to 1 us", "1 us to 10 us", "10 us to 100 us", "100 us to 1 ms",
        "1 ms to 10 ms",   "10 ms to 100 ms", "100 ms to 1 s",  "1 s to 10 s",   "10 s to 100 s",   "100 s and more"};
    const auto& counts = input_.series.gaps();
    std::vector<SvgBar> bars;
    std::size_t used = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (counts[i] != 0) used = i + 1;
    }
    for (std::size_t i = 0; i < used; ++i) {
      if (bars.empty() && counts[i] == 0) continue;
      bars.push_back({std::string{names[i]}, static_cast<double>(counts[i]), grouped(counts[i])});
    }
    return svg_bars("Time between messages", bars);
  }

  std::vector<std::string> of_instrument(const ReportInstrument& instrument) const {
    SvgLine high{"highest", {}}, low{"lowest", {}}, widest{"widest", {}}, mean{"mean over time", {}},
        traded{"traded", {}};
    const auto& prices = input_.series.prices(instrument.index);
    bool some_priced = false, some_quoted = false;
    for (std::size_t i = 0; i < prices.size(); ++i) {
      const PriceStretch& at = prices[i];
      constexpr double none = std::numeric_limits<double>::quiet_NaN();
      const bool priced = at.low <= at.high, quoted = at.time > 0;
      some_priced = some_priced || priced;
      some_quoted = some_quoted || quoted;
      high.points.emplace_back(x_of(i), priced ? price_of(at.high) : none);
      low.points.emplace_back(x_of(i), priced ? price_of(at.low) : none);
      widest.points.emplace_back(x_of(i), quoted ? price_of(at.spread_max) : none);
      mean.points.emplace_back(x_of(i), quoted ? at.spread_time / at.time * 1e-9 : none);
      traded.points.emplace_back(x_of(i), static_cast<double>(at.traded));
    }
    const std::string name = shown(instrument.name);
    std::vector<std::string> charts;
    if (some_priced) {
      charts.push_back(over_time(name + ": prices traded", "", {high, low}, false));
      charts.push_back(over_time(name + ": quantity traded, in stretches of " + stretch_text(), "quantity", {traded}));
    }
    if (some_quoted) charts.push_back(over_time(name + ": spread", "difference", {widest, mean}));
    return charts;
  }

 private:
  [[nodiscard]] double x_of(std::size_t stretch) const {
    return seconds_of(axis_.width()) * static_cast<double>(stretch);
  }
  [[nodiscard]] std::string stretch_text() const {
    return grouped(static_cast<std::uint64_t>(axis_.width() / std::chrono::seconds{1})) + " s";
  }
  [[nodiscard]] std::string over_time(std::string title, std::string unit, std::vector<SvgLine> lines,
                                      bool from_zero = true) const {
    // A value holds to the end of its stretch.
    for (SvgLine& line : lines) {
      if (!line.points.empty()) line.points.emplace_back(line.points.back().first + x_of(1), line.points.back().second);
    }
    // Amounts, not prices: where there is nothing, there is no line.
    const bool logarithmic = from_zero && spans_decades(lines);
    return svg_series({.title = std::move(title),
                       .x_label = x_label(),
                       .y_label = std::move(unit),
                       .log_y = logarithmic,
                       .steps = true,
                       .from_zero = from_zero,
                       .x_ticks = ticks_,
                       .x_range = std::pair{0.0, seconds_of(span_)},
                       .lines = std::move(lines)});
  }
  [[nodiscard]] std::string x_label() const {
    const std::string begin = time_text(axis_.begin());
    const std::size_t day = begin.find('T');
    return day == std::string::npos ? "time since midnight" : "time of receipt, UTC, from " + begin.substr(0, day);
  }

  const ReportInput& input_;
  const TimeAxis& axis_;
  Duration span_;
  std::vector<std::pair<double, std::string>> ticks_;
};

std::string title_of(const ReportInput& input) { return "Market data of " + shown(input.file); }

std::string bursts_table(const Statistics& s) {
  HtmlTable table{.head = {"messages", "a second", "in", "from"}, .rows = {}, .left_columns_at_end = 2};
  for (const Rate& rate : s.rates) {
    for (const Highest::Entry& entry : rate.highest().entries()) {
      const auto windows = static_cast<std::uint64_t>(std::chrono::seconds{1} / rate.window());
      table.rows.push_back(
          {grouped(entry.value), grouped(entry.value * windows), window_text(rate.window()), time_text(entry.time)});
    }
  }
  return html_table(table);
}

std::string gaps_table(const Statistics& s) {
  HtmlTable table{.head = {"without a message", "from"}, .rows = {}, .left_columns_at_end = 1};
  for (const Highest::Entry& entry : s.gaps.entries()) {
    table.rows.push_back({duration_text(Duration{static_cast<std::int64_t>(entry.value)}), time_text(entry.time)});
  }
  return html_table(table);
}

std::string instruments_table(const ReportInput& input) {
  HtmlTable table{.head = {"messages", "trades", "quantity", "low", "high", "last", "spread, mean", "widest", "crossed",
                           "instrument"},
                  .rows = {},
                  .left_columns_at_end = 1};
  for (const ReportInstrument& each : input.instruments) {
    const InstrumentStatistics& of = input.statistics.instruments[each.index];
    const auto price = [](bool there, nfx::market::Price value) { return there ? short_price(value) : "-"; };
    table.rows.push_back({grouped(of.messages), grouped(of.trades), grouped(of.traded), price(of.priced(), of.low),
                          price(of.priced(), of.high), price(of.priced(), of.last),
                          price(of.quoted != 0, of.spread_mean()), price(of.quoted != 0, {of.spread_max}),
                          grouped(of.crossed), shown(each.name)});
  }
  return html_table(table);
}

}  // namespace

std::string report_html(const ReportInput& input) {
  const Statistics& s = input.statistics;
  const Charts charts{input};
  std::string body = "<p>" + html_escaped(shown(input.format)) + ". " + time_text(s.first) + " to " +
                     time_text(s.last) + ".</p>\n" +
                     html_table({.head = {"number", "of"},
                                 .rows = {{grouped(s.messages), "messages"},
                                          {grouped(s.events), "events"},
                                          {grouped(input.all_instruments), "instruments"},
                                          {grouped(s.snapshot), "messages of snapshots"},
                                          {grouped(s.recovering), "messages after a loss"},
                                          {grouped(s.backwards), "messages received before their predecessor"},
                                          {grouped(input.unfit), "events that did not fit the books"},
                                          {grouped(input.orders_most), "orders open at most"}},
                                 .left_columns_at_end = 1});
  body += "<h2>Rates and bursts</h2>\n" + charts.rates() + bursts_table(s) + "<h2>Messages</h2>\n" + charts.kinds() +
          "<h2>Gaps</h2>\n" + charts.gaps() + gaps_table(s) + "<h2>Instruments</h2>\n";
  if (input.all_instruments > input.instruments.size()) {
    body += "<p class=\"soft\">The " + std::to_string(input.instruments.size()) + " with the most messages, of " +
            grouped(input.all_instruments) + ".</p>\n";
  }
  body += instruments_table(input);
  for (const ReportInstrument& each : input.instruments) {
    for (const std::string& chart : charts.of_instrument(each)) body += chart;
  }
  return html_page(title_of(input), body);
}

std::string report_svg(const ReportInput& input) { return svg_document(title_of(input), Charts{input}.of_all()); }

}  // namespace nfx::app::market
