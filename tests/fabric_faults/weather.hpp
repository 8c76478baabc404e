// The parameters of a seed's storm: the kinds of faults, their frequencies, and the amount of work.
#pragma once

#include <cstdint>

#include "fabric/faulty_rail.hpp"
#include "nexusfix/fabric/link.hpp"
#include "simulation/dice.hpp"

namespace nfx::fabric_faults {

// Faults of different kinds hide each other: a connection that is cut all the time loses no number. So most seeds have
// only one family.
enum class Weather : std::uint8_t {
  mixed,       // all kinds, each in half of the rails
  overtaking,  // many writes are a hundred times slower than others, and connections end
  lossy,       // writes and numbers are lost, and others arrive twice, which hides the loss from the credits
  forgetful,   // completions are lost
  repeating,   // numbers arrive twice, the second time after many other events
  crowded,     // few slots and credits, peers that pause for a while, much work
};

[[nodiscard]] Weather weather_of(simulation::Dice& dice);
[[nodiscard]] fabric::LinkOptions options_of(simulation::Dice& dice, Weather weather);
[[nodiscard]] fabric::RailFaults faults_of(simulation::Dice& dice, Weather weather, fabric::RailBreak broken);

// Frequencies per thousand iterations, unless a comment says otherwise.
struct Work {
  std::uint64_t rails = 0;       // number of rails
  std::uint64_t page_sizes = 0;  // number of page sizes, from 512 bytes on
  std::uint64_t transfers = 0;
  std::uint64_t records = 0;
  std::uint64_t cancels = 0;
  std::uint64_t sleeps = 0;
  std::uint64_t bursts = 0;  // all rails but one end within a millisecond
  std::uint64_t kills = 0;   // maximum, in total
  Duration tick{};           // longest iteration
  Duration sleep{};          // longest pause of a peer
};
[[nodiscard]] Work work_of(simulation::Dice& dice, Weather weather);

}  // namespace nfx::fabric_faults
