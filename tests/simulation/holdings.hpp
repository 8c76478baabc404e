// Counts the heap memory held by each side of the simulated world, with the program's own operator new; in a program
// that uses this, every allocation goes through it.
// Thread: one; the simulation has no other. Cost: 16 bytes and some instructions for each allocation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "simulation/trace.hpp"

namespace nfx::simulation {

// The owner of the memory, which has to free it.
enum class Holder : std::uint8_t {
  world,  // the test itself: ledger, trace, disks
  venue_engine,
  trader_engine,
  venue_network,  // the transport of a side and its bytes in transit
  trader_network,
};
inline constexpr std::size_t holder_count = 5;

[[nodiscard]] constexpr Holder engine_of(Side side) noexcept {
  return side == Side::venue ? Holder::venue_engine : Holder::trader_engine;
}
[[nodiscard]] constexpr Holder network_of(Side side) noexcept {
  return side == Side::venue ? Holder::venue_network : Holder::trader_network;
}

// Memory allocated in this scope is held by `holder`, however long it lives.
class Holding {
 public:
  explicit Holding(Holder holder) noexcept;
  ~Holding();
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;

 private:
  Holder before_;
};

struct Holdings {
  std::size_t bytes = 0;
  std::size_t most = 0;  // since forget_most()
};

[[nodiscard]] Holdings held_by(Holder holder) noexcept;
[[nodiscard]] std::size_t held_by_engines_and_networks() noexcept;
void forget_most() noexcept;

}  // namespace nfx::simulation
