// The parameters of a seed's storm: the quality of the lines, the behaviour of the servers, and the feed's settings.
// Thread: any, plain values.
#pragma once

#include <cstdint>

#include "market/itch_generator.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/market/itch_feed.hpp"
#include "simulation/dice.hpp"

namespace nfx::feed_storms {

using simulation::Dice;
using namespace std::chrono_literals;

struct LinePlan {
  std::uint64_t lost = 0;        // per thousand packets
  std::uint64_t duplicated = 0;  // per thousand
  std::uint64_t reordered = 0;   // per thousand: later by up to `reordered_by`
  std::uint64_t truncated = 0;   // per ten thousand
  std::uint64_t garbage = 0;     // per ten thousand: an invalid packet is sent in addition
  Duration latency{};
  Duration jitter{};
  Duration reordered_by{};
  Duration dies_at = Duration::max();
  Duration returns_at = Duration::max();
};

struct Plan {
  market::ItchGeneratorOptions day;
  market::ItchFeedOptions feed;
  Duration packet_interval{};       // of the publisher, on average
  std::uint64_t packet_messages{};  // maximum
  Duration joins_at{};              // when the feed joins, during the day
  LinePlan lines[2];
  std::uint64_t burst = 0;  // per ten thousand packets: a loss of many packets on both lines begins
  std::uint64_t burst_packets = 0;

  enum class Requests : std::uint8_t { prompt, late, unreliable, never };
  Requests requests = Requests::prompt;
  std::uint64_t request_history = 0;  // messages that the re-request server keeps
  std::uint64_t snapshots_that_fail = 0;
  std::uint64_t snapshots_that_are_old = 0;
  Duration snapshot_takes{};  // from the login to its end

  [[nodiscard]] static Plan of(std::uint64_t seed);
};

inline Plan Plan::of(std::uint64_t seed) {
  Dice dice{seed * 2 + 1};
  Plan plan;
  plan.day = {.seed = seed,
              .messages = dice.between(1000, 6000),
              .stocks = static_cast<std::uint16_t>(dice.between(1, 30)),
              .resting_orders = static_cast<std::uint32_t>(dice.between(5, 60))};
  plan.packet_interval = dice.chance(300) ? dice.between(20us, 1ms) : dice.between(1ms, 20ms);
  plan.packet_messages = dice.between(1, 30);
  if (dice.chance(150)) plan.joins_at = dice.between(1ms, 500ms);

  const std::uint64_t storm = dice.below(4);  // 0: one percent lost and little else
  for (LinePlan& line : plan.lines) {
    line.lost = storm == 0 ? 10 : dice.below(100);
    line.duplicated = dice.below(30);
    line.reordered = dice.below(50);
    line.truncated = dice.chance(300) ? dice.below(50) : 0;
    line.garbage = dice.chance(300) ? dice.below(50) : 0;
    line.latency = dice.between(10us, 200us);
    line.jitter = dice.between(1us, 100us);
    line.reordered_by = dice.between(10us, 5ms);
  }
  if (dice.chance(300)) plan.lines[1].latency = dice.between(1ms, 200ms);
  if (dice.chance(300)) {
    LinePlan& line = plan.lines[dice.below(2)];
    line.dies_at = dice.between(1ms, 1s);
    if (dice.coin()) line.returns_at = line.dies_at + dice.between(10ms, 8s);
  }
  plan.burst = dice.chance(600) ? dice.between(5, 200) : 0;
  plan.burst_packets = dice.between(2, 400);
  plan.requests = static_cast<Requests>(dice.below(4));
  plan.request_history = dice.chance(500) ? dice.between(10, 2000) : 1'000'000;
  plan.snapshots_that_fail = dice.chance(600) ? dice.below(4) : 0;
  plan.snapshots_that_are_old = dice.chance(300) ? dice.below(3) : 0;
  plan.snapshot_takes = dice.between(1ms, 400ms);

  market::MoldOptions& mold = plan.feed.mold;
  mold.buffered_messages = std::size_t{1} << dice.between(6, 14);
  mold.request_messages = static_cast<std::uint16_t>(dice.between(1, 2000));
  mold.request_attempts = static_cast<unsigned>(dice.below(6));
  mold.gap_timeout = dice.between(50ms, 2s);
  plan.feed.snapshot_login = {"storm", "secret", "", 1};
  plan.feed.retry_max = 1s;
  return plan;
}

}  // namespace nfx::feed_storms
