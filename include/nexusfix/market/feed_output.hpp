// Where the FIX and websocket feeds put what they make. Thread: the feed's. Errors: its functions do not throw.
// Lifetime: the output outlives the feed. It does not call back into the feed.
#pragma once

#include <concepts>
#include <type_traits>

#include "nexusfix/market/event.hpp"

namespace nfx::market {

// An object that has event(const Event&), without its type. The object outlives it.
class EventOutput {
 public:
  template <class Output>
    requires(!std::same_as<std::remove_cv_t<Output>, EventOutput> &&
             requires(Output& output, const Event& event) { output.event(event); })
  EventOutput(Output& output) noexcept  // NOLINT(google-explicit-constructor): any such object is one
      : to_(&output), event_([](void* to, const Event& event) noexcept { static_cast<Output*>(to)->event(event); }) {}

  void event(const Event& event) const noexcept { event_(to_, event); }

 private:
  void* to_;
  void (*event_)(void*, const Event&) noexcept;
};

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
