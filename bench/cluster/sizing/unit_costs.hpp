// The cost of frames on a cluster, measured under several loads. Plans are made from the file that stores it.
// Thread: one. Cost: measuring takes a minute or so. Errors: std::runtime_error in one line, which
// names the file or the server.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sizing/stream_load.hpp"

namespace nfx::bench {

// One load and what it took. All loads have one session for each owner.
struct CostSample {
  double sessions = 0;
  double record_bytes = 0;
  double rate = 0;  // records of each session per second; 0: as fast as possible
  double seconds = 0;
  double records_per_s = 0, frames_per_s = 0;
  double bytes_per_s = 0;  // of frames, with their headers
  double release_p50_us = 0, release_p99_us = 0;
  double gateway_cores = 0;  // of this process
  double server_cores = 0;   // of all servers together
  double busiest_server_cores = 0;
  double stored_bytes_per_s = 0;  // that the stream grew by, of one replica
};

// The cost of frames with one record of 200 bytes at one rate. Each frame costs less at a higher rate, because servers
// then handle several in one go.
struct CostPoint {
  double frames_per_s = 0;
  double server_cores = 0;   // of all servers together
  double gateway_cores = 0;  // of this process
  double release_p50_us = 0, release_p99_us = 0;
};

struct UnitCosts {
  std::string machine;
  std::uint32_t cores = 0;
  std::uint32_t replicas = 0;
  std::vector<CostPoint> points;  // by increasing rates; the last one is as fast as one stream is
  // What larger frames take more.
  double release_ns_per_byte = 0, server_ns_per_byte = 0, gateway_us_per_record = 0;
  double bytes_per_s = 0;             // of one stream, at most
  double busiest_server_share = 0;    // of the servers' time
  double stored_bytes_per_frame = 0;  // apart from the frame itself
  std::vector<CostSample> samples;    // what all of it was computed from

  [[nodiscard]] double frames_per_s() const { return points.back().frames_per_s; }
  // Between two points by their logarithms; before the first point in proportion, after the last one as the last one.
  [[nodiscard]] CostPoint at(double frames_per_s) const;
};

struct MeasureOptions {
  nats::NatsOptions client;
  std::vector<pid_t> servers;
  double seconds = 3;  // of each load
  std::string prefix;  // of the names of the sessions that it makes
};

inline constexpr double frame_header_bytes = 80, record_header_bytes = 16;
inline constexpr double point_record_bytes = 200;
inline constexpr double point_frame_bytes = frame_header_bytes + record_header_bytes + point_record_bytes;

// One load, on sessions of its own.
[[nodiscard]] CostSample measure_load(const MeasureOptions& options, const std::string& name, std::uint32_t sessions,
                                      const LoadOptions& load);
// Seven loads, each three times, and the costs that follow from them.
[[nodiscard]] UnitCosts measure_costs(const MeasureOptions& options, std::uint32_t replicas);

void write_costs(const std::string& file, const UnitCosts& costs);
[[nodiscard]] UnitCosts read_costs(const std::string& file);

}  // namespace nfx::bench
