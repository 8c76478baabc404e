// One seed's storm: an exchange, a feed and its books in virtual time. While the storm lasts, and after it, the books
// of a feed whose state is live must be those that the publisher had at that message, up to every place in every
// queue. Thread: one owner. Cost: some tens of milliseconds a seed.
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
  Duration worst_recovery{};  // from the moment that it was not live any more, within the storm
  Duration after_storm{};     // from the storm's end until every message was there
  market::MoldCounters mold;
  market::ItchFeedCounters feed;
};

[[nodiscard]] StormResult run_storm(std::uint64_t seed);

}  // namespace nfx::feed_storms
