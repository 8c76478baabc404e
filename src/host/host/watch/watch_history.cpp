// The watched period: values over time per CPU, and deviations from the plan.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "host/watch_view.hpp"

namespace nfx {
namespace {

using Json = nlohmann::ordered_json;

// Total number of points of all curves in a report, so that the report of a big machine stays at a few megabytes.
constexpr std::size_t max_report_points = 150000;

// The maximum of each group of neighbouring values.
std::vector<double> thinned(const std::vector<double>& values, std::size_t points) {
  if (values.size() <= points) return values;
  std::vector<double> out(points, -1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    double& slot = out[i * points / values.size()];
    slot = std::max(slot, values[i]);
  }
  return out;
}

// Three digits, as many as a chart shows; null where nothing was measured.
Json rounded(const std::vector<double>& values) {
  Json all = Json::array();
  for (const double value : values) {
    const double unit = value > 0 ? std::pow(10, std::floor(std::log10(value)) - 2) : 1;
    all.push_back(value < 0 ? Json{} : Json(std::round(value / unit) * unit));
  }
  return all;
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
    // Several alerts of one kind about one subject in an interval count once.
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

std::string WatchHistory::json() const {
  const std::size_t points = std::max<std::size_t>(50, max_report_points / std::max<std::size_t>(1, 3 * cpus_.size()));
  Json json{{"intervals", intervals_},
            {"intervals_per_point", merged_},
            {"seconds", times_.empty() ? 0 : times_.back()},
            {"begin_utc", begin_utc_},
            {"end_utc", end_utc_},
            {"alerts", alerts_},
            {"alert_kinds", Json::array()},
            {"times_s", thinned(times_, points)},
            {"cpus", Json::array()}};
  for (const auto& [key, count] : alert_kinds_) {
    json["alert_kinds"].push_back({{"alert", to_string(key.first)},
                                   {"subject", key.second},
                                   {"text", count.text},
                                   {"intervals", count.intervals},
                                   {"first_s", count.first_s},
                                   {"last_s", count.last_s},
                                   {"why", info_of(key.first).why},
                                   {"fix", info_of(key.first).fix}});
  }
  for (const auto& [cpu, samples] : cpus_) {
    const auto series = [&](float Point::* member) {
      std::vector<double> values;
      for (const Point& point : samples) values.push_back(static_cast<double>(point.*member));
      return rounded(thinned(values, points));
    };
    json["cpus"].push_back({{"cpu", cpu},
                            {"role", to_string(roles_.at(cpu))},
                            {"interrupts", series(&Point::interrupts)},
                            {"involuntary", series(&Point::involuntary)},
                            {"steal", series(&Point::steal)}});
  }
  // Names of threads need not be UTF-8.
  return json.dump(-1, ' ', true, Json::error_handler_t::replace) + '\n';
}

}  // namespace nfx
