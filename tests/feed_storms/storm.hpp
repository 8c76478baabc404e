// One seed's storm: an exchange, a feed and its books in virtual time. During the storm and after it, the books of a
// live feed must equal the publisher's at that message, including every place in every queue.
// Thread: one owner. Cost: some tens of milliseconds per seed.
#pragma once

#include <cstdint>
#include <string>

#include "nexusfix/base/time.hpp"
#include "nexusfix/market/itch_feed.hpp"
#include "nexusfix/market/itch_transport.hpp"

namespace nfx::feed_storms {

struct StormResult {
  std::string finding;  // empty: none
  std::uint64_t messages = 0;
  std::uint64_t comparisons = 0;
  std::uint64_t recoveries = 0;
  Duration worst_recovery{};  // longest time during the storm in which the feed was not live
  Duration after_storm{};     // time from the storm's end until every message had arrived
  market::MoldCounters mold;
  market::ItchFeedCounters feed;
};

[[nodiscard]] StormResult run_storm(std::uint64_t seed);

}  // namespace nfx::feed_storms
