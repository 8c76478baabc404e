// A day of a random market with random models, limits and venue answers, in virtual time, with planted faults: packets
// that are lost or late, events that do not fit the book, halts, a thread that lags, sends that fail, fills that no
// model ordered, the kill switch. The oracle checks everything that is sent.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "nexusfix/strategy/risk_gate.hpp"

namespace nfx::order_faults {

// A check that is removed, to prove that the oracle notices.
enum class Plant : std::uint8_t { none, collar, tick, size, position, rate, kill, gap, stale, status, age };
struct PlantRow {
  Plant plant;
  std::string_view name;
  std::string_view finding;  // text of the oracle's finding
};
inline constexpr std::array<PlantRow, 10> plant_rows{
    {{Plant::collar, "collar", "a price outside of the collar"},
     {Plant::tick, "tick", "a price off the tick"},
     {Plant::size, "size", "a quantity beyond its limit"},
     {Plant::position, "position", "the position can exceed its limit"},
     {Plant::rate, "rate", "too many orders in one burst"},
     {Plant::kill, "kill", "an order after the kill switch"},
     {Plant::gap, "gap", "an order through a gap"},
     {Plant::stale, "stale", "an order on a stale book"},
     {Plant::status, "status", "an order while nothing trades"},
     {Plant::age, "age", "an order on an event that is too old"}}};

struct DayResult {
  std::string finding;  // empty: none
  std::uint64_t events = 0;
  std::uint64_t sent = 0;
  strategy::RiskCounters counters;
};

[[nodiscard]] DayResult run_day(std::uint64_t seed, Plant plant);

}  // namespace nfx::order_faults
