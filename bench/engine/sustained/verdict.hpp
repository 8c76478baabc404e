// The requirements of a long flow: its rate, its memory, and no allocation on a poll thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sustained/flow.hpp"

namespace nfx::bench {

constexpr double least_rate = 0.99;  // of the due messages
// The growth allowed after the warm-up, during which buffers fill for the first time: this much, plus one per cent. A
// leak of a byte per message exceeds it within seconds.
constexpr std::uint64_t most_growth_kib = 1024;

[[nodiscard]] inline double rate_of(const FlowResult& side) {
  return side.seconds > 0 ? static_cast<double>(side.messages) / side.seconds : 0;
}

// One sentence for each requirement that was not met; empty if all were. `due` is in messages per second.
[[nodiscard]] inline std::vector<std::string> what_failed(const FlowResult& trader, const FlowResult& venue,
                                                          double due) {
  std::vector<std::string> failures;
  const auto text = [](auto number) { return std::to_string(static_cast<std::uint64_t>(number)); };
  if (rate_of(trader) < least_rate * due)
    failures.push_back("rate: " + text(rate_of(trader)) + " messages/s instead of " + text(due));
  const auto grew = [](std::uint64_t from, std::uint64_t to) { return to > from + from / 100 + most_growth_kib; };
  const auto judge = [&](const std::string& name, const FlowResult& side) {
    if (!side.allocations_counted)
      failures.push_back(name + ": allocations cannot be counted in this build, whose sanitizer owns the allocator");
    if (side.allocations != 0)
      failures.push_back(name + ": " + text(side.allocations) + " allocations on the poll thread instead of none");
    if (side.rss_begin_kib == 0 || side.rss_middle_kib == 0 || side.rss_end_kib == 0)
      failures.push_back(name + ": /proc/self/statm does not have the resident memory");
    if (grew(side.rss_begin_kib, side.rss_middle_kib))
      failures.push_back(name + ": resident memory grew in the first half from " + text(side.rss_begin_kib) + " to " +
                         text(side.rss_middle_kib) + " KiB");
    if (grew(side.rss_middle_kib, side.rss_end_kib))
      failures.push_back(name + ": resident memory grew in the second half from " + text(side.rss_middle_kib) + " to " +
                         text(side.rss_end_kib) + " KiB");
  };
  judge("trader", trader);
  judge("venue", venue);
  return failures;
}

}  // namespace nfx::bench
