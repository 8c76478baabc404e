// Loads on a cluster, what one frame of them takes, and the file of costs.
#include "sizing/unit_costs.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>
#include <type_traits>

namespace nfx::bench {
namespace {

using Json = nlohmann::json;
using nfx::cluster::GatewayId;

constexpr Duration patience = std::chrono::seconds{90};
constexpr int file_version = 1;

// The names of numbers in the file; one row each for writing and reading.
template <class Sample, class Visit>
void for_each_number(Sample& sample, Visit&& visit)
  requires std::same_as<std::remove_const_t<Sample>, CostSample>
{
  visit("sessions", sample.sessions);
  visit("record_bytes", sample.record_bytes);
  visit("rate", sample.rate);
  visit("seconds", sample.seconds);
  visit("records_per_s", sample.records_per_s);
  visit("frames_per_s", sample.frames_per_s);
  visit("bytes_per_s", sample.bytes_per_s);
  visit("release_p50_us", sample.release_p50_us);
  visit("release_p99_us", sample.release_p99_us);
  visit("gateway_cores", sample.gateway_cores);
  visit("server_cores", sample.server_cores);
  visit("busiest_server_cores", sample.busiest_server_cores);
  visit("stored_bytes_per_s", sample.stored_bytes_per_s);
}

template <class Point, class Visit>
void for_each_number(Point& point, Visit&& visit)
  requires std::same_as<std::remove_const_t<Point>, CostPoint>
{
  visit("frames_per_s", point.frames_per_s);
  visit("server_cores", point.server_cores);
  visit("gateway_cores", point.gateway_cores);
  visit("release_p50_us", point.release_p50_us);
  visit("release_p99_us", point.release_p99_us);
}

template <class Costs, class Visit>
void for_each_number(Costs& costs, Visit&& visit)
  requires std::same_as<std::remove_const_t<Costs>, UnitCosts>
{
  visit("release_ns_per_byte", costs.release_ns_per_byte);
  visit("server_ns_per_byte", costs.server_ns_per_byte);
  visit("gateway_us_per_record", costs.gateway_us_per_record);
  visit("bytes_per_s", costs.bytes_per_s);
  visit("busiest_server_share", costs.busiest_server_share);
  visit("stored_bytes_per_frame", costs.stored_bytes_per_frame);
}

std::string machine_text() {
  std::ifstream in{"/proc/cpuinfo"};
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

double between(double x, double x0, double x1, double y0, double y1) {
  if (y0 <= 0 || y1 <= 0) return y0 + (y1 - y0) * (x - x0) / (x1 - x0);
  return y0 * std::pow(y1 / y0, std::log(x / x0) / std::log(x1 / x0));
}

}  // namespace

CostPoint UnitCosts::at(double rate) const {
  const CostPoint& first = points.front();
  if (rate <= first.frames_per_s) {
    CostPoint point = first;
    point.frames_per_s = rate;
    point.server_cores *= rate / first.frames_per_s;
    point.gateway_cores *= rate / first.frames_per_s;
    return point;
  }
  const auto after = std::ranges::find_if(points, [&](const CostPoint& each) { return each.frames_per_s > rate; });
  if (after == points.end()) return points.back();
  const CostPoint& low = *(after - 1);
  const CostPoint& high = *after;
  const auto value = [&](double CostPoint::* member) {
    return between(rate, low.frames_per_s, high.frames_per_s, low.*member, high.*member);
  };
  return {.frames_per_s = rate,
          .server_cores = value(&CostPoint::server_cores),
          .gateway_cores = value(&CostPoint::gateway_cores),
          .release_p50_us = value(&CostPoint::release_p50_us),
          .release_p99_us = value(&CostPoint::release_p99_us)};
}

CostSample measure_load(const MeasureOptions& options, const std::string& name, std::uint32_t sessions,
                        const LoadOptions& load) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < sessions; ++i) names.push_back(options.prefix + name + "-" + std::to_string(i));
  SessionOwners owners{options.client, names, GatewayId{1}};
  owners.own_all(patience);
  nats::NatsStream stream{options.client};
  const std::uint64_t before = stream.state().bytes;
  LoadOptions own = load;
  own.servers = options.servers;
  const LoadResult result = run_load(owners, own);
  const std::uint64_t stored = stream.state().bytes - before;
  owners.retire_all(patience);
  CostSample sample;
  sample.sessions = sessions;
  sample.record_bytes = load.bytes;
  sample.rate = load.rate;
  sample.seconds = result.seconds;
  sample.records_per_s = static_cast<double>(result.records) / result.seconds;
  sample.frames_per_s = static_cast<double>(result.frames) / result.seconds;
  sample.bytes_per_s =
      sample.frames_per_s * frame_header_bytes + sample.records_per_s * (record_header_bytes + sample.record_bytes);
  sample.release_p50_us = static_cast<double>(result.latency_us.percentile(50));
  sample.release_p99_us = static_cast<double>(result.latency_us.percentile(99));
  sample.gateway_cores = result.gateway_cpu_s / result.seconds;
  for (const double seconds : result.server_cpu_s) {
    sample.server_cores += seconds / result.seconds;
    sample.busiest_server_cores = std::max(sample.busiest_server_cores, seconds / result.seconds);
  }
  sample.stored_bytes_per_s = static_cast<double>(stored) / result.seconds;
  return sample;
}

UnitCosts measure_costs(const MeasureOptions& options, std::uint32_t replicas) {
  UnitCosts costs{.machine = machine_text(),
                  .cores = std::thread::hardware_concurrency(),
                  .replicas = replicas,
                  .points = {},
                  .samples = {}};
  // The median of three, so that a moment in which the host did other work is not what is planned with.
  const auto measure = [&](const std::string& name, std::uint32_t sessions, const LoadOptions& load) {
    std::vector<CostSample> tries;
    for (const char* each : {"-1", "-2", "-3"}) tries.push_back(measure_load(options, name + each, sessions, load));
    std::ranges::sort(tries, {}, &CostSample::server_cores);
    costs.samples.push_back(tries[1]);
    return costs.samples.back();
  };
  const auto small = static_cast<std::uint32_t>(point_record_bytes);
  const double s = options.seconds;
  const std::vector<CostSample> steady{
      measure("slow", 8, {.rate = 10, .bytes = small, .seconds = s}),
      measure("medium", 16, {.rate = 20, .bytes = small, .seconds = s}),
      measure("faster", 32, {.rate = 40, .bytes = small, .seconds = s}),
      measure("fastest", 64, {.bytes = small, .seconds = s}),
  };
  const CostSample one_small = measure("one-small", 1, {.bytes = small, .seconds = s});
  const CostSample one_large = measure("one-large", 1, {.bytes = 40 * small, .seconds = s});
  const CostSample batches = measure("batches", 16, {.bytes = small, .window = 1024, .seconds = s});

  for (const CostSample& sample : steady) {
    // The fastest load is not a point when this host was too busy to be faster than a steady one.
    if (!costs.points.empty() && sample.frames_per_s <= costs.points.back().frames_per_s) continue;
    costs.points.push_back({.frames_per_s = sample.frames_per_s,
                            .server_cores = sample.server_cores,
                            .gateway_cores = sample.gateway_cores,
                            .release_p50_us = sample.release_p50_us,
                            .release_p99_us = sample.release_p99_us});
  }
  costs.release_ns_per_byte =
      std::max(0.0, (one_large.release_p50_us - one_small.release_p50_us) * 1000 / (one_large.record_bytes - small));
  // From the load with the most bytes, which is large compared with the other work of this host.
  const CostPoint at_batches = costs.at(batches.frames_per_s);
  costs.server_ns_per_byte = std::max(0.0, (batches.server_cores - at_batches.server_cores) * 1e9 /
                                               (batches.bytes_per_s - batches.frames_per_s * point_frame_bytes));
  costs.gateway_us_per_record = std::max(
      0.0, (batches.gateway_cores - at_batches.gateway_cores) * 1e6 / (batches.records_per_s - batches.frames_per_s));
  double shares = 0, overheads = 0;
  for (const CostSample& sample : costs.samples) {
    costs.bytes_per_s = std::max(costs.bytes_per_s, sample.bytes_per_s);
    shares += sample.server_cores > 0 ? sample.busiest_server_cores / sample.server_cores : 0;
    overheads += (sample.stored_bytes_per_s - sample.bytes_per_s) / sample.frames_per_s;
  }
  const auto count = static_cast<double>(costs.samples.size());
  costs.busiest_server_share = shares / count;
  costs.stored_bytes_per_frame = std::max(0.0, overheads / count);
  return costs;
}

void write_costs(const std::string& file, const UnitCosts& costs) {
  Json json{
      {"version", file_version}, {"machine", costs.machine}, {"cores", costs.cores}, {"replicas", costs.replicas}};
  for_each_number(costs, [&](const char* name, double value) { json[name] = value; });
  const auto list = [&](const auto& elements) {
    Json array = Json::array();
    for (const auto& element : elements) {
      Json each;
      for_each_number(element, [&](const char* name, double value) { each[name] = value; });
      array.push_back(std::move(each));
    }
    return array;
  };
  json["points"] = list(costs.points);
  json["samples"] = list(costs.samples);
  std::ofstream out{file, std::ios::trunc};
  out << json.dump(2) << "\n";
  out.close();
  if (!out) throw std::runtime_error(file + " (--costs) cannot be written");
}

UnitCosts read_costs(const std::string& file) {
  std::ifstream in{file};
  if (!in)
    throw std::runtime_error(file + " (--costs) cannot be read: measure it with bench_sizing plan --measure --costs " +
                             file);
  const auto wrong = [&](const std::string& what) {
    return std::runtime_error(file + " (--costs): " + what + "; measure it again with bench_sizing plan --measure");
  };
  const Json json = Json::parse(in, nullptr, false);
  if (!json.is_object()) throw wrong("not a file of costs");
  if (json.value("version", Json{}) != file_version) throw wrong("of another version of bench_sizing");
  UnitCosts costs;
  const auto number = [&](const Json& from, const char* name) {
    const auto found = from.is_object() ? from.find(name) : from.end();
    if (found == from.end() || !found->is_number() || found->get<double>() < 0 || !std::isfinite(found->get<double>()))
      throw wrong(std::string{"\""} + name + "\" is not a number of at least 0");
    return found->get<double>();
  };
  costs.machine = json.value("machine", Json{}).is_string() ? json["machine"].get<std::string>() : "unknown";
  costs.cores = static_cast<std::uint32_t>(number(json, "cores"));
  costs.replicas = static_cast<std::uint32_t>(number(json, "replicas"));
  for_each_number(costs, [&](const char* name, double& value) { value = number(json, name); });
  const auto points = json.find("points");
  if (points == json.end() || !points->is_array() || points->empty()) throw wrong("it has no list \"points\"");
  for (const Json& each : *points) {
    CostPoint point;
    for_each_number(point, [&](const char* name, double& value) { value = number(each, name); });
    const double before = costs.points.empty() ? 0 : costs.points.back().frames_per_s;
    if (point.frames_per_s <= before || point.release_p50_us <= 0) throw wrong("the points have no increasing rates");
    costs.points.push_back(point);
  }
  if (costs.replicas == 0 || costs.cores == 0 || costs.bytes_per_s == 0) throw wrong("a cost that is never 0 is 0");
  return costs;
}

}  // namespace nfx::bench
