// How the calling thread has been run by the kernel: where, how often moved, how often interrupted.
// Thread: any; about the one that calls. Cost: some system calls and a small read from /proc, so not once a message; no
// allocation. Errors: what the kernel does not report is an empty optional.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nfx {

// Counts are since the thread began.
struct ThreadStats {
  std::optional<std::uint32_t> core;                  // where the thread runs right now
  std::optional<std::uint64_t> migrations;            // moves between cores
  std::optional<std::uint64_t> voluntary_switches;    // the thread waited for something
  std::optional<std::uint64_t> involuntary_switches;  // the kernel gave its core to another
};

[[nodiscard]] ThreadStats read_thread_stats() noexcept;

namespace detail {

// The value of "se.nr_migrations" in the text of /proc/<pid>/sched.
[[nodiscard]] std::optional<std::uint64_t> parse_nr_migrations(std::string_view sched) noexcept;

}  // namespace detail

}  // namespace nfx
