// What a seed's storm is made of: the kinds of faults, how often they are, and how much work meets them.
#pragma once

#include <cstdint>

#include "fabric/faulty_rail.hpp"
#include "nexusfix/fabric/link.hpp"
#include "simulation/dice.hpp"

namespace nfx::fabric_faults {

// Faults of every kind hide each other: a connection that is cut all the time loses no number. So most seeds
// have one family of them alone.
enum class Weather : std::uint8_t {
  mixed,       // all kinds, each in half of the rails
  overtaking,  // many writes are a hundred times slower than the others, and connections end
  lossy,       // writes and numbers are lost, and others come twice, which hides that from the credits
  forgetful,   // completions are lost
  repeating,   // numbers come twice, the second time when much else has happened
  crowded,     // few slots and credits, peers that do nothing for a while, much work
};

[[nodiscard]] Weather weather_of(simulation::Dice& dice);
[[nodiscard]] fabric::LinkOptions options_of(simulation::Dice& dice, Weather weather);
[[nodiscard]] fabric::RailFaults faults_of(simulation::Dice& dice, Weather weather, fabric::RailBreak broken);

// How often in a thousand iterations, but where a comment states otherwise.
struct Work {
  std::uint64_t rails = 0;       // how many there are
  std::uint64_t page_sizes = 0;  // how many there are, from 512 bytes on
  std::uint64_t transfers = 0;
  std::uint64_t records = 0;
  std::uint64_t cancels = 0;
  std::uint64_t sleeps = 0;
  std::uint64_t bursts = 0;  // all rails but one end within a millisecond
  std::uint64_t kills = 0;   // at most, in all
  Duration tick{};           // the longest iteration
  Duration sleep{};          // for which a peer does nothing, at most
};
[[nodiscard]] Work work_of(simulation::Dice& dice, Weather weather);

}  // namespace nfx::fabric_faults
