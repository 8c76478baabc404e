// How large a cluster has to be for a number of sessions, from costs that were measured: streams, servers, disks,
// network, processors. Thread: any; pure. Cost: some arithmetic. Errors: none; a plan that does not fit names why.
//
// A session has one frame in flight. It publishes one frame for each record until its rate is higher than the
// acknowledgements allow; above that, frames become larger. Streams and processors are planned at a share of their
// maximum. Costs are from the measured machine, at the rate of one stream. If gateways and servers shared its
// processors, as on one host, the maximum of a stream is too low rather than too high.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sizing/unit_costs.hpp"

namespace nfx::bench {

struct PlanOptions {
  std::uint32_t sessions = 1000;
  double rate = 100;         // records of each session per second
  std::uint32_t size = 200;  // bytes of a record
  std::uint32_t replicas = 3;
  std::uint32_t gateways = 0;  // 0: as many as its processors need, and one more
  std::uint32_t cores = 8;     // of each server and gateway
  double utilization = 0.5;    // of streams and processors, at most
  double hours = 8;            // of a day at this rate
  std::uint32_t days = 1;      // that are stored
};

struct ClusterPlan {
  double records_per_s = 0, frames_per_s = 0, records_per_frame = 0;
  double bytes_per_s = 0;  // of frames
  double release_p50_us = 0, release_p99_us = 0;
  std::uint32_t streams = 0, servers = 0, gateways = 0;
  double streams_utilization = 0;
  double server_cores = 0, busiest_server_cores = 0;             // used
  double gateway_cores = 0;                                      // of all gateways together
  double server_in_bytes_per_s = 0, server_out_bytes_per_s = 0;  // of each
  double gateway_out_bytes_per_s = 0;                            // of each
  double disk_bytes_per_day = 0;                                 // of each server
  double disk_bytes = 0;                                         // of each server
  double disk_write_bytes_per_s = 0;
  std::vector<std::string> limits;  // what the plan does not fit, in one line each
};

[[nodiscard]] ClusterPlan make_plan(const UnitCosts& costs, const PlanOptions& options);

// The cost of this load on the measured machine itself, where gateway and servers share its processors.
[[nodiscard]] CostSample predict(const UnitCosts& costs, double sessions, double rate, double record_bytes);

}  // namespace nfx::bench
