// One seed: two peers with up to four faulty rails in virtual time, random transfers and records in both directions,
// and peers that are killed and restarted. Everything is checked against rules that are independent of the link.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "fabric/faulty_rail.hpp"
#include "nexusfix/fabric/link.hpp"

namespace nfx::fabric_faults {

struct StormResult {
  std::string finding;  // empty: none
  std::uint64_t transfers = 0;
  std::uint64_t complete = 0;
  std::uint64_t failed = 0;  // reported as such
  std::uint64_t pages = 0;
  std::uint64_t records = 0;
  std::uint64_t restarts = 0;
  std::uint64_t losses = 0;  // of links
  fabric::LinkCounters counters;
  fabric::RailFaultCounters faults;
};

struct StormOptions {
  std::uint64_t seed = 1;
  fabric::RailBreak broken = fabric::RailBreak::none;  // planted: a violated rule of the rail interface
};

[[nodiscard]] StormResult run_storm(const StormOptions& options);

}  // namespace nfx::fabric_faults
