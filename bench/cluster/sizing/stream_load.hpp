// Load on a cluster by owners of sessions in this process: at a rate, or as fast as frames are acknowledged.
// Thread: one. Cost: the load. Errors: nats::NatsError, and std::runtime_error when a session is fenced meanwhile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nexusfix/base/latency_histogram.hpp"
#include "sizing/session_owners.hpp"

namespace nfx::bench {

struct LoadOptions {
  double rate = 0;            // records of each session per second; 0: as fast as possible
  std::uint32_t bytes = 200;  // of a record
  std::uint32_t window = 1;   // without a rate: records of each session that are appended and not released, at most
  double seconds = 5;
  std::uint64_t records = 0;        // after which it ends earlier; 0: after the time alone
  std::vector<pid_t> servers = {};  // whose processor time is read
};

struct LoadResult {
  double seconds = 0;
  std::uint64_t records = 0;  // released
  std::uint64_t frames = 0;
  std::uint64_t late = 0;       // records that were due and were not appended at the end
  LatencyHistogram latency_us;  // from the moment a record is due, or is appended, until its release
  double gateway_cpu_s = 0;     // of this process, with its client library
  std::vector<double> server_cpu_s;
};

// The owners own their sessions. Ends with all records released, or throws after half a minute without an answer.
[[nodiscard]] LoadResult run_load(SessionOwners& owners, const LoadOptions& options);

// User and system time of a process, in seconds. Throws std::runtime_error when there is none.
[[nodiscard]] double cpu_seconds_of(pid_t pid);
[[nodiscard]] double own_cpu_seconds();

// Orders of this size, each with other digits.
[[nodiscard]] std::vector<std::string> make_messages(std::uint32_t bytes, std::uint64_t seed);

}  // namespace nfx::bench
