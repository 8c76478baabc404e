// The watched period as a page: numbers over time per CPU, and what was off the plan.
#include <algorithm>

#include "host/html.hpp"
#include "host/watch_view.hpp"
#include "placement/numbers.hpp"

namespace nfx {
namespace {

// All curves of a page together have about this many points, so that a big machine's report stays a few megabytes.
constexpr std::size_t max_page_points = 150000;
constexpr double plot_width = 300, plot_height = 64;

constexpr std::string_view style = R"(<style>
:root{color-scheme:light dark;--ink:#1c2126;--dim:#66707a;--grid:#d8dde2;--paper:#fff;--card:#f6f8fa;--line:#0b62c4;
--area:#0b62c422;--bad:#b3261e;--isolated:#0b7a5b}
@media (prefers-color-scheme:dark){:root{--ink:#e4e8ec;--dim:#98a3ad;--grid:#343b42;--paper:#14181c;--card:#1c2126;
--line:#6cb0ff;--area:#6cb0ff22;--bad:#ff8a80;--isolated:#5fd3ae}}
body{margin:2rem auto;max-width:70rem;padding:0 1rem;background:var(--paper);color:var(--ink);
font:15px/1.45 system-ui,sans-serif}
h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .5rem}p{margin:.3rem 0;color:var(--dim)}
table{border-collapse:collapse;width:100%}td,th{padding:.3rem .6rem;text-align:left;border-bottom:1px solid var(--grid);
vertical-align:top}th{color:var(--dim);font-weight:500}td.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
code{color:var(--bad)}section{display:grid;grid-template-columns:7rem repeat(auto-fit,minmax(16rem,1fr));gap:.75rem;
align-items:center;background:var(--card);border-radius:.5rem;padding:.6rem 1rem;margin:.5rem 0}
figure{margin:0}figcaption{font-size:.8rem;color:var(--dim)}figcaption b{color:var(--ink)}svg{width:100%;height:auto;display:block}
.area{fill:var(--area);stroke:none}.curve{fill:none;stroke:var(--line);stroke-width:1.3;vector-effect:non-scaling-stroke}
.base{stroke:var(--grid);vector-effect:non-scaling-stroke}.isolated{color:var(--isolated)}strong{display:block}
</style>
)";

std::string escaped(std::string_view text) { return html_escaped(printable_text(text)); }

// The highest of each group of neighbours; -1 where nothing was measured.
std::vector<double> thinned(const std::vector<double>& values, std::size_t points) {
  if (values.size() <= points) return values;
  std::vector<double> out(points, -1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    double& slot = out[i * points / values.size()];
    slot = std::max(slot, values[i]);
  }
  return out;
}

// A curve from zero to `top`, with a gap where nothing was measured.
std::string curve(const std::vector<double>& values, double top) {
  std::string line, area;
  const double step = values.size() < 2 ? 0 : plot_width / static_cast<double>(values.size() - 1);
  const auto place = [&](std::size_t i) {
    return fixed(static_cast<double>(i) * step, 1) + ' ' + fixed(plot_height - plot_height * values[i] / top, 1);
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0) continue;
    const bool begins = i == 0 || values[i - 1] < 0;
    const bool ends = i + 1 == values.size() || values[i + 1] < 0;
    line += (begins ? 'M' : 'L') + place(i);
    const std::string floor = fixed(static_cast<double>(i) * step, 1) + ' ' + fixed(plot_height, 0);
    if (begins) area += 'M' + floor;
    area += 'L' + place(i);
    if (ends) area += 'L' + floor + 'Z';
    // A single point is drawn as a short line, or it would not be visible.
    if (begins && ends) line += "h1";
  }
  return "<path class=\"area\" d=\"" + area + "\"/><path class=\"curve\" d=\"" + line + "\"/>";
}

struct Plot {
  std::string_view title;
  std::string_view unit;
  double least_top;  // so that a single event does not fill the picture
};

std::string figure(const Plot& plot, const std::vector<double>& values) {
  double worst = 0, sum = 0;
  std::size_t count = 0;
  for (const double value : values) {
    if (value < 0) continue;
    worst = std::max(worst, value);
    sum += value;
    ++count;
  }
  const double mean = count == 0 ? 0 : sum / static_cast<double>(count);
  const double top = std::max(worst, plot.least_top);
  const std::string unit{plot.unit};
  const std::string average = escaped(compact(mean)) + unit, most = escaped(compact(worst)) + unit;
  const std::string title{plot.title};
  std::string out = "<figure><svg viewBox=\"0 -2 " + fixed(plot_width, 0) + ' ' + fixed(plot_height + 4, 0);
  out += "\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"" + title + ": mean " + average + ", worst " +
         most + "\"><line class=\"base\" x1=\"0\" y1=\"";
  out += fixed(plot_height, 0) + "\" x2=\"" + fixed(plot_width, 0) + "\" y2=\"" + fixed(plot_height, 0) + "\"/>";
  out += curve(values, top) + "</svg><figcaption>" + title + ": mean " + average + ", worst <b>";
  return out + most + "</b></figcaption></figure>\n";
}

}  // namespace

void WatchHistory::add(const WatchInterval& interval) {
  if (!begin_)
    begin_ = interval.time -
             std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(interval.seconds));
  const double now = std::chrono::duration<double>(interval.time - *begin_).count();
  ++intervals_;
  if (!interval.utc.empty()) {
    if (begin_utc_.empty()) begin_utc_ = interval.utc;
    end_utc_ = interval.utc;
  }
  alerts_ += interval.drift.alerts.size() + interval.drift.left_out;
  if (pending_ == 0) {
    if (times_.size() == max_points) merge();
    times_.push_back(now);
    for (auto& [cpu, points] : cpus_) points.resize(times_.size());
  } else {
    times_.back() = now;
  }
  pending_ = (pending_ + 1) % merged_;
  for (const CpuActivity& cpu : interval.cpus) {
    roles_[cpu.cpu] = cpu.role;
    std::vector<Point>& points = cpus_[cpu.cpu];
    points.resize(times_.size());
    Point& point = points.back();
    point.interrupts = std::max(point.interrupts, static_cast<float>(cpu.interrupts()));
    point.involuntary = std::max(point.involuntary, static_cast<float>(cpu.involuntary_switches));
    point.steal = std::max(point.steal, static_cast<float>(cpu.steal_percent));
  }
  for (const Alert& alert : interval.drift.alerts) {
    const auto key = std::pair{alert.drift, alert.subject};
    auto found = alert_kinds_.find(key);
    if (found == alert_kinds_.end()) {
      if (alert_kinds_.size() == max_alert_kinds) continue;
      found = alert_kinds_.emplace(key, AlertCount{.first_s = now, .text = {}}).first;
    }
    AlertCount& count = found->second;
    // Several alerts of one kind about one subject in an interval count as one.
    if (count.intervals == 0 || count.last_s < now) ++count.intervals;
    count.last_s = now;
    count.text = alert.text;
  }
}

void WatchHistory::merge() {
  const auto halve = [](auto& values, auto&& worse) {
    std::size_t out = 0;
    for (std::size_t i = 0; i < values.size(); i += 2, ++out)
      values[out] = i + 1 < values.size() ? worse(values[i], values[i + 1]) : values[i];
    values.resize(out);
  };
  halve(times_, [](double, double b) { return b; });
  for (auto& [cpu, points] : cpus_) {
    halve(points, [](const Point& a, const Point& b) {
      return Point{std::max(a.interrupts, b.interrupts), std::max(a.involuntary, b.involuntary),
                   std::max(a.steal, b.steal)};
    });
  }
  merged_ *= 2;
}

std::string WatchHistory::html(std::string_view title) const {
  const double watched = times_.empty() ? 0 : times_.back();
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">";
  out += "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>nfx host watch: ";
  ((out += escaped(title)) += "</title>\n") += style;
  out += "</head><body>\n<h1>Host watch: " + escaped(title) + "</h1>\n<p>" + std::to_string(intervals_) +
         " intervals in " + fixed(watched, 1) + " s, " + std::to_string(alerts_) +
         (alerts_ == 1 ? " alert." : " alerts.");
  if (!begin_utc_.empty())
    out += " First interval until " + escaped(begin_utc_) + " UTC, last until " + escaped(end_utc_) + '.';
  if (merged_ > 1) out += " Each point is the worst of " + std::to_string(merged_) + " intervals.";
  out += "</p>\n<h2>Alerts</h2>\n";
  if (alert_kinds_.empty()) {
    out += "<p>Nothing was off the plan.</p>\n";
  } else {
    out += "<table><tr><th>alert</th><th>about</th><th>last seen</th><th>intervals</th><th>from</th><th>to</th>";
    out += "<th>why</th><th>fix</th></tr>\n";
    for (const auto& [key, count] : alert_kinds_) {
      out += "<tr><td><code>" + std::string{to_string(key.first)} + "</code></td><td>" + escaped(key.second) +
             "</td><td>" + escaped(count.text) + "</td><td class=\"n\">" + std::to_string(count.intervals) +
             "</td><td class=\"n\">" + fixed(count.first_s, 1) + " s</td><td class=\"n\">" + fixed(count.last_s, 1) +
             " s</td><td>" + escaped(info_of(key.first).why) + "</td><td>" + escaped(info_of(key.first).fix) +
             "</td></tr>\n";
    }
    out += "</table>\n";
  }
  out += "<h2>CPUs over time</h2>\n<p>From the left, 0 s, to the right, " + fixed(watched, 1) + " s.</p>\n";
  const std::size_t points = std::max<std::size_t>(50, max_page_points / std::max<std::size_t>(1, 3 * cpus_.size()));
  for (const auto& [cpu, samples] : cpus_) {
    const CpuRole role = roles_.at(cpu);
    const auto series = [&](float Point::* member) {
      std::vector<double> values;
      for (const Point& point : samples) values.push_back(static_cast<double>(point.*member));
      return thinned(values, points);
    };
    out += "<section><div><strong>CPU " + std::to_string(cpu) + "</strong><span";
    out += role == CpuRole::isolated ? " class=\"isolated\">" : ">";
    ((out += to_string(role)) += "</span></div>\n");
    out += figure({"interrupts", "/s", 10}, series(&Point::interrupts));
    out += figure({"involuntary switches", "/s", 2}, series(&Point::involuntary));
    out += figure({"steal", "%", 1}, series(&Point::steal)) + "</section>\n";
  }
  return out + "</body></html>\n";
}

}  // namespace nfx
