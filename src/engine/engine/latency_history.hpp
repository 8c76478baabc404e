// Windows of time as differences between copies of what was recorded since the start.
// Thread: add() from one, window() from any. Cost: add() keeps what is not zero, some 2 KiB for a session that was
// active since the last copy and a pointer for one that was not; window() makes whole counts again. Errors: none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "nexusfix/engine/latency.hpp"

namespace nfx {

class LatencyHistory {
 public:
  // A copy of everything since the start, made at `now`; some second after the last one.
  void add(const LatencyReport& since_start, Instant now);
  [[nodiscard]] LatencyReport window(LatencyWindow window) const;

 private:
  // The buckets that are not empty.
  struct Counts {
    struct Bucket {
      std::uint32_t bucket;
      std::uint64_t count;
      friend bool operator==(const Bucket&, const Bucket&) = default;
    };
    std::vector<Bucket> buckets;
    std::uint64_t sum_ns = 0;
    friend bool operator==(const Counts&, const Counts&) = default;
  };
  using Stages = std::array<Counts, session_stage_count>;
  struct Session {
    std::string name;
    std::uint32_t poll_thread = 0;
    Stages stages;
  };
  struct Thread {
    std::uint32_t poll_thread = 0;
    Counts handling, poll_gap;
    Stages stages;
  };
  struct Snapshot {
    UtcTime at{};
    std::map<std::uint64_t, std::shared_ptr<const Session>> sessions;  // by serial
    std::vector<Thread> threads;
  };
  using Shared = std::shared_ptr<const Snapshot>;
  struct Window {
    MonotonicTime began{};
    Shared start;                 // of the one under way
    Shared last_start, last_end;  // of the last complete one
  };

  [[nodiscard]] static Counts compressed(const LatencyCounts& counts);
  [[nodiscard]] static Stages compressed(const LatencySet& set);
  static void add_difference(LatencyCounts& into, const Counts& end, const Counts* start);
  static void add_difference(LatencySet& into, const Stages& end, const Stages* start);

  mutable std::mutex mutex_;
  std::array<Window, timed_window_count> windows_;
  Shared latest_;
};

}  // namespace nfx
