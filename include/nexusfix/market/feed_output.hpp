// Where the FIX and websocket feeds put what they make. Thread: the feed's. Errors: its functions do not throw.
// Lifetime: the output outlives the feed. It does not call back into the feed.
#pragma once

#include "nexusfix/market/event.hpp"

namespace nfx::market {

class FeedOutput {
 public:
  virtual ~FeedOutput() = default;
  // Event::instrument is the InstrumentIndex as a number. An instrument that stops being live gets an event of kind
  // none with event_flag::recovering.
  virtual void event(const Event& event) noexcept = 0;
  // A snapshot of this instrument is wanted.
  virtual void request_snapshot(InstrumentIndex index) noexcept = 0;
};

}  // namespace nfx::market
