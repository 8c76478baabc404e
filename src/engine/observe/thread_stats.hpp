// The kernel's scheduling counters of the calling thread: its CPU, moves and interruptions.
// Thread: any; about the caller. Cost: some system calls and a small read from /proc, so not once per message; no
// allocation. Errors: values that the kernel does not report are empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nfx {

// Counts are since the thread began.
struct ThreadStats {
  std::optional<std::uint32_t> core;                  // the thread's current CPU
  std::optional<std::uint64_t> migrations;            // moves between cores
  std::optional<std::uint64_t> voluntary_switches;    // the thread waited for something
  std::optional<std::uint64_t> involuntary_switches;  // the kernel gave its CPU to another thread
};

[[nodiscard]] ThreadStats read_thread_stats() noexcept;

namespace detail {

// The value of "se.nr_migrations" in the text of /proc/<pid>/sched.
[[nodiscard]] std::optional<std::uint64_t> parse_nr_migrations(std::string_view sched) noexcept;

}  // namespace detail

}  // namespace nfx
