// The parameters of a seed's run: the settings of both sides, and the kinds and frequencies of faults.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "simulation/config_file.hpp"
#include "simulation/dice.hpp"
#include "simulation/trace.hpp"
#include "transport/faulty_transport.hpp"

namespace nfx::simulation {

enum class Fault : std::uint8_t {
  split,    // bytes come in small pieces
  delay,    // pieces come late, so that connections overtake each other
  cut,      // connections are cut
  swallow,  // connections go silent in one direction
  lose,     // one side loses the connection, and the other is not told
  kill,     // a process is killed; files and shared memory remain
  crash,    // a machine crashes; unsynced data may be lost
  full,     // the disk is full, and has space again later
  sync,     // a sync fails
  slow,     // the flusher is late
  clock,    // a side's UTC clock is set
  restart,  // a process ends in order and restarts with another durability
  operate,  // an operator gives a session a command
  reload,   // an operator removes, adds or changes a session, or reloads a changed configuration
  stall,    // a poll thread does not run for some seconds
};
inline constexpr std::size_t fault_count = 15;

[[nodiscard]] std::string_view to_string(Fault fault) noexcept;

class FaultSet {
 public:
  [[nodiscard]] static FaultSet all() noexcept { return FaultSet{(1U << fault_count) - 1}; }
  [[nodiscard]] static FaultSet none() noexcept { return FaultSet{0}; }
  // Parses "all", "none", or names separated by commas; the error is the wrong name.
  [[nodiscard]] static std::expected<FaultSet, std::string> parse(std::string_view text);

  [[nodiscard]] bool has(Fault fault) const noexcept { return (bits_ >> static_cast<unsigned>(fault) & 1) != 0; }
  [[nodiscard]] bool only(Fault fault) const noexcept { return bits_ == 1U << static_cast<unsigned>(fault); }
  void insert(Fault fault) noexcept { bits_ |= 1U << static_cast<unsigned>(fault); }
  void erase(Fault fault) noexcept { bits_ &= ~(1U << static_cast<unsigned>(fault)); }

 private:
  explicit FaultSet(unsigned bits) noexcept : bits_(bits) {}
  unsigned bits_;
};

enum class Hours : std::uint8_t {
  always,       // no schedule
  daily,        // 00:30 to 23:30 UTC
  daily_reset,  // open all day, numbers restart at 12:00 UTC
};

struct Plan {
  std::uint64_t seed = 0;
  FaultSet faults = FaultSet::all();
  Hours hours = Hours::always;
  Duration storm_mean{};    // between two faults in a storm
  Duration weather_mean{};  // ... and outside
  Duration order_mean{};    // between two messages of a side in a storm
  Duration clock_step{};    // maximum error of a clock
  FaultOptions network;     // in a storm
  std::array<ConfigFile, 2> file;
};

[[nodiscard]] Plan draw_plan(std::uint64_t seed, FaultSet faults);

// Another durability and the times that belong to it.
void redraw_durability(JournalOptions& options, Dice& dice);

// Other values of settings that can change while the session is connected, and of settings that need it to be replaced.
void redraw_live_settings(SessionSettings& settings, Dice& dice);
void redraw_other_settings(SessionSettings& settings, Dice& dice);

// A file for this side with other sessions, other settings of them, and another key of [engine].
void redraw_file(ConfigFile& file, Side side, Dice& dice);
// A text that is not a valid configuration.
[[nodiscard]] std::string with_mistake(std::string text, Dice& dice);

}  // namespace nfx::simulation
