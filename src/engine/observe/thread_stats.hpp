// How the calling thread has been run by the kernel: where, how often moved, how often interrupted.
// Thread: a ThreadStatsReader belongs to the thread that made it and is read there. Cost: two system calls and one
// small read from /proc, so once a second, not once a message. No allocation after construction. Errors: what the
// kernel does not report is an empty optional, printed as "unknown".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nexusfix/base/time.hpp"

namespace nfx {

struct ThreadStats {
  std::optional<std::uint32_t> core;  // where the thread runs right now
  std::optional<std::uint64_t>
      migrations;                       // moves between cores since the thread began (kernel) or the reader (sampled)
  bool migrations_are_sampled = false;  // a lower bound: only moves between two reads are seen
  std::optional<std::uint64_t> voluntary_switches;    // the thread waited for something
  std::optional<std::uint64_t> involuntary_switches;  // the kernel gave its core to another
  std::optional<Duration> cpu_time;
};

// "core 3, 2 migrations, 10 voluntary and 1 involuntary switches, 1.250 s cpu"
[[nodiscard]] std::string to_string(const ThreadStats& stats);

class ThreadStatsReader {
 public:
  ThreadStatsReader() noexcept;
  ~ThreadStatsReader();
  ThreadStatsReader(const ThreadStatsReader&) = delete;
  ThreadStatsReader& operator=(const ThreadStatsReader&) = delete;

  [[nodiscard]] ThreadStats read() noexcept;

 private:
  int sched_file_ = -1;  // /proc/self/task/<tid>/sched, where the kernel offers it
  std::optional<std::uint32_t> last_core_;
  std::uint64_t sampled_migrations_ = 0;
};

namespace detail {

// The value of "se.nr_migrations" in the text of /proc/<pid>/sched.
[[nodiscard]] std::optional<std::uint64_t> parse_nr_migrations(std::string_view sched) noexcept;

// Counts moves between successive sightings of a thread.
[[nodiscard]] constexpr std::uint64_t moved(std::optional<std::uint32_t> before,
                                            std::optional<std::uint32_t> now) noexcept {
  return before && now && *before != *now ? 1 : 0;
}

}  // namespace detail

}  // namespace nfx
