// The arithmetic of a plan.
#include "sizing/cluster_plan.hpp"

#include <algorithm>
#include <cmath>

namespace nfx::bench {
namespace {

constexpr int most_rounds = 100;

std::uint32_t rounded_up(double value) { return static_cast<std::uint32_t>(std::ceil(std::max(value, 0.0))); }

struct Load {
  double frames_per_s = 0, records_per_s = 0, bytes_per_s = 0;
  double release_p50_us = 0, release_p99_us = 0;
  double server_cores = 0, gateway_cores = 0;
};

// The load of these sessions, which are divided among streams.
Load load_of(const UnitCosts& costs, double sessions, double rate, double record_bytes, double streams) {
  Load load;
  load.records_per_s = sessions * rate;
  double records_per_frame = 1;
  CostPoint point;
  // The time until a release depends on the rate and the size of frames, and these depend on that time.
  for (int i = 0; i < most_rounds; ++i) {
    load.frames_per_s = load.records_per_s / records_per_frame;
    point = costs.at(load.frames_per_s / streams);
    const double bytes = frame_header_bytes + records_per_frame * (record_header_bytes + record_bytes);
    const double more_us = costs.release_ns_per_byte * (bytes - point_frame_bytes) / 1000;
    load.release_p50_us = std::max(1.0, point.release_p50_us + more_us);
    load.release_p99_us = std::max(load.release_p50_us, point.release_p99_us + more_us);
    const double wanted = std::max(1.0, rate * load.release_p50_us / 1e6);
    if (std::abs(wanted - records_per_frame) < 1e-6 * wanted) break;
    records_per_frame = (records_per_frame + wanted) / 2;
  }
  load.bytes_per_s = load.frames_per_s * frame_header_bytes + load.records_per_s * (record_header_bytes + record_bytes);
  // A stream that has more than it can do has the costs of the most that it can do, for each frame.
  const double beyond = std::max(1.0, load.frames_per_s / streams / costs.frames_per_s());
  load.server_cores = streams * point.server_cores * beyond +
                      (load.bytes_per_s - load.frames_per_s * point_frame_bytes) * costs.server_ns_per_byte / 1e9;
  load.gateway_cores = streams * point.gateway_cores * beyond +
                       (load.records_per_s - load.frames_per_s) * costs.gateway_us_per_record / 1e6;
  load.server_cores = std::max(0.0, load.server_cores);
  return load;
}

}  // namespace

CostSample predict(const UnitCosts& costs, double sessions, double rate, double record_bytes) {
  const Load load = load_of(costs, sessions, rate, record_bytes, 1);
  CostSample sample;
  sample.sessions = sessions;
  sample.rate = rate;
  sample.record_bytes = record_bytes;
  sample.records_per_s = load.records_per_s;
  sample.frames_per_s = load.frames_per_s;
  sample.bytes_per_s = load.bytes_per_s;
  sample.release_p50_us = load.release_p50_us;
  sample.release_p99_us = load.release_p99_us;
  sample.server_cores = load.server_cores;
  sample.busiest_server_cores = load.server_cores * costs.busiest_server_share;
  sample.gateway_cores = load.gateway_cores;
  sample.stored_bytes_per_s = load.bytes_per_s + load.frames_per_s * costs.stored_bytes_per_frame;
  return sample;
}

ClusterPlan make_plan(const UnitCosts& costs, const PlanOptions& options) {
  ClusterPlan plan;
  Load load;
  double share = 0;
  // More streams mean fewer frames for each, which are then smaller and more: until their number fits.
  for (int i = 0; i < most_rounds; ++i) {
    const std::uint32_t streams = std::max<std::uint32_t>(1, plan.streams);
    load = load_of(costs, options.sessions, options.rate, options.size, streams);
    share = std::max(load.frames_per_s / costs.frames_per_s(), load.bytes_per_s / costs.bytes_per_s);
    const std::uint32_t wanted = std::max(streams, rounded_up(share / options.utilization - 1e-9));
    const bool fits = plan.streams == wanted;
    plan.streams = wanted;
    if (fits) break;
  }
  plan.streams_utilization = share / plan.streams;
  plan.records_per_s = load.records_per_s;
  plan.frames_per_s = load.frames_per_s;
  plan.records_per_frame = load.records_per_s / load.frames_per_s;
  plan.bytes_per_s = load.bytes_per_s;
  plan.release_p50_us = load.release_p50_us;
  plan.release_p99_us = load.release_p99_us;
  const double replicas = options.replicas;
  // The servers' time was measured with other replicas: each has its own share of it.
  plan.server_cores = load.server_cores * replicas / costs.replicas;
  plan.servers = std::max(options.replicas, rounded_up(plan.server_cores / (options.cores * options.utilization)));
  // With several streams, leaders are on all servers.
  const double even = plan.server_cores / plan.servers;
  plan.busiest_server_cores =
      plan.streams >= plan.servers
          ? even
          : std::min(plan.server_cores, std::max(even, plan.server_cores * costs.busiest_server_share / plan.streams));
  plan.gateway_cores = load.gateway_cores;
  plan.gateways =
      options.gateways != 0
          ? options.gateways
          : std::max<std::uint32_t>(2, rounded_up(plan.gateway_cores / (options.cores * options.utilization)) + 1);

  // A leader receives each frame once, and sends it to the other replicas; a follower receives it.
  plan.server_in_bytes_per_s = load.bytes_per_s * replicas / plan.servers;
  plan.server_out_bytes_per_s = load.bytes_per_s * (replicas - 1) / plan.servers;
  plan.gateway_out_bytes_per_s = load.bytes_per_s / plan.gateways;
  const double stored = load.bytes_per_s + load.frames_per_s * costs.stored_bytes_per_frame;
  plan.disk_write_bytes_per_s = stored * replicas / plan.servers;
  plan.disk_bytes_per_day = plan.disk_write_bytes_per_s * options.hours * 3600;
  plan.disk_bytes = plan.disk_bytes_per_day * options.days;

  const double gateway_share = plan.gateway_cores / plan.gateways / options.cores;
  if (gateway_share > options.utilization)
    plan.limits.push_back("each gateway uses " + std::to_string(std::lround(gateway_share * 100)) +
                          "% of its processors: use more gateways");
  if (plan.busiest_server_cores > options.cores)
    plan.limits.push_back("the busiest server needs more processors than --cores: use more streams");
  if (options.size + record_header_bytes + frame_header_bytes > 256 * 1024)
    plan.limits.push_back("a record of --size bytes does not fit in a frame of 256 KiB");
  if (plan.records_per_frame > 1 && plan.records_per_frame * (options.size + record_header_bytes) > 256 * 1024)
    plan.limits.push_back("a session at this rate needs frames of more than 256 KiB: divide it into more sessions");
  return plan;
}

}  // namespace nfx::bench
