// The first order after a silence of a session that is busy-polled, beside orders that follow each other.
// Thread: the calling one, which is pinned. Errors: WrongAnswerError if an order has no answer.
#pragma once

#include <cstdint>
#include <filesystem>

#include "engine_time/one_session.hpp"
#include "harness/cycle_clock.hpp"

namespace nfx::bench {

struct SilenceOptions {
  std::uint32_t repeats = 5;
  std::uint32_t after_1ms = 300, after_100ms = 100, after_1s = 0;  // orders of each repeat after such a silence
  std::uint32_t warm_up_us = 100;  // silence after which the engine rehearses, in every second row
  std::filesystem::path folder;
  double own = 0;  // ticks of the readings
};

// `choice` has what all sessions have in common. Prints a table.
void measure_after_silence(const SilenceOptions& options, SessionChoice choice, const CycleClock& clock);

}  // namespace nfx::bench
