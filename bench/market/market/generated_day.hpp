// A day of market data by order in DBN, generated in memory: one instrument whose orders are near a moving price.
// Thread: any. Cost: some hundred ns per record; allocates. The same seed gives the same bytes on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nfx::bench {

struct DayOptions {
  std::uint64_t seed = 1;
  std::uint32_t records = 1'000'000;
  std::uint32_t open_orders = 15'000;  // approximate number of open orders
};

[[nodiscard]] std::vector<std::byte> generate_day(const DayOptions& options);

}  // namespace nfx::bench
