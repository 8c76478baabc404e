// Measures pages and small writes between two processes of this host over rails, for `nfx fabric bench`, `nfx fabric
// ladder` and bench/fabric. Both processes are children, with one polling thread per group that is pinned before it
// creates its rails and memory. Every page carries its number and stamps at both ends, which the receiver checks; after
// the last page all memory is compared.
// Thread: the caller's; it waits for the children. Cost: the requested seconds, and one to connect. Errors:
// std::runtime_error with one line, for a missing feature of a provider, a wrong answer, or a child that ended.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/latency_histogram.hpp"
#include "nexusfix/concurrent/idle_strategy.hpp"
#include "placement/thread_sampler.hpp"

namespace nfx::app::fabric {

enum class Pinning : std::uint8_t {
  none,   // placed by the kernel
  pair,   // both threads of group g on the g-th CPU
  split,  // the sender's thread of group g on the 2g-th CPU, the receiver's on the next one
  one,    // all on the last CPU
};
inline constexpr std::array<std::string_view, 4> pinning_names{"none", "pair", "split", "one"};

enum class Noise : std::uint8_t {
  free,      // noisy processes are placed by the kernel
  confined,  // on all CPUs except the last
};

inline constexpr std::size_t max_bench_rails = 32;
inline constexpr std::size_t max_bench_groups = 16;

struct BenchOptions {
  std::string provider = "shm";  // of libfabric, or "ring" and "socket" for rails without it
  std::uint32_t rails = 4;
  std::uint32_t groups = 2;
  std::uint32_t page_bytes = 65536;
  std::uint32_t window = 32;  // pages of a rail that may be sent without the receiver's credit
  std::uint32_t batch = 16;
  double seconds = 1;
  std::uint32_t round_trips = 5000;  // for a page, and for a small write; 0: none
  std::uint32_t small_bytes = 64;
  Pinning pinning = Pinning::none;
  IdleMode idle = IdleMode::spin;  // block: sleeps for 50 us
  bool warm_up = true;             // uses connections once before the measurement starts
  bool lazy = true;                // leaves a full rail, instead of trying it for each page of the batch
  bool shared_counters = false;    // all groups increment the same atomics
  std::uint32_t noisy = 0;         // number of processes that use all available CPU time
  Noise noise = Noise::free;
};

struct RailReport {
  double gbps = 0;
  std::uint64_t pages = 0;
  std::uint64_t refused = 0;  // writes that the rail refused
};

struct ThreadReport {
  ThreadStats before, after;
  int pinned_to = -1;
};

struct GroupReport {
  double gbps = 0;
  double seconds = 0;
  ThreadReport sender, receiver;
};

struct BenchReport {
  double gbps = 0;
  double pages_per_s = 0;
  std::vector<RailReport> rails;
  std::vector<GroupReport> groups;
  LatencyHistogram page_ns;   // half of the time until a number answers a page
  LatencyHistogram small_ns;  // the same for small writes, each answered by another
};

[[nodiscard]] BenchReport run_bench(const BenchOptions& options);

}  // namespace nfx::app::fabric
