// Names of the values of events and of the states of feeds, for reports.
#include "nexusfix/market/event.hpp"

#include "nexusfix/market/feed.hpp"

namespace nfx::market {

std::string_view to_string(EventKind kind) noexcept {
  switch (kind) {
    case EventKind::none: return "none";
    case EventKind::add: return "add";
    case EventKind::modify: return "modify";
    case EventKind::replace: return "replace";
    case EventKind::cancel: return "cancel";
    case EventKind::remove: return "remove";
    case EventKind::execute: return "execute";
    case EventKind::fill: return "fill";
    case EventKind::trade: return "trade";
    case EventKind::clear: return "clear";
    case EventKind::snapshot_begin: return "snapshot_begin";
    case EventKind::snapshot_end: return "snapshot_end";
    case EventKind::level_set: return "level_set";
    case EventKind::status: return "status";
  }
  return "unknown";
}

std::string_view to_string(Side side) noexcept {
  switch (side) {
    case Side::bid: return "bid";
    case Side::ask: return "ask";
    case Side::none: return "none";
  }
  return "unknown";
}

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

std::string_view to_string(FeedState state) noexcept {
  switch (state) {
    case FeedState::waiting: return "waiting";
    case FeedState::live: return "live";
    case FeedState::recovering: return "recovering";
    case FeedState::stale: return "stale";
    case FeedState::ended: return "ended";
  }
  return "?";
}

std::string_view to_string(InstrumentState state) noexcept {
  switch (state) {
    case InstrumentState::recovering: return "recovering";
    case InstrumentState::live: return "live";
    case InstrumentState::stale: return "stale";
  }
  return "unknown";
}

}  // namespace nfx::market
