// Logons, messages and requests of a FIX feed.
#include "nexusfix/live/fix_handler.hpp"

#include <algorithm>
#include <utility>

#include "live/check_added.hpp"

namespace nfx::market {
namespace {

FixFeedOptions sized_for(const FixHandlerOptions& options) {
  FixFeedOptions feed = options.feed;
  feed.recovery.instruments = static_cast<std::uint32_t>(std::max<std::size_t>(options.instruments.size(), 1));
  return feed;
}

}  // namespace

FixHandler::FixHandler(const FixHandlerOptions& options, EventOutput events, FeedPorts& ports)
    : ports_(ports),
      by_order_(options.by_order),
      events_(events),
      feed_(sized_for(options), *this),
      view_(options.max_fields) {
  for (std::size_t place = 0; const FixInstrument& instrument : options.instruments)
    check_added(feed_.add(instrument.symbol, instrument.quantity_scale), place++, instrument.symbol);
}

Instant FixHandler::begin(const FeedInput& input) {
  const Instant now = clock_.at(input.at);
  if (now.monotonic >= due_at()) [[unlikely]]
    feed_.tick(now.monotonic);
  return now;
}

void FixHandler::take(const FeedInput& input) {
  const Instant now = begin(input);
  switch (input.kind) {
    case InputKind::opened:
      ++counters_.logons;
      logged_on_ = true;
      feed_.tick(now.monotonic);
      break;
    case InputKind::closed:
      if (!logged_on_) break;
      ++counters_.logouts;
      logged_on_ = false;
      feed_.disconnected(now);
      break;
    case InputKind::received:
      if (view_.parse(input.bytes) == WireError::none) {
        read(view_, now);
      } else {
        ++counters_.unread;
      }
      break;
    case InputKind::clock:
    case InputKind::datagram: break;
  }
  update_state();
}

void FixHandler::take(const FeedInput& input, const MessageView& message) {
  const Instant now = begin(input);
  read(message, now);
  const bool unchanged = state_ == FeedState::live && feed_.waiting() == 0;
  if (!unchanged) [[unlikely]]
    update_state();
}

void FixHandler::read(const MessageView& message, Instant now) {
  ++counters_.messages;
  if (feed_.message(message, now) != FixFeedError::none) ++counters_.unread;
}

void FixHandler::request_snapshot(InstrumentIndex index) noexcept {
  FieldWriter body{buffer_};
  FixMarketDataRequest wanted;
  wanted.by_order = by_order_;
  if (!feed_.write_request(body, index, wanted) || !ports_.send(FixLines::session, body.view())) {
    ++counters_.requests_refused;
  }
}

void FixHandler::update_state() noexcept {
  if (!logged_on_) {
    state_ = counters_.logons == 0 ? FeedState::waiting : FeedState::stale;
    return;
  }
  state_ = FeedState::live;
  for (std::uint32_t i = 0; i < feed_.instruments(); ++i) {
    switch (feed_.state(InstrumentIndex{i})) {
      case InstrumentState::stale: state_ = FeedState::stale; return;
      case InstrumentState::recovering: state_ = FeedState::recovering; break;
      case InstrumentState::live: break;
    }
  }
}

}  // namespace nfx::market
