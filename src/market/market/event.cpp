// Names of the values of events and of the states of feeds, for reports.
#include "nexusfix/market/event.hpp"

#include "base/enumerator_name.hpp"
#include "nexusfix/market/feed.hpp"

namespace nfx::market {

std::string_view to_string(EventKind kind) noexcept { return enumerator_name(kind); }

std::string_view to_string(Side side) noexcept { return enumerator_name(side); }

std::string_view to_string(TradingStatus status) noexcept {
  switch (status) {
    case TradingStatus::unknown: return "not_known";
    case TradingStatus::pre_open: return "pre_open";
    case TradingStatus::auction: return "auction";
    case TradingStatus::trading: return "trading";
    case TradingStatus::quoting_only: return "quoting_only";
    case TradingStatus::paused: return "paused";
    case TradingStatus::halted: return "halted";
    case TradingStatus::closed: return "closed";
  }
  return "unknown";
}

std::string_view to_string(FeedState state) noexcept { return enumerator_name(state); }

std::string_view to_string(InstrumentState state) noexcept { return enumerator_name(state); }

}  // namespace nfx::market
